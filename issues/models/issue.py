"""A unit of work, what it waits for, and who judges it."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from issues.models.company import Company
from issues.models.flagged import Flagged
from issues.models.project import Label, Project


class Status(models.TextChoices):
    BACKLOG = "backlog", "Backlog"
    TODO = "todo", "Todo"
    IN_PROGRESS = "in_progress", "In progress"
    IN_REVIEW = "in_review", "In review"
    BLOCKED = "blocked", "Blocked"
    DONE = "done", "Done"
    CANCELLED = "cancelled", "Cancelled"

    @property
    def is_closed(self) -> bool:
        return self in CLOSED

    @property
    def is_workable(self) -> bool:
        """Whether an assignee is expected to work on an issue in this status."""
        return self in WORKABLE


CLOSED = (Status.DONE, Status.CANCELLED)
WORKABLE = (Status.TODO, Status.IN_PROGRESS)


class Priority(models.IntegerChoices):
    """Stored as its rank: ascending order is the order of work."""

    URGENT = 1, "Urgent"
    HIGH = 2, "High"
    MEDIUM = 3, "Medium"
    LOW = 4, "Low"
    NONE = 5, "None"

    @property
    def slug(self) -> str:
        """The word used in verbs, addresses and the API."""
        return self.name.lower()

    @classmethod
    def from_slug(cls, slug: str) -> Priority:
        """The priority of that word. KeyError for any other."""
        return cls[slug.upper()]


class IssueQuerySet(models.QuerySet["Issue"]):
    def open(self) -> IssueQuerySet:
        return self.exclude(status__in=CLOSED)

    def in_work_order(self) -> IssueQuerySet:
        """The order of lists and claims: priority, then board rank, then number."""
        return self.order_by("priority", "rank", "number")

    def in_board_order(self) -> IssueQuerySet:
        """The order within a board column."""
        return self.order_by("rank", "number")


_ORDER = ("priority", "rank", "number")


class Issue(Flagged):
    """A unit of work, known by its identifier (`ACME-12`)."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="issues")
    number = models.PositiveIntegerField(editable=False)
    title = models.CharField(max_length=300)
    description = models.TextField(blank=True)
    status = models.CharField(max_length=12, choices=Status, default=Status.TODO)
    priority = models.PositiveSmallIntegerField(choices=Priority, default=Priority.NONE)
    rank = models.BigIntegerField(default=0, help_text="Place in its board column; gaps of 1,024.")
    project = models.ForeignKey(Project, on_delete=models.SET_NULL, null=True, blank=True, related_name="issues")
    labels = models.ManyToManyField(Label, blank=True, related_name="issues")
    assignee_agent = models.ForeignKey(
        "agents.Agent", on_delete=models.PROTECT, null=True, blank=True, related_name="assigned_issues"
    )
    assignee_member = models.ForeignKey(
        "issues.Member", on_delete=models.PROTECT, null=True, blank=True, related_name="assigned_issues"
    )
    responsible = models.ForeignKey(
        "issues.Member",
        on_delete=models.PROTECT,
        related_name="answered_issues",
        help_text="Who answers for it.",
    )
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="children")
    blockers = models.ManyToManyField(
        "self",
        symmetrical=False,
        through="Blocker",
        through_fields=("issue", "blocker"),
        related_name="blocks",
    )
    due_date = models.DateField(null=True, blank=True)
    created_by_member = models.ForeignKey(
        "issues.Member", on_delete=models.PROTECT, null=True, blank=True, related_name="opened_issues"
    )
    created_by_agent = models.ForeignKey(
        "agents.Agent", on_delete=models.PROTECT, null=True, blank=True, related_name="opened_issues"
    )
    created_by_hook = models.ForeignKey(
        "issues.Hook", on_delete=models.SET_NULL, null=True, blank=True, related_name="opened_issues"
    )
    version = models.PositiveIntegerField(default=1, help_text="Counts changes; guards against stale writes.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    status_changed_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = IssueQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "number"], name="issue_number_once"),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="issue_status_known"),
            models.CheckConstraint(condition=Q(priority__in=Priority.values), name="issue_priority_known"),
            models.CheckConstraint(
                condition=Q(assignee_agent=None) | Q(assignee_member=None), name="issue_one_assignee"
            ),
            models.CheckConstraint(
                condition=Q(closed_at=None, status__in=[s for s in Status if s not in CLOSED])
                | Q(closed_at__isnull=False, status__in=CLOSED),
                name="issue_closed_at_with_status",
            ),
            models.CheckConstraint(condition=Q(parent=None) | ~Q(parent=F("id")), name="issue_not_its_own_parent"),
            models.CheckConstraint(condition=~Q(title=""), name="issue_has_title"),
        ]
        indexes = [
            models.Index(fields=["company", "status", "rank", "number"], name="issue_board"),
            models.Index(fields=["company", "priority", "rank", "number"], name="issue_work_order"),
            models.Index(fields=["company", "-updated_at"], name="issue_updated"),
            models.Index(fields=["company", "status", "-closed_at"], name="issue_closed"),
            # What board and list are grouped by, each in the order of work. The last columns spare a look at the row:
            # most of what is walked over was closed long ago.
            models.Index(fields=["company", "status", *_ORDER, "closed_at"], name="issue_by_status"),
            models.Index(fields=["company", "project", *_ORDER, "closed_at"], name="issue_by_project"),
            models.Index(
                fields=["company", "assignee_agent", *_ORDER, "closed_at", "assignee_member"], name="issue_by_agent"
            ),
            models.Index(
                fields=["company", "assignee_member", *_ORDER, "closed_at", "assignee_agent"], name="issue_by_member"
            ),
            models.Index(fields=["assignee_agent", "status"], name="issue_agent_status"),
            models.Index(fields=["assignee_member", "status"], name="issue_member_status"),
            models.Index(fields=["id"], condition=Q(status="blocked"), name="issue_blocked"),
        ]

    def __str__(self) -> str:
        return f"{self.identifier} {self.title}"

    @property
    def identifier(self) -> str:
        """`ACME-12`. Costs a query when the company is not loaded."""
        return f"{self.company.key}-{self.number}"

    @property
    def is_closed(self) -> bool:
        return self.status in CLOSED

    @property
    def is_workable(self) -> bool:
        return self.status in WORKABLE


