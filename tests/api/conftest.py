"""A company, its founder's calls, and an agent."""

from __future__ import annotations

import pytest

from agents.models import Agent
from issues.actors import Person
from issues.models import Company
from tests import build
from tests.api.client import Api, as_agent, as_person


@pytest.fixture
def api(founder: Person) -> Api:
    """Calls as the founder."""
    return as_person(founder)


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada", adapter="external")


@pytest.fixture
def ada_api(ada: Agent) -> Api:
    """Calls as the agent Ada."""
    return as_agent(ada)
