"""What can be asked for, and how far it reaches in an agent's hands.

Free of Django, because the verbs of agents are declared with their permission before anything else is loaded.
"""

from __future__ import annotations

import enum
from typing import Self


class Reach(enum.Enum):
    """Where the policy `standard` lets an agent use a permission; the text is what people read of it.

    An issue is an agent's own when it is assigned to it, or to nobody and the agent was woken on it; direct children of
    an own issue count as own. The issue at hand is the one the agent was woken on.
    """

    OWN = "its own issues; on another issue at hand the board is asked"
    OWN_OR_ASK = "its own issues; on any other issue of the company the board is asked"
    AT_HAND = "its own issues and the issue at hand"
    COMPANY = "any issue of the company"
    BOARD = "the board is always asked"
    NOWHERE = "people only"


class Permission(str):
    """The word for something that can be asked for. A verb of agents that no service shares declares its own; all
    others are in `Right`."""

    __slots__ = ("reach",)

    reach: Reach

    def __new__(cls, word: str, reach: Reach) -> Self:
        permission = super().__new__(cls, word)
        permission.reach = reach
        return permission


class Right(Permission, enum.ReprEnum):
    """What services ask for. Rights that a verb uses carry the verb's name."""

    READ = "read", Reach.AT_HAND
    STATUS = "status", Reach.OWN
    CLOSE = "close", Reach.OWN_OR_ASK
    ASSIGN = "assign", Reach.OWN_OR_ASK
    PRIORITY = "priority", Reach.OWN
    LABEL = "label", Reach.AT_HAND
    UNLABEL = "unlabel", Reach.AT_HAND
    BLOCKED_BY = "blocked-by", Reach.OWN
    UNBLOCK = "unblock", Reach.OWN
    CREATE_ISSUE = "create-issue", Reach.AT_HAND
    COMMENT = "comment-on", Reach.COMPANY
    REQUEST_APPROVAL = "request-approval", Reach.AT_HAND
    ASK = "ask", Reach.AT_HAND
    REVIEW = "review", Reach.AT_HAND
    USE_SKILL = "use-skill", Reach.AT_HAND
    WRITE_FILE = "write-file", Reach.AT_HAND
    RECORD_FINDING = "record-finding", Reach.AT_HAND
    NOTE = "note", Reach.AT_HAND
    FORGET = "forget", Reach.AT_HAND
    REMEMBER = "remember", Reach.AT_HAND
    PASS = "pass", Reach.AT_HAND
    HELP = "help", Reach.AT_HAND
    INSTALL_SKILL = "install-skill", Reach.BOARD
    INSTALL_AGENT = "install-agent", Reach.BOARD
    INSTALL_ROUTINE = "install-routine", Reach.BOARD
    TERMINATE = "terminate", Reach.COMPANY
    EDIT = "edit", Reach.NOWHERE
    PIN = "pin", Reach.NOWHERE
    RUN = "run", Reach.NOWHERE
    DECIDE = "decide", Reach.NOWHERE
    MANAGE_WORK = "manage-work", Reach.NOWHERE
    MANAGE_AGENTS = "manage-agents", Reach.NOWHERE
    MANAGE_COMPANY = "manage-company", Reach.NOWHERE
