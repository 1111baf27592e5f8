"""The values that leave the reply parser."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class DropReason(enum.StrEnum):
    """Why a line that looks like an action does not act."""

    UNKNOWN_VERB = "unknown-verb"
    MISSING_ARGUMENT = "missing-argument"
    MISSING_BODY = "missing-body"
    MALFORMED_FENCE = "malformed-fence"


@dataclass(frozen=True, slots=True)
class Action:
    """One verb line of a reply. `verb` is lower case without slash, `line` counts from 1 in the reply."""

    verb: str
    args: str
    body: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """A line that stays prose though it begins like an action. `number` counts from 1 in the reply."""

    line: str
    number: int
    reason: DropReason


@dataclass(frozen=True, slots=True)
class AgentReply:
    """A reply taken apart: what acts, what becomes the comment, what was left alone and why.

    `speech` is the prose with the at-signs of dropped lines blanked out. Mentions are read from it, because a line
    that failed to act must not wake anybody either.
    """

    actions: tuple[Action, ...]
    prose: str
    dropped: tuple[Dropped, ...]
    speech: str
