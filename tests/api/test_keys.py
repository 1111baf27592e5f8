"""Who may call: keys and sessions."""

from __future__ import annotations

import datetime

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent, Run
from agents.services.agents import pause_agent, terminate_agent
from agents.services.runs import check_out
from issues.actors import Person
from issues.models import ApiKey, Company, Role
from issues.services.companies import remove_member
from issues.services.keys import create_run_key, create_user_key
from tests import build
from tests.api.client import Api, as_person


def test_without_a_key_nobody_is_answered(company: Company) -> None:
    answer = Api().get("issues")
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="Trimus"'


@pytest.mark.parametrize(
    "header",
    [
        "Bearer trm_0123456789abcdef",
        "Bearer nonsense",
        "Bearer ",
        "Basic Zm9vOmJhcg==",
        "Bearer trm_ü",
        "Bearer trm_\x00",
    ],
)
def test_a_key_that_is_none_is_refused(company: Company, header: str) -> None:
    response = Client(headers={"Authorization": header}).get("/api/issues")
    assert response.status_code == 401


def test_a_key_is_taken_from_the_header_alone(api: Api) -> None:
    assert Client().get("/api/companies", {"key": api.key, "token": api.key}).status_code == 401


def test_a_new_key_is_shown_once_and_works(api: Api) -> None:
    made = api.post("keys", {"name": "Script"})
    assert made.status == 201
    assert Api(made["key"]).get("me")["kind"] == "person"
    listed = api.get("keys").rows
    assert "Script" in [row["name"] for row in listed]
    assert all("key" not in row for row in listed)
    assert not ApiKey.objects.filter(key_hash__contains=made["key"][-20:]).exists()


def test_what_is_known_of_a_key_is_told_to_whom_it_is_of(api: Api, company: Company) -> None:
    made = api.post("keys", {"name": "Script"})
    told = api.get(f"keys/{made['id']}")
    assert told.body == {name: value for name, value in made.body.items() if name != "key"}
    assert as_person(build.member(company)).get(f"keys/{made['id']}").status == 404


def test_a_revoked_key_is_dead_at_once(api: Api) -> None:
    made = api.post("keys", {"name": "Script"})
    assert api.delete(f"keys/{made['id']}").status == 204
    assert Api(made["key"]).get("me").status == 401


def test_an_expired_key_is_refused(founder: Person) -> None:
    _, text = create_user_key(
        actor=founder, user=founder.user, expires_at=timezone.now() - datetime.timedelta(seconds=1)
    )
    assert Api(text).get("me").status == 401


def test_the_key_of_a_closed_account_is_refused(api: Api, founder: Person) -> None:
    founder.user.is_active = False
    founder.user.save()
    assert api.get("me").status == 401


def test_a_removed_member_sees_nothing_of_the_company_any_more(company: Company, founder: Person) -> None:
    member = build.member(company)
    calls = as_person(member)
    build.issue(company)
    assert calls.get("issues/ACME-1").status == 200
    remove_member(actor=founder, member=build.member_row(member))
    assert calls.get("issues/ACME-1").status == 404
    assert calls.get("issues").status == 404
    assert calls.get("companies").rows == []


def test_an_owner_makes_a_key_for_an_agent(api: Api, ada: Agent) -> None:
    made = api.post("keys", {"agent": "ada", "name": "Her laptop"})
    assert made.status == 201
    assert (made["company"], made["agent"]) == ("ACME", "ada")
    assert Api(made["key"]).get("agents/me")["handle"] == "ada"


@pytest.mark.parametrize("role", [Role.BOARD, Role.VIEWER])
def test_nobody_but_an_owner_makes_a_key_for_an_agent(company: Company, ada: Agent, role: Role) -> None:
    assert as_person(build.member(company, role=role)).post("keys", {"agent": "ada"}).status == 403


def test_a_member_sees_no_keys_but_their_own(api: Api, company: Company, ada: Agent) -> None:
    api.post("keys", {"agent": "ada"})
    member = as_person(build.member(company))
    assert [row["agent"] for row in member.get("keys").rows] == [None]
    others = ApiKey.objects.get(agent=ada)
    assert member.delete(f"keys/{others.pk}").status == 404


