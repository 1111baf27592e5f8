"""An SQLite database that only its owner can read, from its first byte on."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import Any

FILE_MODE = 0o600
"""What SQLite puts beside the file takes the file's mode."""


class OwnersConnection(sqlite3.Connection):
    """Makes a file that is not there yet with `FILE_MODE`, where SQLite would go by the umask."""

    def __init__(self, database: str, *arguments: Any, **options: Any) -> None:
        if not database.startswith(("file:", ":memory:")):
            # What else is wrong with the path SQLite says itself.
            with contextlib.suppress(OSError):
                os.close(os.open(database, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
        super().__init__(database, *arguments, **options)
