"""`manage.py verify_audit`: whether the audit says what it said."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections

from issues.audit import is_shut
from issues.audit_verification import Verdict, verify_audit
from issues.models import Company


class Command(BaseCommand):
    help = "Walk the chain over each company's activity and name the first line that was changed. Ends with 1 for one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--company", metavar="PREFIX", help="only this one, by its key")
        parser.add_argument(
            "--noted", metavar="HEAD", help="a head that was printed before: whether it is still part of a chain"
        )

    def handle(self, *, company: str | None, noted: str | None, **_options: Any) -> None:
        companies = Company.objects.order_by("key")
        if company is not None:
            companies = companies.filter(key=company.upper())
            if not companies:
                raise CommandError(f"There is no company {company.upper()}.")
        verdicts = []
        for one in companies:
            verdicts.append(verify_audit(one))
            self._tell(verdicts[-1])
        is_well = not any(verdict.broken for verdict in verdicts)
        if noted is not None and not any(verdict.holds(noted.lower()) for verdict in verdicts):
            self.stderr.write(f"No chain holds {noted}: what was sealed then is not what is there now.")
            is_well = False
        if not is_shut(connections[DEFAULT_DB_ALIAS]):
            self.stderr.write("The database does not keep the audit from being changed: manage.py migrate")
            is_well = False
        if not is_well:
            sys.exit(1)

    def _tell(self, verdict: Verdict) -> None:
        key = verdict.company.key
        if verdict.broken:
            self.stderr.write(f"{key}: BROKEN after {verdict.sealed:,} lines. {verdict.broken}")
            return
        late = f", {verdict.late:,} of them committed late" if verdict.late else ""
        younger = f"; {verdict.unsealed:,} younger ones are not sealed yet" if verdict.unsealed else ""
        lines = f"{verdict.sealed:,} lines in {verdict.seals:,} seals"
        self.stdout.write(f"{key}: {lines} are as they were{late}{younger}.")
        if verdict.head:
            self.stdout.write(f"{'':{len(key)}}  Head: {verdict.head}")
