"""Applying the actions of one reply, each in a savepoint of its own: one that is refused changes nothing, and the
others still apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agents.models import ActionOutcome
from engine.ledger import NOTHING_YET, Tally
from engine.meanwhile import Meanwhile
from engine.outcomes import Outcome
from engine.proposals import Proposal, ask_board, group
from engine.text.types import Action
from engine.verbs.base import Effect, Request, Verb
from engine.verbs.registry import BY_NAME
from engine.verbs.scene import Scene
from issues import blobs
from issues.effects import savepoint
from issues.models import Company
from issues.refusals import Forbidden, NeedsApproval, Refusal
from issues.services.locks import lock_issue

MOST_APPROVALS = 10
"""Approvals that one reply may put before the board: more than a person reads at one go helps nobody."""


class _TakenBack(Exception):
    """Ends a rehearsal."""


def check_cap(company: Company, verb: Verb, used: int) -> None:
    """Forbidden for a run that has tried the verb as often as it may."""
    cap: int | None = company.action_caps.get(verb.name, verb.cap)
    if cap is not None and used >= cap:
        raise Forbidden(f"More than {cap} of /{verb.name} in one run.")


class Applier:
    """Applies the actions of one reply, those that make issues first, so that the others can name them."""

    def __init__(self, scene: Scene, meanwhile: Meanwhile | None = None, before: Tally = NOTHING_YET) -> None:
        """`before` is what the run did before, which caps and numbers go on from."""
        self.scene = scene
        self.meanwhile = meanwhile
        self._first = before.actions
        self._asked = before.approvals
        self._outcomes: dict[int, Outcome] = {}
        self._proposals: list[Proposal] = []
        self._used = before.used.copy()

    def apply(self, actions: Sequence[Action]) -> list[Outcome]:
        """What became of each action, in the order of the reply. Afterwards the scene's issue is as they left it."""
        numbered = list(enumerate(actions, self._first))
        nothing = self.meanwhile.why_nothing_applies() if self.meanwhile is not None else ""
        if nothing:
            return [Outcome(ordinal, action, ActionOutcome.DENIED, nothing) for ordinal, action in numbered]
        for ordinal, action in numbered:
            if BY_NAME[action.verb].makes_issues:
                self._perform(ordinal, action)
        self._freshen()
        self._add_remarks()
        for ordinal, action in numbered:
            if not BY_NAME[action.verb].makes_issues:
                self._perform(ordinal, action)
        self._freshen()
        self._ask_board()
        self._freshen()
        return [self._outcomes[ordinal] for ordinal, _ in numbered]

    def _perform(self, ordinal: int, action: Action) -> None:
        verb = BY_NAME[action.verb]
        self.scene.ordinal = ordinal
        try:
            if self.scene.run is not None:  # people have no caps: nothing of theirs runs away
                check_cap(self.scene.company, verb, self._used[verb.name])
        except Forbidden as refusal:
            self._refuse(ordinal, action, refusal)
            return
        self._used[verb.name] += 1
        self._freshen()
        request: Request | None = None
        try:
            with savepoint():
                request = verb.resolve(self.scene, action)
                self._check_meanwhile(verb, request)
                effect = verb.carry_out(self.scene, request)
        except NeedsApproval as refusal:
            self._propose(Proposal(ordinal, action, request, refusal))
        except Refusal as refusal:
            self._refuse(ordinal, action, refusal)
        else:
            self._end(ordinal, action, ActionOutcome.APPLIED, " ".join(effect.remarks), effect)

    def _end(
        self, ordinal: int, action: Action, outcome: ActionOutcome, reason: str, effect: Effect | None = None
    ) -> None:
        approval = effect.approval if effect is not None else None
        self._outcomes[ordinal] = Outcome(ordinal, action, outcome, reason, effect, approval)

    def _refuse(self, ordinal: int, action: Action, refusal: Refusal) -> None:
        """Denied is what the agent may not do, failed what cannot be read or done as things stand."""
        outcome = ActionOutcome.DENIED if isinstance(refusal, Forbidden) else ActionOutcome.FAILED
        self._end(ordinal, action, outcome, str(refusal))

    def _freshen(self) -> None:
        """Let each action see what the one before it made of the issue, and nothing of what was undone."""
        self.scene.issue = lock_issue(self.scene.issue)

    def _check_meanwhile(self, verb: Verb, request: Request) -> None:
        """Deny what a person decided meanwhile."""
        try:
            if self.meanwhile is not None:
                self.meanwhile.check(verb, request)
        except Refusal as refusal:
            raise Forbidden(refusal.reason, refusal.hint) from None

    def _propose(self, proposal: Proposal) -> None:
        """Note what the board must decide, but for what even its yes could not bring about."""
        verb, request = BY_NAME[proposal.action.verb], proposal.request
        if request is not None:
            try:
                self._rehearse(verb, request)
            except Refusal as refusal:
                self._refuse(proposal.ordinal, proposal.action, refusal)
                return
            if verb.makes_issues:
                self.scene.proposed.add(request.values["title"])
        self._proposals.append(proposal)

    def _rehearse(self, verb: Verb, request: Request) -> None:
        """Carry the request out as if it were approved, and take it back."""
        approved = replace(self.scene.worker, approved=True)
        made = {title: list(issues) for title, issues in self.scene.made.items()}
        try:
            with blobs.rehearsal(), savepoint():
                verb.carry_out(replace(self.scene, actor=approved, made=made, afterwards=[]), request)
                raise _TakenBack
        except _TakenBack:
            pass

    def _add_remarks(self) -> None:
        """What could not be done once all issues existed is said with the action that asked for it."""
        for ordinal, remark in self.scene.finish_made():
            done = self._outcomes[ordinal]
            self._outcomes[ordinal] = replace(done, reason=f"{done.reason} {remark}".strip())

    def _ask_board(self) -> None:
        """Put before the board what it must decide."""
        for number, proposals in enumerate(group(self._proposals), self._asked):
            try:
                if number >= MOST_APPROVALS:
                    raise Forbidden(f"More than {MOST_APPROVALS} approvals asked for in one run.")
                with savepoint():
                    approval = ask_board(self.scene, proposals)
            except Refusal as refusal:
                for one in proposals:
                    self._refuse(one.ordinal, one.action, refusal)
                continue
            for one in proposals:
                reason = str(one.refusal)
                self._outcomes[one.ordinal] = Outcome(
                    one.ordinal, one.action, ActionOutcome.APPROVAL, reason, approval=approval
                )
