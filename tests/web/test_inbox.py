"""The inbox's page: its order, what is decided on it, and what is out of sight."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from issues.actors import Person
from issues.models import ApprovalStatus, Company, InboxItem, InboxKind, Issue, Status
from issues.services.accounts import change_profile
from issues.services.approvals import ask_question
from issues.services.inbox import tell
from issues.services.issues import set_status
from tests import build


def titles(page: Client, query: str = "") -> list[str]:
    return re.findall(r"<h2>([^<]*)</h2>", page.get(f"/acme/inbox/{query}").content.decode())


def lines(page: Client, query: str = "") -> list[str]:
    return re.findall(r'class="said title">([^<]*)<', page.get(f"/acme/inbox/{query}").content.decode())


def put(founder: Person, kind: InboxKind, text: str, company: Company, issue: Issue | None = None) -> InboxItem:
    tell([build.member_row(founder)], kind, text, company=company, issue=issue)
    return InboxItem.objects.get(text=text)


def unread(page: Client) -> str:
    found = re.search(r'aria-label="(\d+) unread"', page.get("/acme/").content.decode())
    return found[1] if found else "0"


def test_what_is_wanted_comes_first_then_news_by_its_kind(
    page: Client, company: Company, founder: Person, ada: Agent
) -> None:
    issue = build.issue(company, assignee=ada)
    for kind in (InboxKind.BUDGET, InboxKind.FAILURE, InboxKind.MENTION, InboxKind.MOVED, InboxKind.ANSWER):
        put(founder, kind, f"news: {kind}", company)
    for kind in (InboxKind.STOPPED, InboxKind.BLOCKED, InboxKind.REVIEW):
        put(founder, kind, f"wanted: {kind}", company, issue)
    worker = build.at_work(ada, issue)
    ask_question(actor=worker, issue=issue, question="Which?")
    build.approval(issue, "May I?", actor=worker)
    assert titles(page) == ["Needs you", "Answers", "In review or done", "Mentions", "Failures", "Budget"]
    assert lines(page) == [
        f"{issue.identifier}: May I?",
        f"{issue.identifier}: Which?",
        "wanted: review",
        "wanted: blocked",
        "wanted: stopped",
        *(f"news: {kind}" for kind in ("answer", "moved", "mention", "failure", "budget")),
    ]


def test_news_never_crowds_out_what_is_wanted(page: Client, company: Company, founder: Person) -> None:
    put(founder, InboxKind.STOPPED, "the oldest", company)
    InboxItem.objects.bulk_create(
        InboxItem(company=company, member=founder.member, kind=InboxKind.MENTION, text="news") for _ in range(150)
    )
    assert lines(page)[0] == "the oldest"


def test_a_review_is_given_in_the_inbox(page: Client, company: Company, founder: Person, ada: Agent) -> None:
    issue = build.issue(company, assignee=ada)
    set_status(actor=build.at_work(ada, issue), issue=issue, status=Status.IN_REVIEW)
    body = page.get("/acme/inbox/").content.decode()
    form = re.search(r'<form class="answer row wrap" method="post" action="([^"]*)"', body)
    assert form
    page.post(form[1], {"verdict": "send-back", "note": "Shorter."})
    issue.refresh_from_db()
    assert issue.status == Status.IN_PROGRESS
    assert lines(page) == []


def test_stopped_work_goes_on_by_a_comment_or_a_status(
    page: Client, company: Company, founder: Person, ada: Agent
) -> None:
    issue = build.issue(company, assignee=ada)
    for path, values in (("comments/", {"body": "Like so."}), ("status/", {"status": "backlog"})):
        put(founder, InboxKind.STOPPED, f"Say how it goes on: {path}", company, issue)
        address = f"/acme/issues/{issue.identifier}/{path}"
        assert f'action="{address}"' in page.get("/acme/inbox/").content.decode()
        page.post(address, values)
        assert lines(page) == []


def test_snoozing_hides_an_item_and_its_count_until_its_time_in_the_persons_zone(
    page: Client, company: Company, founder: Person
) -> None:
    change_profile(actor=founder, name="", time_zone="Asia/Tokyo")
    noon = (timezone.now() + timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    with time_machine.travel(noon, tick=False) as clock:  # nine in the evening in Tokyo
        item = put(founder, InboxKind.MENTION, "Look.", company)
        assert unread(page) == "1"
        body = page.post(f"/acme/inbox/{item.pk}/snooze/", {"until": "tomorrow"}, follow=True).content.decode()
        assert re.search(r"It comes back on \w+, \d+ \w+, 09:00\.", body)
        assert (unread(page), lines(page), lines(page, "?show=snoozed")) == ("0", [], ["Look."])
        clock.move_to(noon + timedelta(hours=12))
        assert (unread(page), lines(page), lines(page, "?show=snoozed")) == ("1", ["Look."], [])


@pytest.mark.parametrize("values", [{}, {"until": "never"}, {"until": "date"}, {"until": "date", "date": "2020-01-01"}])
def test_a_time_that_cannot_be_is_refused(
    page: Client, company: Company, founder: Person, values: dict[str, str]
) -> None:
    item = put(founder, InboxKind.MENTION, "Look.", company)
    assert page.post(f"/acme/inbox/{item.pk}/snooze/", values).status_code == 422
    assert lines(page) == ["Look."]


def test_reading_archiving_and_bringing_back(page: Client, company: Company, founder: Person) -> None:
    item = put(founder, InboxKind.MENTION, "Look.", company)
    page.post(f"/acme/inbox/{item.pk}/read/")
    assert (unread(page), lines(page)) == ("0", ["Look."])
    page.post("/acme/inbox/read/")
    assert (lines(page), lines(page, "?show=archived")) == ([], ["Look."])
    page.post(f"/acme/inbox/{item.pk}/return/")
    assert (lines(page), lines(page, "?show=archived")) == (["Look."], [])


def test_another_companys_items_count_nowhere(page: Client, company: Company, founder: Person) -> None:
    other, _ = build.company_with_founder("OTHER")
    InboxItem.objects.create(company=other, member=build.member_row(build.owner_of(other)), kind="mention", text="x")
    assert (unread(page), lines(page)) == ("0", [])


def test_following_from_the_issue_is_shown_and_ended(page: Client, company: Company, founder: Person) -> None:
    issue = build.issue(company)
    address = f"/acme/issues/{issue.identifier}/"
    assert ">Follow<" in page.get(address).content.decode()
    page.post(f"{address}watch/")
    assert ">Unfollow<" in page.get(address).content.decode()
    page.post(f"{address}watch/", {"off": "1"})
    assert ">Follow<" in page.get(address).content.decode()


def test_an_answered_question_leaves_the_inbox(page: Client, company: Company, founder: Person, ada: Agent) -> None:
    issue = build.issue(company, assignee=ada)
    approval = ask_question(actor=build.at_work(ada, issue), issue=issue, question="Which?", choices=["Red", "Blue"])
    assert "Red" in page.get("/acme/inbox/").content.decode()
    page.post(f"/acme/approvals/{approval.pk}/decide/", {"decision": "answered", "choice": "Red"})
    approval.refresh_from_db()
    assert (approval.status, approval.note, lines(page)) == (ApprovalStatus.ANSWERED, "Red", [])
