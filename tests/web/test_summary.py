"""What an issue's page shows beside its talk: the summary of it, and which attachments agents cannot read."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from agents.models import Agent, Checkpoint
from engine.text.checkpoints import to_plain
from engine.text.points import CheckpointFields, Point
from issues.actors import Person
from issues.models import Comment, Company, Issue
from issues.services.companies import change_company
from issues.services.files import attach_file, read_attachment
from tests import build
from tests.web.test_pages import text_of
from tests.web.test_queries import counted, say


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    return build.issue(company, "Export loses rows", assignee=ada)


def summed_up(issue: Issue, until: Comment, *, number: int = 1, text: str = "Bob sends the query") -> Checkpoint:
    """A checkpoint as the engine writes one."""
    fields = CheckpointFields(
        objective="Mend the export <now>",
        next_action="Ask Bob",
        commitments=(
            Point("C1", text, cites=(f"comment {until.pk}", "run 7")),
            Point("C2", "Ada tries again", cites=(f"comment {until.pk}",), closed_by=(f"comment {until.pk}",)),
        ),
    )
    agent = Agent.objects.get(handle="ada")
    return Checkpoint.objects.create(
        issue=issue, number=number, agent=agent, until=until, comments=31, fields=to_plain(fields)
    )


def shown(page: Client, issue: Issue, query: str = "") -> str:
    return page.get(f"/acme/issues/{issue.identifier}/{query}").content.decode()


def test_the_newest_summary_stands_folded_above_the_talk(page: Client, issue: Issue) -> None:
    comment = build.comment(issue, "I send the query.")
    summed_up(issue, comment, text="Of before")
    summed_up(issue, comment, number=2)
    body = shown(page, issue)
    words = text_of(body.encode())
    assert "Summary of the talk so far 31 comments" in words
    assert "Objective Mend the export &lt;now&gt;" in words
    assert f"Commitments Bob sends the query comment {comment.pk} run 7" in words
    assert f"Ada tries again comment {comment.pk} , closed by comment {comment.pk}" in words
    assert '<s class="faint">Ada tries again</s>' in body
    assert "Next action Ask Bob" in words
    assert "Of before" not in words
    assert '<details class="fold panel summary" id="summary"><summary>' in body
    assert body.index('id="summary"') < body.index('id="timeline"')


def test_cites_lead_to_comments_and_runs(page: Client, issue: Issue, founder: Person) -> None:
    build.comment(issue, "The first, which is always shown.")
    old = build.comment(issue, "I send the query.")
    summed_up(issue, old)
    assert f'href="#comment-{old.pk}"' in shown(page, issue)
    say(issue, founder, 60)
    body = shown(page, issue)
    assert f'id="comment-{old.pk}"' not in body
    address = re.search(rf'href="(/acme/issues/{issue.identifier}/\?comment={old.pk})#comment-{old.pk}"', body)
    assert address is not None
    earlier = page.get(address[1]).content.decode()
    assert f'id="comment-{old.pk}"' in earlier
    assert "What came later is not shown." in text_of(earlier.encode())
    assert 'href="/acme/runs/7/"' in body


@pytest.mark.parametrize("asked", ["0", "x", "9" * 30, "-1"])
def test_a_comment_that_is_not_there_hides_nothing(asked: str, page: Client, issue: Issue) -> None:
    build.comment(issue, "I send the query.")
    assert "I send the query." in shown(page, issue, f"?comment={asked}")


def test_a_company_that_wants_no_summaries_and_a_try_that_failed_show_none(
    page: Client, company: Company, founder: Person, issue: Issue
) -> None:
    comment = build.comment(issue)
    Checkpoint.objects.create(
        issue=issue, number=1, agent=Agent.objects.get(), until=comment, comments=1, problem="Nothing was cited."
    )
    assert 'id="summary"' not in shown(page, issue)
    summed_up(issue, comment)
    assert 'id="summary"' in shown(page, issue)
    change_company(actor=founder, company=company, checkpoints=False)
    assert 'id="summary"' not in shown(page, issue)


def test_a_summary_and_an_older_comment_take_few_queries(page: Client, issue: Issue, founder: Person) -> None:
    old = build.comment(issue)
    summed_up(issue, old)
    attach_file(actor=founder, issue=issue, name="a.bin", content=b"\x00")
    say(issue, founder, 60)
    with counted():
        shown(page, issue, f"?comment={old.pk}")


def test_an_attachment_that_agents_cannot_read_says_why(page: Client, issue: Issue, founder: Person) -> None:
    broken = attach_file(actor=founder, issue=issue, name="broken.pdf", content=b"%PDF-1.4 and nothing more")
    attach_file(actor=founder, issue=issue, name="notes.txt", content=b"Words.")
    assert "Agents are not shown its text. Not read yet" in text_of(shown(page, issue).encode())
    read_attachment(broken)
    assert broken.why_unread
    words = text_of(shown(page, issue).encode())
    assert f"Agents are not shown its text. Could not be read: {broken.why_unread}" in words
    assert words.count("Agents are not shown its text.") == 1
