"""Editing an issue while others do: who comes second is told, sees both, and chooses. Nothing typed is lost."""

from __future__ import annotations

import datetime
import html
import re
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent
from issues.actors import Person
from issues.models import Company, Issue, Priority, Status
from issues.services.issues import assign_issue, edit_issue, set_parent, set_priority, set_status
from issues.services.projects import archive_project
from tests import build

BY_SCRIPT = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def issue(company: Company) -> Issue:
    return build.issue(company, "Guide", description="Old line.\nSame.")


def at(issue: Issue, path: str = "") -> str:
    return f"/acme/issues/{issue.identifier}/{path}"


def form_of(body: str) -> dict[str, Any]:
    """What the form in that page would send as it is."""
    form = body.split('id="issue-form"')[1].split("</form>")[0]
    inputs = re.findall(r'<input[^>]*name="([^"]+)"[^>]*?value="([^"]*)"', form)
    areas = re.findall(r'<textarea[^>]*name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL)
    values = {name: html.unescape(value) for name, value in [*inputs, *areas] if name != "told"}
    return values | {"told": [value for name, value in inputs if name == "told"]}


def opened(page: Client, issue: Issue) -> dict[str, Any]:
    return form_of(page.get(at(issue, "edit/")).content.decode())


def test_different_fields_at_once_are_both_kept(page: Client, founder: Person, issue: Issue) -> None:
    mine = opened(page, issue)
    edit_issue(actor=founder, issue=issue, description="Theirs.")
    page.post(at(issue, "edit/"), mine | {"title": "Better guide"})
    issue.refresh_from_db()
    assert (issue.title, issue.description) == ("Better guide", "Theirs.")


def test_what_has_nothing_to_do_with_the_text_is_no_clash(page: Client, founder: Person, issue: Issue) -> None:
    mine = opened(page, issue)
    set_status(actor=founder, issue=issue, status=Status.IN_PROGRESS)
    assert page.post(at(issue, "edit/"), mine | {"description": "Mine."}).status_code == 302


def test_the_same_words_are_no_clash(page: Client, founder: Person, issue: Issue) -> None:
    mine = opened(page, issue)
    edit_issue(actor=founder, issue=issue, title="Better")
    assert page.post(at(issue, "edit/"), mine | {"title": "Better"}).status_code == 302


class TestTheSameField:
    @pytest.fixture
    def clash(self, page: Client, company: Company, issue: Issue) -> str:
        """The page that answers an edit of a description which Boss has changed meanwhile."""
        mine = opened(page, issue)
        edit_issue(actor=build.member(company, "boss"), issue=issue, description="Their line.\nSame.")
        answer = page.post(at(issue, "edit/"), mine | {"title": "Mine", "description": "My line.\nSame."})
        assert answer.status_code == 412
        return answer.content.decode()

    def test_is_told_with_who_and_both_texts_and_nothing_is_saved(self, issue: Issue, clash: str) -> None:
        assert "Boss changed the description meanwhile." in clash
        assert '<span class="removed">-Their line.</span>' in clash
        assert '<span class="added">+My line.</span>' in clash
        assert form_of(clash)["description"] == "My line.\nSame."
        issue.refresh_from_db()
        assert (issue.title, issue.description) == ("Guide", "Their line.\nSame.")

    def test_mine_is_saved_when_sent_again(self, page: Client, issue: Issue, clash: str) -> None:
        assert page.post(at(issue, "edit/"), form_of(clash)).status_code == 302
        issue.refresh_from_db()
        assert (issue.title, issue.description) == ("Mine", "My line.\nSame.")

    def test_the_two_can_be_put_together(self, page: Client, issue: Issue, clash: str) -> None:
        page.post(at(issue, "edit/"), form_of(clash) | {"description": "Both lines."})
        issue.refresh_from_db()
        assert issue.description == "Both lines."

    def test_theirs_can_be_taken_and_the_rest_of_mine_stays(self, page: Client, issue: Issue, clash: str) -> None:
        body = page.post(at(issue, "edit/"), form_of(clash) | {"take": "description"}).content.decode()
        assert "as it is now" not in body
        taken = form_of(body)
        assert (taken["title"], taken["description"]) == ("Mine", "Their line.\nSame.")
        page.post(at(issue, "edit/"), taken)
        issue.refresh_from_db()
        assert (issue.title, issue.description) == ("Mine", "Their line.\nSame.")

    def test_a_third_change_is_told_again(self, page: Client, founder: Person, issue: Issue, clash: str) -> None:
        edit_issue(actor=founder, issue=issue, description="A third.")
        answer = page.post(at(issue, "edit/"), form_of(clash))
        assert answer.status_code == 412
        assert "Acme-founder changed the description meanwhile." in answer.content.decode()

    def test_in_place_the_form_comes_back_to_be_swapped_in(self, page: Client, founder: Person, issue: Issue) -> None:
        mine = form_of(page.get(at(issue, "edit/"), **BY_SCRIPT).content.decode())
        edit_issue(actor=founder, issue=issue, title="Theirs")
        answer = page.post(at(issue, "edit/"), mine | {"title": "Mine"}, **BY_SCRIPT)
        assert answer.status_code == 200
        assert answer.content.startswith(b"<form")
        assert b"changed the title meanwhile" in answer.content
        again = page.post(at(issue, "edit/"), form_of(answer.content.decode()), **BY_SCRIPT)
        assert (again.status_code, again.content) == (204, b"")


def test_a_title_that_cannot_be_keeps_what_was_typed(page: Client, issue: Issue) -> None:
    answer = page.post(at(issue, "edit/"), opened(page, issue) | {"title": " ", "description": "Mine."})
    assert answer.status_code == 422
    assert form_of(answer.content.decode())["description"] == "Mine."


def test_saving_keeps_a_project_that_was_archived_since(page: Client, company: Company, founder: Person) -> None:
    project = build.project(company)
    issue = build.issue(company, project=project)
    archive_project(actor=founder, project=project)
    body = page.get(at(issue, "edit/")).content.decode()
    assert f'<option value="{project.pk}" selected>' in body


CHANGES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "status": ("status/", {"status": "done"}, {"seen": "todo"}),
    "priority": ("priority/", {"priority": "urgent"}, {"seen": "none"}),
    "assignee": ("assign/", {"assignee": "me"}, {"seen": ""}),
    "parent": ("parent/", {"parent": ""}, {"seen": "1"}),
    "due date": ("due/", {"due_date": "2027-05-01"}, {"seen": ""}),
}


