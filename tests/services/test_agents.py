"""Agents: hiring, changing, their reporting line, pausing and ending them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from agents.models import Agent, AgentStatus, Skill, Wakeup, WakeupState
from agents.services.agents import (
    edit_agent,
    hire_agent,
    pause_agent,
    resume_agent,
    set_manager,
    terminate_agent,
    worker_for,
)
from agents.services.skills import create_skill, edit_skill, use_skill
from issues.actors import Person
from issues.models import Activity, Company, InboxItem, InboxKind, Issue, Role
from issues.refusals import Conflict, Forbidden, Invalid
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db

WRONG_VALUES = [
    ("name", ""),
    ("name", "x" * 121),
    ("title", "x" * 121),
    ("description", "x" * 301),
    ("instructions", "x" * 60_001),
    ("adapter", "telepathy"),
    ("policy", "anarchy"),
    ("tier", "huge"),
    ("thinking", "very"),
    ("max_output_tokens", -1),
    ("max_concurrent_runs", 0),
    ("max_concurrent_runs", 101),
    ("schedule_minutes", 4),
    ("schedule_minutes", 1_441),
    ("active_hours", "9 to 5"),
    ("active_hours", "24:00-08:00"),
    ("active_hours", "08:00-08:00"),
    ("status", "terminated"),
    ("next_schedule_at", None),
]


class TestHiring:
    def test_an_agent_is_at_work_at_once(self, company: Company, owner: Person) -> None:
        ada = hire_agent(actor=owner, company=company, name=" Ada  Lovelace ", title="Engineer")
        assert (ada.name, ada.handle, ada.status) == ("Ada Lovelace", "ada-lovelace", AgentStatus.ACTIVE)
        assert (ada.policy, ada.max_concurrent_runs, ada.next_schedule_at) == ("standard", 1, None)

    @pytest.mark.parametrize(("field", "value"), WRONG_VALUES)
    def test_a_value_that_cannot_be_is_refused_by_name(
        self, field: str, value: Any, company: Company, owner: Person
    ) -> None:
        with pytest.raises(Invalid) as refused:
            hire_agent(actor=owner, company=company, **{"name": "Ada", field: value})
        assert refused.value.field == field
        assert not Agent.objects.exists()

    def test_a_manager_is_a_present_agent_of_the_company(self, company: Company, owner: Person, ada: Agent) -> None:
        foreign = build.agent(build.company_with_founder("OTHER")[0])
        for manager in (foreign, terminate_agent(actor=owner, agent=ada)):
            with pytest.raises(Invalid, match="manager"):
                hire_agent(actor=owner, company=company, name="Bob", manager=manager)


class TestEditing:
    @pytest.mark.parametrize(("field", "value"), WRONG_VALUES)
    def test_a_value_that_cannot_be_is_refused_by_name(
        self, field: str, value: Any, company: Company, owner: Person, ada: Agent
    ) -> None:
        before = Agent.objects.filter(pk=ada.pk).values().get()
        with pytest.raises(Invalid) as refused:
            edit_agent(actor=owner, agent=ada, **{field: value})
        assert refused.value.field == field
        assert Agent.objects.filter(pk=ada.pk).values().get() == before

    def test_the_line_of_activity_names_what_changed_and_no_more(self, owner: Person, ada: Agent) -> None:
        edit_agent(actor=owner, agent=ada, title="Tester", name="Ada", thinking="high")
        assert Activity.objects.latest("pk").data == {"agent": ada.pk, "fields": ["thinking", "title"]}
        edit_agent(actor=owner, agent=ada, title="Tester")
        assert Activity.objects.filter(kind="agent.edited").count() == 1

    def test_an_interval_begins_when_it_is_set_and_ends_when_it_is_taken_away(self, owner: Person, ada: Agent) -> None:
        scheduled = edit_agent(actor=owner, agent=ada, schedule_minutes=30)
        assert scheduled.next_schedule_at is not None
        same = edit_agent(actor=owner, agent=ada, title="Tester", schedule_minutes=30)
        assert same.next_schedule_at == scheduled.next_schedule_at
        assert edit_agent(actor=owner, agent=ada, schedule_minutes=None).next_schedule_at is None


class TestReportingLine:
    def test_an_agent_cannot_report_to_itself(self, owner: Person, ada: Agent) -> None:
        with pytest.raises(Invalid, match="itself"):
            set_manager(actor=owner, agent=ada, manager=ada)

    @pytest.mark.parametrize("length", [2, 3, 6])
    def test_a_ring_of_any_length_is_refused(self, length: int, company: Company, owner: Person) -> None:
        line = [build.agent(company, "Top")]
        for number in range(length - 1):
            line.append(build.agent(company, f"Agent {number}", manager=line[-1]))
        with pytest.raises(Invalid, match="itself"):
            set_manager(actor=owner, agent=line[0], manager=line[-1])

    def test_an_old_copy_of_the_line_hides_no_ring(self, owner: Person, ada: Agent, bob: Agent) -> None:
        old = Agent.objects.select_related("manager").get(pk=bob.pk)
        set_manager(actor=owner, agent=bob, manager=ada)
        assert old.manager is None
        with pytest.raises(Invalid, match="itself"):
            set_manager(actor=owner, agent=ada, manager=old)

    def test_an_agent_can_be_put_elsewhere_and_at_the_top(self, owner: Person, ada: Agent, bob: Agent) -> None:
        assert set_manager(actor=owner, agent=bob, manager=ada).manager == ada
        assert set_manager(actor=owner, agent=bob, manager=None).manager is None
        set_manager(actor=owner, agent=bob, manager=None)
        assert Activity.objects.filter(kind="agent.manager").count() == 2

    @pytest.mark.django_db(transaction=True)
    def test_two_moves_at_once_close_no_ring(self, owner: Person, ada: Agent, bob: Agent) -> None:
        move = partial(set_manager, actor=owner)
        for _ in range(15):
            outcomes = at_once([partial(move, agent=ada, manager=bob), partial(move, agent=bob, manager=ada)])
            assert [isinstance(outcome, Invalid) for outcome in outcomes].count(True) == 1
            for agent in (ada, bob):
                move(agent=agent, manager=None)


class TestEnding:
    def test_an_agent_cannot_terminate_itself(self, ada: Agent, issue: Issue) -> None:
        for worker in (worker_for(ada), build.at_work(ada, issue)):
            with pytest.raises(Forbidden, match="itself"):
                terminate_agent(actor=worker, agent=ada)
        assert Agent.objects.get(pk=ada.pk).is_active

    def test_an_agent_that_terminates_another_tells_the_board(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        boss = build.member(company, "boss")
        viewer = build.member(company, "viewer", role=Role.VIEWER)
        for _ in range(2):
            terminate_agent(actor=worker_for(ada), agent=bob)
        told = InboxItem.objects.filter(kind=InboxKind.STOPPED)
        assert {item.member for item in told} == {owner.member, boss.member}
        assert "terminated @bob" in told[0].text
        assert not viewer.member.inbox_items.exists()

    def test_its_pending_wakeups_end_with_the_reason(self, company: Company, owner: Person, ada: Agent) -> None:
        build.issue(company, assignee=ada)
        terminate_agent(actor=owner, agent=ada)
        wakeup = Wakeup.objects.get()
        assert (wakeup.state, wakeup.ended_because) == (WakeupState.STALE, "The agent was terminated.")
        assert wakeup.ended_at is not None

    def test_its_reports_report_to_its_manager(self, company: Company, owner: Person, ada: Agent) -> None:
        middle = build.agent(company, "Middle", manager=ada)
        low = build.agent(company, "Low", manager=middle)
        terminate_agent(actor=owner, agent=middle)
        low.refresh_from_db()
        assert low.manager == ada

    def test_it_can_be_taken_back(self, owner: Person, ada: Agent) -> None:
        terminate_agent(actor=owner, agent=ada)
        assert resume_agent(actor=owner, agent=ada).is_active

    def test_ending_twice_is_ending_once(self, owner: Person, ada: Agent) -> None:
        for _ in range(2):
            ada = terminate_agent(actor=owner, agent=ada)
        assert ada.status == AgentStatus.TERMINATED
        assert Activity.objects.filter(kind="agent.terminated").count() == 1


class TestPausing:
    def test_what_is_pending_waits(self, company: Company, owner: Person, ada: Agent) -> None:
        build.issue(company, assignee=ada)
        pause_agent(actor=owner, agent=ada)
        assert len(build.pending(ada)) == 1

    def test_pausing_twice_is_pausing_once_and_so_is_resuming(self, owner: Person, ada: Agent) -> None:
        for _ in range(2):
            pause_agent(actor=owner, agent=ada)
        for _ in range(2):
            resume_agent(actor=owner, agent=ada)
        kinds = list(Activity.objects.filter(kind__startswith="agent.").order_by("pk").values_list("kind", flat=True))
        assert kinds == ["agent.hired", "agent.paused", "agent.resumed"]

    def test_one_that_was_terminated_is_not_paused(self, owner: Person, ada: Agent) -> None:
        terminate_agent(actor=owner, agent=ada)
        with pytest.raises(Conflict, match="terminated"):
            pause_agent(actor=owner, agent=ada)


class TestSkills:
    def test_a_name_is_taken_once_whatever_the_case(self, company: Company, owner: Person) -> None:
        build.skill(company, "Sums")
        with pytest.raises(Conflict, match="already"):
            create_skill(actor=owner, company=company, name="SUMS", body="Add.")

    def test_an_agent_uses_what_is_for_all_or_names_it(self, company: Company, ada: Agent, bob: Agent) -> None:
        own = build.issue(company, assignee=ada)
        worker = build.at_work(ada, own)
        use_skill(actor=worker, issue=own, skill=build.skill(company, "For all"))
        use_skill(actor=worker, issue=own, skill=build.skill(company, "For Ada", agents=[ada]))
        with pytest.raises(Invalid, match="not a skill of yours"):
            use_skill(actor=worker, issue=own, skill=build.skill(company, "For Bob", agents=[bob]))

    def test_what_two_people_change_of_one_skill_both_stands(self, company: Company, owner: Person) -> None:
        skill = build.skill(company, "Sums")
        as_another_sees_it = Skill.objects.get(pk=skill.pk)
        edit_skill(actor=owner, skill=skill, description="How we add")
        edit_skill(actor=owner, skill=as_another_sees_it, body="Add twice.")
        row = Skill.objects.get()
        assert (row.description, row.body) == ("How we add", "Add twice.")

    def test_a_skill_that_is_off_or_of_another_company_is_none(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        own = build.issue(company, assignee=ada)
        worker = build.at_work(ada, own)
        off = edit_skill(actor=owner, skill=build.skill(company, "Off"), enabled=False)
        foreign = build.skill(build.company_with_founder("OTHER")[0])
        for skill in (off, foreign):
            with pytest.raises(Invalid, match="not a skill of yours"):
                use_skill(actor=worker, issue=own, skill=skill)

    def test_an_agent_of_another_company_is_not_named(self, company: Company) -> None:
        foreign = build.agent(build.company_with_founder("OTHER")[0])
        with pytest.raises(Invalid, match="another company"):
            build.skill(company, agents=[foreign])
