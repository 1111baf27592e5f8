"""What follows a run that left its issue in todo or in progress: it goes on by itself, or a person is told."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q

from agents.models import ActionOutcome, Agent, Run, Wakeup, WakeupSource, WakeupState
from engine.outcomes import Outcome
from engine.stalling import stop_if_stalled
from engine.text.types import AgentReply
from engine.verbs.registry import BY_NAME
from engine.verbs.scene import Scene
from issues.actors import Worker
from issues.effects import Wake, wake
from issues.models import ApprovalStatus, InboxKind, Issue
from issues.services.inbox import tell

_ANSWERS = (WakeupSource.MENTION, WakeupSource.COMMENTED, WakeupSource.MANUAL)
"""Woken by a person in one of these ways, an agent may just answer."""


def follow_up(scene: Scene, reply: AgentReply, outcomes: Sequence[Outcome]) -> None:
    """Wake the assignee once more if the run moved something and nothing else will wake it; else, if work now lies
    still, tell the responsible person. Inside the transaction that applied the reply."""
    actor, run, issue = scene.worker, scene.own_run, scene.issue
    if _asked_for_unseen(run, outcomes):
        _continue(actor, run, issue, run.agent, "You asked for what was not in your prompt; it stands in this one.")
        return
    assignee = issue.assignee_agent
    if not issue.is_workable or assignee is None or stop_if_stalled(run, issue, outcomes):
        return
    if _something_wakes(issue, assignee):
        return
    if _earned(run, assignee, reply, outcomes):
        _continue(actor, run, issue, assignee, "The issue is yours and still open.")
    elif not _answered_person(run, reply):
        _tell_stopped(issue, assignee, "its last run changed nothing, and nothing will wake it.")


def _asked_for_unseen(run: Run, outcomes: Sequence[Outcome]) -> bool:
    """Whether the reply asked how a verb works, or applied a skill whose text was not in the prompt."""
    seen = run.prompt_facts.get("whole_skills", [])
    effects = [(outcome.action.verb, outcome.effect) for outcome in outcomes if outcome.effect is not None]
    unseen = (verb == "use-skill" and effect.after["skill"] not in seen for verb, effect in effects)
    return any(verb == "help" for verb, _ in effects) or any(unseen)


def _something_wakes(issue: Issue, assignee: Agent) -> bool:
    """Whether the assignee will hear of the issue anyway."""
    return (
        Wakeup.objects.filter(issue=issue, agent=assignee, state=WakeupState.PENDING).exists()
        or issue.children.open().exists()
        or issue.blocker_links.open().exists()
        or issue.approvals.filter(status=ApprovalStatus.PENDING).exists()
    )


def _earned(run: Run, assignee: Agent, reply: AgentReply, outcomes: Sequence[Outcome]) -> bool:
    if run.agent_id != assignee.pk:
        return bool(reply.prose.strip())
    refused = (ActionOutcome.DENIED, ActionOutcome.FAILED)
    return any(
        outcome.outcome in refused
        or (outcome.outcome == ActionOutcome.APPLIED and BY_NAME[outcome.action.verb].is_change)
        for outcome in outcomes
    )


def _continue(actor: Worker, run: Run, issue: Issue, agent: Agent, reason: str) -> None:
    if _in_a_row(issue, agent) >= issue.company.continue_limit:
        _tell_stopped(issue, agent, f"it went on {issue.company.continue_limit} times without a person, the limit.")
        return
    wake(
        Wake(
            agent_id=agent.pk,
            issue=issue,
            source=WakeupSource.CONTINUE,
            actor=actor,
            reason=reason,
            subject=f"run {run.pk}",
        )
    )


def _in_a_row(issue: Issue, agent: Agent) -> int:
    """How often the agent has gone on here by itself since a person last woke it."""
    here = Wakeup.objects.filter(issue=issue, agent=agent)
    last = here.filter(member__isnull=False).order_by("-pk").values_list("pk", flat=True).first()
    return here.filter(Q(source=WakeupSource.CONTINUE), pk__gt=last or 0).count()


def _answered_person(run: Run, reply: AgentReply) -> bool:
    asked = run.wakeups.filter(member__isnull=False, source__in=_ANSWERS)
    return bool(reply.prose.strip()) and asked.exists()


def _tell_stopped(issue: Issue, agent: Agent, why: str) -> None:
    text = f"Say how {issue.identifier} goes on: @{agent.handle} has it, but {why}"
    tell([issue.responsible], InboxKind.STOPPED, text, company=issue.company, issue=issue)
