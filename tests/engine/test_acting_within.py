"""A run that acts by its key while it is at work: its reply goes on from there."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from agents.models import Agent, Run
from issues.actors import Person
from issues.models import Company, Issue, Priority
from issues.services.issues import set_priority
from issues.services.keys import create_run_key
from issues.services.policy import set_cap
from tests import build
from tests.api.client import Api
from tests.engine.running import FakeModel, run_next

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    return build.issue(company, "The whole", assignee=ada)


def act(text: str) -> list[str]:
    """Act with the key of the run that is at work; the outcomes."""
    key = create_run_key(run=Run.objects.live().get(), expires_at=timezone.now() + datetime.timedelta(hours=1))[1]
    return [one["outcome"] for one in Api(key).post("issues/ACME-1/actions", {"text": text})["actions"]]


def test_the_actions_of_its_reply_come_after_those_it_sent_and_share_their_caps(
    company: Company, owner: Person, issue: Issue, model: FakeModel
) -> None:
    set_cap(actor=owner, company=company, verb="create-issue", cap=2)
    model.meanwhile = lambda: act("/create-issue One\n/priority high")
    model.answers = ["That is all.\n/create-issue Two\n/create-issue Three"]
    run = run_next()
    assert [(row.ordinal, row.args, row.outcome) for row in run.actions.order_by("ordinal")] == [
        (0, "One", "applied"),
        (1, "high", "applied"),
        (2, "Two", "applied"),
        (3, "Three", "denied"),
    ]


def test_what_a_person_changed_since_the_prompt_was_built_is_not_overwritten_by_a_call_either(
    owner: Person, issue: Issue, model: FakeModel
) -> None:
    seen: list[str] = []

    def meanwhile() -> None:
        set_priority(actor=owner, issue=issue, priority=Priority.LOW)
        seen.extend(act("/priority high"))

    model.meanwhile = meanwhile
    run_next()
    issue.refresh_from_db()
    assert (seen, issue.priority) == (["denied"], Priority.LOW)


def test_what_it_did_by_calls_alone_earns_another_run(ada: Agent, issue: Issue, model: FakeModel) -> None:
    model.meanwhile = lambda: act("/priority high")
    model.answers = ["I set the priority."]
    run_next()
    assert [wakeup.source for wakeup in build.pending(ada, issue)] == ["continue"]
