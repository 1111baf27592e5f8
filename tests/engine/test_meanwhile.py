"""What people do while the model thinks: their word stands."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction

from agents.models import ActionOutcome, Agent, Run, RunState, Wakeup, WakeupState
from agents.services.agents import pause_agent, terminate_agent
from agents.services.runs import cancel_run
from engine.apply import apply_reply
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from engine.preparing import prepare
from issues.actors import Person
from issues.models import Activity, Company, Issue, Priority, Status, Verdict
from issues.services.blockers import add_blockers
from issues.services.comments import write_comment
from issues.services.companies import change_company
from issues.services.issues import assign_issue, edit_issue, set_priority, set_status
from issues.services.projects import add_labels
from issues.services.reviews import give_verdict, set_reviewers
from issues.sources import WakeupSource
from tests import build
from tests.engine.running import FakeModel, run_next
from tests.engine.test_claiming import mention
from tests.services.at_once import at_once

pytestmark = pytest.mark.django_db(transaction=True)

CHANGED = "A person changed this meanwhile. Look at it anew."
WROTE = "A person wrote here meanwhile, so it is not closed yet."


@pytest.fixture
def issue(company: Company, ada: Agent, owner: Person) -> Issue:
    """Ada's issue in progress, on which she has been woken; people have written there before."""
    issue = build.issue(company, "Write the notes", assignee=ada, status=Status.IN_PROGRESS, priority=Priority.LOW)
    build.comment(issue, "Please begin.", actor=owner)
    return issue


def outcomes(run: Run) -> dict[str, tuple[str, str]]:
    return {action.verb: (action.outcome, action.reason) for action in run.actions.all()}


def fresh(issue: Issue) -> Issue:
    return Issue.objects.get(pk=issue.pk)


def reprioritise(owner: Person, issue: Issue) -> None:
    set_priority(actor=owner, issue=issue, priority=Priority.MEDIUM)


def put_off(owner: Person, issue: Issue) -> None:
    set_status(actor=owner, issue=issue, status=Status.BACKLOG)


def take_and_give_back(owner: Person, issue: Issue) -> None:
    """To the agent itself again, which leaves it the issue."""
    agent = issue.assignee_agent
    assign_issue(actor=owner, issue=issue, assignee=None)
    assign_issue(actor=owner, issue=issue, assignee=agent)


def label_it(owner: Person, issue: Issue) -> None:
    add_labels(actor=owner, issue=issue, labels=[build.label(issue.company, "mine")])


def block_it(owner: Person, issue: Issue) -> None:
    add_blockers(actor=owner, issue=issue, blockers=[build.issue(issue.company, "In the way")])


def write(owner: Person, issue: Issue) -> None:
    write_comment(actor=owner, issue=issue, body="One thing more.")


def retitle(owner: Person, issue: Issue) -> None:
    edit_issue(actor=owner, issue=issue, title="Write the long notes")


def describe(owner: Person, issue: Issue) -> None:
    edit_issue(actor=owner, issue=issue, description="With pictures.")


def call_another(owner: Person, issue: Issue) -> None:
    build.agent(issue.company, "Zoe", provider="scripted")
    write_comment(actor=owner, issue=issue, body="@zoe, have a look at this.")


def close(owner: Person, issue: Issue) -> None:
    set_status(actor=owner, issue=issue, status=Status.CANCELLED)


def accept(owner: Person, issue: Issue) -> None:
    set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
    give_verdict(actor=owner, issue=issue, verdict=Verdict.ACCEPT)


def hand_over(owner: Person, issue: Issue) -> None:
    assign_issue(actor=owner, issue=issue, assignee=build.member_row(owner))


def pause(owner: Person, issue: Issue) -> None:
    assert issue.assignee_agent is not None
    pause_agent(actor=owner, agent=issue.assignee_agent)


