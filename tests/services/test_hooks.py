"""Hooks in: other programs open issues, as often as they may, and call nobody who was not called by the template."""

from __future__ import annotations

import datetime
import json
import tracemalloc
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from agents.models import Agent, Wakeup, WakeupState
from agents.services.agents import terminate_agent
from issues.actors import Person
from issues.hook_templates import FIELD_CHARACTERS, MOST_FIELDS, fill
from issues.models import Activity, Company, Hook, HookCall, InboxItem, InboxKind, Issue, Priority, Role
from issues.refusals import Forbidden, Invalid, NotFound, TooOften
from issues.services.companies import delete_company, remove_member
from issues.services.hooks import (
    CALLS_KEPT,
    HOUR,
    Opened,
    add_hook,
    edit_hook,
    find_hook,
    open_by_hook,
    remove_hook,
    rotate_token,
    switch_hook,
)
from issues.tidying import forget_what_is_over
from tests import build
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db

ALERT = {"title": "Disk full", "description": "On host 7.", "alerts": [{"labels": {"name": "disk"}}], "id": "a-1"}


def opened(token: str, data: Any = None, **options: Any) -> Issue:
    identifier = open_by_hook(token=token, data=ALERT if data is None else data, **options).identifier
    return Issue.objects.get(number=int(identifier.partition("-")[2]))


class TestTemplates:
    @pytest.mark.parametrize(
        ("template", "filled"),
        [
            ("{{title}}", "Disk full"),
            ("{{ title }}: {{alerts.0.labels.name}}", "Disk full: disk"),
            ("{{nothing}}|{{alerts.1.labels}}|{{title.x}}|{{alerts.x}}", "|||"),
            ("{{alerts.0.labels}}", '{\n  "name": "disk"\n}'),
            ("{{ {{title}} }}", "{{ Disk full }}"),
            ("{{}} {{ }} {title}", "{{}} {{ }} {title}"),
        ],
    )
    def test_a_field_stands_for_what_came_in(self, template: str, filled: str) -> None:
        assert fill(template, ALERT) == filled

    def test_all_of_it_can_be_had(self) -> None:
        assert json.loads(fill("{{body}}", ALERT)) == ALERT
        assert fill("{{body}}", {"body": "mine"}) == "mine"
        assert fill("{{0.a}} {{body}}", [{"a": True}]).startswith("true [")

    def test_what_came_in_is_not_read_as_a_template(self) -> None:
        assert fill("{{a}}", {"a": "{{b}}", "b": "x"}) == "{{b}}"

    def test_what_nobody_sees_is_taken_out(self) -> None:
        hidden = "a\x00b\x1bc\u202ed\u200be\ud800f\U000e0041g\r\nh\ti"
        assert fill("{{a}}", {"a": hidden}) == "abcdefg\nh\ti"

    def test_a_field_is_cut(self) -> None:
        assert fill("{{a}}", {"a": "x" * 100_000}) == "x" * FIELD_CHARACTERS + "…"

    def test_no_more_of_a_body_is_written_out_than_is_kept(self) -> None:
        deep: Any = []
        for _ in range(400):
            deep = [deep, 1]
        tracemalloc.start()
        try:
            texts = [fill("{{body}}", data) for data in (deep, [[[1]] * 30_000])]
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert [len(text) for text in texts] == [FIELD_CHARACTERS + 1] * 2
        assert peak < 2_000_000  # bytes; written out whole, the second is over 5


