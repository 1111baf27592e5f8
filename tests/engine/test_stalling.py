"""The stall guard: talk without change is stopped after three runs, and a person lets it go on."""

from __future__ import annotations

import pytest

from agents.models import Agent, Run, Wakeup, WakeupSource, WakeupState
from agents.services.wakeups import wake_agent
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from issues.actors import SYSTEM
from issues.effects import Wake, unit
from issues.models import InboxItem, Issue, Status
from tests import build

pytestmark = pytest.mark.django_db(transaction=True)

TALKS = "- reply: Still thinking about it.\n"
PASSES = "- reply: /pass nothing new\n"
WORKS = "- reply: |\n    One more line.\n    /priority high\n"


def nudge(agent: Agent, issue: Issue, times: int) -> list[Run]:
    """Run the agent so often without a person."""
    runs = []
    for number in range(times):
        with unit():
            wakeup = wake_agent(
                Wake(
                    agent_id=agent.pk,
                    issue=issue,
                    source=WakeupSource.MENTION,
                    actor=SYSTEM,
                    reason="Somebody named you.",
                    subject=str(number),
                )
            )
        if wakeup.state == WakeupState.REFUSED:
            break
        run = claim_next()
        assert run is not None
        heartbeat(run)
        runs.append(run)
        issue.refresh_from_db()
    return runs


def quiet_issue(script: str) -> tuple[Agent, Issue]:
    """An issue in todo of an agent that nobody has woken yet."""
    company, _ = build.company_with_founder()
    agent = build.agent(company, "Ada", provider="scripted", script=script)
    issue = build.issue(company, assignee=agent)
    Wakeup.objects.update(state=WakeupState.STALE)
    return agent, issue


def test_three_runs_that_only_talk_block_the_issue_and_tell_the_board() -> None:
    agent, issue = quiet_issue(TALKS)
    assert len(nudge(agent, issue, 5)) == 3
    assert issue.status == Status.BLOCKED
    assert InboxItem.objects.filter(kind="stopped", text__contains="in a row changed nothing").exists()
    refused = Wakeup.objects.get(state=WakeupState.REFUSED)
    assert "stalled" in refused.ended_because


def test_a_persons_word_lets_a_stalled_issue_go_on() -> None:
    agent, issue = quiet_issue(TALKS)
    nudge(agent, issue, 3)
    build.comment(issue, "Take the second way.")
    run = claim_next()
    assert run is not None
    assert run.agent == agent


def test_passing_is_no_talk() -> None:
    agent, issue = quiet_issue(PASSES)
    assert len(nudge(agent, issue, 5)) == 5
    assert issue.status == Status.TODO


def test_a_change_in_between_is_no_stall() -> None:
    agent, issue = quiet_issue(WORKS)
    nudge(agent, issue, 4)
    assert issue.status == Status.TODO
