"""Claude Code and Codex as teammates: real heartbeats, with stand-ins that speak their streams."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.models import Agent, ModelCall, Run, RunOutput, RunState, Spending, Wakeup, WakeupState
from agents.services.agents import edit_agent
from agents.services.spending import set_budget
from engine.claim import claim_next
from engine.heartbeat import heartbeat
from engine.sessions import session_name
from engine.skill_files import skill_files
from issues.actors import Person
from issues.models import Company, InboxItem, Issue, Status
from issues.workspaces import place_of
from tests import build
from tests.engine.running import run_next
from tests.programs.standins import CLAUDE, CODEX, StandIns

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stand_ins(company: Company, tmp_path: Path) -> StandIns:
    return StandIns(company, tmp_path)


def claude(stand_ins: StandIns, work: str = "pass", **fields: object) -> Agent:
    return stand_ins.hire(CLAUDE.replace("WORK", work), **{"adapter": "claude_local"} | fields)


def uses(what: str, tokens: int) -> str:
    """Work that takes so many, says so, and goes on until it is ended."""
    return f"""
    usage[{what!r}] = {tokens}
    say(type="assistant", session_id=session, message={{"id": "m-2", "content": said, "usage": usage}})
    import time
    time.sleep(600)
    """.strip()


def asked(stand_ins: StandIns) -> list[list[str]]:
    """The arguments of each start, in order."""
    return [json.loads(line) for line in stand_ins.told("asked").splitlines()]


def again(issue: Issue) -> Run:
    build.comment(issue, "@ada, once more.")
    return run_next()


class TestClaudeCode:
    def test_does_an_issue_and_what_it_cost_is_what_it_says(self, company: Company, stand_ins: StandIns) -> None:
        issue = build.issue(company, assignee=claude(stand_ins, model="sonnet"))
        run = run_next()
        issue.refresh_from_db()
        assert (run.state, run.reply, issue.status) == (RunState.SUCCEEDED, "Planned.\n/status done", Status.DONE)
        assert (run.model, run.answered_model) == ("sonnet", "claude-sonnet-5")
        assert (run.input_tokens, run.cached_tokens, run.output_tokens) == (150, 50, 20)
        call = ModelCall.objects.get()
        assert (run.cost_microdollars, call.cost_microdollars, call.price) == (250_000, 250_000, {})
        spent = Spending.objects.get(company=company, agent=None)
        assert (spent.tokens, spent.microdollars, spent.unpriced_calls) == (170, 250_000, 0)
        assert asked(stand_ins) == [["-p", "--output-format", "stream-json", "--verbose", "--model", "sonnet"]]
        assert RunOutput.objects.get(run=run).text == "[model] claude-sonnet-5\n\nI look first.\n\n"

    def test_its_failure_is_told_in_its_words(self, company: Company, stand_ins: StandIns) -> None:
        work = 'say(**result | {"is_error": True}, result="Credit balance is too low", usage=usage); sys.exit(1)'
        build.issue(company, assignee=claude(stand_ins, work))
        run = run_next()
        assert (run.state, run.error_kind) == (RunState.FAILED, "program")
        assert run.error.startswith("Claude Code: it ended with code 1. Credit balance is too low")
        assert (run.input_tokens, run.output_tokens) == (150, 20)

    def test_is_ended_when_what_it_uses_goes_beyond_the_budget(
        self, company: Company, owner: Person, stand_ins: StandIns
    ) -> None:
        ada = claude(stand_ins, uses("input_tokens", 10_000_000))
        set_budget(actor=owner, company=company, agent=ada, tokens=1_000_000)
        build.issue(company, assignee=ada)
        run = run_next()
        assert (run.state, run.error_kind) == (RunState.FAILED, "budget")
        assert run.input_tokens == 10_000_000 + 50 + 150
        assert Spending.objects.get(agent=ada).tokens == run.input_tokens + run.output_tokens

    def test_is_ended_when_it_costs_more_than_the_budget_whatever_model_it_has_chosen(
        self, company: Company, owner: Person, stand_ins: StandIns
    ) -> None:
        ada = claude(stand_ins, uses("output_tokens", 1_000_000))
        assert not ada.model
        set_budget(actor=owner, company=company, agent=ada, microdollars=1_000_000)
        build.issue(company, assignee=ada)
        run = run_next()
        assert (run.state, run.error_kind) == (RunState.FAILED, "budget")
        assert run.cost_microdollars
        assert run.cost_microdollars > 1_000_000

    def test_which_had_acted_by_its_key_is_for_a_person_to_run_again(
        self, company: Company, owner: Person, stand_ins: StandIns
    ) -> None:
        ada = claude(stand_ins, uses("input_tokens", 10_000_000))
        set_budget(actor=owner, company=company, agent=ada, tokens=1_000_000)
        build.issue(company, assignee=ada)
        run = claim_next()
        assert run is not None
        run.actions.create(ordinal=0, line=1, verb="priority", args="high", outcome="applied")
        heartbeat(run)
        run.refresh_from_db()
        assert (run.state, run.error_kind) == (RunState.FAILED, "budget")
        assert not Wakeup.objects.filter(state=WakeupState.PENDING).exists()
        assert InboxItem.objects.filter(text__contains="a person to say whether it runs again").exists()

    @pytest.mark.parametrize("words", ["\\ud800", "\\u0000"])
    def test_a_failure_that_no_database_holds_is_told_all_the_same(
        self, words: str, company: Company, stand_ins: StandIns
    ) -> None:
        work = f'say(**result | {{"is_error": True}}, result="So {words} it failed"); sys.exit(1)'
        build.issue(company, assignee=claude(stand_ins, work))
        run = run_next()
        assert (run.state, run.error_kind) == (RunState.FAILED, "program")
        assert "it failed" in run.error

    def test_what_is_missing_is_named_with_how_to_get_it(self, company: Company) -> None:
        build.issue(company, assignee=build.agent(company, "Ada", adapter="claude_local"))
        assert "Install Claude Code (npm install -g @anthropic-ai/claude-code)" in run_next().error


class TestItsSession:
    def test_is_gone_on_with_on_the_same_issue_alone(self, company: Company, stand_ins: StandIns) -> None:
        ada = claude(stand_ins)
        first = build.issue(company, assignee=ada)
        assert run_next().session == "s-1"
        again(first)
        build.issue(company, assignee=ada)
        run_next()
        assert [words[-2:] for words in asked(stand_ins)] == [
            ["stream-json", "--verbose"],
            ["--resume", "s-1"],
            ["stream-json", "--verbose"],
        ]

    def test_is_dropped_when_the_instructions_changed(
        self, company: Company, owner: Person, stand_ins: StandIns
    ) -> None:
        ada = claude(stand_ins)
        issue = build.issue(company, assignee=ada)
        run_next()
        edit_agent(actor=owner, agent=ada, instructions="Be brief.")
        again(issue)
        again(issue)
        assert ["--resume" in words for words in asked(stand_ins)] == [False, False, True]

    def test_that_is_not_there_any_more_is_begun_anew_in_the_same_run(
        self, company: Company, stand_ins: StandIns, tmp_path: Path
    ) -> None:
        issue = build.issue(company, assignee=claude(stand_ins))
        run_next()
        (tmp_path / "forgotten").touch()
        run = again(issue)
        assert (run.state, run.session) == (RunState.SUCCEEDED, "s-1")
        assert ["--resume" in words for words in asked(stand_ins)] == [False, True, False]

    def test_is_not_begun_anew_once_it_has_worked(self, company: Company, stand_ins: StandIns) -> None:
        """Codex tells what it used at the end of its turn alone."""
        fails = CODEX.replace('{"type": "turn.completed", "usage": usage}', "END").replace(
            "for event in (",
            'failed = {"type": "turn.failed", "error": {"message": "Too many requests"}}\n'
            '    END = {"type": "turn.completed", "usage": usage} if runs == 1 else failed\n    for event in (',
        )
        issue = build.issue(company, assignee=stand_ins.hire(fails, adapter="codex_local"))
        run_next()
        run = again(issue)
        assert (run.state, len(asked(stand_ins))) == (RunState.FAILED, 2)
        assert "Too many requests" in run.error

    def test_counts_what_it_uses_once(self, company: Company, stand_ins: StandIns) -> None:
        """Codex tells what its whole session has used."""
        issue = build.issue(company, assignee=stand_ins.hire(CODEX, adapter="codex_local"))
        runs = [run_next(), again(issue), again(issue)]
        assert [(run.input_tokens, run.cached_tokens, run.output_tokens) for run in runs] == [(1_000, 400, 50)] * 3
        assert [run.reply for run in runs] == ["Run 1.", "Run 2.", "Run 3."]
        assert asked(stand_ins)[2][-3:] == ["resume", "c-1", "-"]

    @pytest.mark.parametrize("told", ["--dangerous", "", "a b", "x" * 201, "s\n1"])
    def test_whose_name_could_be_something_else_is_not_kept(self, told: str) -> None:
        assert session_name(told) == ""


class TestCodex:
    def test_of_a_model_with_a_known_price_is_priced_and_else_unpriced(
        self, company: Company, stand_ins: StandIns
    ) -> None:
        issue = build.issue(company, assignee=stand_ins.hire(CODEX, adapter="codex_local", model="gpt-5"))
        other = build.issue(company, assignee=stand_ins.hire(CODEX, "Bob", adapter="codex_local"))
        run_next()
        run_next()
        priced, unpriced = issue.runs.get(), other.runs.get()
        assert priced.cost_microdollars
        assert unpriced.cost_microdollars is None
        assert priced.calls.get().price


class TestSkills:
    def test_lie_where_the_program_looks_for_them(self, company: Company, stand_ins: StandIns) -> None:
        build.skill(company, "Release notes", "Write what changed.", description='For: each "release"')
        issue = build.issue(company, assignee=claude(stand_ins))
        run_next()
        skills = place_of(issue).path / ".claude" / "skills"
        assert (skills / "release-notes" / "SKILL.md").read_text() == (
            '---\nname: release-notes\ndescription: "For: each \\"release\\""\n---\n\nWrite what changed.\n'
        )

    def test_that_are_gone_do_not_stay_there(self, company: Company, stand_ins: StandIns) -> None:
        skill = build.skill(company, "Old")
        issue = build.issue(company, assignee=claude(stand_ins))
        run_next()
        skill.delete()
        build.skill(company, "New")
        again(issue)
        assert [path.name for path in (place_of(issue).path / ".claude" / "skills").iterdir()] == ["new"]

    def test_are_written_through_no_link_that_an_agent_has_left(
        self, company: Company, stand_ins: StandIns, tmp_path: Path
    ) -> None:
        issue = build.issue(company, assignee=claude(stand_ins))
        place_of(issue).path.mkdir(parents=True)
        (place_of(issue).path / ".claude").symlink_to(tmp_path)
        run = run_next()
        assert (run.error_kind, run.error) == ("program", "“.claude” is no folder")
        assert not (tmp_path / "skills").exists()

    def test_have_plain_names_of_their_own(self, company: Company) -> None:
        for name in ("Grüße & more", "Grusse more", "发布", "x" * 80, "../../etc"):
            build.skill(company, name)
        files = skill_files(build.agent(company, "Ada"))
        assert sorted(path.removesuffix("/SKILL.md") for path in files) == [
            "etc", "grue-more", "grusse-more", "skill", "x" * 64,
        ]  # fmt: skip
