"""`manage.py docs`: the generated pages."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from engine.guide import skill
from engine.reference import verbs_page
from engine.verbs.registry import VERBS

LOCAL = "http://127.0.0.1:8000"
"""Where an installation is called that nobody has set up otherwise."""


class Command(BaseCommand):
    help = "Write the generated pages of docs/ anew."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail if one is out of date")

    def handle(self, *, check: bool, **_options: Any) -> None:
        for name, page in {"verbs.md": verbs_page(VERBS), "skill.md": skill(LOCAL)}.items():
            path = settings.BASE_DIR / "docs" / name
            if path.exists() and path.read_text() == page:
                continue
            if check:
                raise CommandError(f"docs/{name} does not say what the verbs say: `make docs` writes it anew.")
            path.write_text(page)
            self.stdout.write(f"docs/{name} written")
