"""The supervisor: what dies starts again, what ends ends together, whatever ended it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.servers import ROOT, children, free_port, is_alive, wait_until
from trimus.supervisor import LONGEST_DELAY_SECONDS, Plan, restart_delay

PATIENCE_SECONDS = 30.0

SERVE = """
    import http.server
    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/healthz" and self.headers["Host"] == "named" else 404)
            self.end_headers()
        def log_message(self, *args): pass
    http.server.HTTPServer(("127.0.0.1", {port}), Health).serve_forever()
"""
IDLE = "import time; print('idle', flush=True); time.sleep(600)"


class Supervised:
    """A supervisor in a process of its own, and what it printed so far."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        reading, writing = os.pipe()
        os.write(writing, json.dumps(asdict(plan)).encode())
        os.close(writing)
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trimus.supervisor", str(reading)],
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[reading],
                cwd=ROOT,
            )
        os.close(reading)

    def printed(self) -> str:
        return self.log.read_text()

    def wait_for(self, text: str, count: int = 1) -> None:
        wait_until(lambda: self.printed().count(text) >= count, lambda: f"{text!r} in {self.printed()!r}")

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def exit_code(self) -> int:
        return self.process.wait(PATIENCE_SECONDS)


Start = Callable[..., Supervised]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a supervisor over Python programs, given by name."""
    started: list[Supervised] = []

    def start(grace_seconds: float = 10.0, port: int = 1, **programs: str) -> Supervised:
        commands = {name: [sys.executable, "-c", textwrap.dedent(code)] for name, code in programs.items()}
        plan = Plan(commands, grace_seconds, "127.0.0.1", port, "named", welcome="It is ready: secret-link")
        started.append(Supervised(plan, tmp_path))
        return started[-1]

    yield start
    for supervised in started:
        left = child_pids(supervised) if supervised.process.poll() is None else []
        for pid in (*left, supervised.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        supervised.process.wait()


def child_pids(supervised: Supervised) -> list[int]:
    return children(supervised.process.pid)


def test_a_child_that_dies_is_started_again(start: Start) -> None:
    supervised = start(web=SERVE.format(port=free_port()), worker=IDLE)
    supervised.wait_for("worker | idle")
    os.kill(child_pids(supervised)[1], signal.SIGKILL)
    supervised.wait_for("worker | idle", count=2)
    assert "worker | ended with code -9; it starts again in 0.5 s" in supervised.printed()


def test_the_welcome_is_printed_once_the_web_answers(start: Start) -> None:
    port = free_port()
    supervised = start(port=port, web=SERVE.format(port=port))
    supervised.wait_for("It is ready")
    os.kill(child_pids(supervised)[0], signal.SIGKILL)
    supervised.wait_for("ended with code -9")
    wait_until(lambda: bool(child_pids(supervised)), supervised.printed)
    assert supervised.printed().count("It is ready") == 1


def test_the_others_begin_once_the_web_answers(start: Start) -> None:
    """It has the processors to itself until then: somebody waits for its pages."""
    port = free_port()
    supervised = start(
        port=port, web=f"import time; time.sleep(1)\n{textwrap.dedent(SERVE.format(port=port))}", worker=IDLE
    )
    supervised.wait_for("worker | idle")
    printed = supervised.printed()
    assert printed.index("It is ready") < printed.index("worker | idle")


def test_they_begin_all_the_same_when_it_does_not(start: Start) -> None:
    supervised = start(web=IDLE, worker=IDLE)
    supervised.wait_for("web    | idle")
    assert "worker | idle" not in supervised.printed()
    supervised.wait_for("worker | idle")


def test_the_link_stays_out_of_the_arguments_that_everyone_can_read(start: Start) -> None:
    supervised = start(web=IDLE)
    supervised.wait_for("idle")
    assert "secret" not in Path(f"/proc/{supervised.process.pid}/cmdline").read_text()


def test_what_cannot_start_at_all_ends_everything(start: Start) -> None:
    supervised = start(web="raise SystemExit('no such module')", worker=IDLE)
    assert supervised.exit_code() == 1
    assert supervised.printed().count("web    | no such module") == 3
    assert "does not start" in supervised.printed()


FINISHING = """
    import signal, sys, time
    def finish(*_):
        print("finishing", flush=True)
        time.sleep(0.5)
        print("finished", flush=True)
        sys.exit(0)
    signal.signal(signal.SIGTERM, finish)
    print("working", flush=True)
    time.sleep(600)
"""
STUBBORN = """
    import signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("working", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_being_told_to_stop_lets_children_finish(start: Start, number: int) -> None:
    supervised = start(worker=FINISHING)
    supervised.wait_for("working")
    supervised.signal(number)
    assert supervised.exit_code() == 0
    assert "finished" in supervised.printed()


def test_a_child_that_does_not_finish_in_time_is_killed(start: Start) -> None:
    supervised = start(grace_seconds=0.5, worker=STUBBORN)
    supervised.wait_for("working")
    [child] = child_pids(supervised)
    supervised.signal(signal.SIGTERM)
    assert supervised.exit_code() == 0
    assert not is_alive(child)


def test_a_second_interrupt_kills_at_once(start: Start) -> None:
    supervised = start(grace_seconds=600, worker=STUBBORN)
    supervised.wait_for("working")
    [child] = child_pids(supervised)
    supervised.signal(signal.SIGINT)
    time.sleep(0.5)
    assert is_alive(child)
    supervised.signal(signal.SIGINT)
    assert supervised.exit_code() == 0
    assert not is_alive(child)


LIFELINE = """
    import time
    from trimus import lifeline
    lifeline.hold()
    print("holding", flush=True)
    time.sleep(600)
"""


def test_children_end_when_the_supervisor_is_killed(start: Start) -> None:
    supervised = start(web=LIFELINE, worker=LIFELINE)
    supervised.wait_for("holding", count=2)
    pids = child_pids(supervised)
    supervised.signal(signal.SIGKILL)
    wait_until(lambda: not any(map(is_alive, pids)), supervised.printed)


def test_a_child_that_prints_much_goes_on_when_nobody_reads(tmp_path: Path) -> None:
    program = f"""
import pathlib
for number in range(20_000): print("x" * 80)
pathlib.Path({str(tmp_path / "done")!r}).touch()
import time; time.sleep(600)
"""
    plan = Plan({"worker": [sys.executable, "-c", program]}, 1.0, "127.0.0.1", 1, "named", welcome="")
    reading, writing = os.pipe()
    os.write(writing, json.dumps(asdict(plan)).encode())
    os.close(writing)
    command = [sys.executable, "-m", "trimus.supervisor", str(reading)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[reading], cwd=ROOT) as process:
        os.close(reading)
        assert process.stdout is not None
        process.stdout.close()
        wait_until((tmp_path / "done").exists, lambda: "its last line")
        process.terminate()


def test_delays_grow_and_stay_bounded() -> None:
    delays = [restart_delay(deaths) for deaths in range(1, 12)]
    assert delays == sorted(delays)
    assert delays[0] < 1
    assert max(delays) == LONGEST_DELAY_SECONDS
