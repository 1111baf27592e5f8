"""Writing a checkpoint: after a run whose prompt could not show its whole history, beside all runs.

Losing one costs nothing: the next run that has too little room asks for it again.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from django.db import IntegrityError
from django.utils import timezone

from agents.adapters.base import AdapterError, Completion, Message, ModelRequest, Role
from agents.adapters.loop import model_loop
from agents.adapters.reasoning import visible_text
from agents.catalogue import ModelEntry
from agents.models import Checkpoint, Reservation, Run
from agents.own_models import entry_for
from agents.services.breakers import note_answer, note_failure
from agents.services.spending import OverBudget, reserve, settle
from engine.calls import write_call
from engine.ceiling import request_ceiling
from engine.gate import Closed, Wait, first_open
from engine.meters import meter_for
from engine.participants import author
from engine.routing import NoProvider, Route, background_routes, masked, secrets_of
from engine.text import context as shown
from engine.text.checkpoint_request import CHECKPOINT_CONTRACT, checkpoint_request
from engine.text.checkpoints import CheckpointRefused, advance, from_plain, read_proposal, to_plain
from engine.text.points import CheckpointFields
from engine.troubles import called
from engine.turns import database_turn
from issues.effects import savepoint, service, unit
from issues.models import Comment, Issue, was_brought

log = structlog.get_logger(__name__)

KEPT_NEWEST = 8
"""Comments at the end that are left as they are: a prompt has room for about so many."""

WORTH_IT = 8
"""Comments that must have come since, for a new checkpoint."""

MOST_COMMENTS, MOST_CHARACTERS = 100, 60_000
"""Of the talk, for one checkpoint; what is longer takes several."""

AGAIN_AFTER = datetime.timedelta(hours=1)
"""After a try that came to nothing."""

ANSWER_TOKENS = 4_000
SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class _Task:
    """What a checkpoint is to be made of."""

    run: Run
    issue: Issue
    route: Route
    entry: ModelEntry
    number: int
    fields: CheckpointFields
    comments: tuple[shown.Comment, ...]
    counted: int
    request: ModelRequest


def read_checkpoint(issue: Issue) -> shown.Checkpoint | None:
    """The newest checkpoint of the issue, while the company wants any."""
    found = issue.checkpoints.filter(problem="").first() if issue.company.checkpoints else None
    return None if found is None else shown.Checkpoint(from_plain(found.fields), found.until_id, found.comments)


def checkpoint_after(run: Run) -> None:
    """Write a checkpoint for the issue of a run that has ended, if its prompt showed that one is needed. Whatever goes
    wrong is noted with the try and concerns no run."""
    if not _was_cut(run):
        return
    with database_turn():
        task = _prepare(run)
    if task is None:
        return
    try:
        completion = model_loop().start(task.route.endpoint, task.request).result()
    except AdapterError as error:
        with database_turn():
            note_failure(task.run.company, called(task.route), error)
            _note(task, masked(error.message, task.run.company), error)
        return
    with database_turn():
        note_answer(task.route.key)
        _store(task, completion)


def _prepare(run: Run) -> _Task | None:
    """What to sum up, with the worst case of the call set aside; None if there is nothing to do, or no means."""
    run = Run.objects.select_related("company", "agent__company", "issue__company").get(pk=run.pk)
    issue = run.issue
    if issue is None or run.is_live or not run.company.checkpoints or not _was_cut(run) or run.agent.is_scripted:
        return None
    if Reservation.objects.filter(run=run).exists():
        return None  # another call is being paid in the run's name
    if issue.checkpoints.exclude(problem="").filter(created_at__gt=timezone.now() - AGAIN_AFTER).exists():
        return None
    before = issue.checkpoints.filter(problem="").first()
    comments = _since(issue, before)
    if not comments:
        return None
    try:
        task = _task(run, issue, before, comments)
        with unit():
            reserve(run, request_ceiling(task.request, task.entry, meter_for(task.route.model)), starts_run=False)
    except (NoProvider, Closed, OverBudget) as refusal:
        log.info("checkpoint.not_written", issue=issue.pk, why=str(refusal))
        return None
    return task


def _was_cut(run: Run) -> bool:
    """Whether the run's prompt left out a part of the history."""
    sections = (section for section in run.prompt_sections if section["title"] == "Conversation History")
    return any(not section["is_whole"] for section in sections)