class BlockerQuerySet(models.QuerySet["Blocker"]):
    def open(self) -> BlockerQuerySet:
        """Links whose blocking issue is not closed yet."""
        return self.exclude(blocker__status__in=CLOSED)


class Blocker(models.Model):
    """`issue` waits for `blocker`. The link ends when the blocker closes, and stays as history."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="blocker_links")
    blocker = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="blocking_links")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BlockerQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issue", "blocker"], name="blocker_once"),
            models.CheckConstraint(condition=~Q(issue=F("blocker")), name="blocker_not_itself"),
        ]

    def __str__(self) -> str:
        return f"{self.issue_id} waits for {self.blocker_id}"


class Verdict(models.TextChoices):
    OUTSTANDING = "outstanding", "Outstanding"
    ACCEPT = "accept", "Accepted"
    SEND_BACK = "send-back", "Sent back"


class Reviewer(models.Model):
    """Who judges an issue in review: a member or an agent, with the verdict of the present round."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="reviewers")
    member = models.ForeignKey("issues.Member", on_delete=models.CASCADE, null=True, blank=True)
    agent = models.ForeignKey("agents.Agent", on_delete=models.CASCADE, null=True, blank=True)
    verdict = models.CharField(max_length=12, choices=Verdict, default=Verdict.OUTSTANDING)
    note = models.TextField(blank=True, max_length=10_000)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["issue", "member"], condition=Q(member__isnull=False), name="reviewer_member_once"
            ),
            models.UniqueConstraint(
                fields=["issue", "agent"], condition=Q(agent__isnull=False), name="reviewer_agent_once"
            ),
            models.CheckConstraint(
                condition=Q(member=None, agent__isnull=False) | Q(member__isnull=False, agent=None),
                name="reviewer_is_one",
            ),
        ]

    def __str__(self) -> str:
        return f"reviewer {self.member or self.agent}"