@pytest.mark.parametrize("agent", [{}, {"agent": "ada"}])
def test_a_key_that_reads_changes_nothing_and_makes_no_other(
    api: Api, company: Company, ada: Agent, agent: dict[str, str]
) -> None:
    build.issue(company, assignee=ada)
    made = api.post("keys", agent | {"scope": "read"})
    reader = Api(made["key"])
    assert (made["scope"], api.post("keys", agent)["scope"]) == ("read", "write")
    assert reader.get("issues/ACME-1").status == 200
    for refused in (
        reader.post("issues/ACME-1/comments", {"body": "Hello"}),
        reader.post("issues/ACME-1/actions", {"text": "Hello"}),
        reader.patch("issues/ACME-1", {"title": "New"}),
        reader.post("keys", {}),
        reader.delete(f"keys/{made['id']}"),
    ):
        assert (refused.status, refused["detail"]) == (403, "This key only reads.")
    assert api.post("keys", {"scope": "all"}).status == 422


def test_agents_have_nothing_to_do_with_keys(ada_api: Api) -> None:
    assert ada_api.get("keys").status == 403
    assert ada_api.post("keys", {}).status == 403


def test_the_key_of_a_terminated_agent_is_refused(ada_api: Api, ada: Agent, founder: Person) -> None:
    terminate_agent(actor=founder, agent=ada)
    assert ada_api.get("me").status == 401


def test_a_paused_agent_reads_and_changes_nothing(ada_api: Api, ada: Agent, company: Company, founder: Person) -> None:
    build.issue(company, assignee=ada)
    pause_agent(actor=founder, agent=ada)
    assert ada_api.get("issues/ACME-1").status == 200
    refused = ada_api.post("issues/ACME-1/comments", {"body": "Hello"})
    assert (refused.status, refused["detail"]) == (403, "@ada is paused.")


def test_a_runs_key_acts_in_the_run_and_dies_with_it(company: Company, ada: Agent, founder: Person) -> None:
    issue = build.issue(company, assignee=ada)
    run = check_out(actor=founder, issue=issue, agent=ada)
    _, text = create_run_key(run=run, expires_at=timezone.now() + datetime.timedelta(hours=1))
    calls = Api(text)
    assert calls.get("me")["issue"] == "ACME-1"
    written = calls.post("issues/ACME-1/comments", {"body": "From the run."})
    assert written["run"] == run.pk
    as_person(founder).post(f"runs/{run.pk}/cancel")
    assert calls.get("me").status == 401


def test_a_call_of_the_holder_keeps_its_checkout_alive(ada_api: Api, ada: Agent, company: Company) -> None:
    issue = build.issue(company, assignee=ada)
    ada_api.post("issues/ACME-1/checkout")
    nearly_over = timezone.now() + datetime.timedelta(minutes=2)
    Run.objects.filter(issue=issue).update(deadline_at=nearly_over)
    ada_api.get("issues/ACME-1")
    run = Run.objects.get(issue=issue)
    assert run.deadline_at > nearly_over
    assert run.lease_counter == 1


def test_a_browser_session_reads_and_needs_its_token_to_write(founder: Person, company: Company) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(founder.user)
    assert browser.get("/api/issues").status_code == 200
    body = {"title": "From a foreign page"}
    assert browser.post("/api/issues", body, content_type="application/json").status_code == 403
    browser.get("/admin/login/")
    token = browser.cookies[next(name for name in browser.cookies if "csrf" in name)].value
    answer = browser.post("/api/issues", body, content_type="application/json", headers={"X-CSRFToken": token})
    assert answer.status_code == 201


def test_the_caller_is_told_who_they_are(api: Api, ada_api: Api) -> None:
    assert api.get("me").body == {
        "kind": "person",
        "name": "Acme-founder",
        "places": [{"company": "ACME", "handle": "acme-founder", "role": "owner"}],
        "issue": None,
    }
    assert ada_api.get("me")["places"] == [{"company": "ACME", "handle": "ada", "role": "agent"}]
