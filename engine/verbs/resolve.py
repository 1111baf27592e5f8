"""Reading the words of verbs. Lenient where the set of values is closed; what cannot be read or found is Invalid, with
what was perhaps meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from issues.models import Issue, Label, Member, Priority, Status
from issues.refusals import Invalid, NeedsApproval
from issues.services.issues import TITLE_CHARACTERS
from issues.texts import fold

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
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "‘": "’", "«": "»"}
MOST_PAIRS = 3
"""Pairs of quotes that anybody would put around a word: bold, code, and what they meant to quote."""

_ON = re.compile(r"\son\s+", re.IGNORECASE)
_REFERENCE = re.compile(r"(?:(?P<key>[A-Za-z][A-Za-z0-9]*)-|#)(?P<number>[0-9]{1,9})")
LIKENESS = 0.6
"""From which share of common letters on a word counts as perhaps meant: two typing errors in five letters."""

MOST_NAMED = 50
"""Issues or labels that one line may name: each costs a query or more."""


class NamesProposed(NeedsApproval):
    """An issue is named that is only proposed yet: what names it goes to the board together with it."""


def bare(text: str) -> str:
    """The text without outer quotes or back-ticks and one full stop, in either order."""
    text = unquoted(text)
    return unquoted(text.removesuffix(".").rstrip()) if text.endswith(".") else text


def plain_word(text: str) -> str:
    """A value of a closed set as it is compared: bare, with case, space, `-` and `_` alike."""
    return re.sub(r"[\s_-]+", "", bare(text).lower())


def read_choice(text: str, words: Mapping[str, T], what: str, shown: Sequence[str]) -> T:
    """The value of a closed set. `words` are its plain words, `shown` how they are written; `what` names it."""
    word = plain_word(text)
    if word in words:
        return words[word]
    hint = nearest(bare(text), shown) or f"One of: {', '.join(shown)}."
    raise Invalid(f"“{text.strip()}” is no {what}.", hint, field=what)


def read_status(text: str) -> Status:
    return read_choice(text, _STATUS_WORDS, "status", [status.value for status in Status])


def read_priority(text: str) -> Priority:
    return read_choice(text, _PRIORITY_WORDS, "priority", [priority.slug for priority in Priority])


def split_target(scene: Scene, args: str) -> tuple[str, Issue]:
    """The argument without a trailing `on ACME-7`, and the issue that this names, else the issue at hand."""
    for match in _ON.finditer(args, max(0, len(args) - 2 * TITLE_CHARACTERS)):
        rest, word = args[: match.start()], args[match.end() :]
        if _title(scene, word) is not None or _REFERENCE.fullmatch(bare(word)):
            return rest, find_issue(scene, word)
    return args, scene.issue


def find_issue(scene: Scene, word: str) -> Issue:
    """An issue of the company by identifier, `#12`, or the exact title of one that this reply makes."""
    title = _title(scene, word)
    if title is not None:
        return _made(scene, title)
    match = _REFERENCE.fullmatch(bare(word))
    if match is None:
        hint = nearest(bare(word), scene.made) or f"Use an identifier like {scene.company.key}-12."
        raise Invalid(f"“{word.strip()}” names no issue.", hint, field="issue")
    issues = Issue.objects.select_related("company", "parent", "assignee_agent")
    found = issues.filter(company=scene.company, number=int(match["number"])).first()
    if found is None or (match["key"] or found.company.key).upper() != found.company.key:
        raise Invalid(f"There is no issue {bare(word)} in this company.", field="issue")
    return found


def find_issues(scene: Scene, text: str) -> list[Issue]:
    """Issues separated by commas or, for identifiers, spaces. A title may hold commas of its own."""
    words = _split_titles(scene, text)
    if len(words) == 1 and _title(scene, words[0]) is None:
        words = words[0].split() if all(_REFERENCE.fullmatch(bare(word)) for word in words[0].split()) else words
    if len(words) > MOST_NAMED:
        raise Invalid(f"More than {MOST_NAMED} issues are named.", field="issue")
    return list(dict.fromkeys(find_issue(scene, word) for word in words))


def find_somebody(scene: Scene, word: str) -> Agent | Member | None:
    """An agent or member by handle or name; `me` is the actor, `none` nobody."""
    if plain_word(word) == "none":
        return None
    if plain_word(word) == "me":
        return scene.oneself
    return scene.directory.get(word) or scene.directory.find(bare(word))


def read_names(text: str) -> list[str]:
    """Names separated by commas, without outer quotes and back-ticks."""
    names = list(dict.fromkeys(filter(None, (unquoted(name) for name in text.split(",")))))
    if not 0 < len(names) <= MOST_NAMED:
        raise Invalid(f"Name between 1 and {MOST_NAMED}, separated by commas.", field="labels")
    return names


def read_labels(scene: Scene, text: str) -> list[str]:
    """The names of labels, as the company writes them. Invalid for a missing one unless agents may make labels."""
    present = {fold(name): name for name in scene.company.labels.values_list("name", flat=True)}
    names = read_names(text)
    missing = [name for name in names if fold(name) not in present]
    if missing and not scene.company.agents_may_create_labels:
        raise Invalid(
            f"There is no label “{missing[0]}”, and agents may not make labels here.",
            nearest(missing[0], present.values()),
            field="labels",
        )
    return [present.get(fold(name), name) for name in names]


def labels_named(scene: Scene, names: Iterable[str]) -> list[Label]:
    """The company's labels of these names; missing ones are made, if the company lets agents make them."""
    from issues.services.projects import create_label

    present = {fold(label.name): label for label in scene.company.labels.all()}
    return [
        present.get(fold(name)) or create_label(actor=scene.actor, company=scene.company, name=name) for name in names
    ]


def nearest(word: str, candidates: Iterable[str]) -> str:
    """A hint naming the candidate that was perhaps meant, empty if none is near."""
    folded = {fold(candidate): candidate for candidate in candidates}
    near = difflib.get_close_matches(fold(word), folded, n=1, cutoff=LIKENESS)
    return f"Did you mean “{folded[near[0]]}”?" if near else ""


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


def _title(scene: Scene, word: str) -> str | None:
    """The title of an issue that the reply makes, if the word is one, as it stands or in quotes."""
    forms = (" ".join(form.split()) for form in (word, bare(word)))
    return next((form for form in forms if form in scene.made or form in scene.proposed), None)


def _made(scene: Scene, title: str) -> Issue:
    if title in scene.proposed:
        raise NamesProposed(f"“{title}” waits for the board itself.")
    issues = scene.made[title]
    if len(issues) > 1:
        raise Invalid(f"This reply makes {len(issues)} issues called “{title}”.", "Use the identifier.", field="issue")
    return issues[0]


def _split_titles(scene: Scene, text: str) -> list[str]:
    """The words between commas, but titles whole: of several that fit, the longest."""
    pieces = [piece for piece in text.split(",") if piece.strip()]
    most = max((title.count(",") + 1 for title in (*scene.made, *scene.proposed)), default=1)
    words = []
    start = 0
    while start < len(pieces):
        ends = range(min(start + most, len(pieces)), start, -1)
        end = next((end for end in ends if _title(scene, ",".join(pieces[start:end])) is not None), start + 1)
        words.append(",".join(pieces[start:end]))
        start = end
    return words


def unquoted(text: str) -> str:
    """The text without outer pairs of quotes or back-ticks."""
    text = text.strip()
    for _ in range(MOST_PAIRS):
        if len(text) < 2 or _QUOTES.get(text[0]) != text[-1]:
            break
        text = text[1:-1].strip()
    return text
