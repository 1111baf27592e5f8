"""What a run has done: its actions with what became of each, as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agents.models import ActionOutcome, Run, RunAction
from engine.outcomes import Outcome
from engine.text.types import Action
from engine.verbs.scene import Scene
from issues.activity import record


@dataclass(frozen=True, slots=True)
class Tally:
    """What a run did before: how many actions, of which verbs, and how many approvals they asked for. What was over
    a cap counts, too: it was tried."""

    actions: int = 0
    used: Counter[str] = field(default_factory=Counter)
    approvals: int = 0

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Tally:
        proposed = {one.approval for one in outcomes if one.outcome is ActionOutcome.APPROVAL}
        return cls(len(outcomes), Counter(one.action.verb for one in outcomes), len(proposed))


NOTHING_YET = Tally()


def past_outcomes(run: Run) -> list[Outcome]:
    """What became of the actions that the run has carried out so far, in their order. The caller holds the run's row,
    so that no two go on from the same place."""
    return [
        Outcome(
            row.ordinal,
            Action(row.verb, row.args, row.body, row.line),
            ActionOutcome(row.outcome),
            row.reason,
            approval=row.approval,
        )
        for row in run.actions.select_related("approval").order_by("ordinal")
    ]


def write_down(scene: Scene, outcomes: Sequence[Outcome]) -> list[RunAction]:
    """The outcomes as rows of the scene's run."""
    rows = RunAction.objects.bulk_create(to_row(outcome, scene.own_run) for outcome in outcomes)
    _log_refused(scene, outcomes)
    return rows


def to_row(outcome: Outcome, run: Run | None = None) -> RunAction:
    """The outcome as a row; of what a person did there is no run, and it is not kept."""
    effect = outcome.effect
    return RunAction(
        run=run,
        ordinal=outcome.ordinal,
        line=outcome.action.line,
        verb=outcome.action.verb,
        args=outcome.action.args,
        body=outcome.action.body,
        outcome=outcome.outcome,
        reason=outcome.reason[:500],
        summary=effect.summary[:500] if effect else "",
        before=dict(effect.before) if effect else {},
        after=dict(effect.after) if effect else {},
        issue=effect.issue if effect else None,
        approval=outcome.approval,
    )


def _log_refused(scene: Scene, outcomes: Iterable[Outcome]) -> None:
    """Each action that was denied or failed stands in the issue's timeline; those refused alike stand in one line."""
    refused = Counter(
        (one.action.verb, one.outcome, one.reason)
        for one in outcomes
        if one.outcome in (ActionOutcome.DENIED, ActionOutcome.FAILED)
    )
    for (verb, outcome, _), count in refused.items():
        record(
            scene.actor, "action.refused", scene.issue, run=scene.own_run.pk, verb=verb, outcome=outcome, count=count
        )
