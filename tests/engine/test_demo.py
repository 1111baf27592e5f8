"""The demo company: nothing starts by itself, and its story goes from a first issue to a decision and on."""

from __future__ import annotations

import pytest

from agents.models import Wakeup
from agents.services.wakeups import run_heartbeat
from engine.demo.company import make_demo_company
from engine.demo.first import hire_first_agent
from issues.actors import Person
from issues.models import Approval, ApprovalStatus, Company, Issue, Status
from issues.services.accounts import installation_founder
from issues.services.approvals import decide_approval
from issues.services.issues import assign_issue, create_issue
from tests import build
from tests.engine.test_heartbeat import run_all

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def demo() -> tuple[Company, Person]:
    founder = Person(installation_founder())
    return make_demo_company(actor=founder), founder


def test_nothing_starts_by_itself(demo: tuple[Company, Person]) -> None:
    assert not Wakeup.objects.exists()


def test_a_second_demo_company_gets_a_key_of_its_own(demo: tuple[Company, Person]) -> None:
    company, founder = demo
    assert (company.key, make_demo_company(actor=founder).key) == ("DEMO", "DEMO2")


def test_a_new_issue_is_planned_written_read_and_published_after_a_yes(demo: tuple[Company, Person]) -> None:
    company, founder = demo
    mara = company.agents.get(handle="mara")
    issue = create_issue(actor=founder, company=company, title="Guide: salad")
    assign_issue(actor=founder, issue=issue, assignee=mara)
    assert [run.agent.handle for run in run_all()] == ["mara", "theo", "noor", "mara"]
    child = issue.children.get()
    assert child.status == Status.DONE
    assert child.files.get().path == "draft.md"
    approval = Approval.objects.get(status=ApprovalStatus.PENDING)
    assert approval.issue == issue
    decide_approval(actor=founder, approval=approval, status=ApprovalStatus.APPROVED)
    assert [run.agent.handle for run in run_all()] == ["mara"]
    issue.refresh_from_db()
    assert issue.status == Status.DONE


def test_an_unassigned_issue_is_handed_on_by_triage(demo: tuple[Company, Person]) -> None:
    company, founder = demo
    issue = create_issue(actor=founder, company=company, title="Fix the typo on page two")
    assert [run.agent.handle for run in run_all()] == ["iris", "noor"]
    issue.refresh_from_db()
    assert issue.status == Status.DONE


def test_pressing_run_starts_a_seeded_issue_and_what_waits_for_it(demo: tuple[Company, Person]) -> None:
    company, founder = demo
    issue = Issue.objects.get(title="Guide: herbs on a balcony")
    assert issue.assignee_agent is not None
    run_heartbeat(actor=founder, agent=issue.assignee_agent, issue=issue)
    run_all()
    decide_approval(actor=founder, approval=Approval.objects.get(), status=ApprovalStatus.APPROVED)
    run_all()
    letter = Issue.objects.get(title="Newsletter for April")
    assert letter.status == Status.DONE


def test_the_first_agent_of_a_newcomer_says_what_a_run_is_and_closes_the_issue() -> None:
    company, founder = build.company_with_founder()
    robin = hire_first_agent(actor=founder, company=company)
    issue = create_issue(actor=founder, company=company, title="Say hello", assignee=robin)
    assert [run.agent.handle for run in run_all()] == ["robin"]
    issue.refresh_from_db()
    assert issue.status == Status.DONE
    assert issue.identifier in issue.comments.get().body
