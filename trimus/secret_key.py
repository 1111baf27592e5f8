"""The secret key of a local installation: made once, kept in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

FILE_MODE = 0o600


def local_secret_key(path: Path) -> str:
    """The key kept at `path`, made on first use.

    Web, worker and beat may all be first. Each writes its own file aside and links it to the final name,
    which only one can do; the others read what that one wrote, whole.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(aside, path)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
    return path.read_text(encoding="ascii").strip()
