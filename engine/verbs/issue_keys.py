"""The `key: value` lines with which the body of /create-issue may begin. One that cannot be read, or that the agent may
not set, becomes a remark, and the issue is made without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from issues.rights import Right

if TYPE_CHECKING:
    from engine.verbs.scene import Scene
    from issues.models import Issue
    from issues.refusals import Refusal

RIGHTS: Mapping[str, Right] = {
    "assignee": Right.ASSIGN,
    "priority": Right.PRIORITY,
    "labels": Right.LABEL,
    "project": Right.CREATE_ISSUE,
    "blocked-by": Right.BLOCKED_BY,
    "parent": Right.CREATE_ISSUE,
    "status": Right.STATUS,
}
"""Every key, and the right it takes: that of the verb that does the same."""


def read_keys(scene: Scene, lines: Mapping[str, str], remarks: list[str]) -> dict[str, Any]:
    """The values of those keys that can be read, as plain JSON."""
    from issues.refusals import Refusal

    keys: dict[str, Any] = {}
    for key, text in lines.items():
        if not text:
            continue
        try:
            keys[key] = _READERS[key](scene, text)
        except Refusal as refusal:
            remarks.append(without(key, refusal))
    return keys


def allowed_keys(scene: Scene, keys: Mapping[str, Any], place: Issue, remarks: list[str]) -> dict[str, Any]:
    """Those keys that the agent may set on an issue made under `place`. What it makes it may always take on itself."""
    from engine.verbs.resolve import refer
    from issues.policies import require
    from issues.refusals import Forbidden

    allowed: dict[str, Any] = {}
    for key, value in keys.items():
        takes_it_on = key == "assignee" and value in (None, refer(scene.oneself))
        try:
            if not takes_it_on and RIGHTS[key] != Right.CREATE_ISSUE:  # that one is judged with the issue itself
                require(scene.actor, RIGHTS[key], place)
        except Forbidden as refusal:
            remarks.append(without(key, refusal))
        else:
            allowed[key] = value
    return allowed


def without(key: str, refusal: Refusal) -> str:
    """The remark that the issue was made without a key, and why."""
    from issues.refusals import NeedsApproval

    if isinstance(refusal, NeedsApproval):
        return f"Made without {key}: that needs the board's yes."
    return f"Made without {key}: {refusal}"


def _read_assignee(scene: Scene, text: str) -> dict[str, int] | None:
    from engine.verbs.resolve import find_somebody, refer

    return refer(find_somebody(scene, text))


def _read_priority(_scene: Scene, text: str) -> str:
    from engine.verbs.resolve import read_priority

    return read_priority(text).slug


def _read_status(_scene: Scene, text: str) -> str:
    from engine.verbs.resolve import read_status

    return read_status(text).value


def _read_labels(scene: Scene, text: str) -> list[str]:
    from engine.verbs.resolve import read_labels

    return read_labels(scene, text)


def _read_project(scene: Scene, text: str) -> int:
    from engine.verbs.resolve import nearest, unquoted
    from issues.refusals import Invalid
    from issues.texts import fold

    projects = {project.name: project.pk for project in scene.company.projects.filter(archived_at=None)}
    for name, pk in projects.items():
        if fold(name) == fold(unquoted(text)):
            return pk
    raise Invalid(f"There is no project “{text}”.", nearest(unquoted(text), projects), field="project")


def _read_parent(scene: Scene, text: str) -> int | None:
    from engine.verbs.resolve import find_issue, plain_word

    return None if plain_word(text) == "none" else find_issue(scene, text).pk


_READERS: Mapping[str, Callable[[Scene, str], Any]] = {
    "assignee": _read_assignee,
    "priority": _read_priority,
    "status": _read_status,
    "labels": _read_labels,
    "project": _read_project,
    "parent": _read_parent,
    "blocked-by": lambda _scene, words: words,  # may name issues that do not exist yet
}
