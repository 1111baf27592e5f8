"""Hooks over the API: set up by owners, called by whoever has the address."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from issues.models import Company, Hook, Issue
from tests import build
from tests.api.client import Api, as_person

NEW = {"name": "Alerts", "title": "Alert: {{title}}", "description": "{{text}}", "per_hour": 5}


def call(token: str, body: Any, kind: str = "application/json", **headers: str) -> Any:
    data = json.dumps(body) if kind == "application/json" and not isinstance(body, str) else body
    return Client().post(f"/api/hooks/{token}", data, content_type=kind, headers=headers)


class TestSettingUp:
    def test_one_is_added_changed_and_removed(self, api: Api, company: Company) -> None:
        ada = build.agent(company, "Ada")
        build.project(company, "Launch")
        build.label(company, "bug")
        made = api.post("hooks", {**NEW, "project": "launch", "labels": ["bug"], "assignee": "ada", "priority": "high"})
        assert made.status == 201
        assert (made["project"], made["labels"], made["assignee"]["handle"]) == ("Launch", ["bug"], ada.handle)
        here = f"hooks/{made['id']}"
        [listed] = api.get("hooks").rows
        assert listed == api.get(here).body
        assert made["token"] not in str(listed)
        changed = api.patch(here, {"title": "{{title}}", "assignee": None, "labels": [], "enabled": False})
        assert (changed["title"], changed["assignee"], changed["labels"], changed["enabled"]) == (
            "{{title}}", None, [], False,
        )  # fmt: skip
        assert changed["priority"] == "high"
        assert call(made["token"], {}).status_code == 403
        assert api.delete(here).status == 204
        assert api.get(here).status == 404
        assert call(made["token"], {}).status_code == 404

    def test_its_token_is_rotated(self, api: Api, company: Company) -> None:
        made = api.post("hooks", NEW)
        rotated = api.post(f"hooks/{made['id']}/token")
        assert rotated.status == 200
        assert call(made["token"], {}).status_code == 404
        assert call(rotated["token"], {}).status_code == 201

    def test_owners_alone_see_them(self, api: Api, ada_api: Api, company: Company) -> None:
        made = api.post("hooks", NEW)
        for other in (as_person(build.member(company)), ada_api):
            assert other.get("hooks").status == 403
            assert other.get(f"hooks/{made['id']}").status == 403
            assert other.post("hooks", NEW).status == 403
            assert other.post(f"hooks/{made['id']}/token").status == 403
        assert Hook.objects.count() == 1


class TestCalling:
    def test_json_opens_an_issue(self, company: Company) -> None:
        _, token = build.hook(company)
        answer = call(token, {"title": "Disk full", "description": "On host 7."})
        assert (answer.status_code, answer.json()) == (201, {"issue": "ACME-1"})
        assert Issue.objects.get().title == "Disk full"

    def test_a_form_does(self, company: Company) -> None:
        _, token = build.hook(company, description="{{mail}} {{part}}")
        call(token, "title=A+form&mail=a%40example.org&part=x&part=y", "application/x-www-form-urlencoded")
        assert Issue.objects.get().description == "a@example.org x, y"
        multipart = Client().post(f"/api/hooks/{token}", {"title": "Another", "mail": "b"})
        assert multipart.status_code == 201
        assert Issue.objects.latest("pk").title == "Another"

    def test_whatever_json_it_is(self, company: Company) -> None:
        _, token = build.hook(company, title="x {{0.a}}", description="{{body}}")
        for body in ([{"a": 1}], "null", "17", '"text"', "[]", "{}"):
            assert call(token, body).status_code == 201
        assert set(Issue.objects.values_list("title", flat=True)) == {"x 1", "x"}
        assert Client().post(f"/api/hooks/{token}").status_code == 201

    def test_what_it_cannot_read_or_is_too_large_opens_nothing(self, company: Company) -> None:
        _, token = build.hook(company)
        assert call(token, "{").status_code == 400
        assert call(token, "x", "text/csv").status_code == 415
        for kind in ("application/json", "application/x-www-form-urlencoded"):
            assert call(token, "x" * 200_000, kind).status_code == 413
        assert call(token, {}, **{"Idempotency-Key": "x" * 201}).status_code == 422
        assert not Issue.objects.exists()

    def test_a_body_goes_so_deep_and_no_deeper(self, company: Company) -> None:
        _, token = build.hook(company, description="{{body}}")
        assert call(token, "[" * 50 + "1" + "]" * 50).status_code == 201
        assert call(token, '{"a":' * 50 + "[]" + "}" * 50).status_code == 400
        assert call(token, "[" * 51 + "]" * 51).status_code == 400
        assert Issue.objects.count() == 1

    def test_over_its_limit_it_is_told_how_long_to_wait(self, company: Company) -> None:
        _, token = build.hook(company, per_hour=1)
        call(token, {})
        answer = call(token, {})
        assert answer.status_code == 429
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert 3_500 < int(answer.headers["Retry-After"]) <= 3_600
        assert Issue.objects.count() == 1

    def test_sent_again_under_its_name_it_gets_the_first_answer(self, company: Company) -> None:
        _, token = build.hook(company)
        first, again = (call(token, {}, **{"Idempotency-Key": "k"}) for _ in range(2))
        assert first.json() == again.json()
        assert (first.headers.get("Idempotent-Replay"), again.headers.get("Idempotent-Replay")) == (None, "true")
        assert Issue.objects.count() == 1

    def test_a_key_or_session_of_whoever_sends_it_makes_no_difference(self, company: Company) -> None:
        _, token = build.hook(company)
        assert call(token, {}, Authorization="Bearer nonsense").status_code == 201

    def test_an_unknown_address_says_no_more_than_that(self, company: Company) -> None:
        for wrong in (f"trh_{'0' * 48}", "trh_", "nonsense"):
            assert call(wrong, {}).status_code == 404, wrong
        assert Client().get(f"/api/hooks/{build.hook(company)[1]}").status_code == 405

    def test_the_issue_names_its_hook(self, api: Api, company: Company) -> None:
        _, token = build.hook(company)
        call(token, {})
        issue = api.get("issues/ACME-1")
        assert (issue["created_by"], issue["created_by_hook"]) == (None, "Alerts")
        assert api.get(f"issues/{build.issue(company).identifier}")["created_by_hook"] is None
