"""Every address of the installation."""

from django.contrib import admin
from django.urls import path

from trimus.health import health

urlpatterns = [
    path("healthz", health),
    path("admin/", admin.site.urls),
]
