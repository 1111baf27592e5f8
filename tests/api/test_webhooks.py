"""Webhooks over the API: secrets come out once, and never again."""

from __future__ import annotations

from issues.models import Company, Webhook
from tests import build
from tests.api.client import Api, as_person

NEW = {"url": "https://hooks.test/in?token=x", "kinds": ["issue", "run"]}


def test_one_is_added_changed_and_removed(api: Api, company: Company) -> None:
    made = api.post("webhooks", NEW)
    assert made.status == 201
    assert made["secret"].startswith("whsec_")
    here = f"webhooks/{made['id']}"
    [listed] = api.get("webhooks").rows
    assert listed == api.get(here).body
    assert (listed["url"], listed["kinds"], listed["enabled"]) == (NEW["url"], NEW["kinds"], True)
    assert made["secret"] not in str(api.get(here).body)
    changed = api.patch(here, {"kinds": ["budget"], "enabled": False})
    assert (changed["url"], changed["kinds"], changed["enabled"]) == (NEW["url"], ["budget"], False)
    assert api.delete(here).status == 204
    assert api.get(here).status == 404


def test_a_change_that_is_refused_in_part_changes_nothing(api: Api, company: Company) -> None:
    made = api.post("webhooks", NEW)
    refused = api.patch(f"webhooks/{made['id']}", {"enabled": False, "url": "ftp://hooks.test/"})
    assert (refused.status, list(refused["errors"])) == (422, ["url"])
    assert api.get(f"webhooks/{made['id']}")["enabled"] is True


def test_its_secret_is_rotated(api: Api, company: Company) -> None:
    made = api.post("webhooks", NEW)
    rotated = api.post(f"webhooks/{made['id']}/secret")
    assert rotated.status == 200
    assert rotated["secret"].startswith("whsec_")
    assert rotated["secret"] != made["secret"]


def test_a_test_stands_among_its_deliveries(api: Api, company: Company) -> None:
    made = api.post("webhooks", NEW)
    company.refresh_from_db()
    build.issue(company)
    sent = api.post(f"webhooks/{made['id']}/test")
    assert (sent.status, sent["kind"], sent["state"]) == (200, "webhook.test", "pending")
    rows = api.get(f"webhooks/{made['id']}/deliveries").rows
    assert [row["kind"] for row in rows] == ["webhook.test", "issue.created"]
    assert rows[0] == sent.body
    api.patch(f"webhooks/{made['id']}", {"enabled": False})
    assert api.post(f"webhooks/{made['id']}/test").status == 409


def test_owners_alone_see_them(api: Api, ada_api: Api, company: Company) -> None:
    made = api.post("webhooks", NEW)
    for other in (as_person(build.member(company)), ada_api):
        for path in ("webhooks", f"webhooks/{made['id']}", f"webhooks/{made['id']}/deliveries"):
            answer = other.get(path)
            assert answer.status == 403, path
            assert "token" not in str(answer.body)
        assert other.post("webhooks", NEW).status == 403
        assert other.delete(f"webhooks/{made['id']}").status == 403
    assert Webhook.objects.count() == 1
