"""Every change that the audit keeps can be read."""

from __future__ import annotations

import re
from pathlib import Path

from django.test import Client

from issues.actors import Person
from issues.models import Activity, Company, Priority, Status
from issues.names import Names
from issues.sentences import _TELLERS, named_in, tell
from issues.services.blockers import add_blockers
from issues.services.issues import assign_issue, delete_issue, set_priority, set_status
from tests import build

ROOT = Path(__file__).resolve().parents[2]


def told(company: Company) -> list[str]:
    lines = list(Activity.objects.filter(company=company).order_by("pk"))
    names = Names(company, named_in(lines))
    return [re.sub(r"<[^>]*>", "", tell(line, names, "/acme/").text) for line in lines]


def test_every_kind_that_is_written_has_words() -> None:
    written: set[str] = set()
    for folder in ("issues", "agents", "engine"):
        for path in (ROOT / folder).rglob("*.py"):
            written |= set(re.findall(r'\brecord\(\s*[\w.]+,\s*"([a-z]+\.[a-z_]+)"', path.read_text()))
    assert len(written) > 20
    assert written <= set(_TELLERS)


def test_sentences_name_people_agents_and_issues(company: Company, founder: Person) -> None:
    ada = build.agent(company, "Ada")
    issue, other = build.issue(company), build.issue(company)
    assign_issue(actor=founder, issue=issue, assignee=ada)
    set_priority(actor=founder, issue=issue, priority=Priority.HIGH)
    add_blockers(actor=founder, issue=issue, blockers=[other])
    set_status(actor=founder, issue=other, status=Status.CANCELLED)
    sentences = told(company)
    assert "assigned Ada" in sentences
    assert "set the priority to High" in sentences
    assert f"let it wait for {other.identifier}" in sentences
    assert f"set the status to Blocked: it waits for {other.identifier}" in sentences
    assert f"set the status to Todo: {other.identifier} was cancelled" in sentences


def test_what_was_deleted_since_is_said_to_be(company: Company, founder: Person) -> None:
    issue, other = build.issue(company), build.issue(company)
    add_blockers(actor=founder, issue=issue, blockers=[other])
    delete_issue(actor=founder, issue=other)
    assert "let it wait for an issue that was deleted" in told(company)


def test_a_name_in_a_sentence_cannot_act(company: Company, founder: Person, page: Client) -> None:
    evil = build.agent(company, "<script>alert(1)</script>", handle="evil")
    issue = build.issue(company, "<b>bold</b>")
    assign_issue(actor=founder, issue=issue, assignee=evil)
    for address in ("board/", "activity/", "agents/", f"issues/{issue.identifier}/"):
        body = page.get(f"/acme/{address}").content.decode()
        assert "<script>alert" not in body
        assert "<b>bold" not in body
