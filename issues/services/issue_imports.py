"""Bringing issues from another tracker into a company."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from issues.activity import record
from issues.actors import Actor, Person
from issues.directory import Directory
from issues.effects import quietly, service
from issues.flagging import secret_kinds
from issues.models import Comment, Company, ImportedIssue, Issue, Label, Member
from issues.policies import Right, require
from issues.refusals import Forbidden, Invalid, Refusal
from issues.services.files import ATTACHMENT_BYTES, attach_file
from issues.services.issues import TITLE_CHARACTERS, create_issue
from issues.services.locks import lock_company
from issues.services.projects import create_label
from issues.texts import TEXT_BYTES, check_line, check_text, fold
from issues.trackers.draft import Draft, Saying

if TYPE_CHECKING:
    from agents.models import Agent

    Somebody = Agent | Member

AT_ONCE = 50
"""Issues brought in one transaction: others write in between."""

_SAME_DAY = datetime.timedelta(hours=26)
"""Between all time zones: a table names none, and is written in that of whoever exports."""


@dataclass(slots=True)
class Plan:
    """What an import would do. Nothing was changed for it."""

    new: list[Draft] = field(default_factory=list)
    known: int = 0  # brought here before
    labels: list[str] = field(default_factory=list)  # to be made
    nobody: list[str] = field(default_factory=list)  # assignees who are nobody here
    orphans: int = 0  # issues whose parent is neither here nor in the file, or hangs under them itself
    bad: list[tuple[int, str]] = field(default_factory=list)  # lines that cannot be issues here, with the reason


@dataclass(frozen=True, slots=True)
class _Text:
    """What is written here for a text from there."""

    body: str
    file: str = ""  # that holds the whole of it, where the body does not
    whole: str = ""


@dataclass(slots=True)
class Brought:
    """What an import did."""

    issues: int = 0
    comments: int = 0


def plan_import(*, actor: Actor, company: Company, drafts: Iterable[Draft]) -> Plan:
    """Look at every draft without changing anything."""
    require(actor, Right.MANAGE_WORK, company)
    plan = Plan()
    known = _known(company)
    labels = {fold(name) for name in company.labels.values_list("name", flat=True)}
    staff = _Staff(company)
    placed = {source for source, row in known.items() if row.issue is not None}
    sources: set[str] = set()
    for draft in drafts:
        if draft.source in sources:
            plan.bad.append((draft.line, f"{draft.place} stands in the file twice."))
        elif draft.source in known:
            if (why := _why_another(draft, known[draft.source])) is not None:
                plan.bad.append((draft.line, why))
            else:
                plan.known += 1
        elif (why := _why_bad(draft)) is not None:
            plan.bad.append((draft.line, why))
        else:
            plan.new.append(draft)
        sources.add(draft.source)
    plan.new = _parents_first(plan.new)
    for draft in plan.new:
        wanted = [name for name in map(_label_name, draft.labels) if fold(name) not in labels]
        labels.update(map(fold, wanted))
        plan.labels += wanted
        if draft.assignees and staff.first(draft.assignees) is None and draft.assignees[0] not in plan.nobody:
            plan.nobody.append(draft.assignees[0])
        plan.orphans += bool(draft.parent) and draft.parent not in placed
        placed.add(draft.source)
    return plan


def _known(company: Company) -> dict[str, ImportedIssue]:
    """What was brought here before, by its source."""
    rows = ImportedIssue.objects.filter(company=company).select_related("issue__company")
    fields = ("source", "imported_at", "issue__number", "issue__created_at", "issue__company__key")
    return {row.source: row for row in rows.only(*fields)}


def _why_another(draft: Draft, known: ImportedIssue) -> str | None:
    """Why it is not the issue that is known by its source: of two sites each can have a PROJ-1."""
    here, created_at = known.issue, draft.created_at
    if here is None or created_at is None or abs(created_at - here.created_at) < _SAME_DAY:
        return None
    if known.imported_at - here.created_at < _SAME_DAY:  # nothing was known of it then, or what could not be
        return None
    return (
        f"{draft.place} came before, as {here.identifier}, and was opened there on {here.created_at:%Y-%m-%d}. If this"
        " file is of another site, name that with --site; else leave the line out."
    )


def import_issues(
    *,
    actor: Actor,
    company: Company,
    drafts: Iterable[Draft],
    progress: Callable[[int], object] = lambda _count: None,
) -> Brought:
    """Bring the drafts here that were not brought before, in their order: title, description, status, priority, labels,
    assignee, comments, dates and parent. Nobody is woken or told, and nobody follows them.

    Some at a time, each of them whole or not at all: whoever begins again after a failure goes on where it ended.
    Invalid, with the line, for the first that cannot be an issue here; before anything was changed.
    """
    plan = plan_import(actor=actor, company=company, drafts=drafts)
    if plan.bad:
        line, why = plan.bad[0]
        raise Invalid(f"Line {line}: {why}")
    brought = Brought()
    for start in range(0, len(plan.new), AT_ONCE):
        issues, comments = bring_issues(actor=actor, company=company, drafts=plan.new[start : start + AT_ONCE])
        brought.issues += issues
        brought.comments += comments
        progress(start + AT_ONCE)
    return brought


@service
def bring_issues(*, actor: Actor, company: Company, drafts: Sequence[Draft]) -> tuple[int, int]:
    """Make the issues of some drafts. How many issues and comments; what somebody else has brought meanwhile is left
    out."""
    member = require(actor, Right.MANAGE_WORK, company)
    if member is None or not isinstance(actor, Person):
        raise Forbidden("Only people bring issues from elsewhere.")
    company = lock_company(company)
    here = _brought(company, drafts)
    staff, labels = _Staff(company), _Labels(actor, company)
    made = comments = 0
    with quietly(telling=False):
        for draft in drafts:
            if draft.source in here:
                continue
            issue = here[draft.source] = _make(actor, company, draft, here.get(draft.parent), staff, labels)
            comments += _add_comments(actor, member, issue, draft)
            ImportedIssue.objects.create(company=company, source=draft.source, issue=issue)
            made += 1
        if made:
            record(actor, "issue.imported", company, count=made)
    return made, comments


def _brought(company: Company, drafts: Iterable[Draft]) -> dict[str, Issue | None]:
    """Of the drafts and their parents those that were brought before, by their sources; None for a deleted one."""
    sources = {source for draft in drafts for source in (draft.source, draft.parent)}
    rows = ImportedIssue.objects.filter(company=company, source__in=sources)
    return {row.source: row.issue for row in rows.select_related("issue__company")}


def _make(actor: Person, company: Company, draft: Draft, parent: Issue | None, staff: _Staff, labels: _Labels) -> Issue:
    """The issue with its own dates."""
    text = _description(draft)
    issue = create_issue(
        actor=actor,
        company=company,
        title=draft.title,
        description=text.body,
        status=draft.status,
        priority=draft.priority,
        labels=labels.every(draft),
        assignee=staff.first(draft.assignees),
        parent=parent,
        due_date=draft.due_date,
        without=staff.handles,
    )
    _attach_whole(actor, issue, text)
    created_at = _by_now(draft.created_at, issue)
    closed_at = max(draft.closed_at or created_at, created_at) if draft.status.is_closed else None
    Issue.objects.filter(pk=issue.pk).update(
        created_at=created_at,
        closed_at=closed_at,
        status_changed_at=closed_at or issue.status_changed_at,
    )
    return issue


def _by_now(moment: datetime.datetime | None, issue: Issue) -> datetime.datetime:
    """What is said to have been later than now is now: nothing from elsewhere is younger than its issue is here."""
    return min(moment or issue.created_at, issue.created_at)


def _attach_whole(actor: Actor, issue: Issue, text: _Text) -> None:
    if text.file:
        attach_file(actor=actor, issue=issue, name=text.file, content=text.whole.encode())


def _add_comments(actor: Actor, member: Member, issue: Issue, draft: Draft) -> int:
    """In the name of whoever brings them, who says whose they are: nobody here speaks through a file."""
    comments = []
    for number, said in enumerate(draft.comments, 1):
        text = _said(said, number)
        if text is None:
            continue
        _attach_whole(actor, issue, text)
        comment = Comment.objects.create(
            issue=issue, author_member=member, body=text.body, secret_kinds=secret_kinds(issue.company, text.body)
        )
        comment.created_at = _by_now(said.said_at, issue)
        comments.append(comment)
    Comment.objects.bulk_update(comments, ["created_at"])
    return len(comments)


def _parents_first(drafts: Sequence[Draft]) -> list[Draft]:
    """In their order, but each after its parent; of a ring one comes first."""
    by_source = {draft.source: draft for draft in drafts}
    placed: dict[str, Draft] = {}
    for draft in drafts:
        above: dict[str, Draft] = {}
        one: Draft | None = draft
        while one is not None and one.source not in placed and one.source not in above:
            above[one.source] = one
            one = by_source.get(one.parent)
        placed |= reversed(above.items())
    return list(placed.values())


def _why_bad(draft: Draft) -> str | None:
    try:
        check_line(draft.title, "title", limit=TITLE_CHARACTERS)
        check_text(draft.description, "description", limit=ATTACHMENT_BYTES)
        check_line(draft.source, "identifier", limit=300)
        check_line(draft.parent, "parent", limit=300, required=False)
        for author in (draft.author, *(said.author for said in draft.comments)):
            check_line(author, "author", limit=300, required=False)
        for said in draft.comments:
            check_text(said.body, "comment", limit=ATTACHMENT_BYTES)
        for name in draft.labels:
            check_line(_label_name(name), "label", limit=60)
    except Refusal as refusal:
        return str(refusal)
    return None


def _description(draft: Draft) -> _Text:
    """With where it is from, as a last line."""
    opened = f", opened there by {draft.author}" if draft.author else ""
    return _fit(draft.description, "description.md", after=f"\n\n---\n\nBrought from {draft.place}{opened}.")


def _said(said: Saying, number: int) -> _Text | None:
    """With whose it is, as a first line."""
    if not said.body.strip():
        return None
    when = f" on {said.said_at:%Y-%m-%d}" if said.said_at is not None else ""
    return _fit(said.body, f"comment-{number}.md", before=f"*{said.author or 'Somebody'} wrote{when}:*\n\n")


def _fit(text: str, file: str, *, before: str = "", after: str = "") -> _Text:
    """Other trackers hold longer texts than this one: such are cut, and stand whole in a file."""
    text = text.rstrip()
    room = TEXT_BYTES - len(f"{before}{after}".encode())
    if len(text.encode()) <= room:
        return _Text(f"{before}{text}{after}".lstrip())
    cut = f"\n\n… *It is longer: the whole text is attached as {file}.*"
    beginning = text.encode()[: room - len(cut.encode())].decode(errors="ignore")
    return _Text(f"{before}{beginning}{cut}{after}".lstrip(), file, text)


def _label_name(name: str) -> str:
    return " ".join(name.replace(",", ";").split())


class _Staff:
    """Who in the company is meant by a name, a handle or an address of elsewhere."""

    def __init__(self, company: Company) -> None:
        self._directory = Directory(company)
        self.handles = frozenset(one.handle for one in self._directory.everybody)
        people = (one for one in self._directory.everybody if isinstance(one, Member))
        self._by_address = {fold(one.user.email): one for one in people if one.user.email}

    def first(self, names: Iterable[str]) -> Somebody | None:
        found = (self._directory.get(name) or self._by_address.get(fold(name)) for name in names)
        return next((one for one in found if one is not None), None)


class _Labels:
    """The company's labels, made where there is none of that name."""

    def __init__(self, actor: Actor, company: Company) -> None:
        self._actor, self._company = actor, company
        self._by_name: dict[str, Label] = {fold(label.name): label for label in company.labels.all()}

    def every(self, draft: Draft) -> list[Label]:
        return list(dict.fromkeys(self._get(_label_name(name), draft.colours.get(name)) for name in draft.labels))

    def _get(self, name: str, colour: str | None) -> Label:
        found = self._by_name.get(fold(name))
        if found is None:
            about = {"colour": colour} if colour else {}
            found = self._by_name[fold(name)] = create_label(
                actor=self._actor, company=self._company, name=name, **about
            )
        return found
