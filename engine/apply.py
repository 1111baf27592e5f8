"""Applying a reply: its comment, then its actions, all in one transaction, and what became of each written down."""

from __future__ import annotations

from django.utils import timezone

from agents.adapters.reasoning import visible_text
from agents.models import AgentStatus, Run, RunState, WakeupState
from agents.services.agents import worker_for
from agents.services.runs import consume_wakeups
from engine import fence
from engine.actions import parse_agent_actions
from engine.applier import Applier
from engine.continuing import follow_up
from engine.hints import hint_for
from engine.ledger import Tally, past_outcomes, write_down
from engine.meanwhile import Meanwhile
from engine.outcomes import Outcome
from engine.record import fail, finish
from engine.text.types import AgentReply
from engine.verbs.registry import BY_NAME
from engine.verbs.scene import Scene
from issues.activity import record
from issues.actors import SYSTEM
from issues.effects import Wake, savepoint, service, wake
from issues.models import Issue
from issues.refusals import Refusal
from issues.services.comments import write_comment
from issues.services.locks import lock_company, lock_issue
from issues.sources import WakeupSource
from issues.texts import TEXT_BYTES

MOST_ACTIONS = 500
"""Actions of a reply that are looked at. One costs some milliseconds inside a transaction that holds the issue."""


def apply_reply(run: Run) -> list[Outcome]:
    """Apply the run's kept reply, once: the transaction that applies it also marks it. Raises Fenced if the run is no
    longer held."""
    return _apply_once(run, parse_agent_actions(visible_text(run.reply or "")))


@service
def _apply_once(run: Run, reply: AgentReply) -> list[Outcome]:
    if any(BY_NAME[action.verb].makes_issues for action in reply.actions):
        lock_company(run.company)  # numbers issues, and is held before all else, as a claim does
    run = fence.lock(run)
    if run.applied_at is not None:
        return []
    if run.agent.status == AgentStatus.TERMINATED:
        _end_unheard(run)
        return []
    if not reply.prose.strip() and not reply.actions:
        fail(run, "silent", "The model answered nothing, and nothing again when asked once more.")
        return []
    issue = _hold(run)
    earlier = past_outcomes(run) if fence.has_acted(run) else []
    meanwhile = Meanwhile(run, issue)
    scene = Scene(actor=worker_for(run.agent, run), issue=issue, run=run, prose=_within_limit(reply.prose))
    unsaid = _comment(scene, reply.speech)
    outcomes = Applier(scene, meanwhile, Tally.of(earlier)).apply(reply.actions[:MOST_ACTIONS])
    if meanwhile.was_closing_denied:
        _wake_to_read(issue)
    write_down(scene, outcomes)
    _finish(run, reply, unsaid)
    follow_up(scene, reply, [*earlier, *outcomes])
    return outcomes


def _hold(run: Run) -> Issue:
    """The run's issue, held: what a person does to it from here on comes after the reply."""
    assert run.issue_id is not None  # noqa: S101 - fence.lock saw to it
    run.issue = lock_issue(Issue(pk=run.issue_id))
    return run.issue


def _comment(scene: Scene, speech: str) -> str:
    """Post the reply's prose; why it was refused, else empty. That does not keep its actions from being tried.
    `speech` is the part of it that can call somebody."""
    if not scene.prose.strip():
        return ""
    try:
        with savepoint():
            write_comment(actor=scene.actor, issue=scene.issue, body=scene.prose, speech=speech)
    except Refusal as refusal:
        return f"The comment was refused. {refusal}"
    return ""


def _finish(run: Run, reply: AgentReply, unsaid: str) -> None:
    finish(
        run,
        applied_at=timezone.now(),
        dropped=[{"line": drop.line, "number": drop.number, "reason": drop.reason.value} for drop in reply.dropped],
        hint=_too_many(reply) or hint_for(reply),
        error=unsaid,
    )


def _too_many(reply: AgentReply) -> str:
    if len(reply.actions) <= MOST_ACTIONS:
        return ""
    return f"Your reply held {len(reply.actions):,} actions; those after the first {MOST_ACTIONS} were not looked at."


def _wake_to_read(issue: Issue) -> None:
    """A closing was denied because a person wrote meanwhile: the assignee reads it, unless it is woken there anyway."""
    agent = issue.assignee_agent
    if agent is None or issue.wakeups.filter(agent=agent, state=WakeupState.PENDING).exists():
        return
    wake(
        Wake(
            agent_id=agent.pk,
            issue=issue,
            source=WakeupSource.COMMENTED,
            actor=SYSTEM,
            subject=f"version {issue.version}",
            reason="A person wrote on the issue while you were at work.",
        )
    )


def _end_unheard(run: Run) -> None:
    """The agent was terminated meanwhile: its reply is kept and nothing of it posted."""
    fence.write(
        run,
        state=RunState.CANCELLED,
        ended_at=timezone.now(),
        applied_at=timezone.now(),
        error="The agent was terminated while it was at work.",
    )
    consume_wakeups(run)
    if run.issue is not None:
        record(SYSTEM, "run.ended", run.issue, run=run.pk, state=run.state)


def _within_limit(prose: str) -> str:
    """The comment, cut at its limit with a line that says so: an over-long answer is not lost, the run page has it."""
    data = prose.encode()
    if len(data) <= TEXT_BYTES:
        return prose
    note = f"\n\n(The comment is cut here: {len(data):,} bytes were written. The run's page holds all of it.)"
    return data[: TEXT_BYTES - len(note.encode())].decode(errors="ignore") + note
