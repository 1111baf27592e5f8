"""What is written down: every use case leaves one line of its own, by whoever did it, with references and no texts."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from issues.actors import Actor, Person, Worker
from issues.models import Activity, ActorKind
from issues.policies import Grant
from issues.refusals import Refusal
from tests.services.use_cases import USE_CASES, Service, name_of
from tests.services.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World()


def somebody_who_may(service: Service, world: World) -> Actor:
    return world.worker if USE_CASES[service].least is None else world.owner


def lines_of(actor: Actor, since: int) -> list[Activity]:
    lines = Activity.objects.filter(pk__gt=since).order_by("pk")
    if isinstance(actor, Worker):
        return list(lines.filter(actor_kind=ActorKind.AGENT, agent=actor.agent))
    assert isinstance(actor, Person)
    return list(lines.filter(actor_kind=ActorKind.USER, member=actor.member))


def last_line() -> int:
    return Activity.objects.latest("pk").pk


@pytest.mark.parametrize("service", USE_CASES, ids=name_of)
def test_a_use_case_leaves_one_line_by_its_actor(service: Service, world: World) -> None:
    actor = somebody_who_may(service, world)
    arguments: dict[str, Any] = {"actor": actor} | dict(USE_CASES[service].arguments(world, actor))
    before = last_line()
    service(**arguments)
    own = [line for line in lines_of(actor, before) if line.kind == USE_CASES[service].logs]
    assert len(own) == 1
    assert own[0].company == world.company


@pytest.mark.parametrize("service", [one for one, case in USE_CASES.items() if case.least], ids=name_of)
def test_a_refused_use_case_leaves_nothing(service: Service, world: World) -> None:
    viewer = world.viewer
    arguments: dict[str, Any] = {"actor": viewer} | dict(USE_CASES[service].arguments(world, viewer))
    before = last_line()
    with pytest.raises(Refusal), transaction.atomic():
        service(**arguments)
    assert not Activity.objects.filter(pk__gt=before).exists()


@pytest.mark.parametrize("service", [one for one, case in USE_CASES.items() if case.agent is Grant.ALLOW], ids=name_of)
def test_what_an_agent_does_names_its_run(service: Service, world: World) -> None:
    actor: Actor = world.worker
    arguments: dict[str, Any] = {"actor": actor} | dict(USE_CASES[service].arguments(world, actor))
    before = last_line()
    service(**arguments)
    acting = arguments["actor"]
    line = next(line for line in lines_of(acting, before) if line.kind == USE_CASES[service].logs)
    assert line.run_id == acting.run.pk


SECRET = "the very words that were written"


@pytest.mark.parametrize("service", USE_CASES, ids=name_of)
def test_lines_refer_to_texts_and_never_copy_them(service: Service, world: World) -> None:
    actor = somebody_who_may(service, world)
    arguments: dict[str, Any] = {"actor": actor} | dict(USE_CASES[service].arguments(world, actor))
    for name in ("body", "text", "description", "mission", "explanation", "note", "question", "title"):
        if isinstance(arguments.get(name), str):
            arguments[name] = SECRET
    before = last_line()
    service(**arguments)
    assert not [line for line in Activity.objects.filter(pk__gt=before) if SECRET in str(line.data)]
