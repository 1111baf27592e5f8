"""Issues with what hangs on them, and what was said there: under their numbers, as they stood, told to nobody."""

from __future__ import annotations

import graphlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from django.db.models import Model
from django.utils import timezone

from agents.imports.archive import Row
from agents.imports.house import House
from issues.fields import check_fields
from issues.flagging import secret_kinds
from issues.models import Blocker, Comment, Company, Issue, Member, Priority, Reviewer, Status, Verdict
from issues.services.inbox import first_owner
from issues.services.issues import TITLE_CHARACTERS
from issues.texts import check_line, check_text

ROWS_AT_ONCE = 500

M = TypeVar("M", bound=Model)


def add_issues(house: House) -> None:
    links: dict[int, Row] = {}
    for rows in in_batches(house.archive.rows("issues.jsonl")):
        issues = []
        for row in rows:
            issue = _issue(house, row)
            if issue.number in house.issues:
                raise row.refused(f"there are two issues {issue.number}.")
            house.issues[issue.number] = issue
            links[issue.number] = row
            issues.append(issue)
        keep_written(Issue, issues, "created_at", "updated_at")
        _add_labels(house, rows)
        house.made["issues"] += len(issues)
    Company.objects.filter(pk=house.company.pk).update(last_issue_number=max(house.issues, default=0))
    _link_parents(house, links)
    _link_blockers(house, links)
    _name_reviewers(house, links)


def add_comments(house: House) -> None:
    """Nobody is called by them, and no question answered: that has happened."""
    for rows in in_batches(house.archive.rows("comments.jsonl")):
        comments = [_comment(house, row) for row in rows]
        keep_written(Comment, comments, "created_at")
        house.made["comments"] += len(comments)


def in_batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(itertools.islice(rows, ROWS_AT_ONCE)):
        yield batch


def keep_written(model: type[M], rows: list[M], *stamps: str) -> None:
    """Write the rows with the moments they carry, which the model would set anew."""
    kept = [[getattr(row, stamp) for stamp in stamps] for row in rows]
    manager = model._default_manager
    manager.bulk_create(rows)
    for row, moments in zip(rows, kept, strict=True):
        for stamp, moment in zip(stamps, moments, strict=True):
            setattr(row, stamp, moment)
    manager.bulk_update(rows, stamps)


def _issue(house: House, row: Row) -> Issue:
    now = timezone.now()
    with row.told():
        assignee, author = house.somebody(row, "assignee"), house.somebody(row, "created_by")
        status = Status(row.text("status"))
        closed_at = row.moment("closed_at") if status.is_closed else None
        issue = Issue(
            company=house.company,
            number=row.whole("number") or 0,
            title=check_line(row.text("title"), "title", limit=TITLE_CHARACTERS),
            description=check_text(row.text("description"), "description"),
            status=status,
            priority=row.whole("priority") or Priority.NONE,
            rank=row.whole("rank") or 0,
            project=house.project(row),
            assignee_member=assignee if isinstance(assignee, Member) else None,
            assignee_agent=None if isinstance(assignee, Member) else assignee,
            created_by_member=author if isinstance(author, Member) else None,
            created_by_agent=None if isinstance(author, Member) else author,
            responsible=house.member(row, "responsible") or first_owner(house.company),
            due_date=row.day("due_date"),
            created_at=row.moment("created_at") or now,
            updated_at=row.moment("updated_at") or now,
            status_changed_at=row.moment("status_changed_at") or closed_at or row.moment("updated_at") or now,
            started_at=row.moment("started_at"),
            closed_at=closed_at or (now if status.is_closed else None),
        )
        check_fields(issue, ("number", "priority", "rank"))
        if issue.number < 1:
            raise ValueError("issues are counted from 1")
        issue.secret_kinds = secret_kinds(house.company, issue.title, issue.description)
    return issue


def _comment(house: House, row: Row) -> Comment:
    with row.told():
        author = house.somebody(row, "author")
        if author is None:
            raise ValueError("nobody has written it")
        pinned_at = row.moment("pinned_at")
        body = check_text(row.text("body"), "comment", required=True)
        return Comment(
            issue=house.issue(row),
            author_member=author if isinstance(author, Member) else None,
            author_agent=None if isinstance(author, Member) else author,
            body=body,
            secret_kinds=secret_kinds(house.company, body),
            created_at=row.moment("created_at") or timezone.now(),
            edited_at=row.moment("edited_at"),
            pinned_at=pinned_at,
            pinned_by=house.owner.member if pinned_at is not None else None,
        )


def _add_labels(house: House, rows: Iterable[Row]) -> None:
    tagged: Any = Issue.labels.through
    pairs = []
    for row in rows:
        for name in dict.fromkeys(row.texts("labels")):
            if name not in house.labels:
                raise row.refused(f"there is no label “{name[:60]}” in the file.")
            pairs.append(tagged(issue=house.issues[row.whole("number") or 0], label=house.labels[name]))
    tagged.objects.bulk_create(pairs)


def _link_parents(house: House, links: Mapping[int, Row]) -> None:
    parents = {number: parent for number, row in links.items() if (parent := row.whole("parent")) is not None}
    _check_links(house, links, {number: [parent] for number, parent in parents.items()}, "hangs under itself")
    children = [house.issues[number] for number in parents]
    for child in children:
        child.parent = house.issues[parents[child.number]]
    Issue.objects.bulk_update(children, ["parent"], batch_size=ROWS_AT_ONCE)


def _link_blockers(house: House, links: Mapping[int, Row]) -> None:
    blockers = {number: list(dict.fromkeys(row.wholes("blockers"))) for number, row in links.items()}
    _check_links(house, links, blockers, "waits for itself")
    Blocker.objects.bulk_create(
        (
            Blocker(issue=house.issues[number], blocker=house.issues[blocker])
            for number, named in blockers.items()
            for blocker in named
        ),
        batch_size=ROWS_AT_ONCE,
    )


def _name_reviewers(house: House, links: Mapping[int, Row]) -> None:
    reviewers: dict[tuple[int, str], Reviewer] = {}
    for number, row in links.items():
        for one in row.rows("reviewers"):
            somebody = house.somebody(one, "reviewer")
            if somebody is None:
                continue
            with one.told():
                reviewers[number, somebody.handle] = Reviewer(
                    issue=house.issues[number],
                    member=somebody if isinstance(somebody, Member) else None,
                    agent=None if isinstance(somebody, Member) else somebody,
                    verdict=Verdict(one.text("verdict")),
                )
    Reviewer.objects.bulk_create(reviewers.values(), batch_size=ROWS_AT_ONCE)


def _check_links(house: House, links: Mapping[int, Row], named: Mapping[int, list[int]], ring: str) -> None:
    """Every issue that is named is in the file, and none can be reached from itself."""
    for number, others in named.items():
        missing = [other for other in others if other not in house.issues]
        if missing:
            raise links[number].refused(f"it names the issue {missing[0]}, which is not in the file.")
    try:
        graphlib.TopologicalSorter(named).prepare()
    except graphlib.CycleError as error:
        raise links[error.args[1][0]].refused(f"the issue {ring}.") from None
