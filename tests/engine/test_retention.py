"""Texts of old runs go when their company's days are over, and nothing else does."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Pulse, Run
from engine.retention import drop_old_texts
from engine.sweep import sweep
from issues.models import Company
from tests import build
from tests.engine.running import run_next, scripted

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def company() -> Company:
    company, _ = build.company_with_founder(retention_days=30)
    return company


@pytest.fixture
def run(company: Company) -> Run:
    agent = scripted(company, "Ada", "Noted.\n/status in_progress\n/statsu x")
    build.issue(company, assignee=agent)
    return run_next()


def aged(run: Run, days: float) -> Run:
    Run.objects.filter(pk=run.pk).update(ended_at=timezone.now() - timedelta(days=days))
    return run


def test_texts_are_dropped_when_the_days_are_over_and_the_rest_stays(run: Run) -> None:
    assert run.dropped
    sweep()
    aged(run, 30.1)
    Pulse.objects.filter(name="retention").update(felt_at=timezone.now() - timedelta(hours=2))
    sweep()
    before, facts = run.actions.count(), run.prompt_facts
    run.refresh_from_db()
    assert (run.system_message, run.user_message, run.prompt_sections, run.dropped) == ("", "", [], [])
    assert run.reply == ""
    assert (run.actions.count(), run.prompt_facts) == (before, facts)
    assert run.input_tokens
    assert run.instructions_hash
    assert run.comments.get().body == "Noted.\n/statsu x"


def test_a_run_within_its_days_keeps_them(run: Run) -> None:
    aged(run, 29.9)
    drop_old_texts()
    run.refresh_from_db()
    assert run.user_message
    assert run.reply


def test_a_run_without_an_answer_does_not_get_one(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(reply=None, applied_at=None, state="failed")
    aged(run, 31)
    drop_old_texts()
    run.refresh_from_db()
    assert (run.user_message, run.reply) == ("", None)


def test_it_looks_once_an_hour(run: Run) -> None:
    drop_old_texts()
    aged(run, 31)
    drop_old_texts()
    run.refresh_from_db()
    assert run.user_message


def test_the_page_of_such_a_run_says_so(company: Company, run: Run) -> None:
    aged(run, 31)
    drop_old_texts()
    browser = Client()
    browser.force_login(build.owner_of(company).user)
    body = browser.get(f"/acme/runs/{run.pk}/").content.decode()
    assert "Its texts were dropped when they grew old; the figures stay." in body
    assert "0 characters" not in body
