"""What a program has written in its workspace becomes files of the issue: as if it had said `/write-file` of each."""

from __future__ import annotations

import datetime

import structlog
from django.db.models import F, Max, Min, Value
from django.db.models.functions import Concat

from agents.models import PROGRAMS, Agent, Run, RunOutput, RunState
from agents.services.agents import worker_for
from engine.acting import act
from engine.text.types import Action, AgentReply
from engine.verbs.write_file import VERB
from issues.folders import Obstacle
from issues.refusals import Conflict
from issues.workspace_changes import written_since
from issues.workspaces import place_of

log = structlog.get_logger(__name__)

CLOCKS_DIFFER = 60.0
"""Seconds that the clock of the disk may be behind."""


def take_in_files(run: Run) -> None:
    """Write what the run's program has written, under the run's cap, policy and ledger, before its reply is applied.
    What was written by then is no change, so that doing it again does nothing. Does nothing for other runs."""
    if run.adapter not in PROGRAMS or run.issue is None or run.started_at is None:
        return
    if not Agent.objects.present().filter(pk=run.agent_id).exists():
        return  # it was terminated meanwhile: nothing of it is heard any more
    cap = run.company.action_caps.get(VERB.name, VERB.cap)
    room = max(0, cap - run.actions.filter(verb=VERB.name).count())
    since = _begun(run, run.started_at).timestamp() - CLOCKS_DIFFER
    try:
        written = written_since(place_of(run.issue), since, most=room)
    except (OSError, Obstacle) as error:
        log.warning("workspace.not_read", error=str(error))
        return
    actions = tuple(Action(VERB.name, path, text, 0) for path, text in written.texts.items())
    if actions:
        try:
            act(
                actor=worker_for(run.agent, run),
                issue=run.issue,
                reply=AgentReply(actions=actions, prose="", dropped=(), speech=""),
            )
        except Conflict as ended:  # it was cancelled: applying will find that, too
            log.info("files.not_taken", why=str(ended))
            return
    if written.left:
        _tell(run, written.left)


def _begun(run: Run, started_at: datetime.datetime) -> datetime.datetime:
    """When the first program began whose files nobody has taken: a run that failed has left its own for the next."""
    programs = Run.objects.filter(issue=run.issue_id, adapter__in=PROGRAMS, pk__lt=run.pk)
    taken = programs.filter(state=RunState.SUCCEEDED).aggregate(last=Max("pk"))["last"] or 0
    first = programs.filter(pk__gt=taken, started_at__isnull=False).aggregate(at=Min("started_at"))["at"]
    return min(first, started_at) if first is not None else started_at


def _tell(run: Run, left: int) -> None:
    """People read the run's output; what became no file stays where it was written."""
    files = "1 more file stays" if left == 1 else f"{left:,} more files stay"
    line = f"\n[files] {files} in the workspace alone: no plain text, too large, or over the run's cap\n"
    RunOutput.objects.get_or_create(run=run)
    RunOutput.objects.filter(run=run).update(text=Concat(F("text"), Value(line)))
