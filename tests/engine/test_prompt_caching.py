"""What a provider is asked to keep: the same bytes at the same places, from real rows to the request."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent, Run
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from issues.models import Issue
from issues.services.comments import pin_comment
from tests import build
from tests.engine.recording import KEYS, recorded

MODEL = "claude-sonnet-4-6"

pytestmark = pytest.mark.django_db(transaction=True)


def claimed() -> Run:
    run = claim_next()
    assert run is not None
    return run


def run_next() -> Run:
    """The next run, seen through."""
    run = claimed()
    heartbeat(run)
    run.refresh_from_db()
    return run


def up_to_skills(run: Run) -> str:
    """The second message of the run until its skills end."""
    (end,) = (section["end"] for section in run.prompt_sections if section["title"] == "Available Skills")
    return run.user_message[:end]


def experienced(**fields: Any) -> tuple[Agent, Issue]:
    """An agent with colleagues, skills and knowledge, and an issue with a history."""
    company, _ = build.company_with_founder(mission="Sell tools.", norms="Write plainly.")
    head = build.agent(company, "Max", title="Head")
    ada = build.agent(company, "Ada", manager=head, instructions="Look twice.", knowledge="Exports run at 2.", **fields)
    build.agent(company, "Tess", manager=ada, title="Tester")
    build.skill(company, "Release notes", "Write what changed. " * 200)
    issue = build.issue(company, "Export loses rows", description="Find out why. " * 30, assignee=ada)
    build.comment(issue, "It began on Friday. " * 20)
    return ada, issue


def marked(blocks: list[dict[str, Any]]) -> list[str]:
    return [block["text"] for block in blocks if "cache_control" in block]


def test_another_issue_trigger_and_clock_leave_all_up_to_the_skills_byte_for_byte() -> None:
    ada, _ = experienced(provider="scripted", script="- reply: Noted.")
    here = run_next()
    other = build.issue(ada.company, "Something else", assignee=build.agent(ada.company, "Bob"))
    build.issue(ada.company, "A part", parent=other)
    pin_comment(actor=build.owner_of(ada.company), comment=build.comment(other, "Hold on to this."))
    build.comment(other, "@ada, what do you think?")
    with time_machine.travel(timezone.now() + timedelta(days=2, minutes=7)):
        there = run_next()
    assert (here.scenario, there.scenario) == ("work", "reply")
    assert here.system_message == there.system_message
    assert up_to_skills(here) == up_to_skills(there)
    assert "Write what changed." in up_to_skills(here)


def test_breakpoints_reach_anthropic_after_contract_role_skills_and_history(settings: Settings) -> None:
    settings.LLM = KEYS
    experienced(provider="anthropic", model=MODEL)
    with recorded("anthropic") as bodies:
        run = claimed()
        heartbeat(run)
    (body,) = bodies
    system, user = body["system"], body["messages"][0]["content"]
    run.refresh_from_db()
    assert "".join(block["text"] for block in system) == run.system_message
    assert "".join(block["text"] for block in user) == run.user_message
    assert marked(system) == []  # contract and role are shorter than what the vendor keeps
    skills, history = marked(user)
    assert skills.rstrip().endswith("Write what changed.")
    assert history.startswith("\n\n## Your Assignment")
    assert history.endswith("see Trigger.")


def test_a_long_role_is_marked_too_and_there_are_never_more_than_four(settings: Settings) -> None:
    settings.LLM = KEYS
    ada, _ = experienced(provider="anthropic", model=MODEL)
    Agent.objects.filter(pk=ada.pk).update(instructions="Look twice at every row of the export. " * 200)
    with recorded("anthropic") as bodies:
        heartbeat(claimed())
    system, user = bodies[0]["system"], bodies[0]["messages"][0]["content"]
    assert [len(marked(system)), len(marked(user))] == [1, 2]
    assert marked(system)[0].rstrip().endswith("Exports run at 2.")


def test_a_model_that_keeps_only_long_beginnings_gets_no_mark_before_that(settings: Settings) -> None:
    settings.LLM = KEYS
    experienced(provider="anthropic", model="claude-haiku-4-5")
    with recorded("anthropic") as bodies:
        heartbeat(claimed())
    assert marked(bodies[0]["system"]) == marked(bodies[0]["messages"][0]["content"]) == []


def test_openai_gets_one_key_an_agent_and_no_marks(settings: Settings) -> None:
    settings.LLM = KEYS
    ada, _ = experienced(provider="openai", model="gpt-5.2")
    with recorded("openai") as bodies:
        heartbeat(claimed())
    assert bodies[0]["prompt_cache_key"] == f"trimus-agent-{ada.pk}"
    assert all(isinstance(message["content"], str) for message in bodies[0]["messages"])


def test_cached_tokens_are_recorded(settings: Settings) -> None:
    from tests.adapters.wire import block, started, stopped, stream, words

    settings.LLM = KEYS
    experienced(provider="anthropic", model=MODEL)
    said = (started(input_tokens=40, cache_read_input_tokens=3_000), block(), words("Noted."), stopped())
    with recorded("anthropic", lambda _: stream(*said)):
        run = claimed()
        heartbeat(run)
    run.refresh_from_db()
    assert (run.input_tokens, run.cached_tokens) == (3_040, 3_000)
