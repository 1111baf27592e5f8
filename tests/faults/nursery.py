"""Processes of an installation by fork, so that twenty workers killed and begun anew cost no twenty imports.

`python -m tests.faults.nursery` imports everything once. Each line that it reads, `{"call": NAME, "fields": {...}}`,
makes a child that does what `tests.faults.children` has under that name; `{"pid": ...}` answers. `{"pid": ...,
"code": ...}` tells of an end. When its input closes, the children are killed and it ends.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import select
import signal
import sys
import traceback
from typing import Any

LOOK_SECONDS = 0.02


def main() -> None:
    from tests.faults import children

    children.import_everything()
    gc.freeze()  # else a child's first collection copies all that was imported
    told = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what children print goes to the log
    living: set[int] = set()

    def tell(**fact: object) -> None:
        told.write(f"{json.dumps(fact)}\n")

    tell(ready=True)
    waiting = b""
    while True:
        while ended := _reaped(living):
            tell(**ended)
        if not select.select([0], [], [], LOOK_SECONDS)[0]:
            continue
        read = os.read(0, 65_536)
        if not read:
            break
        *lines, waiting = (waiting + read).split(b"\n")
        for line in lines:
            pid = os.fork()
            if pid == 0:
                told.close()
                _live(**json.loads(line))
            living.add(pid)
            tell(pid=pid)
    for pid in living:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _reaped(living: set[int]) -> dict[str, Any] | None:
    if not living:
        return None
    pid, status = os.waitpid(-1, os.WNOHANG)
    if pid == 0:
        return None
    living.discard(pid)
    return {"pid": pid, "code": os.waitstatus_to_exitcode(status)}


def _live(call: str, fields: dict[str, Any]) -> None:
    """What a child does, to its end."""
    from tests.faults import children

    code = 1
    try:
        with open(os.devnull) as nothing:  # noqa: PTH123 - a descriptor is wanted
            os.dup2(nothing.fileno(), 0)
        random.seed()  # else all children draw alike
        children.CALLS[call](**fields)
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
