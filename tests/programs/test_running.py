"""A program that is run: what goes in and out, and that nothing of it is left."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.programs import running
from agents.programs.running import ERROR_BYTES, Command, Ended, Program
from tests.servers import is_alive, wait_until

LONG = 60.0
"""Seconds that a test would wait at the most, and never does."""


class Bench:
    """Runs small programs of Python in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = b""

    def command(self, source: str, *, given: bytes = b"", **environment: str) -> Command:
        keep = os.open(self.folder / "keep", os.O_RDWR | os.O_CREAT)
        self.kept = keep
        arguments = (sys.executable, "-I", "-S", "-c", textwrap.dedent(source))
        return Command(arguments, self.folder, environment, given, keep)

    def run(
        self,
        source: str,
        *,
        given: bytes = b"",
        seconds: float = LONG,
        grace: float = LONG,
        heard: Callable[[Program, bytes], object] = lambda _program, _piece: None,
        **environment: str,
    ) -> Ended:
        """See it through; `heard` is told of all output so far."""
        program = Program(self.command(source, given=given, **environment), grace_seconds=grace)

        def take(piece: bytes) -> None:
            self.output += piece
            heard(program, self.output)

        try:
            return program.watch(seconds=seconds, heard=take)
        finally:
            os.close(self.kept)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def alive(tmp_path: Path) -> Callable[[], bool]:
    """Whether the process still runs that wrote its number into the file `number`."""

    def look() -> bool:
        number = int((tmp_path / "number").read_text())
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return False
        return True

    return look


SLEEPS = "import os, time; open('number', 'w').write(str(os.getpid())); print('ready', flush=True); time.sleep(600)"

HEEDS = "import os, signal, time; signal.signal(signal.SIGTERM, lambda *_: open('asked', 'x').close() or os._exit(0));"
"""Leaves a sign when it is asked to end."""

GRANDCHILD = f"""
    import os, subprocess, sys, time
    subprocess.Popen([sys.executable, '-I', '-S', '-c', {SLEEPS!r}], start_new_session=SESSION)
    while not os.path.exists('number') or not open('number').read():
        time.sleep(0.01)
    """
"""Goes on, or ends, once the one that it has started is there; what is added stands after the loop."""


def let_go_when_ready(program: Program, output: bytes) -> None:
    if b"ready" in output:
        program.lifeline.let_go()


def test_what_is_given_goes_in_and_what_it_says_comes_out(bench: Bench) -> None:
    ended = bench.run("import sys; sys.stdout.write(sys.stdin.read().upper())", given="prompt ü".encode())
    assert (ended.code, bench.output.decode(), ended.is_well) == (0, "PROMPT Ü", True)


def test_more_than_a_pipe_holds_goes_both_ways_at_once(bench: Bench) -> None:
    given = b"x" * 3_000_000
    assert bench.run("import shutil, sys; shutil.copyfileobj(sys.stdin, sys.stdout)", given=given).is_well
    assert bench.output == given


def test_a_program_need_not_read_what_it_is_given(bench: Bench) -> None:
    assert bench.run("print('Noted.')", given=b"x" * 3_000_000).is_well


def test_a_code_is_told_with_the_end_of_standard_error(bench: Bench) -> None:
    ended = bench.run("import sys; sys.stderr.write('a' * 100_000 + ' at last'); sys.exit(3)")
    assert (ended.code, ended.is_well) == (3, False)
    assert ended.errors.endswith("a at last")
    assert len(ended.errors) == ERROR_BYTES


