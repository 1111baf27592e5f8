"""How much a model is asked to think: the agent's word, its role's, the company's, off."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from agents.adapters.thinking import ThinkingLevel
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from issues.models.company import THINKING_LEVELS
from tests import build
from tests.engine.recording import KEYS, recorded


def test_companies_and_agents_know_the_same_levels() -> None:
    assert tuple(ThinkingLevel) == THINKING_LEVELS


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("agents", "role", "companys", "level"),
    [
        ("high", "triage", "low", "high"),
        ("off", "", "low", "off"),
        ("", "triage", "low", "off"),
        ("", "engineer", "low", "low"),
        ("", "", "", "off"),
    ],
)
def test_the_first_that_says_something_decides(agents: str, role: str, companys: str, level: str) -> None:
    company, _ = build.company_with_founder(default_thinking=companys)
    assert build.agent(company, "Ada", thinking=agents, role=role).thinking_level == level


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("level", "sent"), [("medium", "medium"), ("off", None), ("", "high")])
def test_the_level_reaches_the_provider(level: str, sent: str | None, settings: Settings) -> None:
    settings.LLM = KEYS
    company, _ = build.company_with_founder(default_thinking="high")
    ada = build.agent(company, "Ada", provider="openai", model="gpt-5.2", thinking=level)
    build.issue(company, assignee=ada)
    with recorded("openai") as bodies:
        run = claim_next()
        assert run is not None
        heartbeat(run)
    assert bodies[0].get("reasoning_effort") == sent
