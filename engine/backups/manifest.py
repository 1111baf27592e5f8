"""What a backup says of itself: what made it, what it holds, and the SHA-256 of each member."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

NAME = "manifest.json"
FORMAT = 1
"""Raised when an older Trimus could no longer read what is written."""

DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
"""How the database is called in the archive, by its engine."""

_BLOB = re.compile(r"blobs/([0-9a-f]{2})/(\1[0-9a-f]{62})")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Unfit(Exception):
    """The file is no backup that can be restored here. The message says why, and what helps."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the archive."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    made_at: str  # ISO 8601, UTC
    version: str  # of Trimus
    engine: str  # of the database, as Django names it
    server_version: int  # PostgreSQL's major version; 0 for SQLite
    migrations: list[str]  # those applied, as `app.name`
    counts: dict[str, int]  # of rows, for people
    missing: list[str] = field(default_factory=list)  # bytes that the rows name and the disk had lost, by digest
    members: dict[str, Member] = field(default_factory=dict)
    format: int = FORMAT

    def written(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def read(cls, content: bytes) -> Self:
        """What `written` gave. Unfit for anything else, and for what a newer Trimus wrote in another form."""
        try:
            said = json.loads(content)
            if said["format"] > FORMAT:
                raise Unfit("It was made by a newer Trimus, in a form that this one does not know: upgrade first.")
            members = {name: _member(one) for name, one in said.pop("members").items()}
            manifest = cls(**said, members=members)
            manifest._check_kinds()
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise Unfit("Its manifest cannot be read: it is no backup of Trimus.") from error
        manifest._check_members()
        return manifest

    @property
    def database(self) -> str:
        """The name of the database's member."""
        return DATABASES[self.engine]

    @property
    def blobs(self) -> dict[str, Member]:
        """The files' bytes, by digest."""
        return {found[2]: one for name, one in self.members.items() if (found := _BLOB.fullmatch(name))}

    def held(self) -> str:
        """What it holds, in words."""
        return ", ".join(f"{what}: {count:,}" for what, count in (self.counts | {"files": len(self.blobs)}).items())

    def unknown_migrations(self, known: Iterable[str]) -> list[str]:
        """Those that this Trimus has not: it is older than the backup."""
        here = set(known)
        return [name for name in self.migrations if name not in here]

    def _check_kinds(self) -> None:
        """ValueError where JSON has the right names and other kinds of values: it is used after much work was done."""
        texts = (self.made_at, self.version, self.engine, *self.migrations, *self.counts, *self.missing)
        numbers = (self.format, self.server_version, *self.counts.values())
        if not all(isinstance(one, str) for one in texts) or not all(isinstance(one, int) for one in numbers):
            raise ValueError

    def _check_members(self) -> None:
        """Nothing but one database and blobs, each under the hash of what it holds: no name leads anywhere else."""
        if self.engine not in DATABASES or self.database not in self.members:
            raise Unfit("It holds no database.")
        for name, member in self.members.items():
            found = _BLOB.fullmatch(name)
            if name != self.database and (found is None or found[2] != member.sha256):
                raise Unfit(f"It holds “{name[:100]}”, which is no part of a backup.")


def blob_name(digest: str) -> str:
    return f"blobs/{digest[:2]}/{digest}"


def _member(said: Mapping[str, Any]) -> Member:
    size, sha256 = said["size"], said["sha256"]
    if not isinstance(size, int) or not _DIGEST.fullmatch(sha256):
        raise ValueError
    return Member(size, sha256)
