"""Runs a few processes as one: restarts what dies, prefixes what they print, ends them together.

It lives as long as the installation runs, so it is a process without Django: `manage.py up` prepares, and
becomes this (`python -m trimus.supervisor FD`) with its plan in the pipe FD. Not in the arguments, which
everyone on the machine can read, and the plan holds a log-in link.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import IO, NoReturn

from trimus import lifeline

# A child that lived this long did start; its next death is a new story.
SETTLED_SECONDS = 30.0
FIRST_DELAY_SECONDS = 0.5
# The first process, whose pages somebody waits for, has the processors to itself until it answers, so long at most.
HEAD_START_SECONDS = 4.0
LONGEST_DELAY_SECONDS = 30.0
# Deaths in a row, before everything first ran, that show that it never will.
HOPELESS_STARTS = 3
POLL_SECONDS = 0.1
LAST_WORDS_SECONDS = 1.0
TEXT_BROWSERS = {"www-browser", "links", "elinks", "lynx", "w3m"}


def restart_delay(deaths: int) -> float:
    """Seconds to wait before the start that follows `deaths` early deaths in a row."""
    return min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** (deaths - 1))


@dataclass
class Child:
    """One supervised process and its recent history; times are of the monotonic clock."""

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    relay: threading.Thread | None = None
    started_at: float = 0.0
    start_at: float = 0.0
    early_deaths: int = 0

    @property
    def alive(self) -> subprocess.Popen[bytes] | None:
        """The process, while it runs."""
        return self.process if self.process is not None and self.process.poll() is None else None


@dataclass(frozen=True)
class Plan:
    """What to run and how to tell that it runs."""

    commands: dict[str, list[str]]
    # Seconds that the children have to finish what they do.
    grace_seconds: float
    # Where the web process answers `GET /healthz`, and to which host name.
    host: str
    port: int
    host_name: str
    # Printed once it answers; the address is opened in a browser unless it is empty.
    welcome: str
    open_url: str = ""
    # Whether the supervisor in turn ends with the process that started it.
    lifeline: bool = False

    def become_supervisor(self) -> NoReturn:
        """Replace this process by the supervisor of this plan."""
        reading, writing = os.pipe()
        os.write(writing, json.dumps(asdict(self)).encode())
        os.close(writing)
        os.set_inheritable(reading, True)
        os.execv(sys.executable, [sys.executable, "-m", "trimus.supervisor", str(reading)])


@dataclass
class Supervisor:
    """Keeps the plan's processes running until it is told to stop.

    TERM, HUP or the first INT asks the children to finish, in a bounded time; a second INT ends them at once.
    Children that outlive the supervisor's own death notice it by their standard input.
    """

    plan: Plan
    output: IO[str]
    children: list[Child] = field(init=False)
    _stops: int = field(default=0, init=False)
    _killing: bool = field(default=False, init=False)
    _write_lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        self.children = [Child(name, command) for name, command in self.plan.commands.items()]
        for child in self.children[1:]:
            child.start_at = time.monotonic() + HEAD_START_SECONDS

    def run(self) -> int:
        """Supervise until stopped; the exit code for the whole."""
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self._on_signal)
        ready = False
        try:
            while not self._stops:
                self._revive()
                if not ready and self._hopeless():
                    return 1
                if not ready and answers(self.plan):
                    ready = True
                    self._welcome()
                    self._start_the_rest()
                time.sleep(POLL_SECONDS)
        finally:
            self._finish()
        return 0

    def say(self, name: str, line: str) -> None:
        """Print one line of a child."""
        width = max(map(len, self.plan.commands))
        self._print(f"{name:<{width}} | {line}")

    def _print(self, line: str) -> None:
        """Nobody reading it is no reason to stop."""
        with self._write_lock:
            try:
                self.output.write(f"{line}\n")
                self.output.flush()
            except (OSError, ValueError):
                return

    def _welcome(self) -> None:
        self._print(f"\n{self.plan.welcome}\n")
        if self.plan.open_url:
            open_browser(self.plan.open_url)

    def _on_signal(self, number: int, _frame: object) -> None:
        self._killing = self._killing or (number == signal.SIGINT and self._stops > 0)
        self._stops += 1

    def _revive(self) -> None:
        now = time.monotonic()
        for child in self.children:
            if child.alive:
                continue
            if child.process is not None:
                self._bury(child, child.process.returncode, now)
                child.process = None
            if now >= child.start_at:
                self._start(child, now)

    def _start_the_rest(self) -> None:
        """The first process is ready: those that gave it a head start need not wait longer."""
        for child in self.children:
            if child.process is None and not child.early_deaths:
                child.start_at = 0.0

    def _start(self, child: Child, now: float) -> None:
        process = subprocess.Popen(
            child.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Out of the terminal's way: Ctrl-C reaches the supervisor alone, which ends them in order.
            process_group=0,
        )
        relay = threading.Thread(target=self._relay, args=(child.name, process.stdout), daemon=True)
        relay.start()
        child.process, child.relay, child.started_at = process, relay, now

    def _bury(self, child: Child, code: int, now: float) -> None:
        """Note a death and when to start again."""
        settled = now - child.started_at >= SETTLED_SECONDS
        child.early_deaths = 1 if settled else child.early_deaths + 1
        delay = restart_delay(child.early_deaths)
        child.start_at = now + delay
        self.say(child.name, f"ended with code {code}; it starts again in {delay:g} s")

    def _hopeless(self) -> bool:
        for child in self.children:
            if child.early_deaths >= HOPELESS_STARTS:
                self.say(child.name, "does not start; its own last lines above say why")
                return True
        return False

    def _relay(self, name: str, lines: IO[bytes]) -> None:
        for line in lines:
            self.say(name, line.decode(errors="replace").rstrip())

    def _finish(self) -> None:
        """Ask all to end, wait, and end those that did not."""
        for process in self._living():
            process.terminate()
        deadline = time.monotonic() + self.plan.grace_seconds
        while living := self._living():
            if self._killing or time.monotonic() > deadline:
                for process in living:
                    process.kill()
            time.sleep(POLL_SECONDS)
        for child in self.children:
            if child.relay:
                # Its last words. What the child started may still hold the pipe, so not for ever.
                child.relay.join(LAST_WORDS_SECONDS)

    def _living(self) -> list[subprocess.Popen[bytes]]:
        return [process for child in self.children if (process := child.alive)]


def answers(plan: Plan) -> bool:
    """Whether the web process serves by now."""
    connection = http.client.HTTPConnection(plan.host, plan.port, timeout=2)
    try:
        connection.request("GET", "/healthz", headers={"Host": plan.host_name})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def open_browser(url: str) -> None:
    """Show the page, where there is a browser that does not take over the terminal."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if getattr(browser, "name", "") not in TEXT_BROWSERS:
        browser.open(url)


def main(descriptor: int) -> int:
    with os.fdopen(descriptor) as pipe:
        plan = Plan(**json.load(pipe))
    if plan.lifeline:
        lifeline.hold()
    return Supervisor(plan, sys.stdout).run()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
