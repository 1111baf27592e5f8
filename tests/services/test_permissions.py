"""Who may do what: every use case, tried by everybody."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from issues.actors import Actor, Person
from issues.models import Role
from issues.policies import Grant
from issues.refusals import Forbidden, NeedsApproval, NotFound
from tests.services.use_cases import (
    USE_CASES,
    WITH_RULES_OF_THEIR_OWN,
    WITHOUT_ACTOR,
    Service,
    UseCase,
    all_services,
    name_of,
)
from tests.services.world import World

pytestmark = pytest.mark.django_db

RANKS = (Role.VIEWER, Role.BOARD, Role.OWNER)
FOR_PEOPLE = [service for service, case in USE_CASES.items() if case.least is not None]


@pytest.fixture
def world() -> World:
    return World()


def try_it(service: Service, world: World, actor: Actor) -> None:
    arguments: dict[str, Any] = {"actor": actor} | dict(USE_CASES[service].arguments(world, actor))
    service(**arguments)


def test_no_service_is_missing_in_the_table() -> None:
    covered = USE_CASES.keys() | WITHOUT_ACTOR | WITH_RULES_OF_THEIR_OWN
    assert {name_of(service) for service in all_services()} == {name_of(service) for service in covered}


def test_services_without_an_actor_are_those_named_as_such() -> None:
    without = {name_of(one) for one in all_services() if "actor" not in inspect.signature(one).parameters}
    assert without == {name_of(one) for one in WITHOUT_ACTOR}


def test_services_take_what_they_are_given_by_name() -> None:
    """But for the log-in links, whose one argument says itself."""
    for service in USE_CASES:
        kinds = {parameter.kind for parameter in inspect.signature(service).parameters.values()}
        assert kinds <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}, name_of(service)


@pytest.mark.parametrize("role", RANKS)
@pytest.mark.parametrize("service", FOR_PEOPLE, ids=name_of)
def test_people_may_what_their_role_allows(service: Service, role: Role, world: World) -> None:
    person: Person = {Role.VIEWER: world.viewer, Role.BOARD: world.board, Role.OWNER: world.owner}[role]
    least = USE_CASES[service].least
    assert least is not None
    if RANKS.index(role) >= RANKS.index(least):
        try_it(service, world, person)
    else:
        with pytest.raises(Forbidden):
            try_it(service, world, person)


@pytest.mark.parametrize("service", FOR_PEOPLE, ids=name_of)
def test_a_removed_member_finds_nothing(service: Service, world: World) -> None:
    with pytest.raises(NotFound):
        try_it(service, world, world.removed)


@pytest.mark.parametrize("service", FOR_PEOPLE, ids=name_of)
def test_a_stranger_finds_nothing(service: Service, world: World) -> None:
    with pytest.raises(NotFound):
        try_it(service, world, world.stranger)


@pytest.mark.parametrize(("service", "case"), USE_CASES.items(), ids=map(name_of, USE_CASES))
def test_an_agent_on_its_own_issue_may_what_policy_allows(service: Service, case: UseCase, world: World) -> None:
    worker = world.worker
    if case.agent is Grant.ALLOW:
        try_it(service, world, worker)
        return
    with pytest.raises(Forbidden) as refused:
        try_it(service, world, worker)
    assert isinstance(refused.value, NeedsApproval) == (case.agent is Grant.APPROVAL)


@pytest.mark.parametrize("service", USE_CASES, ids=name_of)
def test_an_agent_of_another_company_finds_nothing(service: Service, world: World) -> None:
    with pytest.raises(NotFound):
        try_it(service, world, world.foreign_worker)
