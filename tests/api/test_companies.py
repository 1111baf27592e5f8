"""Companies, members, projects and labels over the API."""

from __future__ import annotations

from agents.models import Agent
from issues.models import Company, Role
from tests import build
from tests.api.client import Api, as_person


def test_a_company_is_founded_by_whoever_asks(api: Api) -> None:
    founded = api.post("companies", {"name": "Beta", "key": "beta", "time_zone": "Europe/Berlin"})
    assert (founded.status, founded["key"], founded["time_zone"]) == (201, "BETA", "Europe/Berlin")
    assert [row["key"] for row in api.get("companies").rows] == ["ACME", "BETA"]


def test_an_agent_founds_no_company_and_sees_its_own(ada_api: Api) -> None:
    assert ada_api.post("companies", {"name": "Beta", "key": "BETA"}).status == 403
    assert [row["key"] for row in ada_api.get("companies").rows] == ["ACME"]


def test_an_owner_changes_the_settings_and_the_board_does_not(api: Api, company: Company) -> None:
    assert api.patch("companies/acme", {"hop_limit": 3, "norms": "Be kind."})["hop_limit"] == 3
    board = as_person(build.member(company))
    assert board.patch("companies/ACME", {"hop_limit": 4}).status == 403
    assert board.get("companies/ACME")["norms"] == "Be kind."


def test_a_company_is_paused_and_resumed(api: Api, company: Company) -> None:
    assert api.post("companies/ACME/pause")["status"] == "paused"
    assert api.post("companies/ACME/resume")["status"] == "active"


def test_members_are_listed_while_they_are(api: Api, company: Company) -> None:
    build.member(company, "grace", role=Role.VIEWER)
    assert [(row["handle"], row["role"]) for row in api.get("members").rows] == [
        ("acme-founder", "owner"),
        ("grace", "viewer"),
    ]


def test_a_project_is_made_changed_and_archived(api: Api, company: Company) -> None:
    made = api.post("projects", {"name": "Launch", "rules": "Keep it small."})
    assert made.status == 201
    path = f"projects/{made['id']}"
    assert api.patch(path, {"name": "Take-off"})["name"] == "Take-off"
    assert api.post(f"{path}/archive")["archived_at"] is not None
    assert api.post(f"{path}/restore")["archived_at"] is None
    assert api.post("projects", {"name": "take-off"}).status == 409


def test_a_label_is_made_and_deleted(api: Api, company: Company) -> None:
    made = api.post("labels", {"name": "bug", "colour": "#FF0000"})
    assert (made.status, made["colour"]) == (201, "#ff0000")
    changed = api.patch(f"labels/{made['id']}", {"name": "defect"})
    assert (changed["name"], changed["colour"]) == ("defect", "#ff0000")
    assert api.delete(f"labels/{made['id']}").status == 204
    assert api.get("labels").rows == []


def test_an_agent_makes_labels_where_the_company_allows_it(
    api: Api, ada_api: Api, ada: Agent, company: Company
) -> None:
    assert ada_api.post("labels", {"name": "bug"}).status == 403
    api.patch("companies/ACME", {"agents_may_create_labels": True})
    assert ada_api.post("labels", {"name": "bug"}).status == 201


def test_health_needs_no_key(db: None) -> None:
    assert Api().get("health").body == {"status": "ok"}


def test_a_person_chooses_what_is_told_by_e_mail(api: Api, ada_api: Api, company: Company) -> None:
    here = "companies/ACME/notices"
    assert api.get(here).body == {"email": "", "kinds": ["mention", "asked", "budget"]}
    assert api.patch(here, {"kinds": ["news"]}).status == 422  # with no address
    chosen = api.patch(here, {"email": "frida@example.org", "kinds": ["news", "budget"]})
    assert chosen.body == {"email": "frida@example.org", "kinds": ["budget", "news"]}
    assert api.patch(here, {"kinds": []}).body == {"email": "frida@example.org", "kinds": []}
    assert list(api.patch(here, {"email": "nonsense"})["errors"]) == ["email"]
    assert api.patch(here, {"kinds": ["gossip"]}).status == 422
    assert ada_api.get(here).status == 403
