"""Who may do what: one pure function over a table, and the one place where services ask it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from issues.actors import Actor, Person, Worker
from issues.models import Company, Issue, Member, Role
from issues.refusals import Forbidden, NeedsApproval, NotFound


class Right(enum.StrEnum):
    """What can be asked for. Rights that a verb uses carry the verb's name."""

    READ = "read"
    STATUS = "status"
    CLOSE = "close"
    ASSIGN = "assign"
    PRIORITY = "priority"
    LABEL = "label"
    UNLABEL = "unlabel"
    BLOCKED_BY = "blocked-by"
    UNBLOCK = "unblock"
    CREATE_ISSUE = "create-issue"
    COMMENT = "comment-on"
    REQUEST_APPROVAL = "request-approval"
    ASK = "ask"
    REVIEW = "review"
    USE_SKILL = "use-skill"
    WRITE_FILE = "write-file"
    RECORD_FINDING = "record-finding"
    PASS = "pass"  # noqa: S105 - a verb, no password
    INSTALL_SKILL = "install-skill"
    INSTALL_AGENT = "install-agent"
    INSTALL_ROUTINE = "install-routine"
    TERMINATE = "terminate"
    EDIT = "edit"
    PIN = "pin"
    RUN = "run"
    DECIDE = "decide"
    MANAGE_WORK = "manage-work"
    MANAGE_AGENTS = "manage-agents"
    MANAGE_COMPANY = "manage-company"


class Grant(enum.StrEnum):
    ALLOW = "allow"
    APPROVAL = "approval"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Decision:
    grant: Grant
    reason: str = ""


class Relation(enum.StrEnum):
    """How an issue stands to the agent that acts on it."""

    OWN = "own"  # assigned to it, or unassigned and it was woken there
    CHILD = "child"  # a direct child of an own issue
    AT_HAND = "at hand"  # woken there, but the work is somebody else's
    REPORT = "a report's"  # assigned to an agent that reports to it
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class PersonStanding:
    role: Role


@dataclass(frozen=True, slots=True)
class AgentStanding:
    """`begun_by` is the role of the person whose act began the chain, if a person did; `at_hand` is set where the
    agent's run is on the issue itself or on its parent."""

    preset: str
    relation: Relation
    at_hand: bool = False
    begun_by: Role | None = None


Standing = PersonStanding | AgentStanding

_ALLOW = Decision(Grant.ALLOW)

_BOARD_RIGHTS = frozenset(Right) - {Right.MANAGE_COMPANY}
_ROLE_RIGHTS: dict[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.BOARD: _BOARD_RIGHTS,
    Role.OWNER: frozenset(Right),
}

_MOVES_WORK = frozenset({Right.STATUS, Right.CLOSE, Right.ASSIGN, Right.PRIORITY, Right.BLOCKED_BY, Right.UNBLOCK})
_ADDS_TO_WORK = frozenset(
    {
        Right.READ,
        Right.LABEL,
        Right.UNLABEL,
        Right.CREATE_ISSUE,
        Right.COMMENT,
        Right.REQUEST_APPROVAL,
        Right.ASK,
        Right.REVIEW,
        Right.USE_SKILL,
        Right.WRITE_FILE,
        Right.RECORD_FINDING,
        Right.PASS,
    }
)
_BOARD_DECIDES = frozenset({Right.INSTALL_SKILL, Right.INSTALL_AGENT, Right.INSTALL_ROUTINE})
_MANAGER_MAY = frozenset({Right.ASSIGN, Right.PRIORITY})
_TRUSTED_MANAGER_MAY = frozenset({Right.CLOSE, Right.STATUS})
_PROBATION_ASKS = frozenset({Right.CLOSE, Right.ASSIGN, Right.CREATE_ISSUE})


def authorise(right: Right, standing: Standing) -> Decision:
    """Whether one with this standing may use the right: allow, ask the board first, or deny. Pure."""
    if isinstance(standing, PersonStanding):
        if right in _ROLE_RIGHTS[standing.role]:
            return _ALLOW
        return Decision(Grant.DENY, f"A {standing.role.label.lower()} may not do this.")
    if standing.begun_by is Role.VIEWER and right is not Right.READ:
        return Decision(Grant.DENY, "The person who began this chain of runs may not do this.")
    decision = _authorise_agent(right, standing)
    if decision.grant is Grant.ALLOW and standing.preset == "probation" and right in _PROBATION_ASKS:
        return Decision(Grant.APPROVAL, "An agent on probation asks the board before this.")
    return decision


