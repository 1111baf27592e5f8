"""`manage.py docs`: the generated pages."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from engine.reference import verbs_page
from engine.verbs.registry import VERBS


class Command(BaseCommand):
    help = "Write the generated pages of docs/ anew."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail if one is out of date")

    def handle(self, *, check: bool, **_options: Any) -> None:
        path = settings.BASE_DIR / "docs" / "verbs.md"
        page = verbs_page(VERBS)
        if path.exists() and path.read_text() == page:
            return
        if check:
            raise CommandError("docs/verbs.md does not say what the verbs say: `make docs` writes it anew.")
        path.write_text(page)
        self.stdout.write("docs/verbs.md written")
