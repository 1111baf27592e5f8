"""Agents, checkouts, wakeups and runs over the API."""

from __future__ import annotations

import pytest

from agents.models import Agent, AgentStatus, Run, RunOutput, RunState
from engine.claim import claim_next
from issues.actors import Person
from issues.models import Company, Role, Status
from tests import build
from tests.api.client import Api, as_agent, as_person


def test_an_agent_is_hired_changed_paused_resumed_and_terminated(api: Api, company: Company) -> None:
    boss = api.post("agents", {"name": "Boss"})
    hired = api.post("agents", {"name": "Grace", "role": "engineer", "manager": "boss", "instructions": "Be plain."})
    assert (hired.status, hired["handle"], hired["manager"]) == (201, "grace", "boss")
    path = f"agents/{hired['id']}"

    changed = api.patch(path, {"title": "Engineer", "manager": None, "schedule_minutes": 60})
    assert (changed["title"], changed["manager"], changed["schedule_minutes"]) == ("Engineer", None, 60)
    assert api.post(f"{path}/pause")["status"] == "paused"
    assert api.post(f"{path}/resume")["status"] == "active"
    assert api.delete(path).status == 204
    assert api.get(path)["status"] == "terminated"
    assert api.get("agents", status="active").rows[0]["id"] == boss["id"]
    assert api.get("agents", handle="@Grace").rows[0]["id"] == hired["id"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "X", "schedule_minutes": 3}, "schedule_minutes"),
        ({"name": "X", "adapter": "magic"}, "adapter"),
        ({"name": "X", "handle": "not a handle"}, "handle"),
        ({"name": "X", "manager": "nobody"}, "manager"),
    ],
)
def test_an_agent_that_cannot_be_is_refused_with_the_field(
    api: Api, company: Company, body: dict[str, object], field: str
) -> None:
    answer = api.post("agents", body)
    assert (answer.status, list(answer["errors"])) == (422, [field])
    assert not company.agents.exists()


def test_a_change_with_a_manager_that_is_refused_changes_nothing_else(api: Api, company: Company) -> None:
    boss = build.agent(company, "Boss")
    report = build.agent(company, "Report", manager=boss)
    answer = api.patch(f"agents/{boss.pk}", {"title": "Chief", "manager": report.handle})
    assert answer.status == 422
    boss.refresh_from_db()
    assert boss.title == ""


def test_an_agent_terminates_another_and_never_itself(ada_api: Api, ada: Agent, company: Company) -> None:
    other = build.agent(company, "Bob")
    assert ada_api.delete(f"agents/{ada.pk}").status == 403
    assert ada_api.delete(f"agents/{other.pk}").status == 204
    ada.refresh_from_db()
    other.refresh_from_db()
    assert (ada.status, other.status) == (AgentStatus.ACTIVE, AgentStatus.TERMINATED)
    assert company.inbox_items.get().text == "Ada terminated @bob: resume it if that should not be."


@pytest.mark.parametrize("role", [Role.OWNER, Role.BOARD])
def test_the_board_terminates_and_a_viewer_does_not(company: Company, ada: Agent, role: Role) -> None:
    viewer = as_person(build.member(company, role=Role.VIEWER))
    assert viewer.delete(f"agents/{ada.pk}").status == 403
    assert as_person(build.member(company, role=role)).delete(f"agents/{ada.pk}").status == 204


def test_an_agent_is_shown_its_own_instructions_and_no_others(ada_api: Api, ada: Agent, company: Company) -> None:
    other = build.agent(company, "Bob", instructions="Secret ways.")
    assert ada_api.get("agents/me")["instructions"] == ""
    assert ada_api.get(f"agents/{ada.pk}")["instructions"] == ""
    seen = ada_api.get(f"agents/{other.pk}")
    assert (seen["instructions"], seen["knowledge"], seen["script"]) == (None, None, None)
    other.refresh_from_db()
    assert other.instructions == "Secret ways."


def test_a_person_is_no_agent(api: Api) -> None:
    assert api.get("agents/me").status == 404


