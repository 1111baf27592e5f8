"""Applying a reply: its comment, then each action in a savepoint of its own, all in one transaction.

An action that is refused changes nothing and is recorded with the reason; the others still apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.utils import timezone

from agents.adapters.reasoning import visible_text
from agents.models import ActionOutcome, AgentStatus, Run, RunAction, RunState
from agents.services.agents import worker_for
from agents.services.runs import consume_wakeups
from engine import fence
from engine.actions import parse_agent_actions
from engine.continuing import follow_up
from engine.hints import hint_for
from engine.meanwhile import Meanwhile
from engine.outcomes import Outcome
from engine.record import fail, finish
from engine.text.types import Action, AgentReply
from engine.verbs.base import Request, Verb
from engine.verbs.registry import BY_NAME
from engine.verbs.scene import Scene
from issues.activity import record
from issues.actors import SYSTEM
from issues.effects import Wake, savepoint, unit, wake
from issues.refusals import Forbidden, NeedsApproval, Refusal
from issues.services.approvals import propose_action
from issues.services.comments import write_comment
from issues.sources import WakeupSource

PROPOSAL_WORDS = 200
"""Characters of an action that its approval's title shows."""


def apply_reply(run: Run) -> list[Outcome]:
    """Apply the run's kept reply, once: the transaction that applies it also marks it. Raises Fenced if the run is no
    longer held."""
    reply = parse_agent_actions(visible_text(run.reply or ""))
    with unit():
        run = fence.lock(run)
        if run.applied_at is not None:
            return []
        if run.agent.status == AgentStatus.TERMINATED:
            _end_unheard(run)
            return []
        if not reply.prose.strip() and not reply.actions:
            fail(run, "silent", "The model answered nothing, and nothing again when asked once more.")
            return []
        outcomes = _apply(run, reply)
        _write_down(run, reply, outcomes)
        return outcomes


def _apply(run: Run, reply: AgentReply) -> list[Outcome]:
    assert run.issue is not None  # noqa: S101 - fence.lock saw to it
    actor = worker_for(run.agent, run)
    scene = Scene(actor=actor, issue=run.issue, run=run, prose=reply.prose)
    meanwhile = Meanwhile(run)
    nothing = meanwhile.why_nothing_applies(run.issue)
    if reply.prose.strip():
        write_comment(actor=actor, issue=run.issue, body=_within_limit(reply.prose))
    if nothing:
        return [Outcome(ordinal, action, ActionOutcome.DENIED, nothing) for ordinal, action in enumerate(reply.actions)]
    return Applier(scene, meanwhile).apply(reply.actions)


