"""Stands between a worker and the program that it runs: a small process that ends the program, with all it started.

It is told to by the end of a pipe that the worker holds open (the lifeline). The system closes it also when the worker
is killed, so that no program outlives its worker. Orphans of the program come to the guard, which collects them: the
worker has no other child than the guard. Alone with the standard library, since it starts once a run.

    python -I -B guard.py LIFELINE STATUS KEEP GRACE -- PROGRAM ARGUMENT …

LIFELINE, STATUS and KEEP are descriptors: the pipe's end, where one line says how the program ended (`exit 3`,
`signal 9`, `unstarted No such file or directory`), and what is to stay open until nothing of it runs any more. GRACE is
the seconds between asking to end and killing.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from pathlib import Path

SET_DEATH_SIGNAL, SET_SUBREAPER = 1, 36
"""Of prctl(2), which Linux alone has."""

LOOK_SECONDS = 0.05
KILL_SECONDS = 10.0
"""For what was killed to be gone: longer only where the system itself hangs."""

_HANDLED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def main(lifeline: int, status: int, keep: int, grace: float, command: list[str]) -> None:
    for descriptor in (lifeline, status, keep):
        os.set_inheritable(descriptor, False)
    _prctl(SET_SUBREAPER, 1)
    woken = _wake_by_signals()
    program = _start(command, status)
    _let_go_of_streams()
    ended = _wait(program, lifeline, woken)
    ended = _end_all(program, grace, ended)
    if ended is not None:
        _tell(status, f"signal {-ended}" if ended < 0 else f"exit {ended}")


def _start(command: list[str], status: int) -> int:
    """The program in a session of its own, and dead with the guard should somebody kill that."""
    guard = os.getpid()
    # What comes before the program is itself waits for it: the guard's own handlers would swallow it.
    signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
        return child
    try:
        os.setsid()
        _prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(127)
        for number in (*_HANDLED, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
        os.execvp(command[0], command)
    except OSError as error:
        _tell(status, f"unstarted {error.strerror}")
    finally:
        os._exit(127)


def _wait(program: int, lifeline: int, woken: int) -> int | None:
    """Until the program has ended, how; None: it is to be ended."""
    poll = select.poll()
    for descriptor in (lifeline, woken):
        poll.register(descriptor, select.POLLIN | select.POLLHUP)
    while True:
        happened = dict(poll.poll())
        if woken in happened:
            signals = os.read(woken, 64)
            if any(number != signal.SIGCHLD for number in signals):
                return None
        ended = _collect(program)
        if ended is not None or lifeline in happened:
            return ended


def _end_all(program: int, grace: float, ended: int | None) -> int | None:
    """Ask all that is left to end, and then kill it: the program's group, and what has left the group, each as it comes
    to the guard when its own parent has ended."""
    _signal_group(program, signal.SIGTERM)
    asked: set[int] = set()
    killing, give_up = time.monotonic() + grace, time.monotonic() + grace + KILL_SECONDS
    while _has_children() and time.monotonic() < give_up:
        children = _children()
        if time.monotonic() >= killing:
            _signal_group(program, signal.SIGKILL)
            _signal(children, signal.SIGKILL)
        else:
            _signal(children - asked, signal.SIGTERM)
            asked |= children
        time.sleep(LOOK_SECONDS)
        found = _collect(program)
        ended = found if found is not None else ended
    return ended


def _signal_group(program: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program, number)


def _signal(processes: set[int], number: int) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _collect(program: int) -> int | None:
    """Take the dead from the table of processes; the program's code if it is among them, minus the signal if one ended
    it."""
    ended = None
    while True:
        try:
            child, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if child == 0:
            return ended
        if child == program:
            ended = os.waitstatus_to_exitcode(how)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children() -> set[int]:
    """By what the system says of every process; none where it has no such table."""
    mine, found = str(os.getpid()), set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            # The name before may hold anything, brackets too.
            if (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1] == mine:
                found.add(int(folder.name))
    return found


def _wake_by_signals() -> int:
    """A descriptor that can be read when a child has ended, or the guard was asked to end."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in _HANDLED:
        signal.signal(number, lambda *_: None)
    return reading


def _let_go_of_streams() -> None:
    """The program's streams are its own: they close when it and what it started have closed them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _tell(status: int, line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(status, f"{line}\n".encode())


if __name__ == "__main__":
    _lifeline, _status, _keep, _grace = sys.argv[1:5]
    main(int(_lifeline), int(_status), int(_keep), float(_grace), sys.argv[6:])
