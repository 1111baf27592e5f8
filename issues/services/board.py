"""Where a card lies: moving it to another column or place."""

from __future__ import annotations

from issues.activity import record
from issues.actors import Actor
from issues.effects import held_issues, service
from issues.models import Issue, Status
from issues.policies import Right, require
from issues.refusals import Conflict, Invalid
from issues.services.issues import RANK_GAP, set_status
from issues.services.locks import lock_company, lock_issue, save_issue


@service
def move_issue(*, actor: Actor, issue: Issue, status: Status, before: Issue | None = None) -> Issue:
    """Put the card into the column of a status, above `before` or at its end, with all effects of the status."""
    require(actor, Right.EDIT, issue)
    lock_company(issue.company)
    if status != issue.status:
        issue = set_status(actor=actor, issue=issue, status=status)
    issue = lock_issue(issue)
    if issue.status != status:
        raise Conflict(f"{issue.identifier} could not be moved there.")
    rank = _rank_for(issue, before)
    if rank != issue.rank:
        before_rank, issue.rank = issue.rank, rank
        save_issue(issue, "rank")
        record(actor, "issue.moved", issue, **{"from": before_rank, "to": rank})
    return issue


def _rank_for(issue: Issue, before: Issue | None) -> int:
    """A rank just above `before`, or after the last card. The column is spread anew when there is no gap left."""
    column = Issue.objects.filter(company=issue.company, status=issue.status).exclude(pk=issue.pk).in_board_order()
    if before is None:
        last = column.last()
        return (last.rank if last else 0) + RANK_GAP
    if before.company_id != issue.company_id or before.status != issue.status:
        raise Invalid("The card to place it above is not in that column any more.", field="before")
    for _ in range(2):
        here = column.get(pk=before.pk)
        above = (
            column.filter(rank__lte=here.rank)
            .exclude(pk=here.pk, rank=here.rank)
            .exclude(rank=here.rank, number__gt=here.number)
            .last()
        )
        floor = above.rank if above else here.rank - 2 * RANK_GAP
        if here.rank - floor >= 2:
            return (here.rank + floor) // 2
        _spread(list(column))
    raise AssertionError("a column that was just spread has gaps")


def _spread(column: list[Issue]) -> None:
    for place, card in enumerate(column, start=1):
        card.rank = place * RANK_GAP
    Issue.objects.bulk_update(column, ["rank"], batch_size=500)
    held_issues().clear()
