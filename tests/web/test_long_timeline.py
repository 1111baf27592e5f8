"""A long timeline shows how it began and its newest part; what lies between comes into the gap, and stays there."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from issues.actors import Person
from issues.models import Company, Issue, Priority
from issues.services.issues import set_priority
from issues.views.timeline_rows import MOST
from tests import build
from tests.web.test_queries import say

GAP = "(gap)"


@pytest.fixture
def issue(company: Company) -> Issue:
    return build.issue(company)


def entries(body: str) -> list[str]:
    """What stands in a timeline or a part of one, in its order: comments by their text, changes and runs by theirs."""
    lines = re.findall(
        r'<li class="entry.*?</li>\n|<li class="entry.*?</li>$|<li id="gap" class.*?</li>', body, re.DOTALL
    )
    return [GAP if line.startswith('<li id="gap"') else said(line) for line in lines]


def said(line: str) -> str:
    text = line.split('class="prose"', 1)[-1].partition(">")[2] if 'class="prose"' in line else line
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def shown(page: Client, issue: Issue, **query: str) -> list[str]:
    body = page.get(f"/acme/issues/{issue.identifier}/", query).content.decode()
    return entries(body.split('id="timeline"')[1].split("</ol>")[0])


def unfold(page: Client, body: str) -> str:
    """What comes into the gap of a page or of a part of one."""
    address = re.search(r'hx-get="([^"]*/older/[^"]*)"', body)
    assert address
    return page.get(address[1].replace("&amp;", "&"), headers={"HX-Request": "true"}).content.decode()


def since(body: str) -> str:
    found = re.search(r'name="since" value="([^"]*)"', body)
    assert found
    return found[1]


def comments(first: int, last: int) -> list[str]:
    return [f"Comment {number}" for number in range(first, last + 1)]


class TestALongTalk:
    def test_begins_with_its_first_comment_and_ends_with_the_newest_fifty(
        self, page: Client, issue: Issue, founder: Person
    ) -> None:
        say(issue, founder, 120)
        opened, *rest = shown(page, issue)
        assert "opened the issue" in opened
        assert rest == ["Comment 0", GAP, *comments(70, 119)]

    def test_has_no_gap_where_nothing_is_left_out(self, page: Client, issue: Issue, founder: Person) -> None:
        say(issue, founder, 51)
        assert shown(page, issue)[1:] == comments(0, 50)
        say(issue, founder, 1)
        assert shown(page, issue)[2:4] == [GAP, "Comment 2"]

    def test_is_unfolded_page_by_page_until_nothing_is_missing_or_doubled(
        self, page: Client, issue: Issue, founder: Person
    ) -> None:
        say(issue, founder, 160)
        whole = body = page.get(f"/acme/issues/{issue.identifier}/").content.decode()
        seen = shown(page, issue)
        for _ in range(3):
            body = unfold(page, body)
            at = seen.index(GAP)
            seen[at : at + 1] = entries(body)
        assert seen[1:] == comments(0, 159)
        assert "Show earlier entries" not in body
        assert since(body) < since(whole)

    def test_counts_entries_of_every_kind_and_what_is_merged_as_one(
        self, page: Client, issue: Issue, founder: Person
    ) -> None:
        with time_machine.travel(timezone.now() + timedelta(hours=1), tick=False) as clock:
            for number in range(40):
                build.comment(issue, f"Comment {number}")
                for priority in (Priority.HIGH, Priority.LOW):
                    clock.shift(1)
                    set_priority(actor=founder, issue=issue, priority=priority)
                clock.shift(1)
        _, first, gap, *newest = shown(page, issue)
        assert (first, gap, len(newest)) == ("Comment 0", GAP, 50)
        assert newest[0] == "Comment 15"
        assert newest[1].startswith("Acme-founder set the priority to High , set the priority to Low")

    def test_shows_its_first_entry_alone_where_much_came_before_the_first_comment(
        self, page: Client, issue: Issue, founder: Person
    ) -> None:
        with time_machine.travel(timezone.now() + timedelta(hours=1), tick=False) as clock:
            for number in range(70):
                set_priority(actor=founder, issue=issue, priority=(Priority.HIGH, Priority.LOW)[number % 2])
                clock.shift(700)
            build.comment(issue, "At last.")
        opened, gap, *newest = shown(page, issue)
        assert "opened the issue" in opened
        assert gap == GAP
        assert (len(newest), newest[-1]) == (50, "At last.")


class TestFetchingAnew:
    def test_keeps_what_was_unfolded(self, page: Client, issue: Issue, founder: Person) -> None:
        say(issue, founder, 160)
        part = unfold(page, page.get(f"/acme/issues/{issue.identifier}/").content.decode())
        say(issue, founder, 1)
        assert shown(page, issue, since=since(part))[1:] == ["Comment 0", GAP, *comments(60, 159), "Comment 0"]
        everything = unfold(page, unfold(page, part))
        assert shown(page, issue, since=since(everything))[1:] == [*comments(0, 159), "Comment 0"]

    def test_takes_nothing_away_from_a_timeline_that_grows_long_under_its_reader(
        self, page: Client, issue: Issue, founder: Person
    ) -> None:
        say(issue, founder, 40)
        mark = since(page.get(f"/acme/issues/{issue.identifier}/").content.decode())
        say(issue, founder, 40)
        assert GAP not in shown(page, issue, since=mark)
        assert len(shown(page, issue, since=mark)) == 81

    def test_is_bounded(self, page: Client, issue: Issue, founder: Person) -> None:
        say(issue, founder, MOST + 20)
        assert shown(page, issue, since=issue.created_at.isoformat())[1:4] == ["Comment 0", GAP, "Comment 20"]


def test_an_earlier_part_begins_with_the_first_comment_too(page: Client, issue: Issue, founder: Person) -> None:
    say(issue, founder, 160)
    body = page.get(f"/acme/issues/{issue.identifier}/").content.decode()
    earlier = shown(page, issue, before=since(body))
    assert earlier[1:] == ["Comment 0", GAP, *comments(60, 109)]


@pytest.mark.parametrize("word", ["", "soon", "2026-13-45", "2026-01-01T00:00:00", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_time_is_left_alone_or_refused(word: str, page: Client, issue: Issue, founder: Person) -> None:
    say(issue, founder, 60)
    assert len(shown(page, issue, since=word, before=word)) == 53
    times = {"after": issue.created_at.isoformat(), "until": timezone.now().isoformat()}
    for name in times:
        assert page.get(f"/acme/issues/{issue.identifier}/older/", times | {name: word}).status_code == 422
