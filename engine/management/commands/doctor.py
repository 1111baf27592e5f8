"""`manage.py doctor`: what is wrong here, and what mends it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from engine.diagnosis import examine


class Command(BaseCommand):
    help = "Look at this installation and name what is wrong, each with what mends it. Ends with 1 if anything is."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        checks = list(examine())
        if options["json"]:
            self.stdout.write(json.dumps([asdict(check) | {"well": check.is_well} for check in checks], indent=2))
        else:
            for check in checks:
                self.stdout.write(f"{'ok ' if check.is_well else 'BAD'}  {check.what:<16} {check.found}")
                if not check.is_well:
                    self.stdout.write(f"     {'':<16} → {check.mend}")
        if not all(check.is_well for check in checks):
            sys.exit(1)
