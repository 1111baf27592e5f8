"""The beat: tells the workers every few seconds to look what is due. One is enough, a second does no harm.

It sends a task by its name and needs neither the models nor the tasks, so it is started without them
(`python -m trimus.beat`), at half the memory.
"""

from __future__ import annotations

import sys

from trimus import lifeline
from trimus.celery import app


def run() -> None:
    """Tick until told to end."""
    app.Beat(quiet=True, loglevel="INFO").start_scheduler()


if __name__ == "__main__":
    if lifeline.OPTION in sys.argv:
        lifeline.hold()
    run()
