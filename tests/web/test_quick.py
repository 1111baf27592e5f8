"""The quick ways as pages and forms: many at once."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from agents.models import Agent
from issues.models import Company, Issue, Priority, Status
from issues.refusals import Conflict
from issues.services import bulk
from tests import build

GIF = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")


def test_boxes_on_board_and_list_lead_to_the_form_for_all_of_them(page: Client, company: Company) -> None:
    one, two = build.issue(company, "First"), build.issue(company, "Second")
    for address in ("board", "issues", "mine"):
        body = page.get(f"/acme/{address}/").content.decode()
        assert 'id="bulk"' in body
    assert f'name="issue" value="{one.identifier}" form="bulk"' in page.get("/acme/board/").content.decode()
    body = page.get(f"/acme/bulk/?issue={one.identifier}&issue={two.identifier}&issue=ACME-99").content.decode()
    assert "First" in body
    assert "Second" in body
    assert b"Nothing is selected" in page.get("/acme/bulk/").content


def test_whom_a_change_of_many_wakes_is_shown_first(page: Client, company: Company, ada: Agent) -> None:
    issue = build.issue(company)
    sent = {"issue": [issue.identifier], "assignee": f"agent:{ada.pk}"}
    part = page.post("/acme/bulk/preview/", sent, headers={"HX-Request": "true"}).content.decode()
    assert "Wakes" in part
    assert "Ada" in part
    whole = page.post("/acme/bulk/", {**sent, "preview": "yes"}).content.decode()
    assert "Ada" in whole.split('id="effects"')[1]
    assert build.pending(ada) == []


def test_many_are_changed_and_one_returns_to_where_they_were_selected(page: Client, company: Company) -> None:
    issues = [build.issue(company) for _ in range(2)]
    sent = {
        "issue": [issue.identifier for issue in issues],
        "status": "backlog",
        "priority": "high",
        "assignee": "me",
        "next": "/acme/issues/?priority=none",
    }
    answer = page.post("/acme/bulk/", sent)
    assert answer.headers["Location"] == "/acme/issues/?priority=none"
    assert {(one.status, one.priority) for one in Issue.objects.all()} == {(Status.BACKLOG, Priority.HIGH)}
    assert Issue.objects.filter(assignee_member__isnull=False).count() == 2
    assert b"2 issues are changed." in page.get("/acme/issues/").content


def test_what_was_refused_is_named_and_stays_selected(
    page: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine, refused = build.issue(company, "Fine"), build.issue(company, "Stubborn")
    really = bulk.change_issue

    def refuse_one(**given: object) -> Issue:
        changed = really(**given)  # type: ignore[arg-type]  # as it was called
        if changed.pk == refused.pk:
            raise Conflict("Not this one.")
        return changed

    monkeypatch.setattr(bulk, "change_issue", refuse_one)
    sent = {"issue": [fine.identifier, refused.identifier], "priority": "low"}
    body = page.post("/acme/bulk/", sent).content.decode()
    assert "Not this one." in body
    assert "One issue is changed." in body
    assert f'value="{refused.identifier}" checked' in body
    assert f'value="{fine.identifier}" checked' not in body


def test_a_change_of_nothing_is_refused_on_the_form(page: Client, company: Company) -> None:
    answer = page.post("/acme/bulk/", {"issue": [build.issue(company).identifier]})
    assert answer.status_code == 422
    assert b"Say what is to be changed." in answer.content


def test_a_card_has_a_menu_that_is_a_page_without_scripts(page: Client, company: Company, ada: Agent) -> None:
    first, second = (build.issue(company, status=Status.BACKLOG) for _ in range(2))
    assert f'href="/acme/issues/{second.identifier}/quick/"' in page.get("/acme/board/").content.decode()
    body = page.get(f"/acme/issues/{second.identifier}/quick/").content.decode()
    assert f'name="before" value="{first.identifier}"' in body
    assert 'name="status" value="in_review"' in body
    assert f'name="assignee" value="agent:{ada.pk}"' in body
    assert 'name="before"' not in page.get(f"/acme/issues/{first.identifier}/quick/").content.decode()
    part = page.get(f"/acme/issues/{first.identifier}/quick/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part


def test_issues_are_completed_by_number_identifier_or_several_words(page: Client, company: Company) -> None:
    issue = build.issue(company, "Write the long report")
    for words in ("1", "acme-1", "long write", ""):
        assert issue.title in page.get("/acme/complete/", {"of": "issues", "q": words}).content.decode(), words
    assert issue.title not in page.get("/acme/complete/", {"of": "issues", "q": "short"}).content.decode()


def test_a_file_that_is_pasted_comes_back_as_words_for_the_comment(page: Client, company: Company) -> None:
    issue = build.issue(company)
    address = f"/acme/issues/{issue.identifier}/attach/"
    sent = {"cite": "yes", "file": SimpleUploadedFile("a [b].txt", b"Hello")}
    text = page.post(address, sent, headers={"HX-Request": "true"}).json()["text"]
    attachment = issue.attachments.get()
    assert text == rf"[a \[b\].txt](/acme/attachments/{attachment.pk}/a%20%5Bb%5D.txt)"
    shown = page.post("/acme/preview/", {"body": text}).content.decode()
    assert f'href="/acme/attachments/{attachment.pk}/a%20%5Bb%5D.txt"' in shown
    picture = {"cite": "yes", "file": SimpleUploadedFile("dot.gif", GIF)}
    text = page.post(address, picture, headers={"HX-Request": "true"}).json()["text"]
    assert text.startswith("![dot.gif](")
    assert "<img" in page.post("/acme/preview/", {"body": text}).content.decode()


def test_a_file_that_cannot_be_taken_is_refused_with_the_reason(page: Client, company: Company) -> None:
    address = f"/acme/issues/{build.issue(company).identifier}/attach/"
    sent = {"cite": "yes", "file": SimpleUploadedFile("empty.txt", b"")}
    answer = page.post(address, sent, headers={"HX-Request": "true"})
    assert answer.status_code == 422
    assert "is empty" in answer.headers["HX-Trigger"].encode().decode("unicode_escape")
