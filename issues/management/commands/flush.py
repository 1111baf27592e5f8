"""Django's `flush`, which empties the whole database: the one order that the audit's triggers have to let through."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import flush

from issues.audit import maintenance


class Command(flush.Command):
    def handle(self, **options: Any) -> None:
        with maintenance(using=options["database"]):
            super().handle(**options)
