"""Each form of the board does what it says, with and without scripts."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from agents.models import Agent, AgentStatus, RunState, Wakeup
from issues.actors import Person
from issues.models import ApprovalStatus, Comment, Company, Issue, Priority, Status
from issues.services.approvals import ask_question
from tests import build

HTMX = {"HX-Request": "true"}


def at(issue: Issue, rest: str = "") -> str:
    return f"/{issue.company.slug}/issues/{issue.identifier}/{rest}"


def test_an_issue_is_opened_with_all_that_the_form_offers(page: Client, company: Company, ada: Agent) -> None:
    bug, launch = build.label(company, "bug"), build.project(company, "Launch")
    parent, blocker = build.issue(company), build.issue(company)
    answer = page.post(
        "/acme/issues/new/",
        {
            "title": "Write the guide",
            "description": "Two pages.",
            "status": "todo",
            "priority": "high",
            "assignee": f"agent:{ada.pk}",
            "project": launch.pk,
            "labels": [bug.pk],
            "parent": parent.identifier,
            "blockers": blocker.identifier,
            "due_date": "2026-12-24",
        },
    )
    issue = Issue.objects.latest("pk")
    assert answer.headers["Location"] == at(issue)
    assert (issue.title, issue.description, issue.priority) == ("Write the guide", "Two pages.", Priority.HIGH)
    assert (issue.assignee_agent, issue.project, issue.parent) == (ada, launch, parent)
    assert issue.status == Status.BLOCKED  # the blocker is open
    assert list(issue.labels.all()) == [bug]
    assert str(issue.due_date) == "2026-12-24"


def test_a_form_that_cannot_be_used_comes_back_as_it_was_sent(page: Client, company: Company) -> None:
    sent = {"title": "Write the guide", "description": "A long text", "parent": "ACME-99", "assignee": "me"}
    answer = page.post("/acme/issues/new/", sent)
    body = answer.content.decode()
    assert answer.status_code == 422
    assert "There is no issue ACME-99." in body
    assert 'value="Write the guide"' in body
    assert "A long text" in body
    assert '<option value="me" selected>' in body
    assert not Issue.objects.exists()


def test_a_comment_is_posted_and_one_lands_on_it(page: Client, company: Company) -> None:
    issue = build.issue(company)
    answer = page.post(at(issue, "comments/"), {"body": "Hello *there*"}, follow=True)
    comment = Comment.objects.get()
    assert answer.redirect_chain == [(f"{at(issue)}#comment-{comment.pk}", 302)]
    assert "Hello <em>there</em>" in answer.content.decode()


def test_a_script_that_changes_something_is_told_to_fetch_anew(page: Client, company: Company) -> None:
    issue = build.issue(company)
    answer = page.post(at(issue, "comments/"), {"body": "Hello"}, headers=HTMX)
    assert answer.status_code == 204
    events = json.loads(answer.headers["HX-Trigger"])
    assert events["trimus:toast"]["text"] == "The comment is posted."
    assert "trimus:changed" in events


def test_a_refusal_tells_a_script_why_and_what_to_do(page: Client, company: Company) -> None:
    issue = build.issue(company)
    answer = page.post(at(issue, "blockers/"), {"issues": issue.identifier}, headers=HTMX)
    assert answer.status_code == 422
    toast = json.loads(answer.headers["HX-Trigger"])["trimus:toast"]
    assert toast["text"] == "An issue cannot wait for itself."
    assert toast["error"] is True


def test_a_refusal_without_scripts_keeps_what_was_written(page: Client, company: Company) -> None:
    issue = build.issue(company)
    approval = ask_question(actor=build.at_work(build.agent(company), issue), issue=issue, question="Which?")
    page.post(f"/acme/approvals/{approval.pk}/decide/", {"decision": "answered", "note": "The first"})
    answer = page.post(f"/acme/approvals/{approval.pk}/decide/", {"decision": "answered", "note": "The second"})
    assert answer.status_code == 409
    assert b"has already decided" in answer.content
    assert b"The second" in answer.content


def test_a_refusal_without_scripts_keeps_every_choice(page: Client, company: Company, ada: Agent) -> None:
    chosen = ["me", f"agent:{ada.pk}", "agent:0"]
    answer = page.post(at(build.issue(company), "reviewers/"), {"reviewer": chosen})
    assert answer.status_code == 422
    for value in chosen:
        assert f'name="reviewer" value="{value}"' in answer.content.decode()


def test_status_priority_assignee_labels_blockers_and_parent_are_set(
    page: Client, company: Company, founder: Person
) -> None:
    issue, other = build.issue(company), build.issue(company)
    bug = build.label(company, "bug")
    for rest, values in (
        ("priority/", {"priority": "urgent"}),
        ("assign/", {"assignee": "me"}),
        ("label/", {"label": bug.pk}),
        ("parent/", {"parent": other.identifier.lower()}),
        ("status/", {"status": "in_review"}),
    ):
        assert page.post(at(issue, rest), values).headers["Location"] == at(issue)
    issue.refresh_from_db()
    assert (issue.priority, issue.assignee_member, issue.parent) == (Priority.URGENT, founder.member, other)
    assert (issue.status, list(issue.labels.all())) == (Status.IN_REVIEW, [bug])
    page.post(at(issue, "label/"), {"label": bug.pk, "off": "1"})
    assert not issue.labels.exists()
    page.post(at(other, "blockers/"), {"issues": str(issue.number)})
    assert other.blocker_links.count() == 1
    page.post(at(other, "blockers/"), {"issues": issue.identifier, "off": "1"})
    assert other.blocker_links.count() == 0


def test_a_card_is_put_above_another(page: Client, company: Company) -> None:
    first, second, moved = (build.issue(company, status=Status.TODO) for _ in range(3))
    page.post(at(moved, "move/"), {"status": "todo", "before": second.identifier})
    order = list(Issue.objects.in_board_order().values_list("number", flat=True))
    assert order == [first.number, moved.number, second.number]


def test_only_the_author_edits_and_deletes_a_comment(
    page: Client, company: Company, browse: Callable[[Person], Client]
) -> None:
    comment = build.comment(build.issue(company), "First words")
    address = at(comment.issue, f"comments/{comment.pk}/")
    stranger = browse(build.member(company))
    assert stranger.post(address, {"body": "Theirs"}).status_code == 403
    page.post(address, {"body": "Second words"})
    comment.refresh_from_db()
    assert comment.body == "Second words"
    assert b"edited" in page.get(at(comment.issue)).content
    page.post(f"{address}delete/")
    body = page.get(at(comment.issue)).content
    assert b"Second words" not in body
    assert b"deleted this comment" in body


def test_a_pin_is_set_and_taken_off(page: Client, company: Company) -> None:
    comment = build.comment(build.issue(company))
    address = at(comment.issue, f"comments/{comment.pk}/pin/")
    page.post(address)
    assert b"Pinned" in page.get(at(comment.issue)).content
    page.post(address, {"off": "1"})
    comment.refresh_from_db()
    assert comment.pinned_at is None


def test_the_composer_is_told_whom_the_text_wakes(page: Client, company: Company, ada: Agent) -> None:
    issue = build.issue(company, assignee=ada)
    build.agent(company, "Bob")
    wakes = at(issue, "wakes/")
    assert "Ada" in page.post(wakes, {"body": "Please"}).content.decode()
    named = page.post(wakes, {"body": "@bob please, not @nobody"}).content.decode()
    assert "Bob" in named
    assert "Ada" not in named
    assert "@nobody" in named
    assert "Wakes nobody" in page.post(wakes, {"body": ""}).content.decode()


def test_who_is_taken_out_of_the_preview_is_not_woken(page: Client, company: Company, ada: Agent) -> None:
    issue = build.issue(company, status=Status.BACKLOG)
    page.post(at(issue, "comments/"), {"body": "@ada look", "without": "ada"})
    assert not Wakeup.objects.filter(agent=ada).exists()
    page.post(at(issue, "comments/"), {"body": "@ada look"})
    assert Wakeup.objects.filter(agent=ada).count() == 1


class TestWhomADescriptionCalls:
    WAKES = "/acme/wakes/"

    def test_is_shown_before_a_new_issue_is_opened(self, page: Client, company: Company, ada: Agent) -> None:
        for handle in ("al1", "al2"):
            build.agent(company, "Al", handle=handle)
        shown = page.post(self.WAKES, {"body": "@ada, @Al, @nobody"}).content.decode()
        assert 'data-without="ada" checked' in shown
        assert "Nobody is called @nobody" in shown
        assert "Several are called @Al" in shown

    def test_is_shown_of_an_edit_less_those_whom_it_named_before(
        self, page: Client, company: Company, ada: Agent
    ) -> None:
        build.agent(company, "Bob")
        issue = build.issue(company, description="@ada, look.")
        shown = page.post(f"{self.WAKES}?of={issue.identifier}", {"body": "@ada and @bob, look."}).content.decode()
        assert "Bob" in shown
        assert "Ada" not in shown

    def test_and_who_is_taken_out_is_not_woken(self, page: Client, company: Company, ada: Agent) -> None:
        page.post("/acme/issues/new/", {"title": "One", "description": "As @ada said.", "without": "ada"})
        issue = Issue.objects.get()
        edited = {"title": "One", "description": "So @ada said.", "version": issue.version, "without": "ada"}
        page.post(at(issue, "edit/"), edited)
        issue.refresh_from_db()
        assert issue.description == "So @ada said."
        assert not Wakeup.objects.filter(agent=ada).exists()
        page.post("/acme/issues/new/", {"title": "Two", "description": "As @ada said."})
        assert Wakeup.objects.filter(agent=ada).count() == 1

    def test_names_that_call_nobody_are_told_without_scripts_too(self, page: Client, company: Company) -> None:
        form = {"title": "One", "description": "@nobody, look."}
        assert "Nobody is called @nobody." in page.post("/acme/issues/new/", form, follow=True).content.decode()
        comment = {"body": "@nobody, look."}
        issue = Issue.objects.get()
        assert "Nobody is called @nobody." in page.post(at(issue, "comments/"), comment, follow=True).content.decode()


def test_who_is_taken_out_of_an_edited_comment_is_not_woken(page: Client, company: Company, ada: Agent) -> None:
    bob = build.agent(company, "Bob")
    comment = build.comment(build.issue(company), "Hm.")
    page.post(at(comment.issue, f"comments/{comment.pk}/"), {"body": "@ada, @bob", "call": "1", "without": "ada"})
    assert (build.pending(ada), len(build.pending(bob))) == ([], 1)


def test_run_heartbeat_wakes_the_assigned_agent(page: Client, company: Company, ada: Agent) -> None:
    issue = build.issue(company, status=Status.BACKLOG, assignee=ada)
    assert page.post(at(issue, "heartbeat/")).status_code == 302
    assert [wakeup.source for wakeup in build.pending(ada, issue)] == ["manual"]


def test_run_heartbeat_without_an_agent_says_what_to_do(page: Client, company: Company) -> None:
    issue = build.issue(company)
    answer = page.post(at(issue, "heartbeat/"))
    assert answer.status_code == 409
    assert b"Assign one" in answer.content


def test_the_run_that_holds_an_issue_is_stopped_from_its_page(page: Client, company: Company) -> None:
    agent = build.agent(company, "Cleo", adapter="external")
    issue = build.issue(company, assignee=agent)
    worker = build.at_work(agent, issue)
    assert b"Cancel the run" in page.get(at(issue)).content
    page.post(at(issue, "stop/"))
    assert worker.run is not None
    worker.run.refresh_from_db()
    assert worker.run.state == RunState.CANCELLED
    assert page.post(at(issue, "stop/")).status_code == 409


def test_an_approval_is_decided_with_its_note(page: Client, company: Company) -> None:
    issue = build.issue(company)
    approval = build.approval(issue, "Publish?", actor=build.at_work(build.agent(company), issue))
    answer = page.post(
        f"/acme/approvals/{approval.pk}/decide/",
        {"decision": "refused", "note": "Not before May", "shown": approval.payload_hash, "next": at(issue)},
    )
    assert answer.headers["Location"] == at(issue)
    approval.refresh_from_db()
    assert (approval.status, approval.note) == (ApprovalStatus.REFUSED, "Not before May")


def test_a_payload_that_is_not_what_was_shown_is_refused(page: Client, company: Company) -> None:
    issue = build.issue(company)
    approval = build.approval(issue, "Publish?", actor=build.at_work(build.agent(company), issue))
    answer = page.post(f"/acme/approvals/{approval.pk}/decide/", {"decision": "approved", "shown": "0" * 64})
    assert answer.status_code == 409
    approval.refresh_from_db()
    assert approval.is_pending


def test_a_decision_never_leads_to_another_site(page: Client, company: Company) -> None:
    issue = build.issue(company)
    approval = build.approval(issue, "Publish?", actor=build.at_work(build.agent(company), issue))
    answer = page.post(
        f"/acme/approvals/{approval.pk}/decide/", {"decision": "approved", "next": "https://evil.example/"}
    )
    assert answer.headers["Location"] == "/acme/approvals/"


def test_a_question_is_answered_by_one_of_its_choices(page: Client, company: Company) -> None:
    issue = build.issue(company)
    worker = build.at_work(build.agent(company), issue)
    question = ask_question(actor=worker, issue=issue, question="Which colour?", choices=["Red", "Blue"])
    assert b'name="choice" value="Blue"' in page.get("/acme/approvals/").content
    page.post(f"/acme/approvals/{question.pk}/decide/", {"decision": "answered", "choice": "Blue", "note": ""})
    question.refresh_from_db()
    assert (question.status, question.note) == (ApprovalStatus.ANSWERED, "Blue")


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("/acme/agents/ada/edit/", {"name": "Ada", "manager": "²"}),
        ("/acme/agents/ada/edit/", {"name": "Ada", "schedule_minutes": "²"}),
        ("/acme/settings/budgets/", {"agent": "²", "runs": "1"}),
    ],
)
def test_a_digit_that_is_no_number_is_refused(page: Client, ada: Agent, address: str, sent: dict[str, str]) -> None:
    assert page.post(address, sent).status_code == 422


def test_an_agent_is_hired_changed_paused_resumed_and_terminated(page: Client, company: Company, ada: Agent) -> None:
    answer = page.post(
        "/acme/agents/hire/",
        {"name": "Grace", "title": "Engineer", "manager": ada.pk, "provider": "scripted", "policy": "standard"},
    )
    assert answer.headers["Location"] == "/acme/agents/grace/"
    grace = Agent.objects.get(handle="grace")
    assert (grace.title, grace.manager) == ("Engineer", ada)
    page.post("/acme/agents/grace/edit/", {"name": "Grace H", "schedule_minutes": "30", "manager": ""})
    grace.refresh_from_db()
    assert (grace.name, grace.schedule_minutes, grace.manager) == ("Grace H", 30, None)
    for action, status in (
        ("pause", AgentStatus.PAUSED),
        ("resume", AgentStatus.ACTIVE),
        ("terminate", AgentStatus.TERMINATED),
        ("resume", AgentStatus.ACTIVE),
    ):
        page.post(f"/acme/agents/grace/{action}/")
        grace.refresh_from_db()
        assert grace.status == status


def test_terminating_asks_before(page: Client, ada: Agent) -> None:
    assert b"Terminate Ada?" in page.get("/acme/agents/ada/terminate/").content
    ada.refresh_from_db()
    assert ada.is_active


def test_a_hire_that_cannot_be_made_keeps_the_form(page: Client, ada: Agent) -> None:
    answer = page.post("/acme/agents/hire/", {"name": "Ada again", "handle": "ada", "policy": "standard"})
    assert answer.status_code == 409
    assert b"@ada is taken" in answer.content
    assert b'value="Ada again"' in answer.content


def test_an_inbox_item_opens_where_it_points_and_is_read(page: Client, company: Company) -> None:
    issue = build.issue(company)
    approval = build.approval(issue, "Publish?", actor=build.at_work(build.agent(company), issue))
    item = approval.inbox_items.get()
    assert b"Publish?" in page.get("/acme/inbox/").content
    answer = page.post(f"/acme/inbox/{item.pk}/open/")
    assert answer.headers["Location"] == f"/acme/approvals/{approval.pk}/"
    item.refresh_from_db()
    assert item.read_at is not None
    page.post(f"/acme/inbox/{item.pk}/archive/")
    assert b"All read" in page.get("/acme/inbox/").content


def test_a_file_is_attached_and_comes_back_as_a_download_that_cannot_run(page: Client, company: Company) -> None:
    issue = build.issue(company)
    page.post(at(issue, "attach/"), {"file": SimpleUploadedFile("evil.html", b"<script>alert(1)</script>")})
    attachment = issue.attachments.get()
    answer = page.get(f"/acme/attachments/{attachment.pk}/{attachment.name}")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_named_reviewers_judge_the_work(page: Client, company: Company, founder: Person) -> None:
    issue = build.issue(company, status=Status.IN_REVIEW)
    assert b'value="member:' in page.get(at(issue, "reviewers/")).content
    me = f"member:{build.member_row(founder).pk}"
    page.post(at(issue, "reviewers/"), {"reviewer": [me]})
    assert [row.member for row in issue.reviewers.all()] == [founder.member]
    page.post(at(issue, "verdict/"), {"verdict": "send-back", "note": "The end is missing"})
    issue.refresh_from_db()
    assert issue.status == Status.IN_PROGRESS
    assert page.post(at(issue, "verdict/"), {"verdict": "maybe"}).status_code == 422


def test_the_whole_company_is_paused_and_resumed(page: Client, company: Company) -> None:
    page.post("/acme/pause/")
    assert b"Resume all" in page.get("/acme/agents/").content
    page.post("/acme/resume/")
    company.refresh_from_db()
    assert company.status == "active"


def test_an_approval_is_answered_in_the_inbox(page: Client, company: Company) -> None:
    issue = build.issue(company)
    approval = build.approval(issue, "Publish?", actor=build.at_work(build.agent(company), issue))
    body = page.get("/acme/inbox/").content.decode()
    assert f'action="/acme/approvals/{approval.pk}/decide/"' in body
    assert approval.payload_hash in body


def test_a_toast_offers_to_undo_and_undoing_goes_back_to_the_page(page: Client, company: Company, ada: Agent) -> None:
    issue = build.issue(company)
    body = page.post(at(issue, "assign/"), {"assignee": f"agent:{ada.pk}"}, follow=True).content.decode()
    trace = body.split('name="trace" value="')[1].split('"')[0]
    assert build.pending(ada, issue)
    answer = page.post("/acme/undo/", {"trace": trace, "next": at(issue)})
    assert answer.headers["Location"] == at(issue)
    issue.refresh_from_db()
    assert issue.assignee_agent is None
    assert build.pending(ada, issue) == []


def test_a_script_is_given_what_to_undo(page: Client, company: Company) -> None:
    issue = build.issue(company, status=Status.BACKLOG)
    answer = page.post(at(issue, "move/"), {"status": "done"}, headers=HTMX)
    trace = json.loads(answer.headers["HX-Trigger"])["trimus:toast"]["undo"]
    assert page.post("/acme/undo/", {"trace": trace}, headers=HTMX).status_code == 204
    issue.refresh_from_db()
    assert issue.status == Status.BACKLOG


def test_a_trace_that_was_not_given_undoes_nothing(page: Client, company: Company) -> None:
    assert page.post("/acme/undo/", {"trace": "made-up"}).status_code == 422
