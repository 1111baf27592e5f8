"""The tenant, its members, and the one namespace of handles that members and agents share."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

KEY_PATTERN = r"^[A-Z][A-Z0-9]{1,9}$"


THINKING_LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh")


class CompanyStatus(models.TextChoices):
    ACTIVE = "active", "Active"
    PAUSED = "paused", "Paused"


class Company(models.Model):
    """The tenant; owns everything else. Its key prefixes issue identifiers: `ACME-12`."""

    name = models.CharField(max_length=120)
    key = models.CharField(max_length=10, unique=True, validators=[RegexValidator(KEY_PATTERN)])
    mission = models.TextField(blank=True, max_length=4_000)
    norms = models.TextField(blank=True, max_length=15_000, help_text="Shown to every agent.")
    time_zone = models.CharField(max_length=64, default="UTC")
    status = models.CharField(max_length=10, choices=CompanyStatus, default=CompanyStatus.ACTIVE)

    last_issue_number = models.PositiveIntegerField(default=0, editable=False)

    hop_limit = models.PositiveSmallIntegerField(
        default=8, help_text="How many agents in a row may wake one another without a person."
    )
    continue_limit = models.PositiveSmallIntegerField(
        default=5, help_text="How often in a row an agent may go on with its own issue without a person."
    )
    runs_per_hour = models.PositiveSmallIntegerField(
        default=12, help_text="Runs of one agent on one issue in an hour; more wait."
    )
    max_concurrent_runs = models.PositiveSmallIntegerField(default=20, validators=[MinValueValidator(1)])
    comments_wake_assignee = models.BooleanField(default=True)
    agents_may_create_labels = models.BooleanField(default=False)
    hires_on_probation = models.BooleanField(default=False, help_text="Whether new agents begin on probation.")
    action_caps = models.JSONField(
        default=dict, blank=True, help_text="How often one run may use a verb, where it is not the verb's own figure."
    )
    prompt_budget = models.PositiveIntegerField(
        default=24_000,
        help_text="Tokens of the second message of a prompt at most.",
        validators=[MinValueValidator(2_000)],
    )
    retention_days = models.PositiveSmallIntegerField(
        default=90,
        validators=[MinValueValidator(1), MaxValueValidator(3_650)],
        help_text="How long prompts and replies of runs are kept; figures stay.",
    )
    file_quota_mib = models.PositiveIntegerField(
        default=2_048,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000_000)],
        help_text="MiB that attachments and every version of workspace files may take together.",
    )
    model_tiers = models.JSONField(
        default=dict, blank=True, help_text="Provider and model of each tier: light, standard, strong."
    )
    model_chain = models.JSONField(
        default=list, blank=True, help_text="Providers and models that answer, in turn, when an agent's own fails."
    )
    providers_stamp = models.CharField(
        max_length=32, blank=True, editable=False, help_text="Changes with its own providers; empty: it has none."
    )
    webhook_kinds = models.JSONField(
        default=list, blank=True, editable=False, help_text="What its webhooks want to be told; kept by their services."
    )
    checkpoints = models.BooleanField(
        default=True, help_text="Sum up the comments of long issues, which then stand in prompts for what does not fit."
    )
    default_thinking = models.CharField(
        max_length=10,
        blank=True,
        choices=[(level, level.capitalize()) for level in THINKING_LEVELS],
        help_text="How much models are asked to think where an agent does not say; empty: not at all.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "companies"
        constraints = [
            models.CheckConstraint(condition=Q(key__regex=KEY_PATTERN), name="company_key_form"),
            models.CheckConstraint(condition=Q(status__in=CompanyStatus.values), name="company_status_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def file_bytes(self) -> int:
        """What its files take of their quota: attachments and every version of workspace files."""
        use = getattr(self, "file_use", None)
        return use.bytes if use is not None else 0

    @property
    def slug(self) -> str:
        """The key in lower case: the first part of the board's addresses."""
        return self.key.lower()


class Role(models.TextChoices):
    OWNER = "owner", "Owner"
    BOARD = "board", "Board member"
    VIEWER = "viewer", "Viewer"


class MemberQuerySet(models.QuerySet["Member"]):
    def present(self) -> MemberQuerySet:
        """Members who have not been removed."""
        return self.filter(removed_at=None)

    def deciding(self) -> MemberQuerySet:
        """The board: owners and board members."""
        return self.present().filter(role__in=(Role.OWNER, Role.BOARD))


def mailed_at_first() -> list[str]:
    """What a new member has told by e-mail, until they choose."""
    return ["mention", "asked", "budget"]


class Member(models.Model):
    """A user's membership of a company. A removed member's row stays: what they wrote keeps its author."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey("issues.User", on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    handle = models.CharField(max_length=40)
    joined_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True, blank=True)
    mailed = models.JSONField(
        default=mailed_at_first, blank=True, help_text="What is told by e-mail: names of kinds of notices."
    )

    objects = MemberQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company", "user"], name="member_once_per_company"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="member_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} (@{self.handle})"

    @property
    def name(self) -> str:
        return str(self.user)

    @property
    def is_present(self) -> bool:
        """Whether they have not been removed."""
        return self.removed_at is None

    @property
    def is_judging(self) -> bool:
        """Whether they may review work: viewers only look."""
        return self.is_present and self.role != Role.VIEWER


class Handle(models.Model):
    """A handle taken in a company. Rows are never deleted while the company lives: a handle is never reused."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="handles")
    key = models.CharField(max_length=40, help_text="NFC and case-folded.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["company", "key"], name="handle_once_per_company")]

    def __str__(self) -> str:
        return f"@{self.key}"
