"""`manage.py login_link`: a fresh one-time link."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from issues.models import User
from issues.services.accounts import installation_founder, issue_login_link
from trimus.addresses import address


class Command(BaseCommand):
    help = "Print a link that logs one person in, once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", help="the user name; without it, the installation's founder")

    def handle(self, *, user: str | None, **_options: Any) -> None:
        try:
            account = User.objects.get(username__iexact=user, is_active=True) if user else installation_founder()
        except User.DoesNotExist:
            raise CommandError(f"There is no active account “{user}”.") from None
        self.stdout.write(address() + reverse("log-in-by-link", args=[issue_login_link(account)]))
