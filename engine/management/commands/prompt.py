"""`manage.py prompt`: exactly what would be sent, and no model called."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agents.models import Wakeup
from engine.prompt import HeartbeatPrompt
from engine.text.packing import PromptTooLarge
from engine.workbench import draft_prompt, find_pair
from issues.refusals import Refusal


class Command(BaseCommand):
    help = "Print the prompt that a heartbeat would send now, with each section's size."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("issue", help="the issue, like ACME-12")
        parser.add_argument("--agent", required=True, help="the agent's handle")
        parser.add_argument("--wakeup", type=int, help="for this wakeup instead of the pending ones")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *, issue: str, agent: str, wakeup: int | None, **options: Any) -> None:
        try:
            worker, at = find_pair(issue, agent)
            chosen = None if wakeup is None else list(Wakeup.objects.filter(pk=wakeup, agent=worker, issue=at))
            if chosen == []:
                raise CommandError(f"There is no wakeup {wakeup} of @{worker.handle} on {at.identifier}.")
            prompt = draft_prompt(worker, at, chosen)
        except (Refusal, PromptTooLarge) as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(json.dumps(asdict(prompt), indent=2) if options["json"] else _told(prompt))


def _told(prompt: HeartbeatPrompt) -> str:
    about = "" if prompt.is_exact else "about "
    rows = [
        f"{section.message:<7} {section.title:<26} {section.size:>8,} bytes  {section.tokens:>7,} tokens"
        + ("  deferred" if section.is_deferred else "" if section.is_whole else "  cut")
        for section in prompt.sections
    ]
    places = [
        f"{point.message:<7} character {point.offset:>7,}  {point.tokens:>7,} tokens" for point in prompt.breakpoints
    ]
    return "\n".join(
        [
            "=== system", prompt.system, "", "=== user", prompt.user, "", "=== sections", *rows,
            "=== kept by providers up to", *places,
            f"{about}{prompt.tokens:,} tokens in all",
        ]
    )  # fmt: skip
