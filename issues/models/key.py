"""Keys of the API."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from issues.models.company import Company


class KeyScope(models.TextChoices):
    """What may be done with a key, within what its owner may."""

    READ = "read", "Read"
    WRITE = "write", "Read and write"


class ApiKey(models.Model):
    """A bearer key of a user, an agent, or one run. Only its SHA-256 is kept, with a prefix for look-up; a run's
    key dies with the run."""

    company = models.ForeignKey(Company, on_delete=models.CASCADE, null=True, blank=True, related_name="api_keys")
    user = models.ForeignKey("issues.User", on_delete=models.CASCADE, null=True, blank=True, related_name="api_keys")
    agent = models.ForeignKey("agents.Agent", on_delete=models.CASCADE, null=True, blank=True, related_name="api_keys")
    run = models.ForeignKey("agents.Run", on_delete=models.CASCADE, null=True, blank=True, related_name="api_keys")
    name = models.CharField(max_length=120, blank=True)
    scope = models.CharField(max_length=5, choices=KeyScope, default=KeyScope.WRITE)
    prefix = models.CharField(max_length=12, unique=True)
    key_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, agent=None, run=None) | Q(user=None, agent__isnull=False),
                name="api_key_of_user_or_agent",
            ),
            models.CheckConstraint(condition=Q(scope__in=KeyScope.values), name="api_key_scope_known"),
        ]

    def __str__(self) -> str:
        return f"trm_{self.prefix}…"
