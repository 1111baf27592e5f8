"""What providers' counts teach about a model that publishes no encoding."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from agents.adapters.base import Endpoint
from agents.models import Run, TokenFactor
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from engine.metering import ENOUGH_SAMPLES, MEMORY, meter_of
from engine.meters import meter_for
from engine.routing import Route
from engine.text.tokens import FIRST_FACTOR, MESSAGE_TOKENS
from issues.models import Company
from tests import build
from tests.adapters.wire import DONE, chunk, counts, stream
from tests.engine.recording import KEYS, recorded

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = "a-model-nobody-knows"
ROUTE = Route(Endpoint("openai"), MODEL)


@pytest.fixture
def company(settings: Settings) -> Company:
    settings.LLM = KEYS
    return build.company_with_founder()[0]


def run_once(company: Company, factor: float | None, *, model: str = MODEL) -> Run:
    """A run whose provider counts so many tokens for each that is counted here; None: it counts nothing."""
    name = f"Ada{company.agents.count()}"
    build.issue(company, assignee=build.agent(company, name, provider="openai", model=model))

    def respond(body: dict[str, list[dict[str, str]]]):  # type: ignore[no-untyped-def]
        sent = sum(meter_for("").count(message["content"]) for message in body["messages"])
        said = [counts(round(sent * factor) + 2 * MESSAGE_TOKENS)] if factor is not None else []
        return stream(chunk("Noted."), chunk(finish="stop"), *said, DONE)

    with recorded("openai", respond):
        run = claim_next()
        assert run is not None
        heartbeat(run)
    run.refresh_from_db()
    return run


def test_a_factor_is_used_once_several_reports_agree_on_it(company: Company) -> None:
    for seen in range(ENOUGH_SAMPLES):
        assert not meter_of(ROUTE).is_learnt, seen
        run_once(company, 1.2)
    meter = meter_of(ROUTE)
    assert meter.is_learnt
    assert meter.factor == pytest.approx(1.2, abs=0.01)
    assert not meter.is_exact  # it stays an estimate
    before = meter_for(MODEL)
    assert before.factor == FIRST_FACTOR
    assert meter.guard("Some words. " * 99) < before.guard("Some words. " * 99)


def test_the_mean_follows_what_is_reported(company: Company) -> None:
    for factor in (1.0, 1.2, 1.4):
        run_once(company, factor)
    assert TokenFactor.objects.get().factor == pytest.approx(1.2, abs=0.01)
    TokenFactor.objects.update(samples=MEMORY - 1)
    run_once(company, 1.6)
    assert TokenFactor.objects.get().factor == pytest.approx(1.22, abs=0.01)


@pytest.mark.parametrize("factor", [None, 40.0, 0.01])
def test_no_report_or_a_nonsensical_one_teaches_nothing(company: Company, factor: float | None) -> None:
    run_once(company, factor)
    assert not TokenFactor.objects.exists()


def test_a_model_whose_encoding_is_published_needs_no_lesson(company: Company) -> None:
    run_once(company, 1.3, model="gpt-4o")
    assert not TokenFactor.objects.exists()
    assert meter_of(Route(Endpoint("openai"), "gpt-4o")).is_exact


def test_estimates_are_marked_in_what_is_kept_of_a_run(company: Company) -> None:
    assert run_once(company, 1.2).prompt_facts["is_exact"] is False
    assert run_once(company, 1.0, model="gpt-4o").prompt_facts["is_exact"] is True
