"""The page of the audit: its filters, its pages, its figures."""

from __future__ import annotations

import datetime
import re

import pytest
from django.test import Client
from django.utils import timezone

from issues.actors import Person
from issues.models import Activity, Company, Priority
from issues.sentences import KINDS
from issues.services.issues import set_priority
from issues.views import activity
from issues.views.audit_selection import GROUPS
from tests import build
from tests.services.test_audit import maintenance
from tests.web.test_pages import text_of


def lines(page: Client, query: str = "") -> list[int]:
    """The ids of the lines shown."""
    answer = page.get(f"/acme/activity/{query}")
    assert answer.status_code == 200
    return [int(pk) for pk in re.findall(r'id="line-(\d+)"', answer.content.decode())]


def kinds(page: Client, query: str) -> list[str]:
    found = Activity.objects.in_bulk(lines(page, query))
    return [found[pk].kind for pk in sorted(found)]


@pytest.fixture
def busy(company: Company, founder: Person) -> None:
    agent = build.agent(company, "Cleo", adapter="external")
    issue = build.issue(company, "First")
    build.comment(issue, "Hm.", actor=founder)
    second = build.issue(company, "Second", assignee=agent)
    build.comment(second, "On it.", actor=build.at_work(agent, second))
    set_priority(actor=founder, issue=issue, priority=Priority.HIGH)


def test_lines_are_chosen_by_who_did_it(page: Client, company: Company, founder: Person, busy: None) -> None:
    agent = company.agents.get()
    assert kinds(page, f"?actor=agent:{agent.pk}") == ["run.started", "comment.written"]
    mine = kinds(page, f"?actor=member:{founder.member.pk}")  # type: ignore[union-attr]
    assert "issue.priority" in mine
    assert "run.started" not in mine
    assert set(lines(page, "?actor=system")) == set(
        Activity.objects.filter(actor_kind="system").values_list("pk", flat=True)
    )


def test_lines_are_chosen_by_what_they_are_about(page: Client, busy: None) -> None:
    assert kinds(page, "?kind=comment") == ["comment.written", "comment.written"]
    assert kinds(page, "?kind=issue.priority") == ["issue.priority"]
    assert kinds(page, "?kind=issue&issue=acme-1") == ["issue.created", "issue.priority"]
    assert kinds(page, "?issue=2&kind=run") == kinds(page, "?issue=%232&kind=run") == ["run.started"]


def test_lines_are_chosen_by_days_in_the_readers_zone(page: Client, founder: Person, busy: None) -> None:
    founder.user.time_zone = "Pacific/Kiritimati"  # 14 hours ahead
    founder.user.save()
    newest = Activity.objects.latest("pk")
    with maintenance():
        Activity.objects.filter(pk=newest.pk).update(
            created_at=datetime.datetime(2026, 3, 1, 9, 59, 59, tzinfo=datetime.UTC)
        )
    assert lines(page, "?since=2026-03-01&until=2026-03-01") == [newest.pk]
    assert lines(page, "?since=2026-03-02&until=2026-03-02") == []
    with maintenance():
        Activity.objects.filter(pk=newest.pk).update(created_at=datetime.datetime(2026, 3, 1, 10, tzinfo=datetime.UTC))
    assert lines(page, "?since=2026-03-02&until=2026-03-02") == [newest.pk]


@pytest.mark.parametrize(
    "query",
    [
        "?actor=agent:", "?actor=agent:x", "?actor=agent:99999999999999999999", "?kind=nonsense", "?kind=.",
        "?kind=%00", "?since=soon", "?since=2026-13-45", "?until=0000-00-00", "?since=9999-12-31", "?before=-1",
        "?before=²",
    ],
)  # fmt: skip
def test_words_that_mean_nothing_choose_nothing_less(page: Client, busy: None, query: str) -> None:
    assert lines(page, query) == lines(page)


@pytest.mark.parametrize("query", ["?issue=nonsense", "?issue=OTHR-1", "?issue=999", "?issue=%00", "?issue=²"])
def test_an_issue_that_is_none_has_no_lines_and_the_page_leads_back(page: Client, busy: None, query: str) -> None:
    assert lines(page, query) == []
    words = text_of(page.get(f"/acme/activity/{query}").content)
    assert "No line fits" in words
    assert "Show everything" in words


def test_another_companys_issue_or_agent_chooses_nothing_of_theirs(page: Client, busy: None) -> None:
    other, _ = build.company_with_founder("OTHR")
    agent = build.agent(other, "Zoe", adapter="external")
    build.at_work(agent, build.issue(other, assignee=agent))
    assert lines(page, f"?actor=agent:{agent.pk}") == []


def test_older_pages_keep_the_filters_and_miss_no_line(
    page: Client, company: Company, busy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "LINES", 2)
    wanted = [line.pk for line in Activity.objects.filter(company=company, kind__startswith="issue.").order_by("-pk")]
    query, seen = "?kind=issue", []
    while query:
        body = page.get(f"/acme/activity/{query}").content.decode()
        seen += [int(pk) for pk in re.findall(r'id="line-(\d+)"', body)]
        older = re.search(r'href="(\?[^"]*before=[^"]*)"', body)
        query = older[1].replace("&amp;", "&") if older else ""
    assert seen == wanted


def test_the_number_of_lines_stands_there_up_to_where_counting_ends(
    page: Client, company: Company, busy: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Activity.objects.filter(company=company).count()
    assert f"{count} lines" in text_of(page.get("/acme/activity/").content)
    assert "1 line " in text_of(page.get("/acme/activity/?kind=issue.priority").content)
    monkeypatch.setattr(activity, "COUNTED", 3)
    assert "More than 3 lines" in text_of(page.get("/acme/activity/").content)


def test_the_table_is_offered_with_the_same_filters(page: Client, busy: None) -> None:
    body = page.get("/acme/activity/?kind=issue&issue=ACME-1&nonsense=x").content.decode()
    assert 'href="/acme/activity/table.csv?kind=issue&amp;issue=ACME-1"' in body


def test_every_kind_that_there_are_words_for_is_in_a_group() -> None:
    assert {kind.partition(".")[0] for kind in KINDS} == set(GROUPS)


def test_today_is_in_today(page: Client, busy: None) -> None:
    today = timezone.localdate()
    assert lines(page, f"?since={today}&until={today}") == lines(page)
