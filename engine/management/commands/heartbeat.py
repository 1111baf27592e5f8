"""`manage.py heartbeat`: a stored reply through the whole line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from engine.outcomes import Outcome, plain
from engine.workbench import Trial, find_pair, try_reply
from issues.refusals import Refusal


class Command(BaseCommand):
    help = "Apply a stored reply as if the agent had just given it, and print each action with its outcome."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("issue", help="the issue, like ACME-12")
        parser.add_argument("--agent", required=True, help="the agent's handle")
        parser.add_argument("--reply-file", default="-", help="the reply; - is standard input, the default")
        parser.add_argument("--dry-run", action="store_true", help="change nothing")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *, issue: str, agent: str, reply_file: str, dry_run: bool, **options: Any) -> None:
        try:
            worker, at = find_pair(issue, agent)
            trial = try_reply(worker, at, _read(reply_file), is_dry=dry_run)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(json.dumps(_plain(trial), indent=2) if options["json"] else _told(trial))


def _read(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error
    return data.decode(errors="replace")


def _told(trial: Trial) -> str:
    lines = [_line(outcome) for outcome in trial.outcomes] or ["No action."]
    lines += [f"dropped    line {drop['number']}: {drop['line']}  ({drop['reason']})" for drop in trial.run.dropped]
    if trial.run.hint:
        lines.append(f"hint       {trial.run.hint}")
    lines.append("Nothing was changed (dry run)." if trial.is_dry else f"Applied as run {trial.run.pk}.")
    if trial.run.error:
        lines.append(f"The run {trial.run.get_state_display().lower()}: {trial.run.error}")
    return "\n".join(lines)


def _line(outcome: Outcome) -> str:
    what = f"/{outcome.action.verb} {outcome.action.args}".strip()
    said = " ".join(filter(None, (outcome.effect.summary if outcome.effect else "", outcome.reason)))
    return f"{outcome.outcome.value:<10} {what}\n           {said}"


def _plain(trial: Trial) -> dict[str, Any]:
    return {
        "run": None if trial.is_dry else trial.run.pk,
        "state": trial.run.state,
        "error": trial.run.error,
        "actions": [plain(outcome) for outcome in trial.outcomes],
        "dropped": trial.run.dropped,
        "hint": trial.run.hint,
    }
