"""A model's key turns up nowhere: a canary is planted as one, told to the model and by the model, and searched for."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db.models import Model
from pytest_django.fixtures import Settings

from agents.adapters.base import AdapterError, ErrorKind
from agents.models import Agent, RunState
from issues.actors import Person
from issues.models import Company, Issue
from tests import build
from tests.engine.running import FakeModel, run_next
from trimus.language_models import LanguageModels

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "canary-of-a-key-7f3a91"


@pytest.fixture(autouse=True)
def planted(settings: Settings) -> None:
    settings.LLM = LanguageModels(openai_api_key=CANARY)


@pytest.fixture
def issue(company: Company, ada: Agent, owner: Person) -> Issue:
    """An issue in which somebody wrote the key down."""
    issue = build.issue(company, f"Use {CANARY}", description=f"The key is {CANARY}.", assignee=ada)
    build.comment(issue, f"I said {CANARY}.", actor=owner)
    return issue


def places() -> set[str]:
    """Tables and columns that hold the canary."""
    models: list[type[Model]] = list(apps.get_models())
    return {
        f"{model._meta.label}.{field.name}"
        for model in models
        for row in model._default_manager.all()
        for field in model._meta.concrete_fields
        if CANARY in str(field.value_from_object(row))
    }


WRITTEN = {"issues.Issue.title", "issues.Issue.description", "issues.Comment.body"}
"""Where the people wrote it, which is theirs to take out."""


def test_it_is_neither_shown_to_a_model_nor_kept_from_its_answer(issue: Issue, model: FakeModel) -> None:
    finding = f"/record-finding\n```\nIt is {CANARY}.\n```"
    file = f"/write-file k.txt\n```\n{CANARY}\n```"
    model.answers = [f"You use {CANARY}.\n\n{finding}\n{file}"]
    run = run_next()
    assert run.state == RunState.SUCCEEDED
    (request, *_) = model.requests
    assert CANARY not in request.system + "".join(message.text for message in request.messages)
    assert "[masked: model key of this installation]" in request.messages[0].text
    assert run.reply is not None
    assert run.reply.startswith("You use [masked: model key of this installation].")
    assert places() == WRITTEN
    assert issue.findings.get().body == "It is [masked: model key of this installation]."


@pytest.mark.parametrize(
    "failure",
    [AdapterError(ErrorKind.AUTH, f"{CANARY} is not a key"), RuntimeError(f"could not send {CANARY}")],
    ids=["the provider's error", "a bug"],
)
def test_it_is_in_no_error_that_is_kept_or_told(failure: Exception, issue: Issue, model: FakeModel) -> None:
    model.answers = [failure]
    run = run_next()
    assert run.state == RunState.FAILED
    assert "[masked: model key of this installation]" in run.error
    assert places() == WRITTEN
