"""Reading the words of verbs. Lenient where the set of values is closed; what cannot be read is Invalid, with what was
perhaps meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from issues.models import Issue, Label, Member, Priority, Status
from issues.refusals import Invalid

if TYPE_CHECKING:
    from agents.models import Agent
    from engine.verbs.scene import Scene

T = TypeVar("T")

_STATUS_WORDS = {
    **{status.value.replace("_", ""): status for status in Status},
    "wip": Status.IN_PROGRESS,
    "review": Status.IN_REVIEW,
    "complete": Status.DONE,
    "completed": Status.DONE,
    "closed": Status.DONE,
    "canceled": Status.CANCELLED,
}
_PRIORITY_WORDS = {
    **{priority.slug: priority for priority in Priority},
    "critical": Priority.URGENT,
    "normal": Priority.MEDIUM,
    "p0": Priority.URGENT,
    "p1": Priority.HIGH,
    "p2": Priority.MEDIUM,
    "p3": Priority.LOW,
}
_ON_ANOTHER = re.compile(r"(?P<rest>.*?)\s+on\s+(?P<issue>[A-Za-z][A-Za-z0-9]*-\d+|#\d+)\s*\.?$", re.DOTALL)
_IDENTIFIER = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9]*)-(?P<number>\d{1,9})$")
_NUMBER = re.compile(r"#(?P<number>\d{1,9})$")


def plain_word(text: str) -> str:
    """A value of a closed set as it is compared: outer quotes, back-ticks and one full stop off, then case, space, `-`
    and `_` alike."""
    text = text.strip().removesuffix(".").strip()
    while len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'`":
        text = text[1:-1].strip()
    return re.sub(r"[\s_-]+", "", text.lower())


def read_status(text: str) -> Status:
    return _read(text, _STATUS_WORDS, "status", [status.value for status in Status])


def read_priority(text: str) -> Priority:
    return _read(text, _PRIORITY_WORDS, "priority", [priority.slug for priority in Priority])


def split_target(scene: Scene, args: str) -> tuple[str, Issue]:
    """The argument without a trailing `on ACME-7`, and the issue it names, else the issue at hand."""
    match = _ON_ANOTHER.match(args)
    if match is None:
        return args, scene.issue
    return match["rest"], find_issue(scene, match["issue"])


def find_issue(scene: Scene, word: str) -> Issue:
    """An issue of the company by identifier, `#12`, or the exact title of one that this reply has made."""
    word = word.strip().strip("`\"'“”").strip()
    if word in scene.made:
        return scene.made[word]
    match = _IDENTIFIER.match(word) or _NUMBER.match(word)
    if match is None:
        raise Invalid(f"“{word}” names no issue.", "Use an identifier like ACME-12.", field="issue")
    key = match.groupdict().get("key", scene.company.key)
    if key.upper() != scene.company.key:
        raise Invalid(f"There is no issue {word} in this company.", field="issue")
    found = (
        Issue.objects.select_related("company", "parent", "assignee_agent")
        .filter(company=scene.company, number=int(match["number"]))
        .first()
    )
    if found is None:
        raise Invalid(f"There is no issue {word} in this company.", field="issue")
    return found


def find_issues(scene: Scene, text: str) -> list[Issue]:
    """Issues separated by commas or, for identifiers, spaces."""
    words = [word for word in text.split(",") if word.strip()]
    if len(words) == 1 and words[0].strip() not in scene.made:
        words = words[0].split()
    return [find_issue(scene, word) for word in words]


def find_somebody(scene: Scene, word: str) -> Agent | Member | None:
    """An agent or member by handle or name; `me` is the agent itself, `none` nobody."""
    word = word.strip().removesuffix(".").strip("`\"'").strip()
    if plain_word(word) == "none":
        return None
    if plain_word(word) == "me":
        return scene.actor.agent
    return scene.directory.find(word)


def read_names(text: str) -> list[str]:
    """Names separated by commas, without outer quotes and back-ticks."""
    names = [name.strip().strip("`\"'").strip() for name in text.split(",")]
    return list(dict.fromkeys(name for name in names if name))


def find_labels(scene: Scene, names: list[str]) -> tuple[list[Label], list[str]]:
    """The company's labels of these names, case aside, and the names that no label has."""
    present = {label.name.lower(): label for label in scene.company.labels.all()}
    found = [present[name.lower()] for name in names if name.lower() in present]
    return found, [name for name in names if name.lower() not in present]


def nearest(word: str, candidates: list[str]) -> str:
    """A hint naming the candidate that was perhaps meant, empty if none is near."""
    lowered = {candidate.lower(): candidate for candidate in candidates}
    near = difflib.get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.6)
    return f"Did you mean “{lowered[near[0]]}”?" if near else ""


def refer(one: Agent | Member | None) -> dict[str, int] | None:
    """How a request names somebody, so that it can be carried out later."""
    if one is None:
        return None
    return {"member": one.pk} if isinstance(one, Member) else {"agent": one.pk}


def referred(scene: Scene, reference: Mapping[str, int] | None) -> Agent | Member | None:
    """The one named by `refer`."""
    if reference is None:
        return None
    if "member" in reference:
        return scene.company.members.get(pk=reference["member"])
    return scene.company.agents.get(pk=reference["agent"])


def issue_by_id(scene: Scene, pk: int) -> Issue:
    """The issue that a request names by id; Invalid if it is gone."""
    if pk == scene.issue.pk:
        return scene.issue
    found = Issue.objects.select_related("company", "parent", "assignee_agent").filter(company=scene.company, pk=pk)
    issue = found.first()
    if issue is None:
        raise Invalid("The issue is gone.", field="issue")
    return issue


def _read(text: str, words: Mapping[str, T], what: str, shown: list[str]) -> T:
    word = plain_word(text)
    if word in words:
        return words[word]
    hint = nearest(text.strip(), shown) or f"One of: {', '.join(shown)}."
    raise Invalid(f"“{text.strip()}” is no {what}.", hint, field=what)
