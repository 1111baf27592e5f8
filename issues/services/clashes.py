"""When two change the same field: who comes second is told, with what stands there now, and chooses."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from issues.models import Activity, Issue
from issues.refusals import Clash


class _Unseen:
    """Stands for a value that the actor did not say they saw, where None is one."""


UNSEEN: Any = _Unseen()

_WORDS = {"due_date": "due date", "responsible": "responsible person"}
_KINDS = {
    "status": "issue.status",
    "priority": "issue.priority",
    "assignee": "issue.assigned",
    "parent": "issue.parent",
}
"""The activity that tells who changed a field; all others are edits."""


def is_clash(seen: Any, now: Any, wanted: Any) -> bool:
    """Whether somebody changed the value since it was seen, and not to what is wanted anyway."""
    return seen is not UNSEEN and seen != now and wanted != now


def check_seen(issue: Issue, field: str, *, seen: Any, now: Any, wanted: Any) -> None:
    """Clash if the field is not as the actor saw it."""
    if is_clash(seen, now, wanted):
        raise clash_of(issue, [field])


def clash_of(issue: Issue, fields: Collection[str]) -> Clash:
    """The refusal for these fields of an issue, naming who was first."""
    first = next(iter(fields))
    words = " and ".join(_WORDS.get(field, field) for field in fields)
    return Clash(
        f"{_who_changed(issue, first)} changed the {words} meanwhile.",
        "Look at it as it is now, then choose again.",
        fields=tuple(fields),
    )


def _who_changed(issue: Issue, field: str) -> str:
    lines = issue.activity.filter(kind=_KINDS.get(field, "issue.edited")).select_related("member__user", "agent")
    for line in lines.order_by("-pk")[:20]:
        if line.kind != "issue.edited" or field in line.data["fields"]:
            return _name(line)
    return "Somebody"


def _name(line: Activity) -> str:
    if line.agent is not None:
        return line.agent.name
    return line.member.name if line.member is not None else "Trimus"
