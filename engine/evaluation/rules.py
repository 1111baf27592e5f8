"""Rules that judge a run by its rows, each with the words that say what should have been."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agents.models import RunState
from engine.evaluation.seen import Seen
from issues.models import ApprovalKind


@dataclass(frozen=True, slots=True)
class Rule:
    """`words` finish the sentence "It should be that …"."""

    words: str
    holds: Callable[[Seen], bool]


def ended_well() -> Rule:
    return Rule("the run succeeds", lambda seen: seen.run.state == RunState.SUCCEEDED)


def answered() -> Rule:
    return Rule("there is a comment", lambda seen: bool(seen.comment.strip()))


def says(word: str) -> Rule:
    return Rule(f"its comment says “{word}”", lambda seen: word.casefold() in seen.comment.casefold())


def never_says(word: str) -> Rule:
    return Rule(f"its comment does not say “{word}”", lambda seen: word.casefold() not in seen.comment.casefold())


def stands_at(*statuses: str) -> Rule:
    return Rule(f"the issue stands at {' or '.join(statuses)}", lambda seen: seen.issue.status in statuses)


def assigned_to(handle: str) -> Rule:
    def holds(seen: Seen) -> bool:
        return seen.issue.assignee_agent is not None and seen.issue.assignee_agent.handle == handle

    return Rule(f"the issue is @{handle}'s", holds)


def wrote(path: str, *words: str) -> Rule:
    def holds(seen: Seen) -> bool:
        text = seen.files.get(path)
        return text is not None and all(word.casefold() in text.casefold() for word in words)

    return Rule(f"{path} holds {' and '.join(f'“{word}”' for word in words) or 'something'}", holds)


def wrote_nowhere(word: str) -> Rule:
    return Rule(f"no file holds “{word}”", lambda seen: not any(word in text for text in seen.files.values()))


def wrote_nothing() -> Rule:
    return Rule("no file is written", lambda seen: not seen.files)


def found(word: str) -> Rule:
    return Rule(f"a finding says “{word}”", lambda seen: word.casefold() in seen.findings.casefold())


def asks_person() -> Rule:
    return Rule("a person is asked", lambda seen: _waits(seen, ApprovalKind.QUESTION))


def asks_board() -> Rule:
    return Rule("the board is asked", lambda seen: _waits(seen, ApprovalKind.REQUEST))


def asks_nothing() -> Rule:
    return Rule("nothing waits for a person", lambda seen: not seen.waiting)


def opened_for(*handles: str) -> Rule:
    def holds(seen: Seen) -> bool:
        return {issue.assignee_agent.handle for issue in seen.opened if issue.assignee_agent} >= set(handles)

    return Rule(f"there is a new issue for {' and for '.join(f'@{handle}' for handle in handles)}", holds)


def wakes(handle: str) -> Rule:
    return Rule(f"@{handle} is woken", lambda seen: handle in seen.woken)


def uses(verb: str, args: str = "") -> Rule:
    return Rule(f"/{verb} {args}".rstrip() + " takes effect", lambda seen: seen.applied(verb, args))


def any_of(*rules: Rule) -> Rule:
    return Rule(" or ".join(rule.words for rule in rules), lambda seen: any(rule.holds(seen) for rule in rules))


def wakes_only(allowed: frozenset[str]) -> Rule:
    named = ", ".join(f"@{handle}" for handle in sorted(allowed))
    words = f"it wakes no one but {named}" if named else "it wakes no one"
    return Rule(words, lambda seen: seen.woken <= allowed)


def opens_at_most(number: int) -> Rule:
    return Rule(f"it opens at most {number} issues", lambda seen: len(seen.opened) <= number)


def _waits(seen: Seen, kind: ApprovalKind) -> bool:
    return any(approval.kind == kind for approval in seen.waiting)