def _authorise_agent(right: Right, standing: AgentStanding) -> Decision:
    if right is Right.TERMINATE:
        return _ALLOW
    if right in _BOARD_DECIDES:
        return Decision(Grant.APPROVAL, "Skills, agents and routines are installed by the board's yes.")
    if right not in _MOVES_WORK and right not in _ADDS_TO_WORK:
        return Decision(Grant.DENY, "Agents may not do this.")
    if standing.relation in (Relation.OWN, Relation.CHILD):
        return _ALLOW
    if standing.relation is Relation.REPORT and right in _MANAGER_MAY:
        return _ALLOW
    if standing.relation is Relation.REPORT and standing.preset == "trusted" and right in _TRUSTED_MANAGER_MAY:
        return _ALLOW
    if right is Right.COMMENT:
        return _ALLOW
    if standing.at_hand:
        if right in _ADDS_TO_WORK:
            return _ALLOW
        return Decision(Grant.APPROVAL, "The issue is not assigned to this agent, so the board is asked.")
    if right in (Right.CLOSE, Right.ASSIGN):
        return Decision(Grant.APPROVAL, "Closing or reassigning an issue elsewhere needs the board.")
    return Decision(Grant.DENY, "The issue is neither this agent's own nor one of its children.")


def require(actor: Actor, right: Right, target: Issue | Company) -> Member | None:
    """Raise unless the actor may use the right on the target; answer the acting member, if a person acts.

    NotFound for another company's things, Forbidden when denied, NeedsApproval when the board must be asked first.
    """
    member = require_belonging(actor, target.company if isinstance(target, Issue) else target)
    if member is not None:
        _obey(authorise(right, PersonStanding(Role(member.role))))
    elif isinstance(actor, Worker):
        decision = authorise(right, agent_standing(actor, target if isinstance(target, Issue) else None))
        if decision.grant is not Grant.APPROVAL or not actor.approved:
            _obey(decision)
    return member


def require_belonging(actor: Actor, company: Company) -> Member | None:
    """Raise NotFound unless the actor belongs to the company; answer the acting member, if a person acts."""
    if isinstance(actor, Person):
        member = actor.member_in(company)
        if member is None:
            raise NotFound("There is no such company.")
        return member
    if isinstance(actor, Worker) and actor.agent.company_id != company.pk:
        raise NotFound("There is no such issue.")
    return None


def _obey(decision: Decision) -> None:
    if decision.grant is Grant.APPROVAL:
        raise NeedsApproval(decision.reason)
    if decision.grant is Grant.DENY:
        raise Forbidden(decision.reason)


def agent_standing(actor: Worker, issue: Issue | None) -> AgentStanding:
    """The agent's standing to the issue, from its run and the reporting line."""
    begun_by = None
    if actor.begun_by is not None:
        begun_by = Role.VIEWER if actor.begun_by.removed_at is not None else Role(actor.begun_by.role)
    at_hand = issue is not None and actor.home is not None and actor.home.pk in (issue.pk, issue.parent_id)
    return AgentStanding(
        preset=actor.agent.policy, relation=_relation(actor, issue), at_hand=at_hand, begun_by=begun_by
    )


def _relation(actor: Worker, issue: Issue | None) -> Relation:
    if issue is None:
        return Relation.OTHER
    if _is_own(actor, issue):
        return Relation.OWN
    if issue.parent is not None and _is_own(actor, issue.parent):
        return Relation.CHILD
    if issue.assignee_agent is not None and issue.assignee_agent.manager_id == actor.agent.pk:
        return Relation.REPORT
    if actor.home is not None and actor.home.pk == issue.pk:
        return Relation.AT_HAND
    return Relation.OTHER


def _is_own(actor: Worker, issue: Issue) -> bool:
    if issue.assignee_agent_id == actor.agent.pk:
        return True
    woken_there = actor.home is not None and actor.home.pk == issue.pk
    return woken_there and issue.assignee_agent_id is None and issue.assignee_member_id is None
