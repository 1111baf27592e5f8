"""The admin site of the installation: for its operators alone."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest


class OperatorsSite(admin.AdminSite):
    """Every table, over every company. Staff is not enough: what is here belongs to all tenants."""

    site_header = "Trimus"
    site_title = "Trimus"
    index_title = "Everything"

    def has_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_superuser


class OperatorsAdmin(AdminConfig):
    """Django's admin with that site in place of its own."""

    default_site = "trimus.administration.OperatorsSite"
