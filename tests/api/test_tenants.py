"""No address of the API shows or changes anything of a company that the caller is not in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import URLPattern

import agents.api.urls
import issues.api.urls
from agents.models import Agent
from agents.services.notebook import remember, write_note
from agents.services.runs import cancel_run
from agents.services.wakeups import run_heartbeat
from issues.actors import Person
from issues.models import Activity, Attachment, Company, Grant
from issues.rights import Right
from issues.services.files import attach_file, write_file
from issues.services.findings import record_finding
from issues.services.keys import create_agent_key
from issues.services.policy import change_policy
from issues.services.webhooks import add_webhook
from tests import build
from tests.api.client import Answer, Api, as_agent, as_person

METHODS = ("get", "post", "patch", "delete")
OPEN_TO_ALL = {"health", "schema", "docs", "me", "companies", "keys", "agents/me"}
CANARY = "canary-7f3a"
MADE: dict[str, dict[str, Any]] = {
    "issues": {"title": "Mine"},
    "hooks": {"name": "Mine", "title": "Mine"},
    "webhooks": {"url": "https://hooks.test/in", "kinds": ["issue"]},
    "mentions": {"text": "@hers"},
    "policy/rules": {"permission": "assign", "grant": "allow"},
    "policy/caps": {"verb": "assign", "cap": 3},
    "members": {"username": "eve", "role": "owner"},
    "routines": {"name": "Mine", "cron": "0 9 * * *", "title": "Mine", "assignee": "hers"},
    "skills": {"name": "Mine", "body": "Mine"},
}
"""What has no name of its own, as it would be made."""


def calls() -> Iterator[tuple[str, str]]:
    """Every method of every address, from the addresses themselves: a new one cannot be forgotten."""
    patterns: list[URLPattern] = [*issues.api.urls.urlpatterns, *agents.api.urls.urlpatterns]
    for pattern in patterns:
        view = getattr(pattern.callback, "cls", None)
        for method in METHODS:
            if view is not None and hasattr(view, method):
                yield method, str(pattern.pattern)


CALLS = sorted(set(calls()))


@pytest.fixture
def victim(company: Company, founder: Person) -> dict[str, Any]:
    """A company with one of everything, each with a word that nobody else may see; ids by the part of an address."""
    agent = build.agent(company, f"Agent {CANARY}", handle="hers", adapter="external", instructions=CANARY)
    issue = build.issue(company, CANARY, description=CANARY, assignee=agent)
    blocker = build.issue(company, CANARY)
    comment = build.comment(issue, CANARY)
    worker = build.at_work(agent, issue)
    approval = build.approval(issue, CANARY, actor=worker)
    note = write_note(actor=worker, issue=issue, key=CANARY, text=CANARY)
    observation = remember(actor=worker, issue=issue, text=CANARY)
    finding = record_finding(actor=worker, issue=issue, title=CANARY, body=CANARY)
    file = write_file(actor=worker, issue=issue, path=CANARY, text=CANARY).file
    rule = change_policy(actor=founder, company=company, permission=Right.ASSIGN, grant=Grant.DENY, role=CANARY)
    assert rule is not None
    assert worker.run is not None
    cancel_run(actor=founder, run=worker.run)
    wakeup = run_heartbeat(actor=founder, agent=agent, issue=issue, note=CANARY)
    member = build.member_row(build.member(company, CANARY))
    key, _ = create_agent_key(actor=founder, agent=agent, name=CANARY)
    attachment: Attachment = attach_file(actor=founder, issue=issue, name=CANARY, content=b"x")
    webhook, _ = add_webhook(actor=founder, company=company, url=f"http://{CANARY}.test/", kinds=["issue"])
    return {
        "<slug:key>": company.key,
        "<slug:reaction>": "agree",
        "<slug:name>": build.provider(company, CANARY, model=CANARY).name,
        "<issue:identifier>": issue.identifier,
        "<issue:blocker>": blocker.identifier,
        "projects/<id:id>": build.project(company, CANARY).pk,
        "labels/<id:id>": build.label(company, CANARY).pk,
        "comments/<id:id>": comment.pk,
        "attachments/<id:id>": attachment.pk,
        "approvals/<id:id>": approval.pk,
        "keys/<id:id>": key.pk,
        "agents/<id:id>": agent.pk,
        "runs/<id:id>": worker.run.pk,
        "wakeups/<id:id>": wakeup.pk,
        "members/<id:id>": member.pk,
        "views/<id:id>": build.saved_view(company, CANARY, shared=True).pk,
        "files/<id:id>": file.pk,
        "findings/<id:id>": finding.pk,
        "routines/<id:id>": build.routine(company, agent, name=CANARY).pk,
        "skills/<id:id>": build.skill(company, CANARY).pk,
        "notes/<id:id>": note.pk,
        "observations/<id:id>": observation.pk,
        "policy/rules/<id:id>": rule.pk,
        "webhooks/<id:id>": webhook.pk,
        "hooks/<id:id>": build.hook(company, CANARY)[0].pk,
        "<slug:token>": f"trh_{'0' * 48}",  # who has the right one is no stranger
    }


@pytest.fixture
def strangers(db: None) -> list[Api]:
    """An owner and an agent of another company."""
    other, owner = build.company_with_founder("OTHR")
    stranger: Agent = build.agent(other, "Eve", adapter="external")
    build.issue(other, "Elsewhere")
    return [as_person(owner), as_agent(stranger)]


@pytest.mark.parametrize(("method", "path"), [call for call in CALLS if "<" in call[1]])
def test_a_thing_of_another_company_is_not_there(
    strangers: list[Api], victim: dict[str, Any], method: str, path: str
) -> None:
    address = _filled(path, victim)
    before = Activity.objects.count()
    for api in strangers:
        answer = _call(api, method, address)
        # Who may not do such a thing at all is told so before it is looked for.
        assert answer.status in ((404,) if not path.startswith("keys") else (403, 404)), answer
        assert CANARY not in json.dumps(answer.body)
    assert Activity.objects.count() == before


@pytest.mark.parametrize(
    ("method", "path"), [call for call in CALLS if "<" not in call[1] and call[1] not in OPEN_TO_ALL]
)
def test_another_company_is_not_there(strangers: list[Api], victim: dict[str, Any], method: str, path: str) -> None:
    before = Activity.objects.count()
    for api in strangers:
        if method == "get":
            query = {"q": CANARY} if path == "search" else {}
            assert api.get(path, company="ACME", **query).status == 404
        else:
            assert api.post(path, {"company": "ACME"} | MADE.get(path, {"name": "Mine"})).status == 404
    assert Activity.objects.count() == before


@pytest.mark.parametrize("path", [path for method, path in CALLS if method == "get" and "<" not in path])
def test_no_list_holds_anything_of_another_company(strangers: list[Api], victim: dict[str, Any], path: str) -> None:
    query = {"q": CANARY} if path == "search" else {}
    for api in strangers:
        assert CANARY not in json.dumps(api.get(path, **query).body)


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("assignee", "hers"),
        ("parent", "ACME-1"),
        ("blockers", ["ACME-1"]),
        ("labels", [CANARY]),
        ("project", CANARY),
        ("responsible", CANARY),
    ],
)
def test_an_issue_refers_to_nothing_of_another_company(
    strangers: list[Api], victim: dict[str, Any], field: str, word: Any
) -> None:
    owner = strangers[0]
    answer = owner.post("issues", {"title": "Mine", field: word})
    assert (answer.status, list(answer["errors"])) == (422, [field])


def test_a_key_is_made_for_no_agent_of_another_company(strangers: list[Api], victim: dict[str, Any]) -> None:
    assert strangers[0].post("keys", {"agent": "hers"}).status == 422
    assert strangers[0].post("keys", {"agent": "hers", "company": "ACME"}).status == 404


def _filled(path: str, ids: dict[str, Any]) -> str:
    for place, value in sorted(ids.items(), key=lambda entry: -len(entry[0])):
        start = place.partition("<")[0]
        path = path.replace(place, f"{start}{value}") if path.startswith(start) or not start else path
    assert not re.search("[<>]", path), f"{path}: nothing of this kind to try"
    return path


def _call(api: Api, method: str, address: str) -> Answer:
    if address.endswith("/attachments") and method == "post":
        from django.core.files.uploadedfile import SimpleUploadedFile

        response = api.client.post(f"/api/{address}", {"file": SimpleUploadedFile("x.txt", b"x")})
        return Answer(response.status_code, response.json(), response.headers)
    if method == "get":
        return api.get(address)
    if method == "delete":
        return api.delete(address)
    return getattr(api, method)(address, _body(address, method))


def _body(address: str, method: str) -> dict[str, Any]:
    """What such a call needs to be looked at."""
    needed = {
        "blockers": {"blockers": ["OTHR-1"]},
        "comments": {"body": "Mine"},
        "reactions": {"reaction": "agree"},
        "reviewers": {"reviewers": []},
        "verdict": {"verdict": "accept"},
        "requests": {"title": "Mine"},
        "questions": {"question": "Mine?"},
        "decision": {"status": "approved"},
        "budget": {"runs": 1},
        "actions": {"text": "/priority high"},
        "providers": {"name": "mine", "protocol": "openai"},
    }
    return needed.get(address.rpartition("/")[2], {}) if method == "post" else {}
