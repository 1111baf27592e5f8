"""Prompts that do not fit: what is said of them, and what is tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest
from pytest_django.fixtures import Settings

from agents.models import Agent, ModelCall, RunState, Wakeup, WakeupState
from agents.services.agents import edit_agent
from engine.context import build_context
from engine.preparing import make_leaner
from engine.text.context import Limits, Tier
from issues.models import InboxItem, Issue
from issues.services.comments import pin_comment
from tests import build
from tests.adapters.wire import answer
from tests.engine.recording import KEYS, recorded
from tests.engine.test_heartbeat import run_all, scripted
from tests.text.contexts import plain

pytestmark = pytest.mark.django_db(transaction=True)

TOO_LONG = {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}


def too_long() -> httpx2.Response:
    return httpx2.Response(400, json={"error": TOO_LONG})


def at_work(settings: Settings, **fields: Any) -> tuple[Agent, Issue]:
    settings.LLM = KEYS
    company, _ = build.company_with_founder()
    ada = build.agent(company, "Ada", provider="openai", model="a-model-nobody-knows", **fields)
    build.skill(company, "Release notes", "Write what changed. " * 100)
    return ada, build.issue(company, "Export loses rows", assignee=ada)


@pytest.mark.parametrize(("window", "tier"), [(8_192, "lean"), (32_768, "lean"), (32_769, "full"), (200_000, "full")])
def test_the_models_window_decides_how_much_fixed_text_is_spent(
    window: int, tier: str, settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "models.yaml").write_text(f"a-model-nobody-knows: {{context_window: {window}}}", "utf-8")
    ada, issue = at_work(settings)
    assert build_context(ada, issue, ()).tier == tier
    pinned = edit_agent(actor=build.owner_of(ada.company), agent=ada, tier="lean" if tier == "full" else "full")
    assert build_context(pinned, issue, ()).tier == pinned.tier


def test_what_must_be_shown_and_does_not_fit_fails_the_run_with_the_sections_and_their_sizes() -> None:
    company, owner = build.company_with_founder()
    issue = build.issue(company, assignee=scripted(company, "Ada", "Hello."))
    for _ in range(3):
        pin_comment(actor=owner, comment=build.comment(issue, "長い話をする。" * 3_000))
    (run,) = run_all()
    assert (run.state, run.error_kind) == (RunState.FAILED, "prompt_too_large")
    assert run.error.startswith("The prompt needs ")
    assert "Pinned Context " in run.error
    assert InboxItem.objects.get(member=issue.responsible).text.endswith(run.error)
    assert not Wakeup.objects.filter(state__in=(WakeupState.PENDING, WakeupState.CLAIMED)).exists()
    assert not ModelCall.objects.exists()


def test_a_prompt_that_the_provider_finds_too_long_is_sent_once_more_and_leaner(settings: Settings) -> None:
    at_work(settings)
    answers = [too_long(), answer("openai", "It is short now.")]
    with recorded("openai", lambda _: answers.pop(0)) as bodies:
        (run,) = run_all()
    assert run.state == RunState.SUCCEEDED
    first, second = (body["messages"][1]["content"] for body in bodies)
    assert len(second) < len(first)
    assert run.user_message == second
    assert bodies[1]["messages"][0] == bodies[0]["messages"][0]
    refused, answered = ModelCall.objects.filter(run=run).order_by("pk")
    assert (refused.error_kind, answered.error_kind) == ("context_too_long", "")
    assert run.input_tokens == refused.input_tokens + answered.input_tokens


def test_a_prompt_that_stays_too_long_fails_with_its_size_and_what_to_set(settings: Settings) -> None:
    at_work(settings)
    with recorded("openai", lambda _: too_long()) as bodies:
        (run,) = run_all()
    assert len(bodies) == 2
    assert (run.state, run.error_kind) == (RunState.FAILED, "context_too_long")
    for words in ("Available Skills ", "128,000 tokens", "models.yaml"):
        assert words in run.error


def test_what_is_lean_already_is_not_sent_again() -> None:
    assert make_leaner(plain(tier=Tier.LEAN, limits=Limits(window=8_192))) is None
    leaner = make_leaner(plain(limits=Limits(window=200_000)))
    assert leaner is not None
    assert (leaner.tier, leaner.limits.window) == (Tier.LEAN, 32_768)


def test_another_failure_is_no_reason_to_ask_again(settings: Settings) -> None:
    at_work(settings)
    with recorded("openai", lambda _: httpx2.Response(401, json={"error": {"message": "No such key."}})) as bodies:
        (run,) = run_all()
    assert (len(bodies), run.error_kind) == (1, "auth")


def test_a_mention_in_the_description_shows_its_author_and_where_the_text_stands() -> None:
    company, _ = build.company_with_founder()
    scripted(company, "Ada", "I looked.")
    bob = build.agent(company, "Bob")
    build.issue(company, "Export loses rows", description="It began on Friday. @ada, have a look.", assignee=bob)
    (run,) = run_all()
    trigger = run.user_message.split("## Trigger")[1].split("\n## ")[0]
    assert "Text by Acme-founder (@acme-founder, owner): see Description." in trigger
