"""The issue's timeline: identifiers with their standing, like changes as one, agents' changes hidden by a switch."""

from __future__ import annotations

import re
from datetime import timedelta

import time_machine
from django.test import Client
from django.utils import timezone

from agents.models import Agent, RunState
from agents.services.runs import cancel_run, release
from issues.actors import Person
from issues.models import Company, Priority, Status
from issues.services.comments import edit_comment
from issues.services.issues import set_priority, set_status
from tests import build


def words(page: Client, address: str) -> list[str]:
    """The timeline's lines of changes and runs, without tags."""
    timeline = page.get(address).content.decode().split('id="timeline"')[1].split("</ol>")[0]
    found = re.findall(r'<li class="entry change".*?</li>', timeline, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>", " ", line).split()) for line in found]


class TestIdentifiersInTexts:
    def test_show_how_their_issue_stands(self, page: Client, company: Company) -> None:
        done = build.issue(company, "Old <b>work</b>", status=Status.DONE)
        todo = build.issue(company, "New work")
        issue = build.issue(company, description=f"After {done.identifier}.")
        build.comment(issue, f"Before {todo.identifier}, not ACME-999.")
        body = page.get(f"/acme/issues/{issue.identifier}/").content.decode()
        assert (
            f'<a class="issue-link" href="/acme/issues/{done.identifier}/" title="Old &lt;b&gt;work&lt;/b&gt;">'
            '<svg class="icon done" role="img" aria-label="Done"><use href="#i-status-done"/></svg>'
            f" <s>{done.identifier}</s></a>"
        ) in body
        assert f'<a class="issue-link" href="/acme/issues/{todo.identifier}/" title="New work"><svg' in body
        assert re.search(r'<a class="issue-link" href="/acme/issues/ACME-999/">ACME-999</a>', body)

    def test_show_it_as_it_is_now_though_texts_are_rendered_once(
        self, page: Client, company: Company, founder: Person
    ) -> None:
        other = build.issue(company)
        issue = build.issue(company, description=f"After {other.identifier}.")
        for status in (Status.IN_PROGRESS, Status.BLOCKED):
            set_status(actor=founder, issue=other, status=status)
            prose = page.get(f"/acme/issues/{issue.identifier}/").content.decode().split('class="prose"')[1]
            assert f'class="icon {status}"' in prose.split("</div>")[0]

    def test_of_another_company_lead_nowhere(self, page: Client, company: Company) -> None:
        other, _ = build.company_with_founder("OTHER")
        secret = build.issue(other, "Secret")
        issue = build.issue(company, description=f"See {secret.identifier}.")
        body = page.get(f"/acme/issues/{issue.identifier}/").content.decode()
        assert "Secret" not in body
        assert "/issues/OTHER-1/" not in body


def test_like_changes_of_one_actor_are_said_once(page: Client, company: Company, founder: Person) -> None:
    issue = build.issue(company)
    comment = build.comment(issue, "One.")
    for body in ("Two.", "Three.", "Four."):
        comment = edit_comment(actor=founder, comment=comment, body=body)
    set_priority(actor=founder, issue=issue, priority=Priority.HIGH)
    assert words(page, f"/acme/issues/{issue.identifier}/")[-1].startswith(
        "Acme-founder edited a comment (3 times), set the priority to High"
    )


class TestHidingAgentsChanges:
    def test_leaves_words_and_what_people_did(
        self, page: Client, company: Company, founder: Person, ada: Agent
    ) -> None:
        issue = build.issue(company, assignee=ada)
        worker = build.at_work(ada, issue)
        build.comment(issue, "Word of an agent.", actor=worker)
        set_priority(actor=worker, issue=issue, priority=Priority.LOW)
        release(actor=worker, issue=issue)
        set_status(actor=founder, issue=issue, status=Status.IN_PROGRESS)
        address = f"/acme/issues/{issue.identifier}/"
        assert any("set the priority" in line for line in words(page, address))
        page.post(f"{address}noise/")
        left = words(page, address)
        assert not any(line.startswith("Ada") for line in left)
        assert any("In progress" in line for line in left)
        assert "Word of an agent." in page.get(address).content.decode()

    def test_is_remembered_and_taken_back(self, page: Client, company: Company, ada: Agent) -> None:
        first, second = build.issue(company, assignee=ada), build.issue(company)
        set_priority(actor=build.at_work(ada, first), issue=first, priority=Priority.LOW)
        page.post(f"/acme/issues/{second.identifier}/noise/")
        assert not any("priority" in line for line in words(page, f"/acme/issues/{first.identifier}/"))
        page.post(f"/acme/issues/{second.identifier}/noise/", {"on": "1"})
        assert any("priority" in line for line in words(page, f"/acme/issues/{first.identifier}/"))

    def test_hides_no_run_that_failed_or_is_under_way(self, page: Client, company: Company, ada: Agent) -> None:
        issue = build.issue(company, assignee=ada)
        run = build.at_work(ada, issue).run
        assert run is not None
        address = f"/acme/issues/{issue.identifier}/"
        page.post(f"{address}noise/")
        assert any("is at work" in line for line in words(page, address))
        type(run).objects.filter(pk=run.pk).update(
            state=RunState.FAILED, ended_at=timezone.now(), error="The model is away."
        )
        assert any("The model is away." in line for line in words(page, address))


def test_the_panel_tells_what_the_issue_has_cost(page: Client, company: Company, founder: Person, ada: Agent) -> None:
    issue = build.issue(company, assignee=ada)
    address = f"/acme/issues/{issue.identifier}/"
    assert "Cost so far" not in page.get(address).content.decode()
    for cost in (1_500_000, 750_000):
        run = build.at_work(ada, issue).run
        assert run is not None
        cancel_run(actor=founder, run=run)
        type(run).objects.filter(pk=run.pk).update(cost_microdollars=cost)
    facts = page.get(address).content.decode().split('id="facts"')[1]
    assert "$2.25" in facts
    assert "in 2 runs" in facts


def test_the_ledger_tells_when_a_run_began_and_how_long_it_took(
    page: Client, company: Company, founder: Person, ada: Agent
) -> None:
    issue = build.issue(company, assignee=ada)
    with time_machine.travel(timezone.now() - timedelta(hours=2), tick=False) as clock:
        run = build.at_work(ada, issue).run
        assert run is not None
        clock.shift(75)
        cancel_run(actor=founder, run=run)
    body = page.get(f"/acme/issues/{issue.identifier}/wakeups/").content.decode()
    assert "took 1 min 15 s" in body
    assert "2 h ago" in body
