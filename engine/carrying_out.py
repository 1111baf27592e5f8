"""Carrying out what the board approved: the exact action that was shown, by the same verbs."""

from __future__ import annotations

from agents.models import ActionOutcome, Run, RunAction
from agents.services.agents import worker_for
from engine.text.types import Action
from engine.verbs.registry import BY_NAME
from engine.verbs.scene import Scene
from issues.actors import Actor
from issues.models import Approval
from issues.refusals import Conflict


def carry_out_approved(approval: Approval, _decided_by: Actor) -> None:
    """Apply the approval's action inside the deciding transaction.

    Its words are read anew: if they mean something else by now, or what they would replace has changed, it is refused.
    Raises a Refusal, which the approval keeps.
    """
    payload = approval.payload
    verb = BY_NAME.get(payload["verb"])
    run = Run.objects.select_related("agent__company", "chain_member__user").filter(pk=payload["run"]).first()
    if verb is None or run is None:
        raise Conflict("What was approved can no longer be found.")
    row = RunAction.objects.select_for_update().get(run=run, ordinal=payload["ordinal"])
    if row.outcome != ActionOutcome.APPROVAL:
        raise Conflict("The action has been carried out before.")
    actor = worker_for(run.agent, run, approved=True)
    scene = Scene(actor=actor, issue=approval.issue, run=run, prose=approval.explanation)
    request = verb.resolve(scene, Action(payload["verb"], payload["args"], payload["body"], row.line))
    if dict(request.values) != payload["values"] or dict(request.before) != payload["before"]:
        raise Conflict("Something has changed since it was asked.", "Let the agent ask again.")
    effect = verb.carry_out(scene, request)
    for _, step in scene.afterwards:
        step()
    row.outcome, row.summary, row.issue = ActionOutcome.APPLIED, effect.summary[:500], effect.issue
    row.before, row.after = dict(effect.before), dict(effect.after)
    row.save(update_fields=["outcome", "summary", "issue", "before", "after"])
