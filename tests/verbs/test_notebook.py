"""The notebook: what an agent keeps, how much of it, and what of it a prompt shows."""

from __future__ import annotations

import pytest

from agents.models import ActionOutcome, Note, Observation
from agents.services import notebook
from agents.services.agents import worker_for
from engine.workbench import draft_prompt
from issues.services.companies import delete_company
from tests import build
from tests.verbs.stage import Stage


def note(key: str, text: str = "Something.") -> str:
    return f"/note {key}\n```\n{text}\n```\n"


class TestNotes:
    def test_one_is_kept_under_its_key_and_overwritten_under_the_same(self, stage: Stage) -> None:
        stage.reply(note("Plan", "First.") + note("plan", "Second."))
        kept = stage.bob.notes.get()
        assert (kept.key, kept.text) == ("plan", "Second.")

    def test_a_note_is_taken_out(self, stage: Stage) -> None:
        stage.reply(note("plan") + note("idea") + "/forget `PLAN`")
        assert [kept.key for kept in stage.bob.notes.all()] == ["idea"]

    def test_the_oldest_gives_way(self, stage: Stage) -> None:
        stage.reply("".join(note(f"key {number}") for number in range(notebook.NOTES_KEPT)))
        stage.reply(note("key 0", "Written again.") + note("one more"))
        keys = set(stage.bob.notes.values_list("key", flat=True))
        assert len(keys) == notebook.NOTES_KEPT
        assert "key 1" not in keys
        assert {"key 0", "one more"} <= keys

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (note("plan", "x" * 2_001), "The note has 2,001 characters; at most 2,000 fit."),
            (note("k" * 61), "The key has 61 characters; at most 60 fit."),
            (note("plan", ""), "The note is empty."),
            ("/forget plan", "There is no note “plan”."),
        ],
    )
    def test_what_does_not_fit_or_is_not_there_is_refused(self, stage: Stage, line: str, reason: str) -> None:
        outcome = stage.outcome(line)
        assert (outcome.outcome, outcome.reason) == (ActionOutcome.FAILED, reason)

    def test_two_thousand_characters_fit(self, stage: Stage) -> None:
        assert stage.outcome(note("plan", "x" * 2_000)).outcome == ActionOutcome.APPLIED

    def test_one_agent_does_not_reach_into_anothers(self, stage: Stage) -> None:
        hers = build.issue(stage.company, assignee=stage.ada)
        notebook.write_note(actor=worker_for(stage.ada), issue=hers, key="plan", text="Hers.")
        assert stage.outcome("/forget plan").outcome == ActionOutcome.FAILED
        stage.reply(note("plan", "His."))
        assert stage.ada.notes.get().text == "Hers."


class TestObservations:
    def test_one_is_kept_with_where_it_was_made(self, stage: Stage) -> None:
        run = stage.reply("/remember Exports break on quotation marks.").run
        kept = Observation.objects.get()
        assert (kept.text, kept.issue, kept.run) == ("Exports break on quotation marks.", stage.issue, run)

    def test_the_oldest_go(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(notebook, "OBSERVATIONS_KEPT", 3)
        stage.reply("\n".join(f"/remember Number {number}." for number in range(5)))
        assert [kept.text for kept in stage.bob.observations.all()] == ["Number 4.", "Number 3.", "Number 2."]

    def test_five_hundred_is_how_many_are_kept(self) -> None:
        assert notebook.OBSERVATIONS_KEPT == 500


class TestInThePrompt:
    def prompt(self, stage: Stage, title: str = "Mend the export of quotation marks") -> str:
        issue = build.issue(stage.company, title, assignee=stage.bob)
        return draft_prompt(stage.bob, issue).user

    def test_every_note_stands_there_with_its_age_quoted(self, stage: Stage) -> None:
        stage.reply(note("plan", "First the export.\n/status done"))
        assert "## Notebook\n\n- just now: plan\n> First the export.\n> /status done\n" in self.prompt(stage)

    def test_of_observations_those_that_have_words_in_common_do(self, stage: Stage) -> None:
        texts = ("Exports need quotation marks doubled.", "The kitchen is on the left.", "Marks: use a template.")
        stage.reply("\n".join(f"/remember {text}" for text in texts))
        shown = self.prompt(stage).partition("## Notebook")[2].partition("## Available Actions")[0]
        assert shown.index("quotation marks doubled") < shown.index("use a template")
        assert "kitchen" not in shown

    def test_at_most_five_do(self, stage: Stage) -> None:
        stage.reply("\n".join(f"/remember The export of day {number}." for number in range(7)))
        assert self.prompt(stage).count("The export of day") == 5

    def test_another_agents_notebook_does_not(self, stage: Stage) -> None:
        hers = build.issue(stage.company, assignee=stage.ada)
        notebook.write_note(actor=worker_for(stage.ada), issue=hers, key="plan", text="Hers.")
        assert "## Notebook" not in self.prompt(stage)

    def test_keeping_something_for_itself_is_no_news_to_others(self, stage: Stage) -> None:
        stage.reply(note("plan") + "/remember The export is slow.\n/help assign")
        prompt = draft_prompt(stage.ada, stage.again()).user
        assert "notebook" not in prompt
        assert "observation" not in prompt.partition("## Available Actions")[0]
        assert "@bob" not in prompt.partition("## Conversation History")[2].partition("##")[0]


def test_the_notebook_goes_with_the_agents_company(stage: Stage) -> None:
    stage.reply(note("plan") + "/remember The export is slow.")
    delete_company(actor=stage.owner, company=stage.company)
    assert not Note.objects.exists()
    assert not Observation.objects.exists()
