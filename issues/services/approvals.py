"""Questions to the board and their decisions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from issues import listeners
from issues.activity import record
from issues.actors import Actor, Person, Worker
from issues.effects import Wake, savepoint, service, wake
from issues.models import Approval, ApprovalKind, ApprovalStatus, Comment, Grant, InboxKind, Issue, Member
from issues.policies import Right, require, require_belonging
from issues.refusals import Conflict, Forbidden, Invalid, Refusal
from issues.services.approvals_pending import tell_ended
from issues.services.inbox import settle, tell_board, tell_responsible
from issues.services.locks import lock_company, lock_issue
from issues.services.policy import write_rule
from issues.sources import WakeupSource
from issues.texts import check_line, check_text

DECISIONS: Mapping[ApprovalKind, frozenset[ApprovalStatus]] = {
    ApprovalKind.REQUEST: frozenset({ApprovalStatus.APPROVED, ApprovalStatus.REFUSED, ApprovalStatus.SENT_BACK}),
    ApprovalKind.ACTION: frozenset({ApprovalStatus.APPROVED, ApprovalStatus.REFUSED, ApprovalStatus.SENT_BACK}),
    ApprovalKind.QUESTION: frozenset({ApprovalStatus.ANSWERED}),
}
"""How an approval of each kind can end, but for being cancelled."""


NOTE_BYTES = 10_000
"""A decision's note or an answer, in UTF-8."""


@dataclass(frozen=True, slots=True)
class Words:
    """An action as a person wrote it: what follows its verb, and its body where it has one."""

    args: str
    body: str = ""


@service
def request_approval(*, actor: Actor, issue: Issue, title: str, explanation: str = "") -> Approval:
    """Ask the board for a yes before something is done."""
    member = require(actor, Right.REQUEST_APPROVAL, issue)
    return _ask_board(actor, member, issue, ApprovalKind.REQUEST, title, explanation=explanation)


@service
def propose_action(
    *, actor: Worker, issue: Issue, title: str, payload: Mapping[str, Any], explanation: str
) -> Approval:
    """Ask the board for a yes to one exact action, which is carried out by that yes. Any agent may propose."""
    require_belonging(actor, issue.company)
    return _ask_board(actor, None, issue, ApprovalKind.ACTION, title, explanation=explanation, payload=payload)


@service
def ask_question(*, actor: Actor, issue: Issue, question: str, choices: Sequence[str] = ()) -> Approval:
    """Ask the issue's responsible person for a fact or a decision."""
    member = require(actor, Right.ASK, issue)
    lines = [check_line(choice, "choice", limit=200) for choice in choices]
    return _ask_board(actor, member, issue, ApprovalKind.QUESTION, question, choices=lines)


@service
def decide_approval(
    *,
    actor: Actor,
    approval: Approval,
    status: ApprovalStatus,
    note: str = "",
    shown_hash: str | None = None,
    always: bool = False,
    edited: Sequence[Words] | None = None,
) -> Approval:
    """Decide a pending approval once: of two who decide at the same time one gets Conflict, with the decision.

    `shown_hash` is the payload's hash as the person saw it; another one is refused, and so is an empty one, of somebody
    who was to say it. An approved action is carried out
    here, in the same transaction; when that is refused, the approval keeps the reason. `always` lets the agent do the
    like from now on without asking. The requester is woken.

    `edited` are the actions as the person wants them, in the order of those that were asked for: a new version of the
    payload, which keeps what was asked beside it, is hashed, approved and carried out as one.
    """
    if always:
        lock_company(approval.company)  # its policy changes
    issue = lock_issue(approval.issue)  # first, as everywhere: the action would take it anyway
    approval = (
        Approval.objects.select_for_update(of=("self",), no_key=True)
        .select_related("company", "requested_by_agent", "decided_by__user")
        .get(pk=approval.pk)
    )
    approval.issue = issue
    member = require(actor, Right.DECIDE, approval.issue)
    if member is None:
        raise Forbidden("Only a person decides.")
    _check_decision(approval, status, member, shown_hash)
    if edited is not None:
        _edit(approval, status, member, edited, always=always)
    approval.status = status
    approval.note = check_text(note, "note", limit=NOTE_BYTES, required=status is ApprovalStatus.ANSWERED)
    approval.decided_by = member
    approval.decided_at = timezone.now()
    approval.save(update_fields=["status", "note", "decided_by", "decided_at"])
    settle(approval=approval)
    record(actor, "approval.decided", approval.issue, approval=approval.pk, status=status)
    if approval.kind == ApprovalKind.ACTION and status is ApprovalStatus.APPROVED:
        _carry_out(approval, actor)
        if always:
            _allow_from_now_on(approval, actor, member)
    tell_ended(approval)
    _wake_requester(approval, actor)
    return approval


def answer_open_questions(actor: Person, issue: Issue, comment: Comment) -> None:
    """Let a person's comment answer what others asked on the issue."""
    asked = issue.approvals.filter(status=ApprovalStatus.PENDING, kind=ApprovalKind.QUESTION)
    answer = comment.body.encode()[:NOTE_BYTES].decode(errors="ignore")
    for question in asked.exclude(requested_by_member=comment.author_member).order_by("pk"):
        with suppress(Conflict), savepoint():  # somebody else's answer was first
            decide_approval(actor=actor, approval=question, status=ApprovalStatus.ANSWERED, note=answer)


