"""Applying once and whole: a crash at any line leaves nothing half, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import IntegrityError

from agents.models import Agent, Run, RunAction, RunState, Wakeup, WakeupState
from engine import apply, record
from engine.applier import Applier
from engine.apply import apply_reply
from engine.claim import claim_next
from engine.fence import Fenced
from engine.heartbeat import heartbeat
from engine.preparing import prepare
from engine.resume import resume_run
from issues.models import Activity, Comment, Company, Issue, Status
from tests import build
from tests.engine.running import FakeModel, run_next

pytestmark = pytest.mark.django_db(transaction=True)

REPLY = """One part for Bob.

/create-issue The part
```
assignee: @bob
---
Do it.
```
/priority high
/record-finding What I found
```
It is so.
```
/status in_progress
"""


@pytest.fixture
def issue(company: Company, ada: Agent, bob: Agent) -> Issue:
    return build.issue(company, assignee=ada)


@pytest.fixture
def replied(issue: Issue) -> Run:
    """Ada's run with its reply kept and not applied."""
    run = claim_next()
    assert run is not None
    prepare(run)
    Run.objects.update(reply=REPLY)
    run.refresh_from_db()
    return run


def everything() -> dict[str, int]:
    """How many rows there are of all that a reply can make."""
    return {model.__name__: model._default_manager.count() for model in (Issue, Comment, Activity, RunAction, Wakeup)}


class _Crash(BaseException):
    """The worker is gone: nothing catches it, as nothing catches a kill."""


def test_a_reply_is_applied_once(replied: Run, issue: Issue) -> None:
    first = apply_reply(replied)
    before = everything()
    assert [outcome.action.verb for outcome in first] == ["create-issue", "priority", "record-finding", "status"]
    with pytest.raises(Fenced):
        apply_reply(replied)
    assert everything() == before


def test_what_was_applied_is_not_applied_again_even_if_the_run_still_ran(replied: Run) -> None:
    apply_reply(replied)
    before = everything()
    Run.objects.update(state=RunState.RUNNING, ended_at=None)
    assert apply_reply(replied) == []
    assert everything() == before


def test_an_action_has_one_row_by_its_place_in_the_reply(replied: Run) -> None:
    apply_reply(replied)
    row = replied.actions.earliest("ordinal")
    row.pk = None
    with pytest.raises(IntegrityError):
        row.save()
    assert list(replied.actions.values_list("ordinal", flat=True)) == [0, 1, 2, 3]


STEPS: dict[str, tuple[object, str]] = {
    "before the comment": (apply, "write_comment"),
    "in the middle of the actions": (Applier, "_freshen"),
    "after the actions": (Applier, "_ask_board"),
    "before the run's end is written": (record.fence, "write"),
    "before what follows": (apply, "follow_up"),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_leaves_nothing_half_and_going_on_does_all(
    step: str, replied: Run, issue: Issue, bob: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything()
    owner, name = STEPS[step]

    def crash(*_args: object, **_fields: object) -> None:
        raise _Crash

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, crash)
        with pytest.raises(_Crash):
            apply_reply(replied)
    assert everything() == before
    replied.refresh_from_db()
    assert (replied.state, replied.applied_at) == (RunState.RUNNING, None)
    resume_run(replied.pk, replied.attempt)
    assert issue.children.get().assignee_agent == bob
    assert Comment.objects.get().body == "One part for Bob."
    assert replied.actions.count() == 4
    issue.refresh_from_db()
    assert issue.status == Status.IN_PROGRESS


def test_a_crash_in_the_middle_of_an_action_undoes_that_action_whole(
    replied: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from issues.services import findings

    def record_nothing(*_args: object, **_fields: object) -> None:
        raise _Crash

    before = everything()
    monkeypatch.setattr(findings, "record", record_nothing)
    with pytest.raises(_Crash):
        apply_reply(replied)
    assert everything() == before


def test_an_action_that_is_refused_half_way_leaves_nothing_of_itself(
    replied: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from issues.refusals import Conflict
    from issues.services import findings

    def refuse(*_args: object, **_fields: object) -> None:
        raise Conflict("Not now.")

    monkeypatch.setattr(findings, "record", refuse)
    apply_reply(replied)
    assert not replied.issue.findings.exists()
    assert [action.outcome for action in replied.actions.order_by("ordinal")] == [
        "applied",
        "applied",
        "failed",
        "applied",
    ]


def test_the_reply_is_kept_before_it_is_read(issue: Issue, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine import heartbeat as line

    def crash(_run: Run) -> None:
        raise _Crash

    model.answers = ["Hello."]
    monkeypatch.setattr(line, "apply_reply", crash)
    run = claim_next()
    assert run is not None
    with pytest.raises(_Crash):
        heartbeat(run)
    run.refresh_from_db()
    assert (run.reply, run.state) == ("Hello.", RunState.RUNNING)
    assert not issue.comments.exists()


def test_each_action_sees_what_the_one_before_it_did(issue: Issue, model: FakeModel) -> None:
    model.answers = ["/priority high\n/status in_progress\n/priority urgent"]
    run = run_next()
    befores = [action.before for action in run.actions.order_by("ordinal")]
    assert [before.get("priority") for before in befores] == ["none", None, "high"]


def test_what_no_database_could_hold_is_kept_readable(issue: Issue, model: FakeModel) -> None:
    model.answers = ["Nought: \x00, half: \ud800."]
    run = run_next()
    assert run.reply == "Nought: \ufffd, half: \ufffd."
    assert issue.comments.get().body == "Nought: \ufffd, half: \ufffd."


def test_a_very_long_answer_is_kept_whole_and_cut_in_the_comment(issue: Issue, model: FakeModel) -> None:
    from issues.texts import TEXT_BYTES

    model.answers = ["wörd " * (TEXT_BYTES // 5)]
    run = run_next()
    comment = issue.comments.get()
    assert (run.state, run.reply) == (RunState.SUCCEEDED, model.answers[0])
    assert len(comment.body.encode()) <= TEXT_BYTES
    assert "The run's page holds all of it." in comment.body


def test_a_reply_that_the_database_chose_to_end_is_applied_again(replied: Run, issue: Issue) -> None:
    from django.db import OperationalError

    class DeadlockDetected(Exception):
        sqlstate = "40P01"

    whole: Callable[..., None] = apply.follow_up
    ended: list[bool] = []

    def follow_up(*args: object) -> None:
        if not ended:
            ended.append(True)
            raise OperationalError("deadlock detected") from DeadlockDetected()
        whole(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apply, "follow_up", follow_up)
        apply_reply(replied)
    assert issue.children.count() == 1
    assert ended == [True]


def test_wakeups_are_consumed_in_the_transaction_that_applies(replied: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_args: object) -> None:
        raise _Crash

    with monkeypatch.context() as patch:
        patch.setattr(apply, "follow_up", crash)
        with pytest.raises(_Crash):
            apply_reply(replied)
    assert Wakeup.objects.get(run=replied).state == WakeupState.CLAIMED
    apply_reply(replied)
    assert Wakeup.objects.get(run=replied).state == WakeupState.CONSUMED
