"""The child process that reads what strangers wrote: bounded in time, memory and output, and told no secret."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from issues.extraction.kinds import EXTRACTED
from issues.extraction.limits import AT_ONCE, SECONDS, Extracted, done, failed

CHILD = Path(__file__).with_name("child.py")

_places = threading.BoundedSemaphore(AT_ONCE)
_TIMES_OUT = f"it takes longer than {SECONDS:.0f} seconds"
_NO_ANSWER = "what reads such files broke off"


def read_in_child(media_type: str, content: bytes) -> Extracted:
    """The file's text, or why it cannot be read."""
    until = time.monotonic() + SECONDS
    if not _places.acquire(timeout=SECONDS):
        return failed(media_type, "too many files were being read")
    try:
        return _read(media_type, content, until - time.monotonic())
    finally:
        _places.release()


def _read(media_type: str, content: bytes, seconds: float) -> Extracted:
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answered:
        given.write(content)
        given.seek(0)
        # Isolated from the environment, where keys stand, and from any module that lies about.
        command = [sys.executable, "-I", "-B", str(CHILD), EXTRACTED[media_type]]
        try:
            ended = subprocess.run(
                command,
                stdin=given,
                stdout=answered,
                stderr=subprocess.DEVNULL,
                env={},
                cwd=tempfile.gettempdir(),
                timeout=max(seconds, 0.1),
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            return failed(media_type, _TIMES_OUT)
        if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return failed(media_type, _TIMES_OUT)
        answered.seek(0)
        return _understood(media_type, answered.read())


def _understood(media_type: str, answer: bytes) -> Extracted:
    try:
        said = json.loads(answer)
        text, why = str(said["text"]), str(said["why"])
    except (ValueError, LookupError, TypeError):
        return failed(media_type, _NO_ANSWER)
    return failed(media_type, why) if why else done(media_type, text)
