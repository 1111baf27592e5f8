"""The workbench on the command line: a stored reply through the whole line, and a prompt without a model."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django.fixtures import Settings

from agents.models import Agent, Run, Wakeup
from agents.services.agents import pause_agent
from engine import tasks
from engine.claim import claim_next
from issues.actors import Person
from issues.models import Company, Issue, Status
from tests import build
from tests.engine.test_claiming import quiet_issue

pytestmark = pytest.mark.django_db(transaction=True)

REPLY = """I did it.

/status in_progress
/priority nonsense
/create-issue A part
/write-file notes.md
```
Notes.
```
/status: done
/note
"""


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    return quiet_issue(company, assignee=ada)


@pytest.fixture
def reply(tmp_path: Path) -> str:
    path = tmp_path / "reply.md"
    path.write_text(REPLY)
    return str(path)


def run(name: str, *arguments: str, **options: object) -> str:
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, **options)
    return out.getvalue()


def everything() -> dict[str, int]:
    """How many rows every table has."""
    return {model._meta.label: model._default_manager.count() for model in apps.get_models()}


class TestHeartbeat:
    def test_a_dry_run_prints_each_action_and_changes_nothing(
        self, issue: Issue, reply: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rings: list[str] = []
        monkeypatch.setattr(tasks.look, "apply_async", lambda *_args, **_options: rings.append("look"))
        settings.DATA_DIR = tmp_path / "data"
        before, row = everything(), Issue.objects.values().get()
        out = run("heartbeat", issue.identifier, agent="ada", reply_file=reply, dry_run=True)
        assert (everything(), Issue.objects.values().get(), rings) == (before, row, [])
        assert not settings.DATA_DIR.exists()
        assert "applied    /status in_progress" in out
        assert "failed     /priority nonsense" in out
        assert "applied    /create-issue A part" in out
        assert "dropped    line 10: /status: done  (unknown-verb)" in out
        assert "dropped    line 11: /note  (missing-argument)" in out
        assert out.rstrip().endswith("Nothing was changed (dry run).")

    def test_without_it_the_reply_is_applied(self, issue: Issue, reply: str) -> None:
        out = run("heartbeat", issue.identifier, agent="@Ada", reply_file=reply)
        issue.refresh_from_db()
        assert issue.status == Status.IN_PROGRESS
        assert (issue.children.get().title, issue.files.get().path) == ("A part", "notes.md")
        kept = Run.objects.get()
        assert (kept.reply, kept.provider, kept.state) == (REPLY, "file", "succeeded")
        assert f"Applied as run {kept.pk}." in out

    def test_it_reads_standard_input(self, issue: Issue, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"From a pipe.\n/priority high")))
        run("heartbeat", issue.identifier, agent="ada")
        issue.refresh_from_db()
        assert issue.get_priority_display() == "High"

    def test_json_holds_the_same(self, issue: Issue, reply: str) -> None:
        out = json.loads(run("heartbeat", issue.identifier, agent="ada", reply_file=reply, dry_run=True, json=True))
        assert [(action["verb"], action["outcome"]) for action in out["actions"]] == [
            ("status", "applied"),
            ("priority", "failed"),
            ("create-issue", "applied"),
            ("write-file", "applied"),
        ]
        assert (out["run"], out["state"], out["error"]) == (None, "succeeded", "")
        assert [drop["reason"] for drop in out["dropped"]] == ["unknown-verb", "missing-argument"]

    def test_a_silent_reply_says_why_the_run_failed(self, issue: Issue, tmp_path: Path) -> None:
        empty = tmp_path / "empty.md"
        empty.write_text("\n")
        out = run("heartbeat", issue.identifier, agent="ada", reply_file=str(empty), dry_run=True)
        assert "No action." in out
        assert "The run failed: The model answered nothing" in out

    @pytest.mark.parametrize(
        ("identifier", "agent", "said"),
        [
            ("ACME-99", "ada", "There is no issue ACME-99."),
            ("NONE-1", "ada", "There is no issue NONE-1."),
            ("nonsense", "ada", "There is no issue nonsense."),
            ("acme-1", "nobody", "There is no agent @nobody in Acme Ltd. There are: @ada."),
        ],
    )
    def test_what_is_not_there_is_said(self, issue: Issue, reply: str, identifier: str, agent: str, said: str) -> None:
        with pytest.raises(CommandError, match=said.replace(".", r"\.")):
            run("heartbeat", identifier, agent=agent, reply_file=reply)

    def test_a_file_that_cannot_be_read_is_said(self, issue: Issue, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="cannot be read: No such file"):
            run("heartbeat", issue.identifier, agent="ada", reply_file=str(tmp_path / "none.md"))

    def test_an_issue_that_a_run_holds_is_refused(self, issue: Issue, ada: Agent, reply: str) -> None:
        build.comment(issue, "@ada")
        claim_next()
        before = everything()
        with pytest.raises(CommandError, match=r"Ada \(@ada\) holds this issue since"):
            run("heartbeat", issue.identifier, agent="ada", reply_file=reply)
        assert everything() == before

    def test_a_paused_agent_is_refused(self, issue: Issue, ada: Agent, owner: Person, reply: str) -> None:
        pause_agent(actor=owner, agent=ada)
        with pytest.raises(CommandError, match="@ada is paused"):
            run("heartbeat", issue.identifier, agent="ada", reply_file=reply)


class TestPrompt:
    def test_it_prints_both_messages_and_the_size_of_each_section_and_changes_nothing(
        self, issue: Issue, owner: Person
    ) -> None:
        build.comment(issue, "@ada, please begin.", actor=owner)
        before = everything()
        out = run("prompt", issue.identifier, agent="ada")
        assert everything() == before
        assert "please begin." in out
        assert "=== system" in out
        assert "tokens in all" in out

    def test_it_is_what_the_next_run_sends(self, issue: Issue, owner: Person) -> None:
        build.comment(issue, "@ada, please begin.", actor=owner)
        shown = json.loads(run("prompt", issue.identifier, agent="ada", json=True))
        started = claim_next()
        assert started is not None
        from engine.preparing import prepare

        sent = prepare(started)
        assert shown["system"] == sent.system
        but_for_the_minute = [user.rpartition("\n")[0] for user in (shown["user"], sent.user)]
        assert but_for_the_minute[0] == but_for_the_minute[1]
        assert "please begin" in but_for_the_minute[0]
        assert shown["delivered"] == list(sent.delivered)
        assert [section["title"] for section in shown["sections"]] == [section.title for section in sent.sections]
        assert {"size", "tokens", "is_deferred"} <= shown["sections"][0].keys()
        assert {"message", "offset", "tokens"} <= shown["breakpoints"][0].keys()

    def test_it_shows_the_prompt_for_one_wakeup(self, issue: Issue, owner: Person) -> None:
        build.comment(issue, "@ada, the first.", actor=owner)
        build.comment(issue, "@ada, the second.", actor=owner)
        first = Wakeup.objects.earliest("pk")
        shown = json.loads(run("prompt", issue.identifier, agent="ada", wakeup=first.pk, json=True))
        assert shown["delivered"] == [first.pk]

    def test_a_wakeup_that_is_not_there_is_said(self, issue: Issue) -> None:
        with pytest.raises(CommandError, match="There is no wakeup 99 of @ada on ACME-1"):
            run("prompt", issue.identifier, agent="ada", wakeup=99)