class TestFields:
    """A field that a person changed is not overwritten; the others are."""

    @pytest.mark.parametrize(
        ("change", "verb"),
        [
            (reprioritise, "/priority urgent"),
            (put_off, "/status blocked"),
            (take_and_give_back, "/assign none"),
            (label_it, "/label theirs"),
            (label_it, "/unlabel mine"),
            (block_it, "/unblock ACME-2"),
            (block_it, "/blocked-by ACME-2"),
        ],
    )
    def test_what_a_person_changed_meanwhile_is_not_overwritten(
        self, change: Callable[[Person, Issue], None], verb: str, issue: Issue, owner: Person, model: FakeModel
    ) -> None:
        build.label(issue.company, "theirs")
        model.answers = [f"{verb}\n/record-finding Beside it\n```\nStill applied.\n```"]
        model.meanwhile = lambda: change(owner, issue)
        run = run_next()
        name = verb.split()[0].removeprefix("/")
        assert outcomes(run)[name] == (ActionOutcome.DENIED, CHANGED)
        assert outcomes(run)["record-finding"][0] == ActionOutcome.APPLIED

    def test_what_people_changed_before_the_prompt_may_be_changed(
        self, issue: Issue, owner: Person, model: FakeModel
    ) -> None:
        set_priority(actor=owner, issue=issue, priority=Priority.MEDIUM)
        model.answers = ["/priority urgent"]
        assert outcomes(run_next())["priority"][0] == ActionOutcome.APPLIED

    def test_what_an_agent_changed_meanwhile_may_be_overwritten(
        self, issue: Issue, bob: Agent, model: FakeModel
    ) -> None:
        from issues.actors import Worker

        worker = Worker(bob, home=issue, approved=True)
        model.answers = ["/priority urgent"]
        model.meanwhile = lambda: set_priority(actor=worker, issue=issue, priority=Priority.MEDIUM)
        assert outcomes(run_next())["priority"][0] == ActionOutcome.APPLIED

    def test_another_issue_is_not_judged_by_what_happened_here(
        self, company: Company, ada: Agent, issue: Issue, owner: Person, model: FakeModel
    ) -> None:
        other = build.issue(company, assignee=ada, status=Status.BACKLOG)
        model.answers = [f"/priority urgent on {other.identifier}"]
        model.meanwhile = lambda: set_priority(actor=owner, issue=issue, priority=Priority.MEDIUM)
        assert outcomes(run_next())["priority"][0] == ActionOutcome.APPLIED


class TestClosing:
    """It is denied when a person wrote meanwhile, and the assignee is woken to read it."""

    @pytest.mark.parametrize("change", [write, retitle, describe, call_another])
    @pytest.mark.parametrize("status", ["done", "cancelled"])
    def test_it_is_denied_and_the_assignee_woken(
        self,
        change: Callable[[Person, Issue], None],
        status: str,
        issue: Issue,
        ada: Agent,
        owner: Person,
        model: FakeModel,
    ) -> None:
        model.answers = [f"Finished.\n/status {status}"]
        model.meanwhile = lambda: change(owner, issue)
        run = run_next()
        assert outcomes(run)["status"] == (ActionOutcome.DENIED, WROTE)
        assert fresh(issue).status == Status.IN_PROGRESS
        assert issue.comments.get(author_agent=ada).body == "Finished."
        assert [wakeup.source for wakeup in build.pending(ada, issue)] == [WakeupSource.COMMENTED]

    def test_the_assignee_is_woken_also_where_comments_wake_nobody(
        self, company: Company, issue: Issue, ada: Agent, owner: Person, model: FakeModel
    ) -> None:
        change_company(actor=owner, company=company, comments_wake_assignee=False)
        model.answers = ["Finished.\n/status done"]
        model.meanwhile = lambda: write(owner, issue)
        run_next()
        assert [wakeup.source for wakeup in build.pending(ada, issue)] == [WakeupSource.COMMENTED]

    def test_other_statuses_are_not_denied(self, issue: Issue, owner: Person, model: FakeModel) -> None:
        model.answers = ["Waiting.\n/status in_review"]
        model.meanwhile = lambda: write(owner, issue)
        assert outcomes(run_next())["status"][0] == ActionOutcome.APPLIED

    def test_a_reviewers_accept_closes_and_is_denied_too(
        self, company: Company, issue: Issue, ada: Agent, bob: Agent, owner: Person, model: FakeModel
    ) -> None:
        set_reviewers(actor=owner, issue=issue, reviewers=[bob])
        set_status(actor=owner, issue=issue, status=Status.IN_REVIEW)
        Wakeup.objects.filter(agent=ada).update(state=WakeupState.STALE)
        model.answers = ["Good.\n/review accept"]
        model.meanwhile = lambda: write(owner, issue)
        assert outcomes(run_next())["review"] == (ActionOutcome.DENIED, WROTE)
        assert fresh(issue).status == Status.IN_REVIEW

    def test_a_comment_read_in_the_prompt_bars_nothing(self, issue: Issue, owner: Person, model: FakeModel) -> None:
        run = claim_next()
        assert run is not None
        write(owner, issue)
        model.answers = ["Finished.\n/status done"]
        heartbeat(run)
        assert fresh(issue).status == Status.DONE


