"""The doctor names what is wrong, each with what mends it."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Pulse, Wakeup
from agents.services.runs import cancel_run
from engine.diagnosis import Check, examine
from engine.sweep import show_life
from issues.models import Webhook, WorkspaceFile
from issues.services.companies import pause_company
from issues.services.files import write_file
from issues.services.webhooks import add_webhook, switch_webhook
from tests import build

pytestmark = pytest.mark.django_db


def found(what: str) -> Check:
    return next(check for check in examine() if check.what == what)


def test_a_worker_that_was_never_seen_is_named_with_the_command_that_starts_it() -> None:
    check = found("beat and worker")
    assert (check.is_well, check.found) == (False, "were never seen")
    assert "manage.py worker" in check.mend


def test_a_tick_shows_that_beat_and_worker_are_at_work() -> None:
    show_life()
    assert found("beat and worker").is_well


def test_an_old_sign_of_life_is_none() -> None:
    Pulse.objects.create(name="tick", felt_at=timezone.now() - timedelta(minutes=3))
    assert "180 seconds ago" in found("beat and worker").found


def test_a_database_that_everybody_on_the_machine_can_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("PostgreSQL's files are its own")
    path = tmp_path / "trimus.sqlite3"
    path.touch(mode=0o644)
    monkeypatch.setitem(connection.settings_dict, "NAME", str(path))
    tmp_path.chmod(0o755)
    assert found("secrecy").mend == f"chmod 600 {path}*"
    tmp_path.chmod(0o700)
    assert found("secrecy").is_well


def test_agents_that_no_model_answers_are_named() -> None:
    company, _ = build.company_with_founder()
    build.agent(company, "Ada")
    check = found("models")
    assert "ACME @ada" in check.found
    assert "OPENAI_API_KEY" in check.mend


def test_programs_that_are_missing_or_not_allowed_are_named(settings: Settings) -> None:
    company, _ = build.company_with_founder()
    build.agent(company, "Cato", adapter="process", command="cat")
    assert found("programs").found == "active agents that are programs of the server: 1"
    build.agent(company, "Dora", adapter="process", command="no-such-program")
    check = found("programs")
    assert check.found == "ACME @dora cannot be run"
    assert check.mend.startswith("The server has no program “no-such-program”.")
    settings.CLI_AGENTS = False
    assert found("programs").mend == "Set TRIMUS_CLI_AGENTS=true."


def test_webhooks_that_fail_are_named_and_those_that_are_off_are_not() -> None:
    company, owner = build.company_with_founder()
    assert found("webhooks").is_well
    webhook, _ = add_webhook(actor=owner, company=company, url="https://hooks.example.org/secret-path", kinds=["run"])
    Webhook.objects.update(failing_since=timezone.now() - timedelta(hours=2))
    check = found("webhooks")
    assert not check.is_well
    assert "ACME hooks.example.org for 2" in check.found
    assert "secret-path" not in check.found
    switch_webhook(actor=owner, webhook=webhook, on=False)
    assert found("webhooks").is_well


def test_a_wakeup_that_waits_without_a_reason_is_found() -> None:
    company, _ = build.company_with_founder()
    build.issue(company, assignee=build.agent(company, "Ada", provider="scripted", script="- reply: yes"))
    assert found("wakeups").is_well
    Wakeup.objects.update(due_at=timezone.now() - timedelta(minutes=5))
    assert not found("wakeups").is_well


def test_one_whose_agent_is_at_work_or_whose_company_is_paused_has_its_reason() -> None:
    company, owner = build.company_with_founder()
    ada = build.agent(company, "Ada", provider="scripted", script="- reply: yes")
    build.issue(company, assignee=ada)
    Wakeup.objects.update(due_at=timezone.now() - timedelta(minutes=5))
    run = build.at_work(ada, build.issue(company)).run
    assert run is not None
    assert found("wakeups").is_well
    cancel_run(actor=owner, run=run)
    assert not found("wakeups").is_well
    pause_company(actor=owner, company=company)
    assert found("wakeups").is_well


def test_texts_that_search_does_not_know_are_found_and_the_named_command_mends_it() -> None:
    company, _ = build.company_with_founder()
    assert found("search").is_well
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("DROP TRIGGER issues_issue_words_in")
        else:
            cursor.execute("DROP INDEX issues_issue_words")
    build.issue(company)
    connection.check_constraints()
    assert found("search").mend == "manage.py rebuild_search"
    call_command("rebuild_search", stdout=StringIO())
    assert found("search").is_well


def test_a_file_that_is_not_on_disk_is_counted_with_what_keeps_it_from_there() -> None:
    company, _ = build.company_with_founder()
    ada = build.agent(company, "Ada")
    issue = build.issue(company, assignee=ada)
    write_file(actor=build.at_work(ada, issue), issue=issue, path="a.txt", text="x")
    assert found("workspaces").is_well
    WorkspaceFile.objects.update(updated_at=timezone.now() - timedelta(minutes=5), unmade_because="“a.txt” is a link")
    assert found("workspaces").found == "1 files are not on disk: “a.txt” is a link"


def test_the_command_ends_with_one_when_something_is_wrong() -> None:
    out = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("doctor", "--json", stdout=out)
    assert end.value.code == 1
    rows = {row["what"]: row["well"] for row in json.loads(out.getvalue())}
    assert rows["database"]
    assert rows["migrations"]
    assert not rows["beat and worker"]
