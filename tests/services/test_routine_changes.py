"""Changing a routine, and firing it out of turn."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from agents.models import Agent, Routine, WakeupSource
from agents.services.agents import terminate_agent
from agents.services.routines import edit_routine, fire_routine, fire_routine_now, switch_routine
from issues.actors import Person
from issues.models import Activity, Company
from issues.refusals import Conflict, Invalid
from tests import build

pytestmark = pytest.mark.django_db


@pytest.fixture
def routine(company: Company, ada: Agent) -> Routine:
    return build.routine(company, ada)


def test_a_new_schedule_counts_from_now(owner: Person, routine: Routine) -> None:
    changed = edit_routine(actor=owner, routine=routine, cron="*/5 * * * *")
    assert changed.next_fire_at is not None
    assert timezone.now() < changed.next_fire_at <= timezone.now() + datetime.timedelta(minutes=5)


def test_other_changes_leave_the_next_time_alone(owner: Person, routine: Routine) -> None:
    changed = edit_routine(actor=owner, routine=routine, title="Look again", body="Twice.")
    assert (changed.title, changed.body, changed.next_fire_at) == ("Look again", "Twice.", routine.next_fire_at)


def test_one_that_is_off_stays_off_with_a_new_schedule(owner: Person, routine: Routine) -> None:
    off = switch_routine(actor=owner, routine=routine, enabled=False)
    assert edit_routine(actor=owner, routine=off, cron="0 7 * * *").next_fire_at is None


def test_a_change_to_what_it_is_already_leaves_no_line(owner: Person, routine: Routine) -> None:
    before = Activity.objects.count()
    edit_routine(actor=owner, routine=routine, name=routine.name, cron=f" {routine.cron} ")
    assert Activity.objects.count() == before


@pytest.mark.parametrize("fields", [{"cron": "daily"}, {"time_zone": "Moon"}, {"title": ""}, {"responsible": None}])
def test_what_cannot_be_used_changes_nothing(fields: dict[str, object], owner: Person, routine: Routine) -> None:
    with pytest.raises(Invalid):
        edit_routine(actor=owner, routine=routine, name="Other", **fields)
    routine.refresh_from_db()
    assert routine.name == "Morning"


def test_it_is_not_given_to_an_agent_of_another_company_or_one_that_is_gone(owner: Person, routine: Routine) -> None:
    foreign = build.agent(build.company_with_founder("OTHER")[0])
    gone = terminate_agent(actor=owner, agent=build.agent(routine.company, "Bob"))
    for agent in (foreign, gone):
        with pytest.raises(Invalid):
            edit_routine(actor=owner, routine=routine, assignee=agent)


def test_fired_now_it_opens_its_issue_wakes_its_agent_and_keeps_its_own_times(
    owner: Person, ada: Agent, routine: Routine
) -> None:
    fire = fire_routine_now(actor=owner, routine=routine)
    assert fire.issue is not None
    [wakeup] = build.pending(ada, fire.issue)
    assert (wakeup.source, wakeup.depth) == (WakeupSource.ROUTINE, 0)
    assert fire.issue.created_by_member == owner.member
    routine.refresh_from_db()
    assert routine.next_fire_at is not None
    later = fire_routine(routine=routine, now=routine.next_fire_at)
    assert later is not None
    assert "is still open" in later.skipped_because


def test_fired_now_it_is_refused_where_the_issue_is(owner: Person, ada: Agent, routine: Routine) -> None:
    terminate_agent(actor=owner, agent=ada)
    with pytest.raises((Conflict, Invalid)):
        fire_routine_now(actor=owner, routine=routine)
    assert not routine.fires.exists()
