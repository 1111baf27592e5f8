"""`manage.py explain`: why is nothing running?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.models import Wakeup
from engine.explaining import explain
from engine.workbench import find_issue
from issues.refusals import Refusal


class Command(BaseCommand):
    help = "Say why nothing runs on an issue, and tell the story of its newest wakeups."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("issue", help="the issue, like ACME-12")

    def handle(self, *, issue: str, **_options: Any) -> None:
        try:
            found = find_issue(issue)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(explain(found).reason)
        for wakeup in Wakeup.objects.filter(issue=found).select_related("agent").order_by("-pk")[:10]:
            because = wakeup.ended_because or wakeup.waiting_because
            story = f"{wakeup.created_at:%Y-%m-%d %H:%M:%S}  @{wakeup.agent.handle}  {wakeup.source}  {wakeup.state}"
            self.stdout.write("  ".join(filter(None, (story, because))))
