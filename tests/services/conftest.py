"""A company to act in, and the people and agents of the tests of services."""

from __future__ import annotations

import pytest

from agents.models import Agent
from issues.actors import Person
from issues.models import Company, Issue
from tests import build


@pytest.fixture
def company() -> Company:
    return build.company_with_founder()[0]


@pytest.fixture
def owner(company: Company) -> Person:
    return build.owner_of(company)


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada", max_concurrent_runs=10)


@pytest.fixture
def bob(company: Company) -> Agent:
    return build.agent(company, "Bob", max_concurrent_runs=10)


@pytest.fixture
def issue(company: Company) -> Issue:
    """An open issue, assigned to nobody."""
    return build.issue(company, "Write the report")