def test_a_signal_that_ended_it_is_told(bench: Bench) -> None:
    ended = bench.run("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (ended.code, ended.signal) == (None, signal.SIGSEGV)


def test_what_cannot_be_started_says_why(bench: Bench) -> None:
    keep = os.open(bench.folder / "keep", os.O_RDWR | os.O_CREAT)
    ended = Program(Command(("/no/such/program",), bench.folder, {}, b"", keep)).watch(seconds=LONG, heard=print)
    os.close(keep)
    assert ended.unstarted == "No such file or directory"


def test_it_has_its_folder_and_nothing_of_the_environment_but_what_it_is_given(bench: Bench) -> None:
    source = "import os; print(os.getcwd(), sorted(name for name in os.environ if name != 'LC_CTYPE'))"
    bench.run(source, GREETING="hello")
    assert bench.output.decode().split(maxsplit=1) == [str(bench.folder), "['GREETING']\n"]


def test_it_has_three_streams_and_no_other_descriptor_of_ours(bench: Bench) -> None:
    bench.run("import os; print(sorted(int(name) for name in os.listdir('/proc/self/fd')))")
    assert bench.output in (b"[0, 1, 2, 3]\n", b"[0, 1, 2]\n")  # the third is the list's own


class TestItEnds:
    def test_when_its_lifeline_is_let_go_of(self, bench: Bench, alive: Callable[[], bool]) -> None:
        ended = bench.run(SLEEPS, heard=let_go_when_ready)
        assert (ended.signal, ended.was_slow, alive()) == (signal.SIGTERM, False, False)

    def test_when_its_time_is_over(self, bench: Bench, alive: Callable[[], bool]) -> None:
        ended = bench.run(SLEEPS, seconds=0.0)
        assert (ended.was_slow, ended.is_well) == (True, False)

    def test_killed_when_it_does_not_listen(self, bench: Bench, alive: Callable[[], bool]) -> None:
        source = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPS}"
        ended = bench.run(source, grace=0.0, heard=let_go_when_ready)
        assert (ended.signal, alive()) == (signal.SIGKILL, False)

    def test_also_when_it_has_stopped_its_guard(
        self, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(running, "GUARD_SECONDS", 0.5)
        stops = "import os, signal; os.kill(os.getppid(), signal.SIGSTOP);"
        ended = bench.run(stops + SLEEPS, grace=0.0, heard=let_go_when_ready)
        assert not ended.is_well
        program = int((tmp_path / "number").read_text())
        wait_until(lambda: not is_alive(program), lambda: "the program, which dies with its guard")

    def test_when_whoever_listens_has_enough_of_it(self, bench: Bench, alive: Callable[[], bool]) -> None:
        def enough(_program: Program, output: bytes) -> None:
            if b"ready" in output:
                raise OverflowError

        with pytest.raises(OverflowError):
            bench.run(SLEEPS, heard=enough)
        assert not alive()

    @pytest.mark.parametrize("session", [False, True])
    def test_with_what_it_left_behind_which_holds_the_pipe_open(
        self, session: bool, bench: Bench, alive: Callable[[], bool]
    ) -> None:
        ended = bench.run(GRANDCHILD.replace("SESSION", str(session)))
        assert (ended.code, alive()) == (0, False)

    @pytest.mark.parametrize("session", [False, True])
    def test_with_all_it_started(self, session: bool, bench: Bench, alive: Callable[[], bool]) -> None:
        source = GRANDCHILD.replace("SESSION", str(session)) + "print('ready', flush=True); time.sleep(600)"
        bench.run(source.replace("import os, time;", HEEDS), heard=let_go_when_ready)
        assert not alive()
        assert (bench.folder / "asked").exists(), "it was not asked to end"

    @pytest.mark.parametrize("killed", ["worker", "guard"])
    def test_when_its_worker_or_its_guard_is_killed(
        self, killed: str, bench: Bench, alive: Callable[[], bool], tmp_path: Path
    ) -> None:
        worker = f"""
            import os, sys
            sys.path.insert(0, {str(Path(__file__).parents[2])!r})
            from pathlib import Path
            from agents.programs.running import Command, Program
            keep = os.open("lock", os.O_RDWR | os.O_CREAT)
            sleeps = (sys.executable, "-I", "-S", "-c", {SLEEPS!r})
            program = Program(Command(sleeps, Path("."), {{}}, b"", keep))
            def heard(piece):
                print(program._process.pid, flush=True)
                sys.stdin.read()
            program.watch(seconds=600, heard=heard)
            """
        worker_process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(worker)],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert worker_process.stdout is not None
        guard = int(worker_process.stdout.readline())
        watched = os.pidfd_open(int((tmp_path / "number").read_text()))
        os.kill(worker_process.pid if killed == "worker" else guard, signal.SIGKILL)
        signal_when_gone(watched)
        worker_process.kill()
        worker_process.communicate()


def signal_when_gone(process: int) -> None:
    """Wait until the process of that descriptor has ended."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    assert poll.poll(LONG * 1_000), "the program outlived them"
    os.close(process)
