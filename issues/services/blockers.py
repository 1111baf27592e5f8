"""What an issue waits for, and where it hangs: links that must not form a ring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from issues.activity import record
from issues.actors import Actor
from issues.effects import service
from issues.models import Blocker, Issue, Status
from issues.policies import Right, require
from issues.refusals import Invalid
from issues.services.locks import lock_company, lock_issue, lock_issues
from issues.services.transitions import enter_status, release_waiting

_BLOCKABLE = (Status.TODO, Status.IN_PROGRESS, Status.IN_REVIEW)


@service
def add_blockers(*, actor: Actor, issue: Issue, blockers: Sequence[Issue]) -> Issue:
    """Let the issue wait for others. An open one moves it to `blocked`; a ring is refused."""
    lock_company(issue.company)  # two links at once could close a ring that neither sees
    lock_issues([issue.pk, *(blocker.pk for blocker in blockers)])
    issue = lock_issue(issue)
    require(actor, Right.BLOCKED_BY, issue)
    link_blockers(issue, blockers, actor)
    return issue


@service
def remove_blockers(*, actor: Actor, issue: Issue, blockers: Sequence[Issue]) -> Issue:
    """Let the issue wait for them no longer. When none is left open, it moves to `todo`."""
    issue = lock_issue(issue)
    require(actor, Right.UNBLOCK, issue)
    ids = {blocker.pk for blocker in blockers}
    present = list(issue.blocker_links.filter(blocker__in=ids).select_related("blocker__company"))
    if not present:
        return issue
    still_open = [link.blocker for link in present if not link.blocker.is_closed]
    issue.blocker_links.filter(pk__in=[link.pk for link in present]).delete()
    record(actor, "issue.blockers", issue, added=[], removed=[link.blocker_id for link in present])
    if still_open:
        release_waiting(still_open[-1], actor, [issue.pk])
    return issue


def link_blockers(issue: Issue, blockers: Sequence[Issue], actor: Actor) -> None:
    """Link a locked issue to its blockers and block it if one is open. Invalid for a ring or another company.

    The blockers are held, too: one that closes meanwhile would not know that it has to release the issue.
    """
    new = _new_blockers(issue, blockers)
    if not new:
        return
    for blocker in new:
        if blocker.company_id != issue.company_id:
            raise Invalid("An issue of another company cannot block this one.", field="blockers")
    _check_no_ring(issue, new)
    Blocker.objects.bulk_create(Blocker(issue=issue, blocker=blocker) for blocker in new)
    record(actor, "issue.blockers", issue, added=[blocker.pk for blocker in new], removed=[])
    first_open = next((blocker for blocker in new if not blocker.is_closed), None)
    if first_open is not None and issue.status in _BLOCKABLE:
        enter_status(issue, Status.BLOCKED, actor, blocker=first_open.pk)


def check_parent(issue: Issue, parent: Issue) -> None:
    """Invalid if hanging the issue under `parent` would make a ring. The company is held meanwhile."""
    lock_company(issue.company)
    if parent.pk == issue.pk or issue.pk in _reach({parent.pk}, _parents_of):
        raise Invalid("An issue cannot hang under itself.", field="parent")


def _new_blockers(issue: Issue, blockers: Sequence[Issue]) -> list[Issue]:
    if not blockers:
        return []
    present = set(issue.blocker_links.values_list("blocker_id", flat=True))
    return lock_issues({blocker.pk for blocker in blockers} - present)


def _check_no_ring(issue: Issue, blockers: Sequence[Issue]) -> None:
    if any(blocker.pk == issue.pk for blocker in blockers):
        raise Invalid("An issue cannot wait for itself.", field="blockers")
    if issue.pk not in _reach({blocker.pk for blocker in blockers}, _blockers_of):
        return
    waits = next(blocker for blocker in blockers if issue.pk in _reach({blocker.pk}, _blockers_of))
    raise Invalid(f"{waits.identifier} already waits for this issue.", field="blockers")


def _reach(start: set[int], step: Callable[[set[int]], Iterable[int]]) -> set[int]:
    """Every id that can be reached from `start`, one query a level."""
    seen: set[int] = set()
    frontier = start
    while frontier:
        frontier = set(step(frontier)) - seen
        seen |= frontier
    return seen


def _blockers_of(ids: set[int]) -> Iterable[int]:
    return Blocker.objects.filter(issue__in=ids).values_list("blocker_id", flat=True)


def _parents_of(ids: set[int]) -> Iterable[int]:
    return Issue.objects.filter(pk__in=ids, parent__isnull=False).values_list("parent_id", flat=True)
