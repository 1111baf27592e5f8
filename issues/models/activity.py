"""The audit: one append-only line of what changed."""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models
from django.db.models import Q

from issues.models.company import Company


class ActorKind(models.TextChoices):
    USER = "user", "Person"
    AGENT = "agent", "Agent"
    SYSTEM = "system", "System"


class Activity(models.Model):
    """Who changed what, when. Written in the transaction of the change; a database trigger refuses any other
    write, so references carry no constraint: a line outlives what it speaks of. It refers to texts and never
    copies them."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, related_name="activity")
    issue = models.ForeignKey(
        "issues.Issue", on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="activity"
    )
    actor_kind = models.CharField(max_length=6, choices=ActorKind)
    member = models.ForeignKey(
        "issues.Member", on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    agent = models.ForeignKey(
        "agents.Agent", on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    run = models.ForeignKey(
        "agents.Run", on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="activity"
    )
    kind = models.CharField(max_length=40)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "activity"
        constraints = [
            models.CheckConstraint(
                condition=Q(actor_kind="user", member__isnull=False, agent=None)
                | Q(actor_kind="agent", agent__isnull=False, member=None)
                | Q(actor_kind="system", member=None, agent=None),
                name="activity_one_actor",
            ),
        ]
        indexes = [
            models.Index(fields=["company", "-id"], name="activity_company"),
            models.Index(fields=["issue", "id"], name="activity_issue"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.actor_kind}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            self._refuse()
        super().save(*args, **kwargs)

    def delete(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        self._refuse()

    @staticmethod
    def _refuse() -> NoReturn:
        raise TypeError("activity is append-only")
