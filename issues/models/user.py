"""People who log in."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person with an account. What they may do in a company is their `Member` row there."""

    name = models.CharField(max_length=120, blank=True, help_text="As shown beside what they write.")
    time_zone = models.CharField(max_length=64, default="UTC")

    def __str__(self) -> str:
        return self.name or self.username


class LoginLink(models.Model):
    """A one-time log-in link. Only the SHA-256 of its token is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="login_links")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"log-in link {self.pk}"
