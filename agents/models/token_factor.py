"""How a model counts tokens, as its provider's bills have taught."""

from __future__ import annotations

from django.db import models


class TokenFactor(models.Model):
    """Tokens of the model for one of the encoding that is counted with, in the mean of what was reported."""

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=120)
    factor = models.FloatField()
    samples = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["provider", "model"], name="token_factor_once_per_model")]

    def __str__(self) -> str:
        return f"{self.model}: {self.factor:.2f}"
