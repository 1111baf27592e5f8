"""Agents that are programs of this server: real heartbeats, with programs that stand in for what people install."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent, ModelCall, Reservation, Run, RunOutput, RunState, Spending, Wakeup, WakeupState
from agents.programs.process import MOST_BYTES
from agents.services.agents import edit_agent
from agents.services.runs import cancel_run
from engine import fence, leases, programs
from engine.claim import PROGRAM_DEADLINE, RUN_DEADLINE, claim_next
from engine.explaining import explain
from engine.output import LINE, MOST_CHARACTERS, LiveOutput
from engine.record import lose
from engine.retention import drop_old_texts
from issues.actors import Person
from issues.models import Company, InboxItem, Issue, Role, Status
from issues.refusals import Forbidden, Invalid
from issues.services.files import write_file
from issues.services.keys import find_key
from issues.workspaces import occupy, place_of
from tests import build
from tests.api.client import Api
from tests.engine.running import run_next
from tests.engine.test_leases import in_thread, wait_until
from tests.programs.standins import NOTED, WAITS, StandIns
from trimus.addresses import address

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stand_ins(company: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIns:
    monkeypatch.setenv("CANARY_OF_THE_SERVER", "chirp")
    return StandIns(company, tmp_path)


def work_of(stand_ins: StandIns, source: str, **fields: object) -> Issue:
    """An issue of an agent that runs this, on which it was woken."""
    agent = stand_ins.hire(source, **fields)
    return build.issue(agent.company, "Plan the week", assignee=agent)


def ended_by_system(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    return False


class TestAProgram:
    def test_reads_both_messages_and_what_it_writes_is_the_reply(self, stand_ins: StandIns) -> None:
        source = """
            import sys
            given = sys.stdin.read()
            (told / "told").write_text(given)
            print("Done with it.\\n/status done")
            """
        issue = work_of(stand_ins, source)
        run = run_next()
        issue.refresh_from_db()
        assert (run.state, run.reply) == (RunState.SUCCEEDED, "Done with it.\n/status done\n")
        assert (issue.status, issue.comments.get().body) == (Status.DONE, "Done with it.")
        assert stand_ins.told() == f"{run.system_message}\n\n{run.user_message}"

    def test_works_in_the_workspace_with_the_files_that_are_there(self, company: Company, stand_ins: StandIns) -> None:
        issue = build.issue(company)
        ada = stand_ins.hire("print(Path('docs/plan.md').read_text(), Path.cwd())")
        write_file(actor=build.at_work(build.agent(company, "Bob"), issue), issue=issue, path="docs/plan.md", text="Go")
        cancel_run(actor=build.owner_of(company), run=Run.objects.live().get())
        build.comment(issue, "@ada, read it.")
        assert run_next().reply == f"Go {place_of(issue).path}\n"
        assert ada.runs.get().state == RunState.SUCCEEDED

    def test_has_its_own_key_and_nothing_else_of_the_servers_environment(
        self, stand_ins: StandIns, settings: Settings
    ) -> None:
        settings.CLI_HOME, settings.CLI_LANG = "/home/of/agents", "en_GB.UTF-8"
        source = """
            import json, os
            (told / "told").write_text(json.dumps(dict(os.environ)))
            print("Noted.")
            """
        issue = work_of(stand_ins, source)
        run = run_next()
        environment = json.loads(stand_ins.told())
        environment.pop("LC_CTYPE", None)  # Python's own doing
        key = environment.pop("TRIMUS_API_KEY")
        assert environment == {
            "PATH": settings.CLI_PATH,
            "HOME": "/home/of/agents",
            "LANG": "en_GB.UTF-8",
            "TRIMUS_API_URL": address(),
            "TRIMUS_RUN_ID": str(run.pk),
            "TRIMUS_ISSUE": issue.identifier,
        }
        assert key.startswith("trm_")
        assert find_key(key) is None, "it outlived its run"

    def test_may_act_by_its_key_while_it_works(self, company: Company, stand_ins: StandIns) -> None:
        source = """
            import os, time
            (told / "key").write_text(os.environ["TRIMUS_API_KEY"])
            while not (told / "acted").exists():
                time.sleep(0.01)
            print("All told.")
            """
        issue = work_of(stand_ins, source)
        run = claim_next()
        assert run is not None
        thread = in_thread(run)
        wait_until(lambda: stand_ins.told("key"))
        answer = Api(stand_ins.told("key")).post(f"issues/{issue.identifier}/actions", {"text": "/priority high"})
        (stand_ins._folder / "acted").touch()
        thread.join()
        run.refresh_from_db()
        assert (answer["actions"][0]["outcome"], run.state) == ("applied", RunState.SUCCEEDED)
        assert run.actions.get().verb == "priority"

    def test_has_an_hour(self, stand_ins: StandIns) -> None:
        work_of(stand_ins, NOTED)
        run = claim_next()
        assert run is not None
        assert run.started_at is not None
        assert run.deadline_at - run.started_at == PROGRAM_DEADLINE > RUN_DEADLINE

    def test_writes_what_is_no_text_and_the_rest_is_read(self, stand_ins: StandIns) -> None:
        issue = work_of(stand_ins, r"import sys; sys.stdout.buffer.write(b'Not \xff text, \xe2\x82\xac, \x00.')")
        assert run_next().reply == "Not \ufffd text, €, \ufffd."
        assert issue.comments.get().body.startswith("Not \ufffd text")

    def test_that_says_nothing_fails_as_silent(self, stand_ins: StandIns) -> None:
        work_of(stand_ins, "pass")
        run = run_next()
        assert (run.state, run.error_kind) == (RunState.FAILED, "silent")


class TestWhatItCost:
    def test_is_counted_as_far_as_it_is_known_and_unpriced(self, company: Company, stand_ins: StandIns) -> None:
        work_of(stand_ins, NOTED)
        run = run_next()
        call = ModelCall.objects.get()
        assert (call.provider, call.cost_microdollars, run.cost_microdollars) == ("process", None, None)
        assert run.input_tokens > 500
        assert run.output_tokens > 0
        spent = Spending.objects.get(company=company, agent=None)
        assert (spent.runs, spent.unpriced_calls, spent.reserved_tokens) == (1, 1, 0)
        assert spent.tokens == run.input_tokens + run.output_tokens


class TestFailing:
    def failed(self, stand_ins: StandIns, source: str) -> Run:
        work_of(stand_ins, source)
        run = run_next()
        assert (run.state, run.error_kind, run.reply) == (RunState.FAILED, "program", None)
        assert Wakeup.objects.get().state == WakeupState.CONSUMED, "it is not tried again"
        assert run.error in InboxItem.objects.get().text
        assert not Reservation.objects.exists()
        return run

    def test_with_a_code_is_told_with_the_end_of_standard_error(self, stand_ins: StandIns) -> None:
        source = "import sys; print('Half a reply.'); print('The disk is full.', file=sys.stderr); sys.exit(3)"
        run = self.failed(stand_ins, source)
        assert run.error == "A command: it ended with code 3. The disk is full."
        assert run.issue is not None
        assert not run.issue.comments.exists()
        assert "The disk is full." in RunOutput.objects.get(run=run).text

    def test_by_a_signal_is_told(self, stand_ins: StandIns) -> None:
        run = self.failed(stand_ins, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
        assert run.error == "A command: it was ended by SIGSEGV."

    def test_by_a_flood_ends_it(self, stand_ins: StandIns) -> None:
        run = self.failed(stand_ins, "while True: print('water ' * 1_000)")
        assert run.error == (
            f"A command: it wrote more than {MOST_BYTES:,} bytes, the most that a reply may have, and was ended."
        )
        output = RunOutput.objects.get(run=run)
        assert output.is_cut
        assert MOST_CHARACTERS - LINE < len(output.text) <= MOST_CHARACTERS
        assert output.text.startswith("water ")

    def test_its_key_and_those_of_the_company_are_kept_out_of_what_is_told(
        self, company: Company, stand_ins: StandIns
    ) -> None:
        build.provider(company, "home", key="the-key-of-the-house-0123456789")
        source = """
            import os, sys
            print(os.environ["TRIMUS_API_KEY"], "the-key-of-the-house-0123456789", file=sys.stderr)
            sys.exit(1)
            """
        run = self.failed(stand_ins, source)
        for text in (run.error, RunOutput.objects.get(run=run).text):
            assert text.count("[masked: ") == 2
            assert "trm_" not in text
            assert "0123456789" not in text

    def test_a_program_that_is_not_there_is_named(self, company: Company) -> None:
        ada = build.agent(company, "Ada", adapter="process", command="no-such-program --now")
        build.issue(company, assignee=ada)
        run = run_next()
        assert (run.error_kind, run.error) == ("program", "The server has no program “no-such-program”.")

    def test_a_program_that_cannot_be_run_says_why(self, company: Company, tmp_path: Path) -> None:
        program = tmp_path / "program"
        program.write_text("#!/no/such/interpreter\n")
        program.chmod(0o755)
        build.issue(company, assignee=build.agent(company, "Ada", adapter="process", command=str(program)))
        assert "could not be started" in run_next().error


class TestEnding:
    def at_work(self, stand_ins: StandIns) -> tuple[Run, threading.Thread, int]:
        """A run whose program has begun: its thread, and the program's number."""
        work_of(stand_ins, WAITS)
        run = claim_next()
        assert run is not None
        thread = in_thread(run)
        wait_until(lambda: stand_ins.told())
        return run, thread, int(stand_ins.told())

    def test_a_cancel_ends_the_program(self, stand_ins: StandIns, owner: Person) -> None:
        run, thread, program = self.at_work(stand_ins)
        cancel_run(actor=owner, run=Run.objects.get(pk=run.pk))
        thread.join()
        assert ended_by_system(program)
        run.refresh_from_db()
        assert (run.state, run.reply) == (RunState.CANCELLED, None)

    def test_a_process_that_is_told_to_end_ends_it_and_another_begins_anew(self, stand_ins: StandIns) -> None:
        run, thread, program = self.at_work(stand_ins)
        leases.holder.hand_back()
        thread.join()
        assert ended_by_system(program)
        run.refresh_from_db()
        assert (run.state, Wakeup.objects.get().state) == (RunState.LOST, WakeupState.PENDING)

    def test_one_that_had_acted_is_not_begun_anew_by_itself(self, stand_ins: StandIns) -> None:
        run, thread, program = self.at_work(stand_ins)
        run.actions.create(ordinal=0, line=1, verb="priority", args="high", outcome="applied")
        leases.holder.hand_back()
        thread.join()
        assert ended_by_system(program)
        run.refresh_from_db()
        assert (run.state, Wakeup.objects.get().state) == (RunState.LOST, WakeupState.CONSUMED)
        assert "a person to say whether it runs again" in InboxItem.objects.get().text

    def test_nor_is_one_whose_worker_is_gone(self, stand_ins: StandIns) -> None:
        work_of(stand_ins, NOTED)
        run = claim_next()
        assert run is not None
        run.actions.create(ordinal=0, line=1, verb="priority", args="high", outcome="applied")
        lose(run)
        assert Wakeup.objects.get().state == WakeupState.CONSUMED
        assert "a person to say whether it runs again" in InboxItem.objects.get().text

    def test_its_time_over_it_is_ended_and_fails(self, stand_ins: StandIns) -> None:
        work_of(stand_ins, WAITS)
        run = claim_next()
        assert run is not None
        fence.write(run, deadline_at=timezone.now() + timedelta(seconds=programs.FOR_THE_REST))
        in_thread(run).join()
        run.refresh_from_db()
        assert (run.state, run.error_kind) == (RunState.FAILED, "program")
        assert "had not ended after" in run.error

    def test_a_workspace_holds_one_program_at_a_time(self, stand_ins: StandIns, owner: Person) -> None:
        run, thread, _ = self.at_work(stand_ins)
        assert run.issue is not None
        place = place_of(run.issue)
        assert occupy(place) is None
        cancel_run(actor=owner, run=Run.objects.get(pk=run.pk))
        thread.join()
        free = occupy(place)
        assert free is not None
        os.close(free)


