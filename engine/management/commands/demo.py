"""`manage.py demo`: a company to look around in."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from engine.demo.company import make_demo_company
from issues.actors import Person
from issues.services.accounts import installation_founder


class Command(BaseCommand):
    help = "Make a demo company whose agents are scripted (no key needed) and print its prefix."

    def handle(self, **_options: Any) -> None:
        company = make_demo_company(actor=Person(installation_founder()))
        self.stdout.write(
            f"{company.key}: {company.name}, a demo company. Its agents are scripted; no model is called."
        )
