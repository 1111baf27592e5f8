"""`manage.py export_company`: a company as one zip file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.export import export_pieces
from engine.routing import secrets_of
from issues.models import Company


class Command(BaseCommand):
    help = "Write a company's agents, skills, routines, projects, labels, issues, comments and files to a zip file."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("company", help="the company's key, like ACME")
        parser.add_argument("file", help="the zip file to write; one that exists is left alone")

    def handle(self, *, company: str, file: str, **_options: Any) -> None:
        found = Company.objects.filter(key=company.upper()).first()
        if found is None:
            keys = ", ".join(Company.objects.order_by("key").values_list("key", flat=True)) or "none"
            raise CommandError(f"There is no company {company.upper()}. There are: {keys}.")
        path = Path(file)
        try:
            with path.open("xb") as out:
                out.writelines(
                    export_pieces(
                        found,
                        known_secrets=secrets_of(found),
                        told=lambda part: self.stdout.write(f"{part} …"),
                    )
                )
        except FileExistsError as error:
            raise CommandError(f"{path} exists already.") from error
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
        self.stdout.write(f"{path} holds {found} ({path.stat().st_size:,} bytes).")