def hash_payload(payload: Mapping[str, Any]) -> str:
    """SHA-256 of the payload in its canonical JSON form."""
    return hashlib.sha256(json.dumps(payload, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _ask_board(
    actor: Actor,
    member: Member | None,
    issue: Issue,
    kind: ApprovalKind,
    title: str,
    *,
    explanation: str = "",
    choices: Sequence[str] = (),
    payload: Mapping[str, Any] | None = None,
) -> Approval:
    issue = lock_issue(issue)  # else a person's closing at the same time would not cancel it
    if issue.is_closed:
        raise Conflict("The issue is closed.")
    approval = Approval.objects.create(
        company=issue.company,
        issue=issue,
        kind=kind,
        title=check_line(title, "title", limit=300),
        explanation=check_text(explanation, "explanation"),
        choices=list(choices),
        payload=dict(payload or {}),
        payload_hash=hash_payload(payload or {}),
        requested_by_member=member,
        requested_by_agent=actor.agent if isinstance(actor, Worker) else None,
        run=actor.run if isinstance(actor, Worker) else None,
    )
    record(actor, "approval.requested", issue, approval=approval.pk, about=kind)
    text = f"{issue.identifier}: {approval.title}"
    if kind is ApprovalKind.QUESTION:
        tell_responsible(InboxKind.APPROVAL, text, issue=issue, approval=approval)
    else:
        tell_board(InboxKind.APPROVAL, text, company=issue.company, issue=issue, approval=approval)
    return approval


def _check_decision(approval: Approval, status: ApprovalStatus, member: Member, shown_hash: str | None) -> None:
    if not approval.is_pending:
        raise Conflict(
            f"{approval.decided_by or 'Trimus'} has already decided: {approval.get_status_display().lower()}."
        )
    if status not in DECISIONS[ApprovalKind(approval.kind)]:
        raise Invalid(f"A {approval.get_kind_display().lower()} cannot be {status.label.lower()}.", field="status")
    if approval.requested_by_member_id == member.pk:
        raise Forbidden("Nobody approves their own request.")
    if shown_hash == "":
        raise Invalid("Say which payload was looked at.", "It is the approval's `payload_hash`.", field="payload_hash")
    actual = hash_payload(approval.payload)
    if actual != approval.payload_hash or (shown_hash is not None and shown_hash != actual):
        raise Conflict("What would be done has changed since it was shown.", "Look at it again.")


def _edit(approval: Approval, status: ApprovalStatus, member: Member, edited: Sequence[Words], *, always: bool) -> None:
    """Put the person's words in the place of the agent's. What they mean is read when they are carried out."""
    if approval.kind != ApprovalKind.ACTION or status is not ApprovalStatus.APPROVED:
        raise Invalid("Only an action that is approved can be edited.", field="edited")
    if always:
        raise Invalid("What was edited is allowed this once.", "Approve it as it was asked to allow the like for good.")
    asked = approval.payload["actions"]
    if len(edited) != len(asked):
        raise Invalid("Every action needs its words.", field="edited")
    actions = [
        {
            **action,
            "args": check_line(words.args, "words", limit=1_000) if words.args else "",
            "body": None if action["body"] is None else check_text(words.body, "body"),
            "values": None,
            "before": None,
        }
        for action, words in zip(asked, edited, strict=True)
    ]
    approval.payload = {**approval.payload, "actions": actions, "asked": asked, "edited_by": member.pk}
    approval.payload_hash = hash_payload(approval.payload)
    approval.save(update_fields=["payload", "payload_hash"])


def _carry_out(approval: Approval, actor: Actor) -> None:
    try:
        with savepoint():
            for carrier in listeners.approval_carriers:
                carrier(approval, actor)
    except Refusal as refusal:
        approval.failure = str(refusal)
        approval.save(update_fields=["failure"])
        tell_board(
            InboxKind.FAILURE,
            f"Approved, but could not be carried out: {approval.title}. {refusal}",
            company=approval.company,
            issue=approval.issue,
            approval=approval,
        )


def _allow_from_now_on(approval: Approval, actor: Actor, member: Member) -> None:
    """Let the requesting agent do what it had to ask for, wherever it would have to ask again."""
    permissions = {action["permission"] for action in approval.payload["actions"]}
    for permission in sorted(permissions - {""}):
        write_rule(
            actor,
            member,
            approval.company,
            permission,
            Grant.ALLOW,
            agent=approval.requested_by_agent,
            approval=approval,
        )


def _wake_requester(approval: Approval, actor: Actor) -> None:
    if approval.requested_by_agent_id is None:
        return
    outcome = ApprovalStatus(approval.status).label.lower()
    wake(
        Wake(
            agent_id=approval.requested_by_agent_id,
            issue=approval.issue,
            source=WakeupSource.APPROVAL_DECIDED,
            actor=actor,
            subject=str(approval.pk),
            approval=approval,
            note=approval.note,
            reason=f"{actor} {outcome} your {approval.get_kind_display().lower()} “{approval.title}”."
            + (" They edited it first." if "edited_by" in approval.payload else "")
            + (f" It could not be carried out: {approval.failure}" if approval.failure else ""),
        )
    )
