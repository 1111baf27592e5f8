"""The straight line, from a wakeup to its effect, with scripted agents."""

from __future__ import annotations

import pytest

from agents.models import ActionOutcome, Agent, ModelCall, Run, RunState, Wakeup, WakeupState
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from issues.models import Activity, Company, InboxItem, InboxKind, Issue, Status
from tests import build

# Committed for real: the thread that renews leases looks from a connection of its own.
pytestmark = pytest.mark.django_db(transaction=True)


def scripted(company: Company, name: str, reply: str, **fields: object) -> Agent:
    """An agent that always answers the same."""
    lines = "\n".join(f"    {line}" for line in reply.split("\n"))
    return build.agent(company, name, provider="scripted", script=f"- reply: |\n{lines}\n", **fields)


def run_all(most: int = 20) -> list[Run]:
    """Run heartbeats until nothing is due."""
    runs = []
    while (run := claim_next()) is not None:
        heartbeat(run)
        run.refresh_from_db()
        runs.append(run)
        assert len(runs) <= most, "the agents never come to rest"
    return runs


def test_an_assigned_agent_comments_and_finishes_the_issue() -> None:
    company, owner = build.company_with_founder()
    ada = scripted(company, "Ada", "I wrote the notes.\n\n/status done")
    issue = build.issue(company, "Write the notes", assignee=ada)
    (run,) = run_all()
    issue.refresh_from_db()
    assert (run.state, run.error) == (RunState.SUCCEEDED, "")
    assert issue.status == Status.DONE
    assert issue.comments.get().body == "I wrote the notes."
    assert issue.comments.get().author_agent == ada
    assert run.actions.get().outcome == ActionOutcome.APPLIED
    assert Wakeup.objects.get().state == WakeupState.CONSUMED


def test_a_run_keeps_what_was_sent_and_what_was_received() -> None:
    company, _ = build.company_with_founder()
    ada = scripted(company, "Ada", "Hello.\n/label bug", instructions="Be short.")
    issue = build.issue(company, "Write the notes", assignee=ada)
    run = run_all()[0]
    assert "Be short." in run.system_message
    assert issue.identifier in run.user_message
    assert run.reply == "Hello.\n/label bug"
    assert ModelCall.objects.get(run=run).input_tokens == run.input_tokens > 0
    assert run.cost_microdollars == 0


def test_actions_that_are_refused_do_not_stop_the_others() -> None:
    company, _ = build.company_with_founder()
    ada = scripted(company, "Ada", "Working.\n/label nonsense\n/assign @nobody\n/priority high\n/status wibble")
    issue = build.issue(company, assignee=ada)
    run = run_all()[0]
    outcomes = {action.verb: action.outcome for action in run.actions.all()}
    assert outcomes == {
        "label": ActionOutcome.FAILED,
        "assign": ActionOutcome.FAILED,
        "priority": ActionOutcome.APPLIED,
        "status": ActionOutcome.FAILED,
    }
    issue.refresh_from_db()
    assert issue.get_priority_display() == "High"


def test_a_child_that_closes_wakes_the_parents_agent() -> None:
    company, _ = build.company_with_founder()
    bob = scripted(company, "Bob", "The part is done.\n/status done")
    ada = build.agent(
        company,
        "Ada",
        provider="scripted",
        script=(
            "- when: '## Child Issues'\n  reply: |\n    All parts are there.\n    /status done\n"
            "- reply: |\n    One part for Bob.\n    /create-issue The part\n    ```\n    assignee: @bob\n    ---\n"
            "    Do it.\n    ```\n    /status in_progress\n"
        ),
    )
    parent = build.issue(company, "The whole", assignee=ada)
    runs = run_all()
    assert [run.agent for run in runs] == [ada, bob, ada]
    child = parent.children.get()
    assert (child.status, child.description) == (Status.DONE, "Do it.")
    assert child.responsible == parent.responsible
    parent.refresh_from_db()
    assert parent.status == Status.DONE