def test_an_outside_agent_does_a_whole_issue(ada_api: Api, ada: Agent, company: Company) -> None:
    build.issue(company, "Do it", assignee=ada)

    assert ada_api.get("issues", assignee="me", status="todo").rows[0]["identifier"] == "ACME-1"
    held = ada_api.post("issues/ACME-1/checkout")
    assert (held.status, held["holder"], held["adapter"]) == (201, "ada", "external")
    assert ada_api.patch("issues/ACME-1", {"status": "in_progress"})["status"] == "in_progress"
    written = ada_api.post("issues/ACME-1/comments", {"body": "Done as asked."})
    assert written["run"] == held["run"]
    assert ada_api.patch("issues/ACME-1", {"status": "done"})["status"] == "done"
    assert ada_api.post("issues/ACME-1/release").status == 200

    run = Run.objects.get()
    assert run.state == RunState.SUCCEEDED
    assert ada_api.get("issues/ACME-1/checkout").status == 404
    assert build.pending(ada) == []


def test_a_second_checkout_names_the_holder_and_since_when(ada_api: Api, ada: Agent, company: Company) -> None:
    bob = build.agent(company, "Bob")
    build.issue(company, assignee=ada)
    first = ada_api.post("issues/ACME-1/checkout")

    refused = as_agent(bob).post("issues/ACME-1/checkout")

    assert refused.status == 409
    assert refused["type"] == "urn:trimus:problem:checked-out"
    assert (refused["holder"], refused["run"]) == ("ada", first["run"])
    assert refused["since"].startswith(first["since"][:19])
    assert as_agent(bob).post("issues/ACME-1/release").status == 409


def test_a_person_checks_out_for_an_agent_and_breaks_the_checkout(api: Api, ada: Agent, company: Company) -> None:
    build.issue(company)
    assert api.post("issues/ACME-1/checkout").status == 403
    assert api.post("issues/ACME-1/checkout", {"agent": "ada"})["holder"] == "ada"
    assert api.get("issues/ACME-1/checkout")["holder"] == "ada"
    assert api.post("issues/ACME-1/release").status == 200
    assert Run.objects.get().state == RunState.CANCELLED


def test_of_two_checkouts_a_call_acts_in_the_one_of_its_issue(ada_api: Api, ada: Agent, company: Company) -> None:
    Agent.objects.update(max_concurrent_runs=2)
    for _ in range(2):
        build.issue(company, assignee=ada)
    first, second = (ada_api.post(f"issues/ACME-{number}/checkout") for number in (1, 2))
    assert ada_api.post("issues/ACME-1/comments", {"body": "One"})["run"] == first["run"]
    assert ada_api.post("issues/ACME-2/comments", {"body": "Two"})["run"] == second["run"]


def test_a_heartbeat_is_asked_for_on_an_issue(api: Api, ada: Agent, company: Company) -> None:
    build.issue(company, assignee=ada, status=Status.BACKLOG)
    asked = api.post("issues/ACME-1/heartbeat", {"note": "Now, please."})
    assert asked.status == 202
    assert (asked["agent"], asked["source"], asked["state"], asked["note"]) == (
        "ada",
        "manual",
        "pending",
        "Now, please.",
    )
    assert asked["asked_by"]["handle"] == "acme-founder"
    assert [row["id"] for row in api.get("issues/ACME-1/wakeups").rows] == [asked["id"]]


def test_a_heartbeat_on_an_issue_without_an_agent_needs_a_name(api: Api, company: Company, ada: Agent) -> None:
    build.issue(company)
    assert list(api.post("issues/ACME-1/heartbeat")["errors"]) == ["agent"]
    assert api.post("issues/ACME-1/heartbeat", {"agent": "ada"}).status == 202


def test_an_agent_with_nothing_to_do_is_not_run(api: Api, ada: Agent, company: Company) -> None:
    refused = api.post(f"agents/{ada.pk}/heartbeat")
    assert refused.status == 409
    build.issue(company, assignee=ada)
    assert api.post(f"agents/{ada.pk}/heartbeat")["issue"] == "ACME-1"


def test_an_agent_does_not_wake_others_by_hand(ada_api: Api, company: Company) -> None:
    build.issue(company, assignee=build.agent(company, "Bob"))
    assert ada_api.post("issues/ACME-1/heartbeat").status == 403


def test_agents_never_see_one_anothers_runs_and_wakeups(
    api: Api, ada_api: Api, ada: Agent, company: Company, founder: Person
) -> None:
    bob = build.agent(company, "Bob")
    issue = build.issue(company, assignee=bob)
    api.post("issues/ACME-1/heartbeat")
    run = build.at_work(bob, issue, by=founder).run
    assert run is not None
    wakeup = run.wakeups.first()
    assert wakeup is not None

    for path in (f"runs/{run.pk}", f"runs/{run.pk}/prompt", f"wakeups/{wakeup.pk}"):
        assert api.get(path).status == 200
        assert as_agent(bob).get(path).status == 200
        assert ada_api.get(path).status == 404
    assert ada_api.post(f"runs/{run.pk}/cancel").status == 404
    for path in ("runs", "wakeups", "issues/ACME-1/runs", "issues/ACME-1/wakeups"):
        assert ada_api.get(path).rows == []
        assert len(api.get(path).rows) >= 1


