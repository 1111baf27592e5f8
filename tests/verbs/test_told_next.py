"""What is told of a reply afterwards: the help it asked for, and what of it did not happen and why."""

from __future__ import annotations

from django.utils.html import strip_tags

from agents.models import ActionOutcome, PolicyPreset
from agents.services.agents import edit_agent
from engine.workbench import draft_prompt
from issues.models import Activity, Grant
from issues.names import Names
from issues.rights import Right
from issues.sentences import named_in, tell
from issues.services.issues import assign_issue
from issues.services.policy import change_policy
from tests import build
from tests.verbs.stage import Stage


def next_prompt(stage: Stage) -> str:
    return draft_prompt(stage.bob, stage.again()).user


class TestHelp:
    def test_the_verbs_card_stands_in_the_next_prompt_and_not_in_the_one_after(self, stage: Stage) -> None:
        stage.reply("/help /create-issue")
        assert "You asked about /create-issue." in next_prompt(stage)
        assert "`parent:` (`none` for top level)" in next_prompt(stage)
        stage.reply("Now I know.")
        assert "You asked about" not in next_prompt(stage)

    def test_asking_earns_another_run(self, stage: Stage) -> None:
        build.pending(stage.bob, stage.issue)
        stage.reply("/help assign")
        sources = [wakeup.source for wakeup in build.pending(stage.bob, stage.issue)]
        assert sources == ["continue"]

    def test_there_is_none_for_what_policy_denies(self, stage: Stage) -> None:
        change_policy(actor=stage.owner, company=stage.company, permission=Right.ASSIGN, grant=Grant.DENY)
        assert stage.outcome("/help assign").outcome == ActionOutcome.FAILED


class TestSkills:
    def test_one_that_was_applied_unseen_stands_in_the_next_prompt_however_it_was_written(self, stage: Stage) -> None:
        build.skill(stage.company, "Release notes", "Say what changed.")
        run = stage.reply("/use-skill `RELEASE NOTES`").run
        assert run.actions.get().after == {"skill": "Release notes"}


class TestWhatGoesToTheBoard:
    """The agent is told before it tries: `You` names what its policy asks for anywhere, the assignment what here."""

    def you(self, stage: Stage) -> str:
        stage.bob.refresh_from_db()
        return next_prompt(stage).partition("## Your Assignment")[0]

    def test_installing_always_does(self, stage: Stage) -> None:
        assert "before they take effect: /install-skill, /install-agent, /install-routine." in self.you(stage)

    def test_on_probation_closing_assigning_and_creating_do_too(self, stage: Stage) -> None:
        stage.bob = edit_agent(actor=stage.owner, agent=stage.bob, policy=PolicyPreset.PROBATION)
        assert "before they take effect: /status done, /assign, /create-issue, /install-skill" in self.you(stage)

    def test_on_somebody_elses_issue_what_moves_it_does(self, stage: Stage) -> None:
        assign_issue(actor=stage.owner, issue=stage.issue, assignee=stage.ada)
        assignment = next_prompt(stage).partition("## Your Assignment")[2].partition("## Available Actions")[0]
        assert "/status, /assign, /priority, /blocked-by, /unblock" in assignment


class TestWhatDidNotHappen:
    REPLY = "/status dome\n/label nonsense on ACME-7\n/create-issue A part\n```\npriority: soon\n---\n```"

    def test_the_agent_is_told_each_line_in_its_next_prompt(self, stage: Stage) -> None:
        stage.reply(self.REPLY)
        assert (
            "Of your last reply this did not happen:\n"
            "- /create-issue A part, in part: Made without priority: “soon” is no priority."
            " One of: urgent, high, medium, low, none.\n"
            "- /label nonsense on ACME-7, failed: There is no label “nonsense”, and agents may not make labels here.\n"
            "- /status dome, failed: “dome” is no status. Did you mean “done”?"
        ) in next_prompt(stage)

    def test_another_agent_is_not(self, stage: Stage) -> None:
        stage.reply(self.REPLY)
        prompt = draft_prompt(stage.ada, stage.again()).user
        assert "did not happen" not in prompt
        assert "tried" not in prompt

    def test_people_see_a_line_of_it_in_the_timeline(self, stage: Stage) -> None:
        run = stage.reply("/status dome\n/assign @nobody\n/assign @nobody\n/priority high on ACME-7").run
        assert [_told(line) for line in _lines(stage)] == [
            f"tried /status, which could not be done: run {run.pk}",
            f"tried /assign 2 times, which could not be done: run {run.pk}",
            f"tried /priority, which was not allowed: run {run.pk}",
        ]

    def test_what_applied_has_no_such_line(self, stage: Stage) -> None:
        stage.reply("/priority high\n/request-approval May I?")
        assert not _lines(stage)


def test_a_reply_of_more_actions_than_are_looked_at_is_told(stage: Stage) -> None:
    trial = stage.reply("/remember x\n" * 600)
    assert len(trial.outcomes) == 500
    assert trial.run.hint == "Your reply held 600 actions; those after the first 500 were not looked at."


def _lines(stage: Stage) -> list[Activity]:
    return list(Activity.objects.filter(issue=stage.issue, kind="action.refused").order_by("pk"))


def _told(line: Activity) -> str:
    return strip_tags(tell(line, Names(line.company, named_in([line])), "/acme/").text)