class TestWhatIsShown:
    def test_comes_while_it_works(self, stand_ins: StandIns, owner: Person) -> None:
        work_of(stand_ins, WAITS)
        run = claim_next()
        assert run is not None
        thread = in_thread(run)
        wait_until(lambda: RunOutput.objects.filter(run=run, text="At it.\n").exists())
        cancel_run(actor=owner, run=Run.objects.get(pk=run.pk))
        thread.join()

    def test_is_the_end_of_what_is_long(self, run: Run) -> None:
        output = LiveOutput(run, ())
        for _ in range(5):
            output.add("a" * MOST_CHARACTERS)
        output.add("z")
        output.keep()
        kept = RunOutput.objects.get(run=run)
        assert (kept.is_cut, len(kept.text), kept.text[-1]) == (True, MOST_CHARACTERS, "z")

    def test_is_dropped_with_the_texts_of_runs(self, stand_ins: StandIns, company: Company) -> None:
        work_of(stand_ins, NOTED)
        run = run_next()
        Run.objects.filter(pk=run.pk).update(ended_at=timezone.now() - timedelta(days=company.retention_days + 1))
        drop_old_texts()
        assert not RunOutput.objects.exists()


class TestWhoMaySayWhatIsRun:
    def test_an_owner(self, owner: Person, company: Company) -> None:
        ada = build.agent(company, "Ada", actor=owner, adapter="process", command="cat")
        assert edit_agent(actor=owner, agent=ada, command="tac --before").command == "tac --before"

    def test_no_board_member_who_may_change_all_else(self, company: Company) -> None:
        member = build.member(company, role=Role.BOARD)
        with pytest.raises(Forbidden):
            build.agent(company, "Ada", actor=member, adapter="process", command="cat")
        ada = build.agent(company, "Ada", adapter="process", command="cat")
        plain = build.agent(company, "Bob")
        with pytest.raises(Forbidden):
            edit_agent(actor=member, agent=ada, command="tac")
        with pytest.raises(Forbidden):
            edit_agent(actor=member, agent=plain, command="tac")
        with pytest.raises(Forbidden):
            edit_agent(actor=member, agent=plain, adapter="process", command="tac")
        changed = edit_agent(actor=member, agent=ada, adapter="process", command="cat", instructions="Be brief.")
        assert changed.instructions == "Be brief."

    def test_no_agent_whatever_was_approved(self, company: Company, ada: Agent) -> None:
        worker = replace(build.at_work(ada, build.issue(company)), approved=True)
        with pytest.raises(Forbidden):
            build.agent(company, "Eve", actor=worker, adapter="process", command="cat")

    def test_nobody_where_the_operator_does_not_let_them(
        self, company: Company, owner: Person, settings: Settings
    ) -> None:
        settings.CLI_AGENTS = False
        with pytest.raises(Forbidden, match="TRIMUS_CLI_AGENTS"):
            build.agent(company, "Ada", adapter="process", command="cat")

    def test_and_then_nothing_that_was_said_before_is_run(self, stand_ins: StandIns, settings: Settings) -> None:
        issue = work_of(stand_ins, NOTED)
        settings.CLI_AGENTS = False
        assert claim_next() is None
        assert "TRIMUS_CLI_AGENTS" in explain(issue).reason

    @pytest.mark.parametrize("command", ["", "cat 'half", "./run.sh", "bin/run", "cat\nrm", "x" * 1_001])
    def test_a_command_that_cannot_be_is_refused(self, command: str, company: Company) -> None:
        with pytest.raises(Invalid):
            build.agent(company, "Ada", adapter="process", command=command)

    def test_a_model_is_no_option(self, company: Company) -> None:
        with pytest.raises(Invalid):
            build.agent(company, "Ada", adapter="process", command="cat", model="--dangerous")
