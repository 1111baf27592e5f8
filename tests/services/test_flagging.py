"""A secret in a text is flagged when the text is saved, through each door, and the flag goes with it."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from agents.models import Agent
from issues.actors import Person, Worker
from issues.flagging import MOST_SHOWN, secret_kinds
from issues.models import Comment, Company, Issue
from issues.services.comments import delete_comment, edit_comment, write_comment
from issues.services.files import attach_file, write_file
from issues.services.findings import record_finding
from issues.services.issues import edit_issue
from tests import build
from tests.text.test_secrets import LETTERS, SECRETS
from trimus.language_models import LanguageModels

pytestmark = pytest.mark.django_db

SECRET = f"ghp_{LETTERS}abcd"
KIND = "GitHub token"


@pytest.fixture
def worker(company: Company, ada: Agent) -> Worker:
    return build.at_work(ada, build.issue(company, assignee=ada))


@pytest.fixture
def home(worker: Worker) -> Issue:
    assert worker.home is not None
    return worker.home


@pytest.mark.parametrize("where", ["title", "description"])
def test_an_issue_is_flagged_and_editing_it_lifts_the_flag(where: str, company: Company, owner: Person) -> None:
    fields: dict[str, Any] = {"title": "Deploy", "description": "How?"} | {where: f"Use {SECRET}."}
    issue = build.issue(company, **fields)
    assert Issue.objects.get(pk=issue.pk).secrets == [KIND]
    issue = edit_issue(actor=owner, issue=issue, **{where: "Without it."})
    assert Issue.objects.get(pk=issue.pk).secrets == []
    edit_issue(actor=owner, issue=issue, **{where: f"Again {SECRET}."})
    assert Issue.objects.get(pk=issue.pk).secrets == [KIND]


def test_a_comment_is_flagged_whoever_writes_it(owner: Person, worker: Worker, home: Issue) -> None:
    for actor in (owner, worker):
        comment = write_comment(actor=actor, issue=home, body=f"It is {SECRET}.")
        assert Comment.objects.get(pk=comment.pk).secrets == [KIND]
    comment = write_comment(actor=owner, issue=home, body=f"It is {SECRET}.")
    edit_comment(actor=owner, comment=comment, body="It is gone.")
    assert Comment.objects.get(pk=comment.pk).secrets == []
    edit_comment(actor=owner, comment=comment, body=f"It is {SECRET}.")
    delete_comment(actor=owner, comment=comment)
    assert Comment.objects.get(pk=comment.pk).secrets == []


def test_files_and_findings_are_flagged(owner: Person, worker: Worker, home: Issue) -> None:
    key = SECRETS["private key"][0]
    assert write_file(actor=worker, issue=home, path="a.txt", text=key).secrets == ["private key"]
    assert write_file(actor=worker, issue=home, path="a.txt", text="none").secrets == []
    assert attach_file(actor=owner, issue=home, name="a.pem", content=key.encode()).secrets == ["private key"]
    assert record_finding(actor=worker, issue=home, title=SECRET, body="x").secrets == [KIND]


def test_a_key_of_this_installation_is_known_by_its_value(settings: Settings, issue: Issue, owner: Person) -> None:
    settings.LLM = LanguageModels(compatible_api_key="correct horse battery")
    comment = write_comment(actor=owner, issue=issue, body="It is correct horse battery.")
    assert comment.secrets == ["model key of this installation"]


def test_a_companys_own_model_key_is_known_by_its_value_and_to_that_company_alone(company: Company) -> None:
    key = "own-words-0123456789"
    build.provider(company, key=key)
    company.refresh_from_db()
    other, _ = build.company_with_founder("OTHR")
    assert build.issue(company, f"Take {key}").secrets == ["model key of this installation"]
    assert build.issue(other, f"Take {key}").secrets == []


def test_what_a_comment_said_before_is_kept_without_its_secrets(issue: Issue, owner: Person) -> None:
    comment = write_comment(actor=owner, issue=issue, body=f"It is {SECRET}.")
    edit_comment(actor=owner, comment=comment, body="It is gone.")
    assert comment.versions.get().body == f"It is [masked: {KIND}]."


def test_a_text_full_of_secrets_names_as_many_kinds_as_fit(company: Company) -> None:
    kinds = secret_kinds(company, *(secrets[0] for secrets in SECRETS.values()))
    assert len(kinds) <= MOST_SHOWN
    assert set(kinds.split(", ")) < set(SECRETS)
