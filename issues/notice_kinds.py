"""What a member can have told by e-mail."""

from __future__ import annotations

from dataclasses import dataclass

from issues.models.inbox import InboxKind


@dataclass(frozen=True, slots=True)
class NoticeKind:
    """One choice of the profile page: the kinds of inbox items that it stands for."""

    name: str
    words: str
    kinds: tuple[InboxKind, ...]


NOTICE_KINDS = (
    NoticeKind("mention", "Somebody mentions you", (InboxKind.MENTION,)),
    NoticeKind("asked", "An approval, a question or a review waits for you", (InboxKind.APPROVAL, InboxKind.REVIEW)),
    NoticeKind("budget", "A budget is nearly used up", (InboxKind.BUDGET,)),
    NoticeKind("stopped", "Work lies still or failed", (InboxKind.BLOCKED, InboxKind.STOPPED, InboxKind.FAILURE)),
    NoticeKind("news", "An answer to you, an issue in review or done", (InboxKind.ANSWER, InboxKind.MOVED)),
)
NOTICE_CHOICES = [(one.name, one.words) for one in NOTICE_KINDS]
NOTICE_NAMES = tuple(one.name for one in NOTICE_KINDS)


def name_of_kind(kind: str) -> str:
    """The choice that an inbox item's kind belongs to."""
    return next(one.name for one in NOTICE_KINDS if kind in one.kinds)
