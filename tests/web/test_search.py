"""The search page, and the completions of the palette."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from issues.actors import Person
from issues.models import Company
from tests import build


def test_each_hit_shows_where_the_words_stand(page: Client, company: Company) -> None:
    build.issue(company, "Cold cache")
    build.issue(company, "Slow start", description="Because of the cold cache.")
    build.comment(build.issue(company, "Third"), "<i>cold</i> cache")
    body = page.get("/acme/search/?q=cache+cold").content.decode()
    assert "<mark>Cold</mark> <mark>cache</mark></a>" in body
    assert "Because of the <mark>cold</mark> <mark>cache</mark>." in body
    assert "&lt;i&gt;<mark>cold</mark>&lt;/i&gt; <mark>cache</mark>" in body
    assert body.index("found-ACME-1") < body.index("found-ACME-2") < body.index("found-ACME-3")


def test_a_hit_in_a_comment_leads_to_the_comment(page: Client, company: Company) -> None:
    comment = build.comment(build.issue(company, "Third"), "cold cache")
    assert f'href="/acme/issues/ACME-1/#comment-{comment.pk}"' in page.get("/acme/search/?q=cold").content.decode()


def test_a_number_without_an_issue_is_looked_for_as_a_word(page: Client, company: Company) -> None:
    build.issue(company, "Pay 300 invoices")
    assert "Pay <mark>300</mark> invoices" in page.get("/acme/search/?q=300").content.decode()


@pytest.mark.parametrize("query", ["", "?q=", "?q=zebra", "?q=%00", "?q=%ED%A0%80", f"?q={'x' * 10_000}", "?q=%22"])
def test_a_search_that_finds_nothing_says_so(query: str, page: Client, company: Company) -> None:
    build.issue(company, "Write the guide")
    answer = page.get(f"/acme/search/{query}")
    assert answer.status_code == 200
    assert b'class="empty"' in answer.content


def test_a_search_takes_few_queries_however_much_it_finds(page: Client, company: Company) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            page.get("/acme/search/?q=cold")
        return len(queries)

    for title in ("Cold", "Other"):
        build.comment(build.issue(company, title, description="cold"), "cold")
    build.comment(build.issue(company, "Third"), "cold")
    few = count()
    for number in range(20):
        build.comment(build.issue(company, f"Work {number}", description="cold" * (number % 2)), "cold")
    assert count() == few <= 12


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("1", ["ACME-1", "ACME-12", "ACME-11", "ACME-10"]),
        ("acme-1", ["ACME-1", "ACME-12", "ACME-11", "ACME-10"]),
        ("turb gear", ["ACME-3"]),
        ("said", ["ACME-4"]),
        ("zebra", []),
    ],
)
def test_what_is_typed_is_completed_to_issues(typed: str, offered: list[str], page: Client, company: Company) -> None:
    for number in range(1, 13):
        build.issue(company, "Gearbox of the turbine" if number == 3 else f"Piece {'abcdefghijkl'[number - 1]}")
    build.comment(company.issues.get(number=4), "It was said")
    body = page.get("/acme/complete/", {"of": "issues", "q": typed}).content.decode()
    keys = [part.split('"')[0] for part in body.split('data-insert="')[1:]]
    assert keys == offered


def test_the_issue_of_a_typed_number_comes_before_newer_ones_that_begin_so(page: Client, company: Company) -> None:
    for _ in range(30):
        build.issue(company)
    for typed in ("2", "#2", "acme-2"):
        body = page.get("/acme/complete/", {"of": "issues", "q": typed}).content.decode()
        assert re.findall(r'data-insert="([^"]*)"', body)[:2] == ["ACME-2", "ACME-29"]
    assert b"data-insert" not in page.get("/acme/complete/", {"of": "issues", "q": "9" * 50}).content


def test_nobody_finds_what_another_company_wrote(browse: Callable[[Person], Client], company: Company) -> None:
    build.comment(build.issue(company, "Turbine", description="Gearbox"), "Bearing")
    _, stranger = build.company_with_founder("OTHER")
    client = browse(stranger)
    for word in ("turbine", "gearbox", "bearing"):
        assert b'class="empty"' in client.get(f"/other/search/?q={word}").content
        assert client.get(f"/other/complete/?of=issues&q={word}").content.strip() == b""
        assert client.get(f"/acme/search/?q={word}").status_code == 404
