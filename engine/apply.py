"""Applying a reply: its comment, then each action in a savepoint of its own, all in one transaction.

An action that is refused changes nothing and is recorded with the reason; the others still apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.utils import timezone

from agents.adapters.reasoning import visible_text
from agents.models import ActionOutcome, AgentStatus, Run, RunAction, RunState, WakeupState
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
from issues.effects import Wake, savepoint, service, wake
from issues.models import Issue
from issues.refusals import Forbidden, NeedsApproval, Refusal
from issues.services.approvals import propose_action
from issues.services.comments import write_comment
from issues.services.locks import lock_company
from issues.sources import WakeupSource

PROPOSAL_WORDS = 200
"""Characters of an action that its approval's title shows."""


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
    meanwhile = Meanwhile(run, issue)
    scene = Scene(actor=worker_for(run.agent, run), issue=issue, run=run, prose=reply.prose)
    unsaid = _comment(scene)
    outcomes = Applier(scene, meanwhile).apply(reply.actions)
    if meanwhile.was_closing_denied:
        _wake_to_read(issue)
    _write_down(scene, reply, outcomes, unsaid)
    return outcomes


def _hold(run: Run) -> Issue:
    """The run's issue, held: what a person does to it from here on comes after the reply."""
    assert run.issue_id is not None  # noqa: S101 - fence.lock saw to it
    run.issue = _read(run.issue_id, held=True)
    return run.issue


def _read(issue_id: int, *, held: bool = False) -> Issue:
    issues = Issue.objects.select_related("company", "parent", "assignee_agent", "assignee_member", "responsible__user")
    return (issues.select_for_update(of=("self",), no_key=True) if held else issues).get(pk=issue_id)


def _comment(scene: Scene) -> str:
    """Post the reply's prose; why it was refused, else empty. That does not keep its actions from being tried."""
    if not scene.prose.strip():
        return ""
    try:
        with savepoint():
            write_comment(actor=scene.actor, issue=scene.issue, body=_within_limit(scene.prose))
    except Refusal as refusal:
        return f"The comment was refused. {refusal}"
    return ""


class Applier:
    """Applies the actions of one reply, those that make issues first, so that the others can name them."""

    def __init__(self, scene: Scene, meanwhile: Meanwhile | None = None) -> None:
        self.scene = scene
        self.meanwhile = meanwhile
        self._used: Counter[str] = Counter()
        self._is_fresh = True

    def apply(self, actions: Sequence[Action]) -> list[Outcome]:
        numbered = list(enumerate(actions))
        nothing = self.meanwhile.why_nothing_applies() if self.meanwhile is not None else ""
        if nothing:
            return [Outcome(ordinal, action, ActionOutcome.DENIED, nothing) for ordinal, action in numbered]
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
        self._freshen()
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
        self._is_fresh = False
        return Outcome(ordinal, action, ActionOutcome.APPLIED, effect=effect, approval=effect.approval)

    def _freshen(self) -> None:
        """Let each action see what the one before it made of the issue."""
        if not self._is_fresh:
            self.scene.issue = _read(self.scene.issue.pk)
            self._is_fresh = True

    def _check_meanwhile(self, verb: Verb, request: Request) -> None:
        """Deny what a person decided meanwhile."""
        try:
            if self.meanwhile is not None:
                self.meanwhile.check(verb, request)
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


def _write_down(scene: Scene, reply: AgentReply, outcomes: Sequence[Outcome], unsaid: str) -> None:
    run = scene.run
    RunAction.objects.bulk_create(to_row(run, outcome) for outcome in outcomes)
    finish(
        run,
        applied_at=timezone.now(),
        dropped=[{"line": drop.line, "number": drop.number, "reason": drop.reason.value} for drop in reply.dropped],
        hint=hint_for(reply),
        error=unsaid,
    )
    follow_up(scene.actor, run, reply, outcomes)


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
    from issues.texts import TEXT_BYTES

    data = prose.encode()
    if len(data) <= TEXT_BYTES:
        return prose
    note = f"\n\n(The comment is cut here: {len(data):,} bytes were written. The run's page holds all of it.)"
    return data[: TEXT_BYTES - len(note.encode())].decode(errors="ignore") + note
