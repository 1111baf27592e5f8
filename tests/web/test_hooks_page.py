"""Settings, Webhooks: hooks are added and changed, and what they opened is shown."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from issues.models import Company, Hook, Role
from issues.services.hooks import find_hook, open_by_hook
from tests import build
from tests.web.test_pages import text_of
from tests.web.test_webhooks_page import Browse

LIST = "/acme/settings/webhooks/"
NEW = {"name": "Alerts", "title": "Alert: {{title}}", "description": "{{body}}", "priority": "high", "per_hour": "5"}


def token_in(body: bytes) -> str:
    return re.findall(r"/api/hooks/(trh_[0-9a-f]{48})", body.decode())[0]


def test_one_is_added_and_its_address_shown_once(page: Client, company: Company) -> None:
    ada, label = build.agent(company, "Ada"), build.label(company)
    chosen = {"assignee": f"agent:{ada.pk}", "labels": [label.pk], "project": build.project(company).pk}
    answer = page.post("/acme/settings/hooks/new/", NEW | chosen)
    hook = find_hook(token_in(answer.content))
    assert "no-store" in answer.headers["Cache-Control"]
    assert (hook.title, hook.assignee_agent, hook.label_names, hook.per_hour) == ("Alert: {{title}}", ada, ["bug"], 5)
    here = page.get(f"/acme/settings/hooks/{hook.pk}/").content.decode()
    assert "Alert: {{title}}" in here
    assert re.search(r'value="agent:\d+" selected', here)
    assert re.search(rf'name="labels" value="{label.pk}" checked', here)
    for path in (LIST, f"/acme/settings/hooks/{hook.pk}/"):
        assert "/api/hooks/trh_" not in page.get(path).content.decode()


def test_what_is_refused_comes_back_as_it_was_sent(page: Client, company: Company) -> None:
    hook, _ = build.hook(company)
    for path in ("/acme/settings/hooks/new/", f"/acme/settings/hooks/{hook.pk}/"):
        for wrong in ({"per_hour": "many"}, {"per_hour": "5000"}, {"assignee": "agent:999"}):
            answer = page.post(path, NEW | {"name": "My own"} | wrong)
            assert answer.status_code == 422
            assert 'value="My own"' in answer.content.decode()


def test_it_is_changed_switched_and_removed(page: Client, company: Company) -> None:
    hook, token = build.hook(company)
    here = f"/acme/settings/hooks/{hook.pk}/"
    page.post(here, NEW | {"name": "Forms"})
    page.post(f"{here}switch/", {"on": "0"})
    hook.refresh_from_db()
    assert (hook.name, hook.enabled) == ("Forms", False)
    page.post(f"{here}switch/", {"on": "1"})
    assert token_in(page.post(f"{here}address/").content) != token
    page.post(f"{here}remove/")
    assert page.get(here).status_code == 404
    assert "Forms" not in text_of(page.get(LIST).content)


def test_what_it_opened_is_shown_and_names_it(page: Client, company: Company) -> None:
    hook, token = build.hook(company)
    assert "Nothing came yet." in text_of(page.get(f"/acme/settings/hooks/{hook.pk}/").content)
    open_by_hook(token=token, data={"title": "Disk full"})
    said = text_of(page.get(f"/acme/settings/hooks/{hook.pk}/").content)
    assert "1 issue opened" in said
    assert "ACME-1" in said
    issue = text_of(page.get("/acme/issues/ACME-1/").content)
    assert "Opened by the hook Alerts" in issue
    assert "opened the issue for the hook Alerts" in text_of(page.get("/acme/activity/").content)


@pytest.mark.parametrize("role", [Role.BOARD, Role.VIEWER])
def test_others_see_only_that_there_is_one(company: Company, browse: Browse, role: Role) -> None:
    hook: Hook = build.hook(company)[0]
    client = browse(build.member(company, role=role))
    assert "Alerts" in text_of(client.get(LIST).content)
    for path in ("new/", f"{hook.pk}/"):
        assert client.get(f"/acme/settings/hooks/{path}").status_code == 403
