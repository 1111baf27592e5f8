"""A stage on which every verb's example means something: who and what the examples name is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from agents.models import ActionOutcome, Run
from agents.services.agents import worker_for
from agents.services.notebook import write_note
from engine.outcomes import Outcome
from engine.verbs.base import Verb
from engine.verbs.scene import Scene
from engine.workbench import Trial, try_reply
from issues.models import Activity, Approval, ApprovalStatus, Issue, Status
from issues.services.approvals import decide_approval
from issues.services.blockers import add_blockers
from issues.services.issues import assign_issue, set_status
from issues.services.projects import add_labels
from issues.services.reviews import set_reviewers
from tests import build


class Stage:
    """Bob is woken on ACME-1, which is his. Around it are what examples speak of: @ada, ACME-7, labels."""

    def __init__(self) -> None:
        self.company, self.owner = build.company_with_founder("ACME")
        self.bob = build.agent(self.company, "Bob")
        self.ada = build.agent(self.company, "Ada")
        self.issue = build.issue(self.company, "The whole", assignee=self.bob)
        self.others = [build.issue(self.company, f"Something else {number}") for number in range(2, 8)]
        self.labels = [build.label(self.company, name) for name in ("backend", "bug", "triage")]

    @property
    def seventh(self) -> Issue:
        """ACME-7, whose assignee is nobody."""
        return self.others[-1]

    def prepare(self, verb: Verb) -> None:
        """Bring about what the verb's example takes for granted."""
        if verb.name in PREPARATIONS:
            PREPARATIONS[verb.name](self)

    def scene(self) -> Scene:
        """Bob at work on his issue."""
        worker = build.at_work(self.bob, self.issue)
        assert worker.run is not None
        return Scene(actor=worker, issue=Issue.objects.get(pk=self.issue.pk), run=worker.run)

    def reply(self, text: str, *, issue: Issue | None = None) -> Trial:
        """Apply Bob's reply for good."""
        self.bob.refresh_from_db()
        return try_reply(self.bob, Issue.objects.get(pk=(issue or self.issue).pk), text, is_dry=False)

    def outcome(self, text: str, *, issue: Issue | None = None) -> Outcome:
        """What became of the only action of the reply."""
        (outcome,) = self.reply(text, issue=issue).outcomes
        return outcome

    def decide(self, approval: Approval, status: ApprovalStatus = ApprovalStatus.APPROVED, **how: Any) -> Approval:
        """The owner's decision."""
        return decide_approval(actor=self.owner, approval=approval, status=status, **how)

    def again(self, issue: Issue | None = None) -> Issue:
        """The issue as it stands now."""
        return Issue.objects.get(pk=(issue or self.issue).pk)


def kinds(run: Run) -> Counter[str]:
    """What the agent did in the run, as kinds of activity, beside its comment."""
    lines = Activity.objects.filter(run=run).exclude(kind="comment.written", issue=run.issue)
    return Counter(lines.values_list("kind", flat=True))


def words(outcomes: list[Outcome]) -> list[str]:
    """The outcomes in their order, as words."""
    return [ActionOutcome(outcome.outcome).value for outcome in outcomes]


def _label(stage: Stage) -> None:
    add_labels(actor=stage.owner, issue=stage.issue, labels=stage.labels)


def _block(stage: Stage) -> None:
    add_blockers(actor=stage.owner, issue=stage.issue, blockers=[stage.seventh])


def _ask_for_review(stage: Stage) -> None:
    """The whole is Ada's work now, and Bob is to judge it."""
    assign_issue(actor=stage.owner, issue=stage.issue, assignee=stage.ada)
    set_reviewers(actor=stage.owner, issue=stage.issue, reviewers=[stage.bob])
    set_status(actor=stage.owner, issue=stage.issue, status=Status.IN_REVIEW)


def _teach(stage: Stage) -> None:
    build.skill(stage.company, "release-notes")


def _note(stage: Stage) -> None:
    write_note(actor=worker_for(stage.bob), issue=stage.issue, key="plan", text="First the export.")


PREPARATIONS: Mapping[str, Callable[[Stage], None]] = {
    "unlabel": _label,
    "unblock": _block,
    "review": _ask_for_review,
    "use-skill": _teach,
    "forget": _note,
}