class Applier:
    """Applies the actions of one reply, those that make issues first, so that the others can name them."""

    def __init__(self, scene: Scene, meanwhile: Meanwhile | None = None) -> None:
        self.scene = scene
        self.meanwhile = meanwhile
        self._used: Counter[str] = Counter()

    def apply(self, actions: Sequence[Action]) -> list[Outcome]:
        numbered = list(enumerate(actions))
        making = [pair for pair in numbered if BY_NAME[pair[1].verb].makes_issues]
        others = [pair for pair in numbered if not BY_NAME[pair[1].verb].makes_issues]
        outcomes = {ordinal: self._perform(ordinal, action) for ordinal, action in making}
        self._finish_made(outcomes)
        outcomes |= {ordinal: self._perform(ordinal, action) for ordinal, action in others}
        return [outcomes[ordinal] for ordinal, _ in numbered]

    def _perform(self, ordinal: int, action: Action) -> Outcome:
        verb = BY_NAME[action.verb]
        self.scene.ordinal = ordinal
        if verb.cap is not None and self._used[verb.name] >= verb.cap:
            return Outcome(ordinal, action, ActionOutcome.DENIED, f"More than {verb.cap} of /{verb.name} in one run.")
        self._used[verb.name] += 1
        request: Request | None = None
        try:
            with savepoint():
                request = verb.resolve(self.scene, action)
                self._check_meanwhile(verb, request)
                effect = verb.carry_out(self.scene, request)
        except NeedsApproval as refusal:
            return self._propose(ordinal, action, request or Request(), refusal)
        except Forbidden as refusal:
            return Outcome(ordinal, action, ActionOutcome.DENIED, str(refusal))
        except Refusal as refusal:
            return Outcome(ordinal, action, ActionOutcome.FAILED, str(refusal))
        self.scene.issue.refresh_from_db()
        return Outcome(ordinal, action, ActionOutcome.APPLIED, effect=effect, approval=effect.approval)

    def _check_meanwhile(self, verb: Verb, request: Request) -> None:
        """Deny what a person decided meanwhile."""
        if self.meanwhile is None:
            return
        issue_id = request.values.get("issue", self.scene.issue.pk)
        if issue_id != self.scene.issue.pk:
            return
        try:
            self.meanwhile.check(verb, self.scene.issue)
            self.meanwhile.check_closing(self.scene.issue, request.values.get("status"))
        except Refusal as refusal:
            raise Forbidden(refusal.reason, refusal.hint) from None

    def _propose(self, ordinal: int, action: Action, request: Request, refusal: NeedsApproval) -> Outcome:
        """Put the exact action before the board."""
        payload = {
            "verb": action.verb,
            "args": action.args,
            "body": action.body,
            "values": dict(request.values),
            "before": dict(request.before),
            "run": self.scene.run.pk,
            "ordinal": ordinal,
        }
        try:
            with savepoint():
                approval = propose_action(
                    actor=self.scene.actor,
                    issue=self.scene.issue,
                    title=f"/{action.verb} {action.args}"[:PROPOSAL_WORDS],
                    payload=payload,
                    explanation=self.scene.prose,
                )
        except Refusal as failure:
            return Outcome(ordinal, action, ActionOutcome.FAILED, str(failure))
        return Outcome(ordinal, action, ActionOutcome.APPROVAL, str(refusal), approval=approval)

    def _finish_made(self, outcomes: dict[int, Outcome]) -> None:
        """Do what waited until all issues exist; what went wrong is said with the action that asked for it."""
        for ordinal, step in self.scene.afterwards:
            with savepoint():
                remark = step()
            if remark:
                done = outcomes[ordinal]
                reason = " ".join(filter(None, (done.reason, remark)))
                outcomes[ordinal] = Outcome(ordinal, done.action, done.outcome, reason, done.effect, done.approval)
        self.scene.afterwards.clear()


def _write_down(run: Run, reply: AgentReply, outcomes: Sequence[Outcome]) -> None:
    RunAction.objects.bulk_create(to_row(run, outcome) for outcome in outcomes)
    _wake_after_denied_closing(run, outcomes)
    finish(
        run,
        applied_at=timezone.now(),
        dropped=[{"line": drop.line, "number": drop.number, "reason": drop.reason.value} for drop in reply.dropped],
        hint=hint_for(reply),
    )
    follow_up(worker_for(run.agent, run), run, reply, outcomes)


def to_row(run: Run, outcome: Outcome) -> RunAction:
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


def _wake_after_denied_closing(run: Run, outcomes: Sequence[Outcome]) -> None:
    """A closing was denied because a person changed the text: let the assignee read it. A comment wakes by itself."""
    issue = run.issue
    closing = [one for one in outcomes if one.action.verb == "status" and one.outcome == ActionOutcome.DENIED]
    if issue is None or not closing or issue.assignee_agent_id is None:
        return
    if "issue.edited" in Meanwhile(run).kinds(issue):
        wake(
            Wake(
                agent_id=issue.assignee_agent_id,
                issue=issue,
                source=WakeupSource.COMMENTED,
                actor=SYSTEM,
                subject=f"edited {issue.version}",
                reason="A person edited the issue while you were at work.",
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
    from issues.texts import TEXT_BYTES

    data = prose.encode()
    if len(data) <= TEXT_BYTES:
        return prose
    note = f"\n\n(The comment is cut here: {len(data):,} bytes were written. The run's page holds all of it.)"
    return data[: TEXT_BYTES - len(note.encode())].decode(errors="ignore") + note
