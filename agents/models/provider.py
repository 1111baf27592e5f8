"""What a company asks models with: its own keys and addresses, and what is known of how an address answers lately."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from issues.sealing import SealedField

NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,29}$"


class ModelTier(models.TextChoices):
    """How good a model has to be. A company says which model each is."""

    LIGHT = "light", "Light"
    STANDARD = "standard", "Standard"
    STRONG = "strong", "Strong"


class CompanyProvider(models.Model):
    """A provider with a key or an address of the company's own. Under a name that the environment has one by
    (`openai`), it stands in its place. The key is sealed and shown nowhere but by its end."""

    company = models.ForeignKey("issues.Company", on_delete=models.CASCADE, related_name="providers")
    name = models.CharField(max_length=30, help_text="By which agents, tiers and the chain name it.")
    protocol = models.CharField(max_length=20, help_text="The provider whose protocol it speaks.")
    base_url = models.CharField(max_length=500, blank=True, help_text="Empty: the vendor's own address.")
    sealed_key = SealedField(blank=True, editable=False)
    key_end = models.CharField(max_length=4, blank=True, editable=False, help_text="The last characters of the key.")
    key_set_at = models.DateTimeField(null=True, blank=True, editable=False)
    model = models.CharField(max_length=120, blank=True, help_text="Asked where nothing else is named.")
    max_concurrent_runs = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Runs that it answers at a time; empty: as many as the company has."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["company", "name"], name="provider_name_once"),
            models.CheckConstraint(condition=Q(name__regex=NAME_PATTERN), name="provider_name_form"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def has_key(self) -> bool:
        return bool(self.sealed_key)


class Breaker(models.Model):
    """An address and a credential that failed lately: there is no row for those that answer.

    Open until `open_until`, it is skipped; then one call may try (the probe), and what becomes of it opens the breaker
    anew or deletes the row. `key` is a hash of both, so one company's bad key stops nobody else.
    """

    key = models.CharField(max_length=64, primary_key=True)
    company = models.ForeignKey(
        "issues.Company", on_delete=models.CASCADE, null=True, related_name="+", help_text="Whose own it is, if so."
    )
    provider = models.CharField(max_length=40)
    host = models.CharField(max_length=255)
    failures = models.PositiveIntegerField(default=0, help_text="Calls that failed in a row.")
    error_kind = models.CharField(max_length=30)
    error = models.TextField()
    failed_at = models.DateTimeField()
    open_until = models.DateTimeField(null=True, blank=True)
    probe_until = models.DateTimeField(null=True, blank=True, help_text="While one call tries: when it counts as dead.")
    probe_run = models.ForeignKey("agents.Run", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")

    def __str__(self) -> str:
        return f"{self.provider} at {self.host}"