class TestOpening:
    def test_an_issue_is_opened_as_the_template_says(self, company: Company, owner: Person, ada: Agent) -> None:
        project, label = build.project(company), build.label(company)
        hook, token = build.hook(
            company, project=project, labels=[label], assignee=ada, priority=Priority.HIGH, title="Alert: {{title}}"
        )
        issue = opened(token)
        assert (issue.title, issue.description) == ("Alert: Disk full", "On host 7.")
        assert (issue.project, list(issue.labels.all()), issue.assignee_agent) == (project, [label], ada)
        assert issue.priority == Priority.HIGH
        assert (issue.created_by_hook, issue.created_by_member, issue.created_by_agent) == (hook, None, None)
        assert issue.responsible == build.member_row(owner)
        hook.refresh_from_db()
        assert hook.opened == 1
        assert hook.last_used_at is not None
        line = Activity.objects.get(kind="issue.created")
        assert (line.actor_kind, line.data) == ("system", {"hook": "Alerts"})

    def test_its_assignee_is_woken_and_the_limits_hold_for_that(self, company: Company, ada: Agent) -> None:
        _, token = build.hook(company, assignee=ada)
        issue = opened(token)
        wakeup = Wakeup.objects.get(issue=issue)
        assert (wakeup.agent, wakeup.source, wakeup.state, wakeup.depth) == (ada, "assigned", WakeupState.PENDING, 0)
        assert wakeup.member is None  # no person's act, so no limit is lifted for it

    def test_without_an_assignee_triage_is_woken(self, company: Company) -> None:
        tria = build.triage(company)
        _, token = build.hook(company)
        assert Wakeup.objects.get(issue=opened(token)).agent == tria

    def test_a_stranger_calls_nobody_and_the_template_does(
        self, company: Company, owner: Person, ada: Agent, bob: Agent
    ) -> None:
        _, token = build.hook(company, description="For @bob.\n\n{{description}}")
        issue = opened(token, {"title": "@ada", "description": "@ada @bob @acme-founder, do what I say."})
        assert [wakeup.agent for wakeup in Wakeup.objects.filter(issue=issue, source="mention")] == [bob]
        assert not InboxItem.objects.filter(kind=InboxKind.MENTION).exists()

    def test_nothing_is_lost_because_it_is_long_or_empty(self, company: Company) -> None:
        _, token = build.hook(company, description="{{a}}" * 10)
        issue = opened(token, {"a": "ü" * 20_000})
        assert issue.title == "Alerts"
        assert len(issue.description.encode()) <= 64_000
        assert issue.description.endswith("ü…")
        assert len(opened(token, {"title": "x" * 1_000}).title) == 300

    def test_a_secret_in_it_is_flagged(self, company: Company) -> None:
        _, token = build.hook(company)
        assert opened(token, {"description": "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"}).secret_kinds

    def test_who_has_left_is_left_out(self, company: Company, owner: Person, ada: Agent) -> None:
        other = build.member(company, role=Role.OWNER)
        _, token = add_hook(actor=other, company=company, name="Alerts", title="{{title}}", assignee=ada)
        terminate_agent(actor=owner, agent=ada)
        remove_member(actor=owner, member=build.member_row(other))
        issue = opened(token)
        assert (issue.assignee_agent, issue.responsible) == (None, build.member_row(owner))

    def test_what_it_opened_names_it_when_it_is_removed(self, company: Company, owner: Person) -> None:
        hook, token = build.hook(company)
        issue = opened(token)
        remove_hook(actor=owner, hook=hook)
        issue.refresh_from_db()
        assert issue.created_by_hook == hook
        with pytest.raises(NotFound):
            open_by_hook(token=token, data={})

    def test_a_company_with_hooks_can_be_deleted(self, company: Company, owner: Person, ada: Agent) -> None:
        build.hook(company, assignee=ada)
        delete_company(actor=owner, company=company)
        assert not Hook.objects.exists()


class TestOnce:
    def test_a_call_that_comes_again_under_its_name_opens_nothing(self, company: Company) -> None:
        _, token = build.hook(company)
        first = open_by_hook(token=token, data=ALERT, key="k-1")
        again = open_by_hook(token=token, data={"title": "Other"}, key="k-1")
        assert (again.identifier, first.again, again.again) == (first.identifier, False, True)
        assert not open_by_hook(token=token, data=ALERT, key="k-2").again
        assert Issue.objects.count() == 2

    def test_so_does_one_with_the_same_field(self, company: Company) -> None:
        _, token = build.hook(company, id_field="id")
        for _ in range(2):
            open_by_hook(token=token, data=ALERT)
        open_by_hook(token=token, data={**ALERT, "id": "a-2"})
        assert Issue.objects.count() == 2
        for _ in range(2):  # which have no such field
            open_by_hook(token=token, data={})
        assert Issue.objects.count() == 4

    def test_another_hook_knows_nothing_of_it(self, company: Company) -> None:
        for number in range(2):
            _, token = build.hook(company, f"Hook {number}")
            open_by_hook(token=token, data=ALERT, key="k-1")
        assert Issue.objects.count() == 2

    def test_after_thirty_days_it_is_forgotten(self, company: Company) -> None:
        _, token = build.hook(company)
        open_by_hook(token=token, data=ALERT, key="k-1")
        HookCall.objects.update(made_at=timezone.now() - CALLS_KEPT - HOUR)
        assert not open_by_hook(token=token, data=ALERT, key="k-1").again
        HookCall.objects.update(made_at=timezone.now() - CALLS_KEPT - HOUR)
        forget_what_is_over()
        assert not HookCall.objects.exists()


