"""Ends a process when the one that started it is gone, however that one ended.

The parent holds the other end of the child's standard input and never writes to it. The system closes it
when the parent dies, even by kill -9, and the child's read returns.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

OPTION = "--lifeline"
OPTION_HELP = "end when standard input closes, as it does when the parent ends"

# Seconds that a process has for what it is doing once its parent is gone.
GRACE_SECONDS = 20.0


def hold() -> None:
    """From now on, end with the parent: first asked to, then without asking."""
    threading.Thread(target=_wait_for_the_end, name="lifeline", daemon=True).start()


def _wait_for_the_end() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
