"""What may be spent, what was, and what is set aside for calls under way. Money is in micro-dollars, always whole."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Budget(models.Model):
    """Limits of a company, or of one of its agents, for each UTC month. An empty limit is none."""

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="budgets")
    agent = models.OneToOneField("agents.Agent", on_delete=models.CASCADE, null=True, blank=True, related_name="budget")
    tokens = models.PositiveBigIntegerField(null=True, blank=True)
    microdollars = models.PositiveBigIntegerField(null=True, blank=True)
    runs = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["company"], condition=Q(agent=None), name="budget_once_per_company"),
        ]

    def __str__(self) -> str:
        return f"budget of {self.agent or self.company}"


class Spending(models.Model):
    """What a company, or one of its agents, spent in a month, and what its calls under way could still cost."""

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="spending")
    agent = models.ForeignKey("agents.Agent", on_delete=models.CASCADE, null=True, blank=True, related_name="spending")
    month = models.DateField(help_text="Its first day, in UTC.")
    tokens = models.PositiveBigIntegerField(default=0)
    microdollars = models.PositiveBigIntegerField(default=0)
    runs = models.PositiveIntegerField(default=0)
    reserved_tokens = models.PositiveBigIntegerField(default=0)
    reserved_microdollars = models.PositiveBigIntegerField(default=0)
    unpriced_calls = models.PositiveIntegerField(default=0, help_text="Calls of models without a known price.")
    warned_at = models.DateTimeField(null=True, blank=True)
    stopped_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "spending"
        constraints = [
            models.UniqueConstraint(
                fields=["company", "month"], condition=Q(agent=None), name="spending_once_per_company"
            ),
            models.UniqueConstraint(
                fields=["agent", "month"], condition=Q(agent__isnull=False), name="spending_once_per_agent"
            ),
            models.CheckConstraint(
                condition=Q(tokens__gte=0, microdollars__gte=0, reserved_tokens__gte=0, reserved_microdollars__gte=0),
                name="spending_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.agent or self.company}, {self.month:%Y-%m}"


class Reservation(models.Model):
    """What is set aside for a run's calls until what they really cost is known."""

    run = models.OneToOneField("agents.Run", on_delete=models.CASCADE, related_name="reservation")
    month = models.DateField(help_text="The month that it counts in, whenever it is settled.")
    tokens = models.PositiveBigIntegerField(default=0)
    microdollars = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"reservation of run {self.run_id}"
