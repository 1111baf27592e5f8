"""`manage.py import_company`: a company from the zip file that `export_company` wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from agents.imports.archive import Archive
from agents.services.imports import Imported, import_company
from issues.actors import SYSTEM, Person
from issues.models import Company, User
from issues.refusals import Refusal
from issues.services.accounts import installation_founder
from issues.services.companies import delete_company

SKIP, REPLACE = "skip", "replace"


class Command(BaseCommand):
    help = "Make a company from an export. It is paused, its routines are off, and nobody is woken."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="the zip file")
        parser.add_argument("--preview", action="store_true", help="say what there would be, and change nothing")
        parser.add_argument("--key", default="", help="the new company's key, where its own is taken")
        parser.add_argument(
            "--if-taken", choices=(SKIP, REPLACE), help="leave alone the company that has the key, or delete it first"
        )
        parser.add_argument(
            "--owner", metavar="USER", help="who becomes its first owner; else the installation's founder"
        )
        parser.add_argument(
            "--member", action="append", default=[], metavar="HANDLE=USER", help="whose account another member is"
        )

    def handle(self, *, file: str, preview: bool, key: str, if_taken: str | None, **options: Any) -> None:
        with _opened(file) as archive:
            key = (key or archive.company.text("key")).upper()
            taken = Company.objects.filter(key=key).first()
            if taken is not None and if_taken == SKIP:
                self.stdout.write(f"There is a company {key} already; nothing was done.")
                return
            if taken is not None and if_taken != REPLACE:
                raise CommandError(
                    f"There is a company {key} already: --key NEW, --if-taken skip, or --if-taken replace."
                )
            owner = Person(_account(options["owner"]) if options["owner"] else installation_founder())
            with transaction.atomic():
                if taken is not None:
                    delete_company(actor=SYSTEM, company=taken)
                imported = import_company(
                    actor=owner,
                    archive=archive,
                    key=key,
                    accounts=_accounts(options["member"]),
                    progress=lambda part: self.stdout.write(f"{part} …"),
                )
                transaction.set_rollback(preview)
        self._tell(imported, preview)

    def _tell(self, imported: Imported, preview: bool) -> None:
        company = imported.company
        for remark in imported.remarks:
            self.stdout.write(f"- {remark}")
        made = ", ".join(f"{count:,} {kind}" for kind, count in imported.made.items()) or "nothing"
        self.stdout.write(f"{company.key}: {company.name} {'would hold' if preview else 'holds'} {made}.")
        ending = "Nothing was changed." if preview else "It is paused: look at it, then resume it on its start page."
        self.stdout.write(ending)


@contextmanager
def _opened(file: str) -> Iterator[Archive]:
    """The file, while it is read. What is refused in it, or by it, is the command's error."""
    try:
        with Path(file).open("rb") as opened:
            yield Archive(opened)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
    except Refusal as refusal:
        raise CommandError(f"Nothing was changed. {refusal}") from refusal


def _accounts(named: Sequence[str]) -> dict[str, User]:
    pairs = [pair.partition("=") for pair in named]
    return {handle.strip().removeprefix("@").lower(): _account(user) for handle, _, user in pairs}


def _account(username: str) -> User:
    account = User.objects.filter(username__iexact=username.strip(), is_active=True).first()
    if account is None:
        raise CommandError(f"There is no active account “{username}”.")
    return account
