"""Making issues and changing them."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django.db.models import Max
from django.utils import timezone

from issues.activity import record
from issues.actors import Actor, Worker
from issues.effects import held_issues, mark_entered, service
from issues.flagging import secret_kinds
from issues.models import Company, Hook, InboxKind, Issue, Label, Member, Priority, Project, Status
from issues.policies import Right, require, require_belonging
from issues.quota import give_room_back
from issues.refusals import Conflict, Forbidden, Invalid, Stale
from issues.services.blockers import check_parent, link_blockers
from issues.services.clashes import UNSEEN, check_seen, clash_of, is_clash
from issues.services.inbox import answering_for, first_owner, tell_responsible
from issues.services.locks import lock_company, lock_issue, next_issue_number, save_issue
from issues.services.mentions import wake_mentioned
from issues.services.transitions import (
    ask_reviewers,
    check_nothing_waits,
    enter_status,
    read_closing,
    release_waiting,
    standing_reviewers,
)
from issues.texts import check_line, check_text

if TYPE_CHECKING:
    from agents.models import Agent

    Assignee = Agent | Member | None

TITLE_CHARACTERS = 300
RANK_GAP = 1_024
_TEXTS = ("title", "description")


class _Unchanged:
    """Stands for a field that an edit leaves alone, where None is a value."""


UNCHANGED: Any = _Unchanged()


@service
def create_issue(
    *,
    actor: Actor,
    company: Company,
    title: str,
    description: str = "",
    status: Status = Status.TODO,
    priority: Priority = Priority.NONE,
    project: Project | None = None,
    labels: Sequence[Label] = (),
    assignee: Assignee = None,
    responsible: Member | None = None,
    parent: Issue | None = None,
    blockers: Iterable[Issue] = (),
    due_date: datetime.date | None = None,
    hook: Hook | None = None,
    without: Collection[str] = (),
) -> Issue:
    """Open an issue under the company's next number. Open blockers make it `blocked`. `without` are handles that its
    description names and that are not to be called, `hook` is what opened it where no person or agent did.

    An agent opens issues under those that are its own or at hand, and says of them what it could set there: whoever
    asks for more is refused. Who answers for the issue: the person given or acting, else the parent's, else an owner.
    """
    require_belonging(actor, company)
    home = actor.home if isinstance(actor, Worker) else None
    member = require(actor, Right.CREATE_ISSUE, parent or home or company)
    blockers = list(blockers)
    if isinstance(actor, Worker):
        takes_it_on = assignee is None or assignee == actor.agent
        said = {
            Right.ASSIGN: not takes_it_on,
            Right.PRIORITY: priority is not Priority.NONE,
            Right.LABEL: bool(labels),
            Right.BLOCKED_BY: bool(blockers),
            Right.CLOSE if status.is_closed else Right.STATUS: status is not Status.TODO,
            Right.EDIT: responsible is not None or due_date is not None,
        }
        for right in (right for right, is_said in said.items() if is_said):
            require(actor, right, parent or home or company)
    _check_company(company, project, assignee, responsible, parent, *labels)
    issue = Issue(
        company=company,
        title=check_line(title, "title", limit=TITLE_CHARACTERS),
        description=check_text(description, "description"),
        status=status,
        priority=priority,
        project=project,
        parent=parent,
        due_date=due_date,
        responsible=responsible or member or _responsible_for(company, parent or home),
        created_by_member=member,
        created_by_agent=actor.agent if isinstance(actor, Worker) else None,
        created_by_hook=hook,
    )
    issue.secret_kinds = secret_kinds(issue.company, issue.title, issue.description)
    _set_assignee(issue, assignee)
    now = timezone.now()
    issue.status_changed_at = now
    issue.started_at = now if status is Status.IN_PROGRESS else None
    issue.closed_at = now if status.is_closed else None
    issue.number = next_issue_number(company)
    issue.rank = _last_rank(company, status) + RANK_GAP
    issue.save(force_insert=True)
    if labels:
        issue.labels.add(*labels)
    origin = ({"parent": parent.pk} if parent else {}) | ({"hook": hook.name} if hook is not None else {})
    record(actor, "issue.created", issue, **origin)
    if issue.is_workable:
        mark_entered(issue, actor, reason="The issue was opened and assigned to you.")
    link_blockers(issue, blockers, actor)
    if issue.status == Status.IN_REVIEW:
        ask_reviewers(issue, actor)
    if issue.description:
        wake_mentioned(actor, issue, issue.description, without=without)
    return issue


@service
def edit_issue(
    *,
    actor: Actor,
    issue: Issue,
    title: str = UNCHANGED,
    description: str = UNCHANGED,
    due_date: datetime.date | None = UNCHANGED,
    project: Project | None = UNCHANGED,
    responsible: Member = UNCHANGED,
    if_version: int | None = None,
    seen: Mapping[str, Any] = MappingProxyType({}),
    without: Collection[str] = (),
) -> Issue:
    """Change what the issue says. Whom a new description names is called, but for those `without`. Stale when it is no
    longer at `if_version`.

    `seen` are fields as the actor saw them: what they left so is not written, whatever it is now; Clash, and nothing
    is changed, where somebody else changed what they changed, too.
    """
    require(actor, Right.EDIT, issue)
    issue = lock_issue(issue)
    if if_version is not None and issue.version != if_version:
        raise Stale("Somebody changed the issue meanwhile.", "Look at it again, then decide.")
    wanted: dict[str, Any] = {}
    if title is not UNCHANGED:
        wanted["title"] = check_line(title, "title", limit=TITLE_CHARACTERS)
    if description is not UNCHANGED:
        wanted["description"] = check_text(description, "description")
    others = {"due_date": due_date, "project": project, "responsible": responsible}
    wanted |= {field: value for field, value in others.items() if value is not UNCHANGED}
    before = {field: check_text(value, field) if field in _TEXTS else value for field, value in seen.items()}
    wanted = {field: value for field, value in wanted.items() if value != before.get(field, UNSEEN)}
    clashing = [field for field in wanted if is_clash(before.get(field, UNSEEN), getattr(issue, field), wanted[field])]
    if clashing:
        raise clash_of(issue, clashing)
    _check_company(issue.company, wanted.get("project"), wanted.get("responsible"))
    changed = [field for field, value in wanted.items() if getattr(issue, field) != value]
    if not changed:
        return issue
    old_description = issue.description
    for field in changed:
        setattr(issue, field, wanted[field])
    issue.secret_kinds = secret_kinds(issue.company, issue.title, issue.description)
    save_issue(issue, *changed, "secret_kinds")
    record(actor, "issue.edited", issue, fields=changed)
    if "description" in changed:
        wake_mentioned(actor, issue, issue.description, already=old_description, without=without)
    return issue


@service
def set_status(*, actor: Actor, issue: Issue, status: Status, seen: Status = UNSEEN) -> Issue:
    """Move the issue to a status, with the effects that follow.

    An agent's `done` becomes `in_review` where reviewers are named; an agent cannot close over open children, a
    waiting request or question, nor call done what it left no word, file or finding on. Clash if it is no longer as
    `seen`.
    """
    issue = lock_issue(issue)
    check_seen(issue, "status", seen=seen, now=issue.status, wanted=status)
    closing = status.is_closed and not issue.is_closed
    require(actor, Right.CLOSE if closing else Right.STATUS, issue)
    if isinstance(actor, Worker) and closing:
        facts = read_closing(issue, actor.agent)
        check_nothing_waits(facts)
        if status is Status.DONE and not facts.left_evidence:
            raise Forbidden("Nothing here says what was done.", "Write what you did, then set it done.")
        if status is Status.DONE and facts.has_reviewers and standing_reviewers(issue):
            status = Status.IN_REVIEW
    enter_status(issue, status, actor)
    if status is Status.BLOCKED and isinstance(actor, Worker) and not issue.blocker_links.open().exists():
        tell_responsible(
            InboxKind.BLOCKED,
            f"Say how {issue.identifier} goes on: it is blocked, and no issue is named as its blocker.",
            issue=issue,
        )
    return issue


@service
def assign_issue(*, actor: Actor, issue: Issue, assignee: Assignee, seen: Assignee = UNSEEN) -> Issue:
    """Hand the issue to an agent or member, or to nobody. An agent is woken if there is work to do. Clash if it is no
    longer with whom it was `seen`."""
    issue = lock_issue(issue)
    now = issue.assignee_agent or issue.assignee_member
    check_seen(issue, "assignee", seen=seen, now=now, wanted=assignee)
    require(actor, Right.ASSIGN, issue)
    _check_company(issue.company, assignee)
    before = (issue.assignee_agent, issue.assignee_member)
    _set_assignee(issue, assignee)
    if (issue.assignee_agent, issue.assignee_member) == before:
        return issue
    save_issue(issue, "assignee_agent", "assignee_member")
    record(
        actor,
        "issue.assigned",
        issue,
        **{"from": refer_assignee(*before), "to": refer_assignee(issue.assignee_agent, issue.assignee_member)},
    )
    if issue.is_workable:
        mark_entered(issue, actor, reason=f"{actor} assigned the issue to you.")
    return issue


@service
def set_priority(*, actor: Actor, issue: Issue, priority: Priority, seen: Priority = UNSEEN) -> Issue:
    """Clash if it is no longer as `seen`."""
    issue = lock_issue(issue)
    check_seen(issue, "priority", seen=seen, now=issue.priority, wanted=priority)
    require(actor, Right.PRIORITY, issue)
    if issue.priority == priority:
        return issue
    before = Priority(issue.priority)
    issue.priority = priority
    save_issue(issue, "priority")
    record(actor, "issue.priority", issue, **{"from": before.slug, "to": priority.slug})
    return issue


@service
def set_parent(*, actor: Actor, issue: Issue, parent: Issue | None, seen: Issue | None = UNSEEN) -> Issue:
    """Hang the issue under another, or at the top. A cycle is refused. Clash if it is no longer where it was `seen`."""
    require(actor, Right.EDIT, issue)
    lock_company(issue.company)  # two moves at once could close a ring that neither sees
    issue = lock_issue(issue)
    check_seen(issue, "parent", seen=seen, now=issue.parent, wanted=parent)
    if issue.parent_id == (parent.pk if parent else None):
        return issue
    if parent is not None:
        _check_company(issue.company, parent)
        check_parent(issue, parent)
    before = issue.parent_id
    issue.parent = parent
    save_issue(issue, "parent")
    record(actor, "issue.parent", issue, **{"from": before, "to": issue.parent_id})
    return issue


@service
def delete_issue(*, actor: Actor, issue: Issue) -> None:
    """Delete the issue with what stands on it. Its activity and the figures of its runs stay; what waited for it
    waits no longer. Refused while a run is at work on it. Owners only."""
    require(actor, Right.MANAGE_COMPANY, issue)
    issue = lock_issue(issue)
    if issue.runs.live().exists():
        raise Conflict("An agent is at work on this issue.", "Cancel its run first.")
    # A closed issue blocks nothing: what is blocked beside it is so for another reason.
    waiting = [] if issue.is_closed else list(issue.blocking_links.values_list("issue_id", flat=True))
    record(actor, "issue.deleted", issue, number=issue.number)
    issue.blocking_links.all().delete()
    release_waiting(issue, actor, waiting)
    give_room_back(issue)
    issue.delete()
    held_issues().clear()  # what hung under it hangs at the top now


def _responsible_for(company: Company, inherited: Issue | None) -> Member:
    return answering_for(inherited) if inherited is not None else first_owner(company)


def _set_assignee(issue: Issue, assignee: Assignee) -> None:
    issue.assignee_member = assignee if isinstance(assignee, Member) else None
    issue.assignee_agent = None if assignee is None or isinstance(assignee, Member) else assignee


def _check_company(company: Company, *things: Any) -> None:
    """Refuse what belongs to another company, and people and agents who have left."""
    for thing in things:
        if thing is None:
            continue
        if thing.company_id != company.pk:
            raise Invalid("That belongs to another company.")
        if not getattr(thing, "is_present", True):
            raise Invalid(f"@{thing.handle} is no longer here.", field="assignee")


def _last_rank(company: Company, status: Status) -> int:
    last: int | None = company.issues.filter(status=status).aggregate(last=Max("rank"))["last"]
    return last or 0


def refer_assignee(agent: Agent | None, member: Member | None) -> dict[str, int] | None:
    """How activity refers to an assignee."""
    if agent is not None:
        return {"agent": agent.pk}
    return {"member": member.pk} if member is not None else None
