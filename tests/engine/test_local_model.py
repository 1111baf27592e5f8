"""A whole story with a real model behind both protocols. It judges nothing rightly: form is looked at, never sense."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from agents.model_choices import ModelChoice
from agents.models import ActionOutcome, Agent, Breaker, ModelCall, Run, RunState, Wakeup, WakeupState
from agents.services.providers import change_models
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from issues.models import Company, Issue
from issues.services.issues import assign_issue
from tests import build
from tests import local_model as the_model
from tests.adapters.servers import begun, dying
from tests.local_model import local_model  # noqa: F401 - a fixture
from trimus.language_models import LanguageModels

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

MOST_RUNS = 6


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest, local_model: str, settings: Settings) -> str:  # noqa: F811
    """The local model as the installation's only one, behind one of the protocols."""
    if request.param == "openai":
        models = LanguageModels(compatible_base_url=f"{local_model}/v1", compatible_model=the_model.MODEL)
    else:
        models = LanguageModels(anthropic_api_key="local", anthropic_base_url=local_model)
    settings.LLM = models
    return str(request.param)


def run_some() -> list[Run]:
    """What a real model says may go on for ever: some runs are enough."""
    runs: list[Run] = []
    while len(runs) < MOST_RUNS and (run := claim_next()) is not None:
        heartbeat(run)
        run.refresh_from_db()
        runs.append(run)
    return runs


def hire(company: Company, name: str) -> Agent:
    return build.agent(company, name, model=the_model.MODEL, tier="lean", max_output_tokens=64)


def test_a_story_runs_to_its_end_whatever_the_model_says(provider: str) -> None:
    company, founder = build.company_with_founder()
    ada = hire(company, "Ada")
    issue = build.issue(company, "Say what a lighthouse is for", description="In one sentence.")
    assign_issue(actor=founder, issue=issue, assignee=ada)
    build.comment(issue, "@ada, keep it short.", actor=founder)
    runs = run_some()
    assert runs
    for run in runs:
        check_recorded(run, provider)
    assert not Run.objects.live().exists()
    assert not Wakeup.objects.filter(state=WakeupState.CLAIMED).exists()
    assert Issue.objects.filter(pk=issue.pk).exists()


@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_when_a_server_dies_in_the_middle_of_its_answer_the_next_of_the_chain_answers(
    sdk: str,
    local_model: str,  # noqa: F811
) -> None:
    company, founder = build.company_with_founder()
    living = {"openai": f"{local_model}/v1", "anthropic": local_model}[sdk]
    with dying(begun(sdk)) as server:
        build.provider(company, "first", protocol=sdk, base_url=server.url, model="gone")
        build.provider(company, "second", protocol=sdk, base_url=living, model=the_model.MODEL)
        change_models(actor=founder, company=company, chain=[ModelChoice("second")])
        ada = build.agent(company, "Ada", provider="first", tier="lean", max_output_tokens=16)
        build.issue(company, "Say what a lighthouse is for", assignee=ada)
        run = run_some()[0]
    assert (run.provider, run.model, run.answered_provider, run.answered_model) == (
        "first",
        "gone",
        "second",
        the_model.MODEL,
    )
    first, *others = ModelCall.objects.filter(run=run).order_by("pk")
    # Not asked again: its answer had begun, so another costs anew.
    assert (first.provider, first.error_kind, first.tries) == ("first", "network", 1)
    assert {call.provider for call in others} == {"second"}
    assert (Breaker.objects.get().provider, Breaker.objects.get().failures) == ("first", 1)


def check_recorded(run: Run, provider: str) -> None:
    """Everything that a run page shows is there."""
    assert run.state in (RunState.SUCCEEDED, RunState.FAILED), run.error
    assert run.provider == provider
    assert "Say what a lighthouse is for" in run.user_message
    if run.state == RunState.FAILED:
        assert (run.error_kind, bool(run.error)) == ("silent", True)
        return
    assert run.reply
    assert run.answered_model == the_model.MODEL
    assert run.input_tokens > 500
    assert run.output_tokens > 0
    assert run.cost_microdollars is None, "a local server has no known price"
    assert sum(call.output_tokens for call in ModelCall.objects.filter(run=run)) == run.output_tokens
    outcomes = set(run.actions.values_list("outcome", flat=True))
    assert outcomes <= set(ActionOutcome.values)
