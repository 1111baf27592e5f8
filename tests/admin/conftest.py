"""A company with some of everything, and an operator who owns it."""

from __future__ import annotations

import pytest
from django.test import Client

from issues.actors import Person
from issues.models import Company
from tests import build


@pytest.fixture
def founded(db: None) -> tuple[Company, Person]:
    company, founder = build.company_with_founder(max_concurrent_runs=100)
    founder.user.is_superuser = founder.user.is_staff = True
    founder.user.save()
    return company, founder


@pytest.fixture
def operator(founded: tuple[Company, Person]) -> Person:
    return founded[1]


@pytest.fixture
def browser(operator: Person) -> Client:
    client = Client()
    client.force_login(operator.user)
    return client