def test_siblings_name_one_another_as_blockers_in_any_order() -> None:
    company, _ = build.company_with_founder()
    reply = (
        "Split.\n/create-issue Second\n```\nassignee: @bob\nblocked-by: First\n---\nAfter.\n```\n"
        "/create-issue First\n```\nassignee: @bob\n---\nBefore.\n```"
    )
    build.agent(company, "Bob", provider="scripted", script="- reply: |\n    Done.\n    /status done\n")
    lines = "\n".join(f"    {line}" for line in reply.split("\n"))
    script = f"- when: '## Child Issues'\n  reply: |\n    All there.\n    /status done\n- reply: |\n{lines}\n"
    ada = build.agent(company, "Ada", provider="scripted", script=script)
    build.issue(company, "The whole", assignee=ada)
    run_all()
    second = Issue.objects.get(title="Second")
    assert list(second.blockers.values_list("title", flat=True)) == ["First"]
    assert second.status == Status.DONE
    closed = Activity.objects.filter(kind="issue.status", data__to="done").values_list("issue__title", flat=True)
    assert list(closed.order_by("pk")) == ["First", "Second", "The whole"]


def test_what_policy_sends_to_the_board_is_carried_out_when_approved() -> None:
    company, owner = build.company_with_founder()
    other = build.issue(
        company, "Not hers", assignee=build.agent(company, "Carl", provider="scripted", script="- reply: ok")
    )
    ada = scripted(company, "Ada", f"This one is pointless.\n/status cancelled on {other.identifier}")
    build.issue(company, assignee=ada)
    run = next(run for run in run_all() if run.agent == ada)
    action = run.actions.get()
    assert action.outcome == ActionOutcome.APPROVAL
    from issues.models import ApprovalStatus
    from issues.services.approvals import decide_approval

    approval = decide_approval(actor=owner, approval=action.approval, status=ApprovalStatus.APPROVED)
    other.refresh_from_db()
    action.refresh_from_db()
    assert (approval.failure, other.status, action.outcome) == ("", Status.CANCELLED, ActionOutcome.APPLIED)


def test_an_agent_that_changed_something_goes_on_and_stops_at_the_limit() -> None:
    company, owner = build.company_with_founder(continue_limit=3)
    ada = scripted(company, "Ada", "Another step.\n/status in_progress\n/write-file log.md\n```\nstep\n```")
    issue = build.issue(company, assignee=ada)
    runs = run_all()
    assert len(runs) == 4
    assert {run.depth for run in runs} == {0}
    told = InboxItem.objects.get(member=issue.responsible)
    assert told.kind == "stopped"
    assert "3 times" in told.text
    assert owner.member is not None


def test_an_agent_that_changes_nothing_runs_once_and_a_person_is_told() -> None:
    company, _ = build.company_with_founder()
    ada = scripted(company, "Ada", "I thought about it.")
    issue = build.issue(company, assignee=ada)
    assert len(run_all()) == 1
    assert InboxItem.objects.get(member=issue.responsible).kind == "stopped"


def test_answering_a_person_is_no_standstill() -> None:
    company, owner = build.company_with_founder()
    ada = scripted(company, "Ada", "The answer is four.")
    issue = build.issue(company, status=Status.BACKLOG, assignee=ada)
    build.comment(issue, "How many are there?", actor=owner)
    assert len(run_all()) == 1
    assert [item.kind for item in InboxItem.objects.all()] == [InboxKind.ANSWER]


def test_a_line_that_the_parser_dropped_mentions_nobody() -> None:
    company, _ = build.company_with_founder()
    dana = scripted(company, "Dana", "I am here.")
    ada = scripted(company, "Ada", "I cannot go on.\n/unassign @dana\n/status blocked")
    build.issue(company, assignee=ada)
    assert dana not in [run.agent for run in run_all()]
