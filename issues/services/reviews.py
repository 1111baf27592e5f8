"""Reviews: who judges an issue, and the verdicts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from django.utils import timezone

from issues.activity import record
from issues.actors import Actor, Person, Worker
from issues.effects import mark_entered, service
from issues.models import Activity, InboxItem, InboxKind, Issue, Member, Reviewer, Status, Verdict
from issues.policies import Right, require
from issues.refusals import Conflict, Forbidden, Invalid
from issues.services.inbox import settle_issue, tell_responsible
from issues.services.locks import lock_issue, save_issue
from issues.services.transitions import (
    ask_reviewers,
    call_reviewers,
    check_nothing_waits,
    enter_status,
    outstanding_reviewers,
    read_closing,
    standing_reviewers,
)
from issues.sources import SENT_BACK
from issues.texts import check_text

if TYPE_CHECKING:
    from agents.models import Agent

SEND_BACKS_BEFORE_STOP = 3
"""After so many rounds sent back the responsible person is asked instead of the agent."""


@service
def set_reviewers(*, actor: Actor, issue: Issue, reviewers: Sequence[Agent | Member]) -> Issue:
    """Name exactly these as reviewers. Verdicts already given by those who stay are kept; an issue in review calls
    those who are new, and wants nothing more of those who are not named again."""
    require(actor, Right.EDIT, issue)
    issue = lock_issue(issue)
    for one in reviewers:
        if one.company_id != issue.company_id:
            raise Invalid("A reviewer of another company cannot be named.", field="reviewers")
        if not one.is_present:
            raise Invalid(f"@{one.handle} is no longer here.", field="reviewers")
        if isinstance(one, Member) and not one.is_judging:
            raise Invalid(f"@{one.handle} is a viewer, who judges nothing.", field="reviewers")
    members = {one.pk for one in reviewers if isinstance(one, Member)}
    agents = {one.pk for one in reviewers if not isinstance(one, Member)}
    present = list(issue.reviewers.all())
    gone = [row for row in present if row.member_id not in members and row.agent_id not in agents]
    issue.reviewers.filter(pk__in=[row.pk for row in gone]).delete()
    new_members = members - {row.member_id for row in present}
    new_agents = agents - {row.agent_id for row in present}
    Reviewer.objects.bulk_create(
        [Reviewer(issue=issue, member_id=pk) for pk in sorted(new_members)]
        + [Reviewer(issue=issue, agent_id=pk) for pk in sorted(new_agents)]
    )
    if gone or new_members or new_agents:
        save_issue(issue)
        record(actor, "issue.reviewers", issue, members=sorted(members), agents=sorted(agents))
        if issue.status == Status.IN_REVIEW:
            _call_anew(issue, actor, {row.pk for row in present})
    return issue


@service
def give_verdict(*, actor: Actor, issue: Issue, verdict: Verdict, note: str = "") -> Issue:
    """Accept the work in review, or send it back.

    The last outstanding accept sets the issue `done`; a send-back sets it `in_progress`, the third one `blocked`,
    and then the responsible person is asked. Nobody judges their own work; no agent's accept closes over open child
    issues or a waiting request or question.
    """
    issue = lock_issue(issue)
    require(actor, Right.REVIEW, issue)
    if issue.status != Status.IN_REVIEW:
        raise Conflict("The issue is not in review.")
    note = check_text(note, "note", limit=10_000)
    reviewer = _reviewer_of(actor, issue)
    if reviewer is not None:
        reviewer.verdict, reviewer.note, reviewer.decided_at = verdict, note, timezone.now()
        reviewer.save(update_fields=["verdict", "note", "decided_at"])
        if reviewer.member is not None:
            settle_issue(issue, InboxKind.REVIEW, member=reviewer.member)
    record(actor, "issue.reviewed", issue, verdict=verdict)
    if verdict == Verdict.SEND_BACK:
        _send_back(issue, actor)
    elif not outstanding_reviewers(issue):
        if isinstance(actor, Worker):
            check_nothing_waits(read_closing(issue, actor.agent))
        enter_status(issue, Status.DONE, actor)
    return issue


def _call_anew(issue: Issue, actor: Actor, before: Collection[int]) -> None:
    """Of an issue in review, call the reviewers who were not there before, and let nobody else judge it."""
    standing = standing_reviewers(issue)
    judges = {row.member_id for row in standing if row.verdict == Verdict.OUTSTANDING}
    InboxItem.objects.filter(issue=issue, kind=InboxKind.REVIEW, archived_at=None).exclude(
        member__in=judges - {None}
    ).update(archived_at=timezone.now())
    if standing:
        call_reviewers(issue, actor, [row for row in standing if row.pk not in before])
    else:
        ask_reviewers(issue, actor)


def _reviewer_of(actor: Actor, issue: Issue) -> Reviewer | None:
    """The actor's row. A person without one may judge as the responsible person when no reviewer is named."""
    rows = standing_reviewers(issue)
    if isinstance(actor, Worker):
        if issue.assignee_agent_id == actor.agent.pk:
            raise Forbidden("Nobody reviews their own work.")
        mine = next((row for row in rows if row.agent_id == actor.agent.pk), None)
    else:
        member = actor.member_in(issue.company) if isinstance(actor, Person) else None
        mine = next((row for row in rows if member is not None and row.member_id == member.pk), None)
        if mine is None and not rows:
            return None
    if mine is None:
        raise Forbidden("Only a named reviewer can judge this issue.")
    return mine


def _send_back(issue: Issue, actor: Actor) -> None:
    rounds = Activity.objects.filter(issue=issue, kind="issue.reviewed", data__verdict=Verdict.SEND_BACK).count()
    if rounds % SEND_BACKS_BEFORE_STOP:
        enter_status(issue, Status.IN_PROGRESS, actor)
        mark_entered(issue, actor, reason=f"{actor} sent your work back.", subject=SENT_BACK)
        return
    enter_status(issue, Status.BLOCKED, actor, sent_back=rounds)
    tell_responsible(
        InboxKind.STOPPED, f"Say how {issue.identifier} goes on: it was sent back {rounds} times.", issue=issue
    )