class TestWholeReply:
    """Closed, reassigned or paused by a person: the comment is posted, no verb applies."""

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (close, "A person closed the issue meanwhile."),
            (accept, "A person closed the issue meanwhile."),
            (hand_over, "A person reassigned the issue meanwhile."),
            (pause, "The agent was paused meanwhile."),
        ],
    )
    def test_the_comment_is_posted_and_no_verb_applies(
        self,
        change: Callable[[Person, Issue], None],
        reason: str,
        issue: Issue,
        ada: Agent,
        owner: Person,
        model: FakeModel,
    ) -> None:
        model.answers = ["What I found.\n/priority urgent\n/create-issue More\n/record-finding\n```\nx\n```"]
        model.meanwhile = lambda: change(owner, issue)
        run = run_next()
        assert run.state == RunState.SUCCEEDED
        assert set(outcomes(run).values()) == {(ActionOutcome.DENIED, reason)}
        assert len(outcomes(run)) == 3
        assert issue.comments.get(author_agent=ada).body == "What I found."
        assert Wakeup.objects.get(run=run, source="assigned").state == WakeupState.CONSUMED

    def test_an_agents_closing_is_no_persons(self, issue: Issue, bob: Agent, model: FakeModel) -> None:
        from issues.actors import SYSTEM

        model.answers = ["/priority urgent"]
        model.meanwhile = lambda: set_status(actor=SYSTEM, issue=issue, status=Status.CANCELLED)
        assert outcomes(run_next())["priority"][0] == ActionOutcome.APPLIED


def test_a_terminated_agent_is_not_heard_and_its_reply_is_kept(
    issue: Issue, ada: Agent, owner: Person, model: FakeModel
) -> None:
    model.answers = ["My last word.\n/status done"]
    model.meanwhile = lambda: terminate_agent(actor=owner, agent=ada)
    run = run_next()
    assert (run.state, run.reply) == (RunState.CANCELLED, "My last word.\n/status done")
    assert not issue.comments.filter(author_agent=ada).exists()
    assert not run.actions.exists()
    assert fresh(issue).status == Status.IN_PROGRESS
    assert set(run.wakeups.values_list("state", flat=True)) == {WakeupState.CONSUMED}


def test_a_run_that_lost_its_checkout_applies_nothing(
    issue: Issue, ada: Agent, owner: Person, model: FakeModel
) -> None:
    model.answers = ["Too late.\n/status done"]
    model.meanwhile = lambda: cancel_run(actor=owner, run=Run.objects.get())
    run = run_next()
    assert (run.state, run.reply) == (RunState.CANCELLED, None)
    assert not issue.comments.filter(author_agent=ada).exists()
    assert fresh(issue).status == Status.IN_PROGRESS


def test_a_change_under_way_while_the_prompt_is_read_is_not_lost(issue: Issue, owner: Person) -> None:
    """A person's transaction that began before the prompt was built and ends after it, as PostgreSQL allows."""
    run = claim_next()
    assert run is not None

    def change_slowly() -> None:
        with transaction.atomic():
            set_priority(actor=owner, issue=issue, priority=Priority.URGENT)
            import time

            time.sleep(0.3)

    at_once([change_slowly, lambda: prepare(run)])
    Run.objects.filter(pk=run.pk).update(reply="/priority low")
    run.refresh_from_db()
    apply_reply(run)
    seen_in_prompt = "Priority: urgent" in run.user_message
    denied = outcomes(run)["priority"] == (ActionOutcome.DENIED, CHANGED)
    assert denied != seen_in_prompt


def test_a_comment_committed_after_a_later_one_is_noticed(issue: Issue, owner: Person) -> None:
    """Ids are given before commits: a comment with a lower id than one in the prompt may come after it."""
    run = claim_next()
    assert run is not None
    prepare(run)
    seen = run.prompt_facts["lines_of_people"]
    late = Activity.objects.filter(issue=issue, kind="comment.written").latest("pk")
    run.prompt_facts["lines_of_people"] = [pk for pk in seen if pk != late.pk]
    Run.objects.filter(pk=run.pk).update(prompt_facts=run.prompt_facts, reply="Done.\n/status done")
    run.refresh_from_db()
    apply_reply(run)
    assert outcomes(run)["status"] == (ActionOutcome.DENIED, WROTE)


def test_a_mention_on_a_closed_issue_wakes_an_agent_that_may_still_act(
    company: Company, issue: Issue, bob: Agent, owner: Person, model: FakeModel
) -> None:
    set_status(actor=owner, issue=issue, status=Status.DONE)
    build.comment(issue, "@bob, is this right?", actor=owner)
    model.answers = ["It is.\n/record-finding\n```\nIt is right.\n```"]
    run = run_next()
    assert (run.agent, run.state) == (bob, RunState.SUCCEEDED)
    assert outcomes(run)["record-finding"][0] == ActionOutcome.APPLIED
    mention(bob, fresh(issue))
    assert claim_next() is None
