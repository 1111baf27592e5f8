"""A company, its founder's browser, and an agent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from agents.models import Agent
from issues.actors import Person
from issues.models import Company
from tests import build


@pytest.fixture
def browse() -> Callable[[Person], Client]:
    """A browser in which the person is logged in."""

    def as_person(person: Person) -> Client:
        client = Client()
        client.force_login(person.user)
        return client

    return as_person


@pytest.fixture
def page(browse: Callable[[Person], Client], founder: Person) -> Client:
    """The founder's browser."""
    return browse(founder)


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada", provider="scripted")