def test_a_run_is_cancelled_once(api: Api, ada: Agent, company: Company, founder: Person) -> None:
    run = build.at_work(ada, build.issue(company), by=founder).run
    assert run is not None
    assert api.post(f"runs/{run.pk}/cancel")["state"] == "cancelled"
    again = api.post(f"runs/{run.pk}/cancel")
    assert (again.status, again["detail"]) == (409, "The run is over: it was cancelled.")


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"agent": "ada"}, 1),
        ({"agent": "bob"}, 0),
        ({"issue": "ACME-1"}, 1),
        ({"state": "running,queued"}, 1),
        ({"state": "failed"}, 0),
    ],
)
def test_runs_are_listed_by_what_is_asked(
    api: Api, ada: Agent, company: Company, query: dict[str, str], count: int
) -> None:
    build.agent(company, "Bob")
    build.at_work(ada, build.issue(company, assignee=ada))
    assert len(api.get("runs", **query).rows) == count


def test_skills_are_read_by_those_who_can_apply_them(api: Api, ada_api: Api, ada: Agent, company: Company) -> None:
    bob = build.agent(company, "Bob")
    build.skill(company, "For all", body="# How")
    hers, his = build.skill(company, "Hers", agents=[ada]), build.skill(company, "His", agents=[bob])
    assert [row["name"] for row in api.get("skills").rows] == ["For all", "Hers", "His"]
    assert [row["name"] for row in ada_api.get("skills").rows] == ["For all", "Hers"]
    assert ada_api.get(f"skills/{hers.pk}")["body"] == "Write what changed."
    assert ada_api.get(f"skills/{his.pk}").status == 404


def test_the_reporting_line_is_told_from_the_top_down(api: Api, ada_api: Api, company: Company, ada: Agent) -> None:
    boss = api.post("agents", {"name": "Boss"})
    for name, manager in (("Cleo", "boss"), ("Dana", "ada"), ("Emil", "cleo")):
        api.post("agents", {"name": name, "manager": manager})
    api.patch(f"agents/{ada.pk}", {"manager": "boss"})
    told = [(row["handle"], row["manager"], row["depth"]) for row in api.get("agents/org")["agents"]]
    assert told == [
        ("boss", None, 0),
        ("ada", "boss", 1),
        ("dana", "ada", 2),
        ("cleo", "boss", 1),
        ("emil", "cleo", 2),
    ]
    api.delete(f"agents/{boss['id']}")
    told = [(row["handle"], row["depth"]) for row in ada_api.get("agents/org")["agents"]]
    assert told == [("ada", 0), ("dana", 1), ("cleo", 0), ("emil", 1)]


def test_what_runs_on_the_server_is_set_by_owners_and_shown_to_no_agent(
    api: Api, ada_api: Api, company: Company
) -> None:
    hired = api.post("agents", {"name": "Cato", "adapter": "process", "command": "cat  -u"})
    assert (hired.status, hired["adapter"], hired["command"]) == (201, "process", "cat  -u")
    path = f"agents/{hired['id']}"
    member = as_person(build.member(company, role=Role.BOARD))
    assert member.get(path)["command"] == "cat  -u"
    assert member.patch(path, {"command": "tac"}).status == 403
    assert member.patch(path, {"title": "Reader"})["title"] == "Reader"
    assert api.patch(path, {"command": "./run.sh"}).status == 422
    assert ada_api.get(path)["command"] is None
    assert ada_api.post("agents", {"name": "Eve", "adapter": "process", "command": "cat"}).status == 403


def test_the_output_of_a_program_is_part_of_its_run(api: Api, company: Company) -> None:
    cato = build.agent(company, "Cato", adapter="process", command="cat")
    build.issue(company, assignee=cato)
    run = claim_next()
    assert run is not None
    assert api.get(f"runs/{run.pk}")["output"] is None
    RunOutput.objects.create(run=run, text="Reading.")
    assert api.get(f"runs/{run.pk}")["output"] == "Reading."