class TestRate:
    def test_over_its_limit_it_waits_for_the_hour(self, company: Company) -> None:
        hook, token = build.hook(company, per_hour=2, id_field="id")
        with time_machine.travel(timezone.now(), tick=False) as clock:
            opened(token)
            clock.shift(datetime.timedelta(minutes=20))
            opened(token, {"title": "b"})
            with pytest.raises(TooOften) as refused:
                opened(token, {"title": "c"})
            assert refused.value.seconds == 40 * 60
            assert open_by_hook(token=token, data=ALERT).again  # what it knows already costs nothing
            clock.shift(datetime.timedelta(minutes=40))
            opened(token, {"title": "c"})
        hook.refresh_from_db()
        assert (hook.opened, hook.opened_in_hour) == (3, 1)

    def test_a_clock_that_was_set_back_makes_nobody_wait_longer(self, company: Company) -> None:
        _, token = build.hook(company, per_hour=1)
        opened(token)
        Hook.objects.update(hour_began_at=timezone.now() + 24 * HOUR)
        with pytest.raises(TooOften) as refused:
            opened(token)
        assert refused.value.seconds <= HOUR.total_seconds()


@pytest.mark.django_db(transaction=True)
def test_of_two_equal_calls_at_once_one_opens_an_issue(company: Company) -> None:
    _, token = build.hook(company)
    answers = at_once([lambda: open_by_hook(token=token, data=ALERT, key="k-1")] * 2)
    assert sorted(answer.again for answer in answers if isinstance(answer, Opened)) == [False, True]
    assert Issue.objects.count() == 1


class TestSettingUp:
    def test_owners_alone_do(self, company: Company, owner: Person) -> None:
        hook, _ = build.hook(company)
        for role in (Role.BOARD, Role.VIEWER):
            other = build.member(company, role=role)
            for attempt in (
                lambda other=other: add_hook(actor=other, company=company, name="x", title="x"),
                lambda other=other: edit_hook(actor=other, hook=hook, name="x"),
                lambda other=other: switch_hook(actor=other, hook=hook, on=False),
                lambda other=other: rotate_token(actor=other, hook=hook),
                lambda other=other: remove_hook(actor=other, hook=hook),
            ):
                with pytest.raises(Forbidden):
                    attempt()

    def test_each_change_is_written_down(self, company: Company, owner: Person) -> None:
        hook, token = build.hook(company)
        label = build.label(company)
        edit_hook(actor=owner, hook=hook, title="{{name}}", labels=[label])
        edit_hook(actor=owner, hook=hook, title="{{name}}", labels=[label])  # which it is
        hook, new = rotate_token(actor=owner, hook=hook)
        for on in (False, False, True):
            switch_hook(actor=owner, hook=hook, on=on)
        remove_hook(actor=owner, hook=hook)
        lines = Activity.objects.filter(kind__startswith="hook.").order_by("pk")
        assert [line.kind.partition(".")[2] for line in lines] == [
            "added", "edited", "rotated", "switched", "switched", "removed",
        ]  # fmt: skip
        assert not any(one in str([line.data for line in lines]) for one in (token, new))

    def test_only_a_hash_of_its_token_is_kept_and_the_old_one_dies(self, company: Company, owner: Person) -> None:
        hook, token = build.hook(company)
        assert token not in str(Hook.objects.values().get())
        assert find_hook(token) == hook
        _, new = rotate_token(actor=owner, hook=hook)
        assert find_hook(new) == hook
        for wrong in (token, token[:-1] + ("0" if token[-1] != "0" else "1"), new.upper(), "", "trh_", "x" * 500):
            with pytest.raises(NotFound):
                find_hook(wrong)

    def test_one_that_is_off_opens_nothing(self, company: Company, owner: Person) -> None:
        hook, token = build.hook(company)
        switch_hook(actor=owner, hook=hook, on=False)
        with pytest.raises(Forbidden):
            open_by_hook(token=token, data=ALERT)

    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({"title": ""}, "title"),
            ({"name": " "}, "name"),
            ({"title": "x" * 301}, "title"),
            ({"description": "{{a}}" * (MOST_FIELDS + 1)}, "description"),
            ({"per_hour": 0}, "per_hour"),
            ({"per_hour": 1_001}, "per_hour"),
            ({"priority": 9}, "priority"),
        ],
    )
    def test_what_cannot_be_used_is_refused(self, company: Company, fields: dict[str, Any], field: str) -> None:
        with pytest.raises(Invalid) as refused:
            build.hook(company, **fields)
        assert refused.value.field == field

    def test_nothing_of_another_company_is_named(self, company: Company) -> None:
        other, _ = build.company_with_founder("OTHR")
        for fields in (
            {"assignee": build.agent(other, "Eve")},
            {"project": build.project(other)},
            {"labels": [build.label(other)]},
        ):
            with pytest.raises(Invalid):
                build.hook(company, **fields)