@pytest.mark.parametrize("field", CHANGES)
def test_a_menu_tells_when_somebody_else_chose_meanwhile_and_sends_again_what_was_meant(
    page: Client, company: Company, ada: Agent, field: str
) -> None:
    above, other = build.issue(company), build.issue(company)
    issue = build.issue(company, parent=above)
    boss = build.member(company, "boss")
    set_status(actor=boss, issue=issue, status=Status.IN_PROGRESS)
    set_priority(actor=boss, issue=issue, priority=Priority.LOW)
    assign_issue(actor=boss, issue=issue, assignee=ada)
    set_parent(actor=boss, issue=issue, parent=other)
    edit_issue(actor=boss, issue=issue, due_date=datetime.date(2027, 4, 1))
    before = Issue.objects.get(pk=issue.pk)
    path, chosen, seen = CHANGES[field]
    told = page.post(at(issue, path), chosen | seen, **BY_SCRIPT)
    assert told.status_code == 412
    assert f"Boss changed the {field} meanwhile." in told.headers["HX-Trigger"]
    assert "trimus:changed" in told.headers["HX-Trigger"], "so that the page shows what is there now"
    refused = page.post(at(issue, path), chosen | seen).content.decode()
    assert 'name="seen"' not in refused, "sent again from there it is meant"
    assert Issue.objects.get(pk=issue.pk).version == before.version
    assert page.post(at(issue, path), chosen).status_code == 302
    assert Issue.objects.get(pk=issue.pk).version > before.version


def test_the_menus_of_the_page_carry_what_they_show(page: Client, company: Company, ada: Agent) -> None:
    above = build.issue(company)
    issue = build.issue(company, assignee=ada, parent=above, priority=Priority.HIGH, due_date=datetime.date(2027, 4, 1))
    body = page.get(at(issue)).content.decode()
    assert re.findall(r'name="seen" value="([^"]*)"', body) == [
        "todo",
        "high",
        f"agent:{ada.pk}",
        "2027-04-01",
        str(above.number),
    ]
