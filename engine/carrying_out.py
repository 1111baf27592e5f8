"""Carrying out what the board approved: the exact actions that were shown, by the same verbs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from agents.models import ActionOutcome, Run, RunAction
from agents.services.agents import worker_for
from engine.text.types import Action
from engine.verbs.base import Effect
from engine.verbs.registry import BY_NAME
from engine.verbs.scene import Scene
from issues.actors import Actor
from issues.models import Approval, Issue
from issues.refusals import Conflict

_GONE = "What was approved can no longer be found."


def carry_out_approved(approval: Approval, _decided_by: Actor) -> None:
    """Apply the approval's actions inside the deciding transaction: all of them, or none.

    Their words are read anew: if they mean something else by now, or what they would replace has changed, they are
    refused. Raises a Refusal, which the approval keeps.
    """
    runs = Run.objects.select_related("agent__company", "issue", "chain_member__user")
    run = runs.filter(pk=approval.payload["run"]).first()
    if run is None:
        raise Conflict(_GONE)
    if not run.agent.is_present:
        raise Conflict(f"@{run.agent.handle} was terminated since.")
    entries: Sequence[Mapping[str, Any]] = approval.payload["actions"]
    rows = _held_rows(run, entries)
    scene = Scene(
        actor=worker_for(run.agent, run, approved=True),
        issue=approval.issue,
        run=run,
        prose=approval.explanation,
        made=_made_by(run),
    )
    remarks: dict[int, list[str]] = defaultdict(list)
    for entry in entries:
        if not BY_NAME[entry["verb"]].makes_issues:
            _finish_made(scene, remarks)
        effect = _perform(scene, entry, rows[entry["ordinal"]])
        remarks[entry["ordinal"]] += effect.remarks
        _fill_in(rows[entry["ordinal"]], effect)
    _finish_made(scene, remarks)
    for ordinal, row in rows.items():
        row.reason = " ".join(remarks[ordinal])[:500]
        row.save()


def _held_rows(run: Run, entries: Sequence[Mapping[str, Any]]) -> dict[int, RunAction]:
    """The rows of the actions, held. Conflict if one has been carried out, or its verb no longer exists."""
    ordinals = [entry["ordinal"] for entry in entries]
    rows = RunAction.objects.select_for_update().filter(run=run, ordinal__in=ordinals).order_by("ordinal")
    found = {row.ordinal: row for row in rows}
    if len(found) < len(ordinals) or any(entry["verb"] not in BY_NAME for entry in entries):
        raise Conflict(_GONE)
    if any(row.outcome != ActionOutcome.APPROVAL for row in found.values()):
        raise Conflict("The action has been carried out before.")
    return found


def _made_by(run: Run) -> dict[str, list[Issue]]:
    """The issues that the reply made without asking, by title: an approved action may name one."""
    made: dict[str, list[Issue]] = {}
    verbs = [name for name, verb in BY_NAME.items() if verb.makes_issues]
    applied = run.actions.filter(verb__in=verbs, outcome=ActionOutcome.APPLIED, issue__isnull=False)
    for row in applied.select_related("issue__company", "issue__parent", "issue__assignee_agent"):
        if row.issue is not None:
            made.setdefault(row.issue.title, []).append(row.issue)
    return made


def _perform(scene: Scene, entry: Mapping[str, Any], row: RunAction) -> Effect:
    verb = BY_NAME[entry["verb"]]
    scene.ordinal = entry["ordinal"]
    request = verb.resolve(scene, Action(entry["verb"], entry["args"], entry["body"], row.line))
    shown = (entry["values"], entry["before"])
    if shown != (None, None) and shown != (dict(request.values), dict(request.before)):
        raise Conflict("Something has changed since it was asked.", "Let the agent ask again.")
    return verb.carry_out(scene, request)


def _finish_made(scene: Scene, remarks: dict[int, list[str]]) -> None:
    for ordinal, remark in scene.finish_made():
        remarks[ordinal].append(remark)


def _fill_in(row: RunAction, effect: Effect) -> None:
    row.outcome, row.summary, row.issue = ActionOutcome.APPLIED, effect.summary[:500], effect.issue
    row.before, row.after = dict(effect.before), dict(effect.after)
