"""What a heartbeat left behind, as the rules look at it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from agents.models import ActionOutcome, Agent, Run, Wakeup, WakeupSource, WakeupState
from issues import blobs
from issues.models import Approval, ApprovalStatus, Comment, FileVersion, Finding, Issue


class Seen:
    """The rows after one run. Each is read when first asked for."""

    def __init__(self, run: Run) -> None:
        self.run = Run.objects.select_related("agent", "company", "issue__company").get(pk=run.pk)
        self.agent: Agent = self.run.agent

    @cached_property
    def issue(self) -> Issue:
        return Issue.objects.select_related("assignee_agent", "company").get(runs=self.run)

    @cached_property
    def comment(self) -> str:
        """All that the agent said in this run, wherever."""
        said = Comment.objects.filter(author_agent=self.agent, created_at__gte=self.run.created_at)
        return "\n".join(said.order_by("pk").values_list("body", flat=True))

    @cached_property
    def files(self) -> Mapping[str, str]:
        """What it wrote, by path."""
        versions = FileVersion.objects.filter(run=self.run).select_related("file", "blob").order_by("number")
        return {version.file.path: blobs.read(version.blob).decode() for version in versions}

    @cached_property
    def findings(self) -> str:
        return "\n".join(f"{finding.title}\n{finding.body}" for finding in Finding.objects.filter(run=self.run))

    @cached_property
    def opened(self) -> list[Issue]:
        """The issues that it made."""
        made = self.run.actions.filter(verb="create-issue", outcome=ActionOutcome.APPLIED, issue__isnull=False)
        return list(Issue.objects.select_related("assignee_agent").filter(pk__in=made.values("issue")))

    @cached_property
    def waiting(self) -> list[Approval]:
        """What now waits for a person because of it."""
        asked = Approval.objects.filter(requested_by_agent=self.agent, created_at__gte=self.run.created_at)
        return list(asked.filter(status=ApprovalStatus.PENDING))

    @cached_property
    def woken(self) -> frozenset[str]:
        """Handles of the agents that it woke, itself left out, and whom the engine itself lets go on."""
        caused = Wakeup.objects.filter(cause_run=self.run).exclude(agent=self.agent)
        caused = caused.exclude(source=WakeupSource.CONTINUE)
        return frozenset(caused.exclude(state=WakeupState.REFUSED).values_list("agent__handle", flat=True))

    def outcomes(self, outcome: ActionOutcome) -> int:
        """How many of its actions came out so."""
        return self.run.actions.filter(outcome=outcome).count()

    def applied(self, verb: str, args: str = "") -> bool:
        """Whether it used the verb to effect; `args` is what its argument begins with."""
        return self.run.actions.filter(verb=verb, args__startswith=args, outcome=ActionOutcome.APPLIED).exists()
