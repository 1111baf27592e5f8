"""Whom a company's agents ask: its providers, what its tiers mean, who steps in. Keys come in and never go out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from rest_framework import serializers

from agents.model_choices import ModelChoice, chain_of, tiers_of
from agents.models import CompanyProvider, ModelTier
from agents.services.breakers import reset_breaker
from agents.services.providers import add_provider, change_models, edit_provider, remove_provider
from engine.offers import Offer, offer_of, offers_of
from engine.trying import Tried, try_provider
from issues.actors import Actor, Worker
from issues.models import Company
from issues.refusals import Forbidden, NotFound
from issues.rest.scope import Scope, scope_of
from issues.rest.shapes import Form, Shape, StampField
from issues.rest.views import Resource, operation

TAG = "Models"


class ModelChoiceShape(Shape):
    """A provider and a model."""

    provider = serializers.CharField(help_text="Empty: the first that is ready.")
    model = serializers.CharField(help_text="Empty: the provider's own.")


class TierShape(ModelChoiceShape):
    """What a tier means."""

    tier = serializers.ChoiceField(choices=ModelTier.choices)


class ModelsShape(Shape):
    """Who answers."""

    tiers = TierShape(many=True, help_text="Those of which something is said; any other means the standard one.")
    chain = ModelChoiceShape(many=True, help_text="Who answers, in turn, when a model fails.")


class ChoiceForm(Form):
    provider = serializers.CharField(required=False, default="", allow_blank=True, max_length=40)
    model = serializers.CharField(required=False, default="", allow_blank=True, max_length=120)


class TierForm(ChoiceForm):
    tier = serializers.ChoiceField(choices=ModelTier.choices)


class ModelsForm(Form):
    tiers = TierForm(many=True, required=False, help_text="All of them: one that is left out means the standard one.")
    chain = ChoiceForm(many=True, required=False)


class CallsShape(Shape):
    """Calls of the last day."""

    made = serializers.IntegerField()
    failed = serializers.IntegerField()
    last = StampField(allow_null=True)


class ProviderShape(Shape):
    """A provider, how it is set up, and how it has been answering."""

    name = serializers.CharField()
    protocol = serializers.CharField(source="protocol.name")
    is_own = serializers.BooleanField(help_text="Whether it is the company's own, or the installation's.")
    base_url = serializers.CharField(source="own.base_url", allow_null=True, help_text="Empty: the vendor's own.")
    model = serializers.CharField(source="own.model", allow_null=True, help_text="Asked where nothing else is named.")
    max_concurrent_runs = serializers.IntegerField(source="own.max_concurrent_runs", allow_null=True)
    has_key = serializers.BooleanField(source="own.has_key", allow_null=True)
    key_end = serializers.CharField(
        source="own.key_end", allow_null=True, help_text="The last characters of a long key."
    )
    key_set_at = StampField(source="own.key_set_at", allow_null=True)
    state = serializers.ChoiceField(choices=["ready", "troubled", "left_alone", "not_set"])
    problem = serializers.CharField(help_text="Why it cannot be asked.")
    trouble = serializers.CharField(help_text="What went wrong lately.")
    left_alone_until = StampField(source="breaker.open_until", allow_null=True)
    calls = CallsShape()


class ProvidersShape(Shape):
    """All that a company may ask."""

    providers = ProviderShape(many=True)


class ProviderForm(Form):
    """What can be said of a provider of the company's own."""

    base_url = serializers.CharField(required=False, allow_blank=True, max_length=500)
    key = serializers.CharField(required=False, allow_blank=True, max_length=500, write_only=True)
    model = serializers.CharField(required=False, allow_blank=True, max_length=120)
    max_concurrent_runs = serializers.IntegerField(required=False, allow_null=True, min_value=1, max_value=10_000)


class NewProviderForm(ProviderForm):
    name = serializers.CharField(max_length=30, help_text="Small letters, digits, dashes and underscores.")
    protocol = serializers.CharField(max_length=20, help_text="openai or anthropic: whose protocol it speaks.")


class TryForm(Form):
    model = serializers.CharField(required=False, allow_blank=True, default="", max_length=120)


class TriedShape(Shape):
    """What became of one tiny call."""

    answers = serializers.BooleanField()
    words = serializers.CharField()
    hint = serializers.CharField(help_text="What to look at when it did not answer.")


@dataclass(frozen=True, slots=True)
class _Tier:
    tier: ModelTier
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class _Models:
    tiers: list[_Tier]
    chain: list[ModelChoice]


