"""Providers of a company's own, its tiers and its chain."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone

from agents.adapters.base import VENDOR_URLS
from agents.adapters.registry import load_providers
from agents.model_choices import ModelChoice, chain_of, tiers_of
from agents.models import Agent, CompanyProvider, ModelTier
from agents.models.provider import NAME_PATTERN
from agents.services.wakeups import look_again
from issues.activity import record
from issues.actors import Actor
from issues.effects import service
from issues.fields import check_fields
from issues.models import Company
from issues.outside_urls import check_url
from issues.policies import Right, require
from issues.refusals import Conflict, Invalid
from issues.sealing import seal
from issues.services.locks import lock_company
from issues.texts import check_line

MOST_PROVIDERS = 20
LONGEST_CHAIN = 5
KEY_LIMIT = 500
SHOWN_OF_KEY = 4
LONG_KEY = 16
"""Of a shorter key not even the end is shown: it would be too much of it."""

_ENVIRONMENT = ("openai", "anthropic")
"""Providers that the environment may offer; what they are called where a company has none of that name."""


@service
def add_provider(
    *,
    actor: Actor,
    company: Company,
    name: str,
    protocol: str,
    base_url: str = "",
    key: str = "",
    model: str = "",
    max_concurrent_runs: int | None = None,
) -> CompanyProvider:
    """A key, an address or both of the company's own, by a name. What waited for a model is looked at again."""
    require(actor, Right.MANAGE_COMPANY, company)
    company = lock_company(company)
    if company.providers.count() >= MOST_PROVIDERS:
        raise Conflict(f"A company has at most {MOST_PROVIDERS} providers.")
    provider = CompanyProvider(company=company, name=_check_name(company, name), protocol=_check_protocol(protocol))
    fields = {"base_url": base_url, "model": model, "max_concurrent_runs": max_concurrent_runs}
    _set_fields(provider, **fields)
    if not base_url and not key:
        raise Invalid("A provider needs a key, an address or both.", field="key")
    _set_key(provider, key)
    check_fields(provider, fields)
    provider.save(force_insert=True)
    _changed(company)
    record(actor, "provider.added", company, provider=provider.name)
    return provider


@service
def edit_provider(*, actor: Actor, provider: CompanyProvider, key: str | None = None, **fields: Any) -> CompanyProvider:
    """Change its address, model, limit or key. No key leaves the one there is, an empty one removes it.

    A key is never sent to an address that it was not given for: with a new host it must be given again.
    """
    require(actor, Right.MANAGE_COMPANY, provider.company)
    company = lock_company(provider.company)
    provider = _present(company, provider)
    before = {field: getattr(provider, field, None) for field in fields}
    origin = _origin(provider)
    _set_fields(provider, **fields)
    if key is None and provider.has_key and _origin(provider) != origin:
        raise Invalid("The key was given for another address.", "Give the key of the new one.", field="key")
    if key is not None:
        _set_key(provider, key)
    check_fields(provider, fields)
    if not provider.base_url and not provider.has_key:
        raise Invalid("A provider needs a key, an address or both.", field="key")
    changed = sorted(field for field in fields if getattr(provider, field) != before[field])
    changed += ["key"] if key is not None else []
    if changed:
        provider.save()
        _changed(company)
        record(actor, "provider.edited", company, provider=provider.name, fields=changed)
    return provider


@service
def remove_provider(*, actor: Actor, provider: CompanyProvider) -> None:
    """Forget it and its key. Conflict while a tier, the chain or an agent names it: they would ask somebody else."""
    require(actor, Right.MANAGE_COMPANY, provider.company)
    company = lock_company(provider.company)
    provider = _present(company, provider)
    if users := _named_by(company, provider.name):
        raise Conflict(f"“{provider.name}” is named by {users}.", "Let them name another one first.")
    name = provider.name
    provider.delete()
    _changed(company)
    record(actor, "provider.removed", company, provider=name)


@service
def change_models(
    *,
    actor: Actor,
    company: Company,
    tiers: Mapping[str, ModelChoice] | None = None,
    chain: Sequence[ModelChoice] | None = None,
) -> Company:
    """Say what the tiers mean and who answers, in turn, when a model fails; None leaves either as it is. A tier that is
    not named, or named with nothing, means the standard one."""
    require(actor, Right.MANAGE_COMPANY, company)
    company = lock_company(company)
    before = (company.model_tiers, company.model_chain)
    if tiers is not None:
        unknown = sorted(set(tiers) - set(ModelTier.values))
        if unknown:
            raise Invalid(f"There is no tier “{unknown[0]}”.", f"There are: {', '.join(ModelTier)}.", field="tiers")
        checked = {tier: _check_choice(company, choice, f"tiers.{tier}") for tier, choice in tiers.items()}
        company.model_tiers = {tier: choice.plain for tier, choice in checked.items() if choice != ModelChoice()}
    if chain is not None:
        company.model_chain = [choice.plain for choice in _check_chain(company, chain)]
    if (company.model_tiers, company.model_chain) != before:
        company.save(update_fields=["model_tiers", "model_chain"])
        look_again(company)
        record(actor, "models.changed", company)
    return company


