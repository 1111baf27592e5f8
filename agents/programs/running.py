"""Running one program: its prompt goes in, its output comes out, and it ends by itself or is ended.

The caller's thread does all of it and waits in between; whoever wants the program to end, from any thread, lets go of
its lifeline (`guard.py`).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

GUARD = Path(__file__).with_name("guard.py")

PIECE = 64 * 1024
ERROR_BYTES = 8 * 1024
"""Of standard error, as much of its end is kept."""

GRACE_SECONDS = 5.0
"""Between being asked to end (TERM) and being killed. A worker that is told to end has twenty seconds in all."""

GUARD_SECONDS = 15.0
"""What a guard needs beyond that, at the most. One that its program has stopped does nothing any more, and is killed:
the program dies with it."""

TICK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Command:
    """What to start. `environment` is the whole of it; `keep` is a descriptor that stays open until nothing of the
    program runs any more."""

    arguments: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(repr=False)
    given: bytes = field(repr=False)
    keep: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: by itself with `code`, or by `signal`; `unstarted` says why it never began. All three are
    empty when it was ended before it could say. `was_slow`: its time was over. `errors` is the end of its standard
    error."""

    code: int | None = None
    signal: int | None = None
    unstarted: str = ""
    was_slow: bool = False
    errors: str = ""
    seconds: float = 0.0

    @property
    def is_well(self) -> bool:
        return self.code == 0 and not self.was_slow


class Lifeline:
    """The pipe's end that keeps a program alive. Letting go of it twice does nothing."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        self._lock = threading.Lock()
        self.let_go_at: float | None = None
        """By the monotonic clock; None: it is held."""

    def let_go(self) -> None:
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor, self.let_go_at = None, time.monotonic()


class Program:
    """A program that was started. `watch` sees it through; `lifeline.let_go` ends it."""

    def __init__(self, command: Command, *, grace_seconds: float = GRACE_SECONDS) -> None:
        """Raises OSError when the system has no room for it."""
        self._given = memoryview(command.given)
        self._errors = b""
        self._began = time.monotonic()
        self._patience = grace_seconds + GUARD_SECONDS
        lifeline = os.pipe()
        self.lifeline = Lifeline(lifeline[1])
        try:
            status = os.pipe()
        except OSError:
            self.lifeline.let_go()
            os.close(lifeline[0])
            raise
        self._status = os.fdopen(status[0], "rb")
        kept = (lifeline[0], status[1], command.keep)
        guard = [sys.executable, "-I", "-B", str(GUARD), *map(str, kept), str(grace_seconds), "--"]
        try:
            self._process = subprocess.Popen(
                [*guard, *command.arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=command.folder,
                env=dict(command.environment),
                pass_fds=kept,
                start_new_session=True,
            )
        except BaseException:
            self.lifeline.let_go()
            self._status.close()
            raise
        finally:
            os.close(lifeline[0])
            os.close(status[1])

    def watch(
        self, *, seconds: float, heard: Callable[[bytes], object], ticked: Callable[[], object] = lambda: None
    ) -> Ended:
        """See the program through to its end, for at most so many seconds of its own; then it is ended. `heard` is
        given each piece of its output, and `ticked` called about once a second. What they raise ends the program.
        Nothing of it runs any more when this returns or raises."""
        until, was_slow = self._began + seconds, False
        try:
            for now in self._pieces(heard):
                if now >= until and not was_slow:
                    was_slow = True
                    self.lifeline.let_go()
                ticked()
        finally:
            self._finish()
        return self._ended(was_slow)

    def _pieces(self, heard: Callable[[bytes], object]) -> Iterator[float]:
        """Move what comes and goes until the guard has ended; about once a second the time."""
        stdin, stdout, stderr = self._streams()
        with selectors.DefaultSelector() as selector:
            for stream in (stdout, stderr, self._status):
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ)
            os.set_blocking(stdin.fileno(), False)
            selector.register(stdin, selectors.EVENT_WRITE)
            said, next_tick = b"", time.monotonic()
            while True:
                ready = {key.fileobj for key, _ in selector.select(timeout=TICK_SECONDS / 2)}
                if stdin in ready and not self._feed(stdin):
                    selector.unregister(stdin)
                for stream in (stdout, stderr):
                    if stream in ready and not self._take(stream, stream is stdout, heard):
                        selector.unregister(stream)
                if self._status in ready:
                    piece = self._status.read()
                    if not piece:
                        break
                    said += piece
                if self._is_overdue():
                    self._process.kill()
                if time.monotonic() >= next_tick:
                    next_tick = time.monotonic() + TICK_SECONDS
                    yield time.monotonic()
            # The guard is gone, and with it all that wrote: what lies in the pipes is all that comes.
            for stream in (stdout, stderr):
                while not stream.closed and self._take(stream, stream is stdout, heard, until_dry=True):
                    pass
        self._said = said

    def _is_overdue(self) -> bool:
        """Whether the guard should have ended long ago."""
        let_go_at = self.lifeline.let_go_at
        return let_go_at is not None and time.monotonic() > let_go_at + self._patience

    def _streams(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None and stdout is not None and stderr is not None  # noqa: S101, PT018 - all are pipes
        return stdin, stdout, stderr

    def _feed(self, stdin: IO[bytes]) -> bool:
        """Give some of what is to be read; whether there is more. A program need not read it."""
        try:
            self._given = self._given[os.write(stdin.fileno(), self._given[:PIECE]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self._given = self._given[:0]
        if not self._given:
            stdin.close()
        return bool(self._given)

    def _take(
        self, stream: IO[bytes], is_output: bool, heard: Callable[[bytes], object], *, until_dry: bool = False
    ) -> bool:
        """Read a piece; whether more may come. With `until_dry`, nothing there is the end."""
        try:
            piece = os.read(stream.fileno(), PIECE)
        except BlockingIOError:
            return not until_dry
        if not piece:
            stream.close()
            return False
        if is_output:
            heard(piece)
        else:
            self._errors = (self._errors + piece)[-ERROR_BYTES:]
        return True

    def _finish(self) -> None:
        """End the program if it has not ended, and wait for the guard, which waits for all of it."""
        self.lifeline.let_go()
        try:
            self._process.wait(self._patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (*self._streams(), self._status):
            with contextlib.suppress(OSError):
                stream.close()

    def _ended(self, was_slow: bool) -> Ended:
        line = next(iter(self._said.decode(errors="replace").splitlines()), "")
        how, _, what = line.partition(" ")
        return Ended(
            code=int(what) if how == "exit" else None,
            signal=int(what) if how == "signal" else None,
            unstarted=what if how == "unstarted" else "",
            was_slow=was_slow,
            errors=self._errors.decode(errors="replace"),
            seconds=time.monotonic() - self._began,
        )