def _since(issue: Issue, before: Checkpoint | None) -> list[Comment]:
    """The comments to sum up, oldest first: those since the last checkpoint but for the newest, and none while there
    are few."""
    standing = issue.comments.filter(deleted_at=None).select_related("author_agent", "author_member__user")
    standing = standing.annotate(brought=was_brought())
    if before is not None:
        standing = standing.filter(pk__gt=before.until_id)
    found = list(standing.order_by("pk")[: MOST_COMMENTS + KEPT_NEWEST])
    found = found[: len(found) - KEPT_NEWEST] if len(found) > KEPT_NEWEST else []
    chosen: list[Comment] = []
    left = MOST_CHARACTERS
    for comment in found:
        left -= len(comment.body)
        if left < 0 and chosen:
            break
        chosen.append(comment)
    return chosen if len(chosen) >= WORTH_IT else []


def _task(run: Run, issue: Issue, before: Checkpoint | None, rows: Sequence[Comment]) -> _Task:
    opening = first_open(run.company, background_routes(run.agent), timezone.now())
    if opening.is_probe:
        raise Closed(Wait("Whether the provider answers again is tried by a run."))
    route = opening.route
    entry = entry_for(route.endpoint, route.model)
    fields = from_plain(before.fields) if before is not None else CheckpointFields()
    comments = tuple(shown.Comment(row.pk, author(row), row.created_at, row.body) for row in rows)
    request = ModelRequest(
        system=CHECKPOINT_CONTRACT,
        messages=(Message(Role.USER, checkpoint_request(fields, comments, None, secrets_of(run.company))),),
        model=route.model,
        max_output_tokens=min(ANSWER_TOKENS, entry.max_output_tokens),
        deadline_seconds=SECONDS,
    )
    return _Task(
        run=run,
        issue=issue,
        route=route,
        entry=entry,
        number=before.number + 1 if before is not None else 1,
        fields=fields,
        comments=comments,
        counted=(before.comments if before is not None else 0) + len(comments),
        request=request,
    )


@service
def _store(task: _Task, completion: Completion) -> None:
    """The next state of the record, if the proposal keeps to the rules."""
    try:
        proposal = read_proposal(masked(visible_text(completion.text), task.run.company))
        fields = advance(task.fields, proposal, {f"comment {comment.id}" for comment in task.comments})
    except CheckpointRefused as refusal:
        _note(task, str(refusal), completion)
        return
    _account(task, completion)
    try:
        with savepoint():
            _write(task, fields=to_plain(fields))
    except IntegrityError:
        log.info("checkpoint.written_by_another", issue=task.issue.pk, number=task.number)


@service
def _note(task: _Task, problem: str, call: Completion | AdapterError) -> None:
    log.warning("checkpoint.refused", issue=task.issue.pk, why=problem)
    _account(task, call, problem)
    _write(task, problem=problem[:500])


def _write(task: _Task, **values: object) -> None:
    Checkpoint.objects.create(
        issue=task.issue,
        number=task.number,
        agent=task.run.agent,
        until_id=task.comments[-1].id,
        comments=task.counted,
        **values,
    )


def _account(task: _Task, call: Completion | AdapterError, problem: str = "") -> None:
    """The call as a row, and what it cost instead of what was set aside. An answer can be of no use, too."""
    refused = {"error_kind": "refused", "error": problem} if problem and isinstance(call, Completion) else {}
    settle(task.run, write_call(task.run.company, "checkpoint", task.route, task.entry, call, **refused))