def _check_chain(company: Company, chain: Sequence[ModelChoice]) -> list[ModelChoice]:
    if len(chain) > LONGEST_CHAIN:
        raise Invalid(f"A chain has at most {LONGEST_CHAIN} models.", field="chain")
    checked = [_check_choice(company, choice, "chain") for choice in chain]
    if any(not choice.provider for choice in checked):
        raise Invalid("Each model of the chain names its provider.", field="chain")
    if len(set(checked)) < len(checked):
        raise Invalid("The chain names a model twice.", field="chain")
    return checked


def _check_choice(company: Company, choice: ModelChoice, field: str) -> ModelChoice:
    provider = choice.provider.strip().lower()
    known = provider_names(company)
    if provider and provider not in known:
        raise Invalid(f"There is no provider “{provider[:30]}”.", f"There are: {', '.join(known)}.", field=field)
    return ModelChoice(provider, check_line(choice.model, field, limit=120, required=False))


def provider_names(company: Company) -> list[str]:
    """What tiers, chain and agents of the company may name: its own, and those that the environment may offer."""
    own = list(company.providers.values_list("name", flat=True))
    return own + [name for name in _ENVIRONMENT if name not in own]


def _named_by(company: Company, name: str) -> str:
    """Who names the provider, in words; empty for nobody. One of the environment's names goes on meaning something,
    yet something else."""
    users = [f"the tier {tier.label}" for tier, choice in tiers_of(company).items() if choice.provider == name]
    if any(choice.provider == name for choice in chain_of(company)):
        users.append("the chain")
    agents = Agent.objects.present().filter(company=company, provider=name).order_by("handle")
    users += [f"@{handle}" for handle in agents.values_list("handle", flat=True)[:3]]
    return ", ".join(users)


def _check_name(company: Company, name: str) -> str:
    name = name.strip().lower()
    if not re.fullmatch(NAME_PATTERN, name):
        raise Invalid(
            f"“{name[:40]}” cannot be a provider's name.",
            "Use up to 30 small letters, digits, dashes and underscores.",
            field="name",
        )
    if name == "scripted":
        raise Invalid("“scripted” is what answers without a model.", "Choose another name.", field="name")
    if company.providers.filter(name=name).exists():
        raise Conflict(f"There is a provider “{name}” already.")
    return name


def _check_protocol(protocol: str) -> str:
    known = [spec.name for spec in load_providers().values() if spec.takes_key]
    if protocol not in known:
        raise Invalid(f"There is no protocol “{protocol[:30]}”.", f"There are: {', '.join(known)}.", field="protocol")
    return protocol


def _set_fields(provider: CompanyProvider, **fields: Any) -> None:
    for field, value in fields.items():
        if field == "base_url":
            value = _check_url(check_line(value, field, limit=500, required=False))
        elif field == "model":
            value = check_line(value, field, limit=120, required=False)
        elif field != "max_concurrent_runs":
            raise Invalid(f"A provider has no “{field}”.", field=field)
        elif value is not None and value < 1:
            raise Invalid("At least one run at a time.", field=field)
        setattr(provider, field, value)


def _check_url(url: str) -> str:
    """The address without a slash at its end."""
    if not url:
        return ""
    check_url(
        url,
        "base_url",
        example="https://models.example.org/v1",
        may_be_private=settings.PRIVATE_MODEL_URLS,
        allowed_by="TRIMUS_PRIVATE_MODEL_URLS",
    )
    if urlsplit(url).query:
        raise Invalid("An address has no query.", "The key has a field of its own.", field="base_url")
    return url.rstrip("/")


def _set_key(provider: CompanyProvider, key: str) -> None:
    key = key.strip()
    if len(key) > KEY_LIMIT or not key.isascii() or not key.isprintable() or " " in key:
        raise Invalid("The key holds characters that no key has, or too many.", field="key")
    provider.sealed_key = seal(key)
    provider.key_end = key[-SHOWN_OF_KEY:] if len(key) >= LONG_KEY else ""
    provider.key_set_at = timezone.now() if key else None


def _origin(provider: CompanyProvider) -> tuple[str, str | None, int | None]:
    """Where its key is sent."""
    parts = urlsplit(provider.base_url or VENDOR_URLS.get(provider.protocol, ""))
    return parts.scheme, parts.hostname, parts.port


def _present(company: Company, provider: CompanyProvider) -> CompanyProvider:
    found = company.providers.filter(pk=provider.pk).first()
    if found is None:
        raise Conflict("The provider was removed meanwhile.")
    found.company = company
    return found


def _changed(company: Company) -> None:
    """Let every process read the company's providers anew, and look again at what waits for a model."""
    company.providers_stamp = uuid.uuid4().hex
    company.save(update_fields=["providers_stamp"])
    look_again(company)
