"""Who may do what: one pure function over a table, and the one place where services ask it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from issues.actors import Actor, Person, Worker
from issues.models import Company, Grant, Issue, Member, Role
from issues.refusals import Forbidden, NeedsApproval, NotFound
from issues.rights import Permission, Reach, Right

__all__ = [
    "AgentStanding",
    "Decision",
    "Grant",
    "PersonStanding",
    "Relation",
    "Right",
    "agent_standing",
    "authorise",
    "require",
    "require_belonging",
]


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
    """`at_hand` is set where the agent's run is on the issue itself or on its parent, `begun_by` is the role of the
    person whose act began the chain, if a person did. `grants` are what the company has decided for this agent
    otherwise than its preset, by permission."""

    preset: str
    relation: Relation
    at_hand: bool = False
    begun_by: Role | None = None
    grants: Mapping[str, Grant] = field(default_factory=dict)


Standing = PersonStanding | AgentStanding

_ALLOW = Decision(Grant.ALLOW)
_OWNERS_ALONE = frozenset({Right.MANAGE_COMPANY})
_MANAGER_MAY = frozenset({Right.ASSIGN, Right.PRIORITY})
_TRUSTED_MANAGER_MAY = frozenset({Right.CLOSE, Right.STATUS})
_PROBATION_ASKS = frozenset({Right.CLOSE, Right.ASSIGN, Right.CREATE_ISSUE})
_STRICTNESS = (Grant.ALLOW, Grant.APPROVAL, Grant.DENY)


def authorise(right: Permission, standing: Standing) -> Decision:
    """Whether one with this standing may use the right: allow, ask the board first, or deny. Pure.

    The company's own grants move what the preset allows or asks for. They open nothing beyond an agent's reach: no rule
    lets it touch what even the board's yes could not.
    """
    if isinstance(standing, PersonStanding):
        if _person_may(right, standing.role):
            return _ALLOW
        return Decision(
            Grant.DENY, f"A {standing.role.label.lower()} may not do this. An owner may, and can change roles."
        )
    if standing.begun_by is not None and not _person_may(right, standing.begun_by):
        return Decision(Grant.DENY, "The person who began this chain of runs may not do this.")
    decision = _by_reach(right, standing)
    if decision.grant is Grant.DENY:
        return decision
    if decision.grant is Grant.ALLOW and standing.preset == "probation" and right in _PROBATION_ASKS:
        decision = Decision(Grant.APPROVAL, "An agent on probation asks the board before this.")
    return _moved(decision, _granted(right, standing.grants))


def _person_may(right: Permission, role: Role) -> bool:
    if right == Right.READ:
        return True
    return role is not Role.VIEWER and (role is Role.OWNER or right not in _OWNERS_ALONE)


def _by_reach(right: Permission, standing: AgentStanding) -> Decision:
    """What the preset `standard` says, and `trusted` where it says more."""
    relation = standing.relation
    if right.reach is Reach.NOWHERE:
        return Decision(Grant.DENY, "Agents may not do this.")
    if right.reach is Reach.BOARD:
        return Decision(Grant.APPROVAL, "Skills, agents and routines are installed by the board's yes.")
    if right.reach is Reach.COMPANY or relation in (Relation.OWN, Relation.CHILD):
        return _ALLOW
    if relation is Relation.REPORT and right in _MANAGER_MAY:
        return _ALLOW
    if relation is Relation.REPORT and standing.preset == "trusted" and right in _TRUSTED_MANAGER_MAY:
        return _ALLOW
    if standing.at_hand and right.reach is Reach.AT_HAND:
        return _ALLOW
    if standing.at_hand:
        return Decision(Grant.APPROVAL, "The issue is not assigned to this agent, so the board is asked.")
    if right.reach is Reach.OWN_OR_ASK:
        return Decision(Grant.APPROVAL, "Closing or reassigning an issue elsewhere needs the board.")
    return Decision(Grant.DENY, "The issue is neither this agent's own nor one of its children.")


def _granted(right: Permission, grants: Mapping[str, Grant]) -> Grant | None:
    """The company's grant for the right. Closing is setting a status too: a stricter word on that holds for it."""
    granted = grants.get(right)
    if right == Right.CLOSE:
        on_status = grants.get(Right.STATUS, Grant.ALLOW)
        if on_status is not Grant.ALLOW:
            return max(granted or Grant.ALLOW, on_status, key=_STRICTNESS.index)
    return granted


def _moved(decision: Decision, granted: Grant | None) -> Decision:
    if granted is None or granted is decision.grant:
        return decision
    if granted is Grant.ALLOW:
        return _ALLOW
    if granted is Grant.APPROVAL:
        return Decision(granted, "The company's policy asks the board before this.")
    return Decision(granted, "The company's policy denies this.")


def require(actor: Actor, right: Permission, target: Issue | Company) -> Member | None:
    """Raise unless the actor may use the right on the target; answer the acting member, if a person acts.

    NotFound for another company's things, Forbidden when denied, NeedsApproval when the board must be asked first.
    """
    member = require_belonging(actor, target.company if isinstance(target, Issue) else target)
    if member is not None:
        _obey(right, authorise(right, PersonStanding(Role(member.role))))
    elif isinstance(actor, Worker):
        decision = authorise(right, agent_standing(actor, target if isinstance(target, Issue) else None))
        if decision.grant is not Grant.APPROVAL or not actor.approved:
            _obey(right, decision)
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


def _obey(right: Permission, decision: Decision) -> None:
    if decision.grant is Grant.APPROVAL:
        raise NeedsApproval(decision.reason, permission=right)
    if decision.grant is Grant.DENY:
        raise Forbidden(decision.reason)


def agent_standing(actor: Worker, issue: Issue | None) -> AgentStanding:
    """The agent's standing to the issue, from its run and the reporting line."""
    begun_by = None
    if actor.begun_by is not None:
        begun_by = Role.VIEWER if actor.begun_by.removed_at is not None else Role(actor.begun_by.role)
    at_hand = issue is not None and actor.home is not None and actor.home.pk in (issue.pk, issue.parent_id)
    return AgentStanding(
        preset=actor.agent.policy,
        relation=_relation(actor, issue),
        at_hand=at_hand,
        begun_by=begun_by,
        grants=actor.grants,
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
    return actor.owns_home and actor.home is not None and actor.home.pk == issue.pk
