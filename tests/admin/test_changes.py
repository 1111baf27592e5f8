"""What the admin site changes, it changes through services: with their rules, and their line of activity."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Agent, RunState
from issues.actors import Person
from issues.models import Activity, ApprovalStatus, Company, Issue, Status
from issues.services.keys import create_agent_key, create_user_key
from tests import build


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada", adapter="external")


def act(browser: Client, model: str, action: str, *rows: Any) -> list[str]:
    """Press an action on rows; what the page then says."""
    address = reverse(f"admin:{model}_changelist")
    answer = browser.post(address, {"action": action, "_selected_action": [row.pk for row in rows]}, follow=True)
    assert answer.status_code == 200
    return [str(message) for message in answer.context["messages"]]


def edit(browser: Client, model: str, row: Any, **changes: Any) -> list[str]:
    """Save the row's form with these changes; what the page then says."""
    address = reverse(f"admin:{model}_change", args=[row.pk])
    form = browser.get(address).context["adminform"].form
    fields = {name: form.initial.get(name) for name in form.fields} | changes
    data = {name: value for name, value in fields.items() if value is not None and value is not False}
    answer = browser.post(address, data, follow=True)
    assert answer.status_code == 200
    assert not answer.context.get("errors"), answer.context["errors"]
    return [str(message) for message in answer.context["messages"]]


def kinds() -> list[str]:
    return list(Activity.objects.order_by("pk").values_list("kind", flat=True))


def test_agents_are_paused_resumed_and_terminated(browser: Client, ada: Agent) -> None:
    for action, status in (("pause", "paused"), ("resume", "active"), ("terminate", "terminated")):
        act(browser, "agents_agent", action, ada)
        ada.refresh_from_db()
        assert ada.status == status
    assert kinds()[-3:] == ["agent.paused", "agent.resumed", "agent.terminated"]


def test_a_heartbeat_is_run_where_there_is_work(browser: Client, ada: Agent, company: Company) -> None:
    bob = build.agent(company, "Bob")
    build.issue(company, assignee=ada)
    said = act(browser, "agents_agent", "run_heartbeat", ada, bob)
    assert "manual" in [wakeup.source for wakeup in build.pending(ada)]
    assert any("Bob" in line and "no issue" in line for line in said)
    assert "Run heartbeat: 1 done." in said


def test_a_run_is_cancelled_and_a_second_time_refused(browser: Client, ada: Agent, company: Company) -> None:
    run = build.at_work(ada, build.issue(company)).run
    assert run is not None
    act(browser, "agents_run", "cancel", run)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    assert any("is over: it was cancelled" in line for line in act(browser, "agents_run", "cancel", run))


@pytest.mark.parametrize(
    ("action", "status"), [("approve", ApprovalStatus.APPROVED), ("refuse", ApprovalStatus.REFUSED)]
)
def test_approvals_are_decided(
    browser: Client, ada: Agent, company: Company, action: str, status: ApprovalStatus
) -> None:
    issue = build.issue(company, assignee=ada)
    approval = build.approval(issue, actor=build.at_work(ada, issue))
    act(browser, "issues_approval", action, approval)
    approval.refresh_from_db()
    assert approval.status == status
    assert "approval_decided" in [wakeup.source for wakeup in build.pending(ada)]


def test_keys_are_revoked_whosever_they_are(browser: Client, operator: Person, ada: Agent, company: Company) -> None:
    member = build.member(company)
    keys = [
        create_user_key(actor=member, user=member.user)[0],
        create_agent_key(actor=operator, agent=ada)[0],
    ]
    assert act(browser, "issues_apikey", "revoke", *keys) == ["Revoke: 2 done."]
    for key in keys:
        key.refresh_from_db()
        assert key.revoked_at is not None


def test_a_company_is_changed_as_an_owner_changes_it(browser: Client, company: Company) -> None:
    edit(browser, "issues_company", company, hop_limit=3, norms="Be kind.")
    company.refresh_from_db()
    assert (company.hop_limit, company.norms) == (3, "Be kind.")
    assert Activity.objects.latest("pk").data == {"fields": ["hop_limit", "norms"]}


def test_an_issue_is_changed_with_all_that_follows(browser: Client, company: Company, ada: Agent) -> None:
    issue = build.issue(company, "Old", assignee=ada, status=Status.BACKLOG)
    edit(browser, "issues_issue", issue, title="New", status="todo", priority=2)
    issue.refresh_from_db()
    assert (issue.title, issue.status, issue.priority) == ("New", "todo", 2)
    assert [wakeup.source for wakeup in build.pending(ada)] == ["assigned"]
    assert kinds()[-3:] == ["issue.edited", "issue.priority", "issue.status"]


def test_an_agent_and_a_skill_and_a_project_are_changed(browser: Client, company: Company, ada: Agent) -> None:
    skill, project = build.skill(company), build.project(company)
    edit(browser, "agents_agent", ada, title="Engineer")
    edit(browser, "agents_skill", skill, body="Otherwise.")
    edit(browser, "issues_project", project, rules="Keep it small.")
    assert kinds()[-3:] == ["agent.edited", "skill.edited", "project.edited"]
    ada.refresh_from_db()
    assert ada.title == "Engineer"


def test_what_a_service_refuses_is_said_and_not_done(browser: Client, company: Company) -> None:
    issue = build.issue(company, "Old")
    said = edit(browser, "issues_issue", issue, description="x" * 64_001)
    assert any(line.startswith("Nothing was changed.") for line in said)
    issue.refresh_from_db()
    assert issue.description == ""


def test_an_operator_who_is_no_member_looks_and_changes_nothing(browser: Client) -> None:
    other, _ = build.company_with_founder("OTHR")
    issue = build.issue(other, "Theirs")
    assert browser.get(reverse("admin:issues_issue_change", args=[issue.pk])).status_code == 200
    said = edit(browser, "issues_issue", issue, title="Mine")
    assert any(line.startswith("Nothing was changed.") for line in said)
    assert Issue.objects.get(pk=issue.pk).title == "Theirs"


def test_the_last_owner_is_not_removed(browser: Client, company: Company, operator: Person) -> None:
    said = act(browser, "issues_member", "remove", build.member_row(build.owner_of(company)))
    assert any("at least one owner" in line for line in said)
