"""A provider with a model, as companies, tiers and chains name them, and how both are kept in a company's row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.models import ModelTier
from issues.models import Company


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """By names. An empty provider is the first that is there, an empty model the provider's own."""

    provider: str = ""
    model: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.provider or "the first provider", self.model)))

    @property
    def plain(self) -> dict[str, str]:
        """As it is kept."""
        return {"provider": self.provider, "model": self.model}


def tiers_of(company: Company) -> dict[ModelTier, ModelChoice]:
    """Those that the company has said something of."""
    return {tier: _read(company.model_tiers[tier]) for tier in ModelTier if tier in company.model_tiers}


def tier_of(company: Company, tier: ModelTier) -> ModelChoice:
    """What the tier means here: a tier of which nothing is said is the standard one, and that the first provider."""
    said = tiers_of(company)
    choice = said.get(tier) or said.get(ModelTier.STANDARD) or ModelChoice()
    if choice.provider or tier == ModelTier.STANDARD:
        return choice
    return ModelChoice(tier_of(company, ModelTier.STANDARD).provider, choice.model)


def chain_of(company: Company) -> tuple[ModelChoice, ...]:
    """Who answers, in turn, when an agent's own model does not."""
    return tuple(_read(kept) for kept in company.model_chain)


def _read(kept: Mapping[str, Any]) -> ModelChoice:
    return ModelChoice(str(kept["provider"]), str(kept["model"]))