@dataclass(frozen=True, slots=True)
class _Providers:
    providers: list[Offer]


class CompanyModels(Resource):
    @operation("Get who answers", tag=TAG, answer=ModelsShape)
    def get(self, *, key: str) -> Any:
        """What the tiers mean, and who steps in."""
        return _models_of(_people_in(self.actor, key).company)

    @operation("Change who answers", tag=TAG, body=ModelsForm, answer=ModelsShape)
    def patch(self, *, key: str, form: Mapping[str, Any]) -> Any:
        """Owners only."""
        scope = _people_in(self.actor, key)
        tiers = {row.get("tier", ""): _choice(row) for row in form.get("tiers", ())}
        chain = [_choice(row) for row in form.get("chain", ())]
        company = change_models(
            actor=scope.actor,
            company=scope.company,
            tiers=tiers if "tiers" in form else None,
            chain=chain if "chain" in form else None,
        )
        return _models_of(company)


class CompanyProviders(Resource):
    @operation("List providers", tag=TAG, answer=ProvidersShape)
    def get(self, *, key: str) -> Any:
        """The company's own, and those of the installation."""
        return _Providers(offers_of(_people_in(self.actor, key).company))

    @operation("Add a provider", tag=TAG, body=NewProviderForm, answer=ProviderShape, status=HTTPStatus.CREATED)
    def post(self, *, key: str, form: Mapping[str, Any]) -> Offer:
        """Owners only. The key is sealed, and shown by nothing."""
        scope = _people_in(self.actor, key)
        provider = add_provider(actor=scope.actor, company=scope.company, **form)
        return offer_of(provider.company, provider.name)


class CompanyProviderItem(Resource):
    @operation("Get a provider", tag=TAG, answer=ProviderShape)
    def get(self, *, key: str, name: str) -> Offer:
        return offer_of(_people_in(self.actor, key).company, name)

    @operation("Change a provider", tag=TAG, body=ProviderForm, answer=ProviderShape)
    def patch(self, *, key: str, name: str, form: Mapping[str, Any]) -> Offer:
        """Owners only. An empty key takes it away; with another address the key has to be given again."""
        scope = _people_in(self.actor, key)
        provider = edit_provider(actor=scope.actor, provider=_own(scope.company, name), **form)
        return offer_of(provider.company, provider.name)

    @operation("Remove a provider", tag=TAG)
    def delete(self, *, key: str, name: str) -> None:
        """Owners only. Refused while a tier, the chain or an agent names it."""
        scope = _people_in(self.actor, key)
        remove_provider(actor=scope.actor, provider=_own(scope.company, name))


class CompanyProviderTry(Resource):
    @operation("Try a provider", tag=TAG, body=TryForm, answer=TriedShape)
    def post(self, *, key: str, name: str, form: Mapping[str, Any]) -> Tried:
        """Owners only. It is asked for one word; that counts in the budget."""
        scope = _people_in(self.actor, key)
        offer = offer_of(scope.company, name)
        return try_provider(actor=scope.actor, company=scope.company, name=offer.name, model=form["model"])


class CompanyProviderReset(Resource):
    @operation("Reset a provider", tag=TAG, answer=ProviderShape)
    def post(self, *, key: str, name: str) -> Offer:
        """Let one that is left alone be asked again at once."""
        scope = _people_in(self.actor, key)
        offer = offer_of(scope.company, name)
        if offer.route is not None:
            reset_breaker(actor=scope.actor, company=scope.company, key=offer.route.key, provider=offer.name)
        return offer_of(scope.company, name)


def _people_in(actor: Actor, key: str) -> Scope:
    """The company, for people: agents neither see nor choose what they are asked by."""
    scope = scope_of(actor, key)
    if isinstance(actor, Worker):
        raise Forbidden("Models and keys are the owners' to see to.")
    return scope


def _own(company: Company, name: str) -> CompanyProvider:
    row = company.providers.filter(name=name).first()
    if row is None:
        raise NotFound(f"The company has no provider “{name[:30]}” of its own.")
    row.company = company
    return row


def _choice(row: Mapping[str, str]) -> ModelChoice:
    return ModelChoice(row.get("provider", ""), row.get("model", ""))


def _models_of(company: Company) -> _Models:
    tiers = [_Tier(tier, choice.provider, choice.model) for tier, choice in tiers_of(company).items()]
    return _Models(tiers, list(chain_of(company)))
