"""What holds of every verb, tried with its own example. A verb added to the registry is tried with the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from agents.models import ActionOutcome, Run, RunAction, RunState
from engine.actions import parse_agent_actions
from engine.apply import apply_reply
from engine.carrying_out import carry_out_approved
from engine.fence import Fenced
from engine.verbs.base import Verb
from engine.verbs.registry import VERBS
from issues.models import Activity, Approval, ApprovalKind, Grant
from issues.refusals import Conflict, NotFound
from issues.rights import Reach
from issues.services.policy import change_policy, set_cap
from tests import build
from tests.api.client import as_agent, as_person
from tests.verbs.stage import Stage, kinds, words

ACTIONS = "issues/ACME-1/actions"

CONSEQUENCES = {
    "blocked-by": {"issue.status"},  # it waits now
    "create-issue": {"issue.blockers", "issue.status"},  # by the lines that the example's block begins with
    "review": {"issue.status"},  # it goes back
}
"""What the examples bring about beside the one change that each verb logs."""

FOR_AGENTS_ALONE = {"use-skill", "write-file", "record-finding", "note", "forget", "remember", "pass", "help"}
"""Verbs that belong to a run: what an agent keeps for itself, makes as its work, or asks the engine."""

every_verb = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
capped_verbs = pytest.mark.parametrize(
    "verb", [verb for verb in VERBS if verb.cap is not None], ids=lambda verb: verb.name
)


@every_verb
def test_its_example_is_one_action(verb: Verb) -> None:
    reply = parse_agent_actions(verb.example)
    assert [action.verb for action in reply.actions] == [verb.name]
    assert not reply.dropped


@every_verb
def test_its_example_applies_and_logs_one_line_and_one_for_each_consequence(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    trial = stage.reply(verb.example)
    (outcome,) = trial.outcomes
    wanted = ActionOutcome.APPROVAL if verb.right.reach is Reach.BOARD else ActionOutcome.APPLIED
    assert (outcome.outcome, outcome.reason if outcome.outcome != ActionOutcome.APPROVAL else "") == (wanted, "")
    logged = kinds(trial.run)
    assert len(logged.keys() - CONSEQUENCES.get(verb.name, set())) == 1
    assert set(logged.values()) == {1}


@every_verb
def test_what_it_did_is_kept_in_words(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    row = stage.reply(verb.example).run.actions.get()
    assert (row.verb, row.line > 0) == (verb.name, True)
    assert row.approval is not None if row.outcome == ActionOutcome.APPROVAL else row.summary


@every_verb
def test_a_policy_that_denies_it_is_obeyed(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    change_policy(actor=stage.owner, company=stage.company, permission=verb.right, grant=Grant.DENY)
    trial = stage.reply(verb.example)
    (outcome,) = trial.outcomes
    assert (outcome.outcome, outcome.reason) == (ActionOutcome.DENIED, "The company's policy denies this.")
    assert set(kinds(trial.run)) == {"action.refused"}


@every_verb
def test_a_policy_that_asks_puts_it_before_the_board_and_changes_nothing(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    change_policy(actor=stage.owner, company=stage.company, permission=verb.right, grant=Grant.APPROVAL)
    trial = stage.reply(verb.example)
    (outcome,) = trial.outcomes
    assert outcome.outcome == ActionOutcome.APPROVAL
    assert set(kinds(trial.run)) == {"approval.requested"}


@every_verb
def test_an_agent_of_another_company_finds_nothing_to_use_it_on(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    scene = stage.scene()
    (action,) = parse_agent_actions(verb.example).actions
    request = verb.resolve(scene, action)
    other, _ = build.company_with_founder("OTHER")
    mallory = build.agent(other, "Mallory")
    stranger = build.at_work(mallory, build.issue(other, assignee=mallory))
    before = Activity.objects.count()
    with pytest.raises(NotFound):
        verb.carry_out(replace(scene, actor=stranger), request)
    assert Activity.objects.count() == before


@capped_verbs
def test_what_is_over_its_cap_is_denied_and_the_rest_applies(verb: Verb, stage: Stage) -> None:
    assert verb.cap is not None
    stage.prepare(verb)
    trial = stage.reply("\n\n".join([verb.example] * (verb.cap + 2)))
    done = {"applied", "approval"}
    assert [word in done for word in words(trial.outcomes)] == [True] * verb.cap + [False] * 2
    assert trial.outcomes[-1].reason == f"More than {verb.cap} of /{verb.name} in one run."


@every_verb
def test_what_is_over_the_companys_cap_is_denied(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    set_cap(actor=stage.owner, company=stage.company, verb=verb.name, cap=0)
    trial = stage.reply(verb.example)
    (outcome,) = trial.outcomes
    assert (outcome.outcome, outcome.reason) == (ActionOutcome.DENIED, f"More than 0 of /{verb.name} in one run.")
    assert set(kinds(trial.run)) == {"action.refused"}


@every_verb
def test_applied_twice_under_one_key_it_changes_nothing_the_second_time(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    run = stage.reply(verb.example).run
    before = (Activity.objects.count(), RunAction.objects.count())
    with pytest.raises(Fenced):
        apply_reply(run)
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, ended_at=None)  # as if its end had not been seen
    assert apply_reply(run) == []
    assert (Activity.objects.count(), RunAction.objects.count()) == before


@every_verb
def test_what_the_board_approved_is_carried_out_once(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    change_policy(actor=stage.owner, company=stage.company, permission=verb.right, grant=Grant.APPROVAL)
    trial = stage.reply(verb.example)
    (approval,) = trial.run.approvals.filter(kind=ApprovalKind.ACTION)
    assert stage.decide(approval).failure == ""
    before = Activity.objects.count()
    with pytest.raises(Conflict):
        stage.decide(approval)
    with pytest.raises(Conflict, match="carried out before"):
        carry_out_approved(Approval.objects.get(pk=approval.pk), stage.owner)
    assert Activity.objects.count() == before
    assert trial.run.actions.get().outcome == ActionOutcome.APPLIED


@every_verb
def test_sent_twice_under_one_idempotency_key_it_changes_nothing_the_second_time(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    api = as_agent(stage.bob)
    key = {"Idempotency-Key": "order-66"}
    first = api.post(ACTIONS, {"text": verb.example}, **key)
    before = (Activity.objects.count(), RunAction.objects.count())
    assert api.post(ACTIONS, {"text": verb.example}, **key).body == first.body
    assert (Activity.objects.count(), RunAction.objects.count()) == before


@every_verb
def test_a_call_of_the_api_does_what_a_reply_does(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    (outcome,) = as_agent(stage.bob).post(ACTIONS, {"text": verb.example})["actions"]
    asks = verb.right.reach is Reach.BOARD
    assert (outcome["verb"], outcome["outcome"]) == (verb.name, "approval" if asks else "applied")
    assert outcome["reason"] if asks else outcome["summary"]


@every_verb
def test_a_persons_call_applies_at_once_or_is_denied_where_only_an_agent_makes_sense(verb: Verb, stage: Stage) -> None:
    stage.prepare(verb)
    stage.issue.reviewers.update(agent=None, member=stage.owner.member)
    before = Activity.objects.latest("pk").pk
    (outcome,) = as_person(stage.owner).post(ACTIONS, {"text": verb.example})["actions"]
    logged = Counter(Activity.objects.filter(pk__gt=before).values_list("kind", flat=True))
    if verb.name in FOR_AGENTS_ALONE:
        assert (outcome["outcome"], outcome["reason"]) == ("denied", "Only an agent does this.")
        assert not logged
    else:
        assert (outcome["outcome"], outcome["reason"]) == ("applied", "")
        assert set(logged.values()) == {1}
        assert not Approval.objects.filter(kind=ApprovalKind.ACTION).exists()
