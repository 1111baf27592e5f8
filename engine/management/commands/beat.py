"""`manage.py beat`: tick."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from trimus import beat


class Command(BaseCommand):
    help = "Start the beat: it tells the workers every few seconds to look what is due. One is enough."
    requires_system_checks = ()

    def handle(self, **_options: Any) -> None:
        beat.run()
