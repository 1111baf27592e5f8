"""Bad calls: each is refused in words, and none breaks anything."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from issues.models import Company, Issue
from issues.rest.bodies import JSON_BYTES
from tests import build
from tests.api.client import Api


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"{'title': 'x'}",
        b'{"title": "x"} trailing',
        b"\xff\xfe",
        b'{"title": NaN}',
        b"[" * 100_000,
        b'{"title": ' + b"9" * 10_000 + b"}",
    ],
    ids=["open", "single quotes", "trailing", "not UTF-8", "NaN", "deep", "long number"],
)
def test_a_body_that_is_not_json_is_malformed(api: Api, company: Company, body: bytes) -> None:
    answer = api.raw("POST", "issues", body)
    assert answer.status == 400
    assert answer["type"] == "urn:trimus:problem:malformed"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"[]", "body"),
        (b'"text"', "body"),
        (b"null", "body"),
        (b"{}", "title"),
        (b'{"title": ""}', "title"),
        (b'{"title": null}', "title"),
        (b'{"title": []}', "title"),
        (b'{"title": {"x": 1}}', "title"),
        (b'{"title": true}', "title"),
        (b'{"title": "a\\u0000b"}', "title"),
        (b'{"title": "a\\ud800b"}', "title"),
        (b'{"title": "x", "tilte": "y"}', "tilte"),
        (b'{"title": "x", "priority": "p9"}', "priority"),
        (b'{"title": "x", "status": 7}', "status"),
        (b'{"title": "x", "assignee": "a\\ud800"}', "assignee"),
        (b'{"title": "x", "labels": "bug"}', "labels"),
        (b'{"title": "x", "labels": [["bug"]]}', "labels.0"),
        (b'{"title": "x", "due_date": "31.1.2027"}', "due_date"),
        (b'{"title": "x", "parent": "ACME-99999999999999999999"}', "parent"),
        (b'{"title": "x", "parent": "\'; DROP TABLE issues_issue"}', "parent"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(api: Api, company: Company, body: bytes, field: str) -> None:
    answer = api.raw("POST", "issues", body)
    assert answer.status == 422
    assert list(answer["errors"]) == [field]
    assert not Issue.objects.exists()


def test_a_title_of_five_megabytes_is_too_large(api: Api, company: Company) -> None:
    answer = api.post("issues", {"title": "x" * 5_000_000})
    assert answer.status == 413


def test_a_text_over_its_limit_is_too_large_and_named(api: Api, company: Company) -> None:
    answer = api.post("issues", {"title": "Long", "description": "x" * 64_001})
    assert answer.status == 413
    assert list(answer["errors"]) == ["description"]


def test_the_longest_text_fits_however_it_is_written(api: Api, company: Company) -> None:
    escaped = b'{"title": "Long", "description": "' + b"\\u0061" * 64_000 + b'"}'
    assert len(escaped) < JSON_BYTES
    assert api.raw("POST", "issues", escaped).status == 201


@pytest.mark.parametrize(
    "path",
    [
        "nothing",
        "",
        "issues/ACME",
        "issues/ACME-",
        "issues/ACME-1/nothing",
        "issues/ACME-99999999999999999999",
        "issues/%00",
        "issues/ACME-1%00",
        "agents/99999999999999999999999",
        "agents/999999999999999999",
        "agents/-1",
        "comments/1",
        "runs/1",
        "wakeups/1",
        "approvals/1",
        "attachments/1",
        "projects/1",
        "skills/1",
        "companies/NONE",
        "companies/%FF",
    ],
)
def test_what_is_not_there_is_not_found(api: Api, company: Company, path: str) -> None:
    answer = api.get(path)
    assert answer.status == 404
    assert answer["type"] == "urn:trimus:problem:not-found"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_a_method_that_a_resource_lacks_is_not_allowed(api: Api, company: Company, method: str) -> None:
    assert api.raw(method, "issues", b"").status == 405


def test_a_body_of_another_kind_is_not_read(api: Api, company: Company) -> None:
    assert api.raw("POST", "issues", b"title=x", "application/x-www-form-urlencoded").status == 415


@pytest.mark.parametrize("cursor", ["x", "a:b:c", "\x00", "é", "9" * 500])
def test_a_cursor_that_was_not_given_out_is_refused(api: Api, company: Company, cursor: str) -> None:
    assert api.get("issues", cursor=cursor).status in (400, 422)


def test_a_cursor_of_another_list_is_refused(api: Api, company: Company) -> None:
    for _ in range(2):
        build.issue(company)
    following = api.get("issues", limit=1)["next"]
    cursor = parse_qs(urlsplit(following).query)["cursor"][0]
    assert api.get("issues", cursor=cursor).status == 200
    assert api.get("issues", cursor=cursor, order="created").status == 400


def test_a_refusal_of_a_service_keeps_its_reason_and_hint(api: Api, company: Company) -> None:
    answer = api.post("companies", {"name": "Again", "key": "1ACME"})
    assert answer.status == 422
    assert answer["errors"] == {"key": [answer["detail"]]}
    assert answer["hint"].startswith("Use 2 to 10 capital letters")
