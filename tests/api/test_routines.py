"""Routines by the API."""

from __future__ import annotations

import pytest

from agents.models import Agent, Routine
from issues.models import Company, Issue, Role
from tests import build
from tests.api.client import Api, as_person

MORNING = {"name": "Morning", "cron": "0 9 * * 1-5", "title": "Read the mail", "assignee": "ada"}


def test_a_routine_is_made_changed_and_turned_off_and_on(api: Api, company: Company, ada: Agent) -> None:
    build.project(company, "Launch")
    body = MORNING | {"body": "All of it.", "priority": "high", "project": "Launch", "time_zone": "Europe/Berlin"}
    made = api.post("routines", body)
    assert (made.status, made["assignee"]["handle"], made["priority"]) == (201, "ada", "high")
    assert (made["project"], made["responsible"]["handle"]) == ("Launch", "acme-founder")
    assert made["next_fire_at"] is not None
    at = f"routines/{made['id']}"
    off = api.patch(at, {"enabled": False, "title": "Read it"})
    assert (off["enabled"], off["next_fire_at"], off["title"]) == (False, None, "Read it")
    assert api.patch(at, {"enabled": True, "project": None})["next_fire_at"] is not None
    assert api.get(at)["project"] is None
    (row,) = api.get("routines").rows
    assert (row["name"], "body" in row) == ("Morning", False)


def test_all_of_a_change_or_nothing(api: Api, company: Company, ada: Agent) -> None:
    routine = build.routine(company, ada)
    assert api.patch(f"routines/{routine.pk}", {"enabled": False, "cron": "nonsense"}).status == 422
    routine.refresh_from_db()
    assert routine.enabled


def test_it_is_fired_out_of_turn_once_for_a_name(api: Api, company: Company, ada: Agent) -> None:
    routine = build.routine(company, ada)
    fired = [api.post(f"routines/{routine.pk}/fires", **{"Idempotency-Key": "now"}) for _ in range(2)]
    assert [(answer.status, answer["issue"]) for answer in fired] == [(201, "ACME-1")] * 2
    assert Issue.objects.count() == 1
    (fire,) = api.get(f"routines/{routine.pk}/fires").rows
    assert (fire["issue"], fire["skipped_because"]) == ("ACME-1", "")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"cron": "0 9"}, "cron"),
        ({"assignee": "nobody"}, "assignee"),
        ({"assignee": "acme-founder"}, "assignee"),
        ({"assignee": "none"}, "assignee"),
        ({"responsible": "ada"}, "responsible"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
        ({"project": "None such"}, "project"),
        ({"title": ""}, "title"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_a_value_that_cannot_be_is_named(api: Api, ada: Agent, wrong: dict[str, object], field: str) -> None:
    refused = api.post("routines", MORNING | wrong)
    assert (refused.status, list(refused["errors"])) == (422, [field])
    assert not Routine.objects.exists()


def test_viewers_and_agents_read_them(company: Company, ada_api: Api, ada: Agent) -> None:
    routine = build.routine(company, ada)
    for theirs in (as_person(build.member(company, role=Role.VIEWER)), ada_api):
        assert theirs.get(f"routines/{routine.pk}").status == 200
        assert theirs.patch(f"routines/{routine.pk}", {"enabled": False}).status == 403
        assert theirs.post(f"routines/{routine.pk}/fires").status == 403
        assert theirs.post("routines", MORNING).status == 403
    assert not Issue.objects.exists()
