"""The policy as a table: what agents of a kind may do where, and how often in one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.models import Agent, PolicyPreset
from engine.verbs.base import Verb
from engine.verbs.registry import BY_NAME, VERBS
from issues.models import Company, Grant, PolicyRule
from issues.policies import AgentStanding, Relation, authorise
from issues.refusals import Invalid
from issues.rights import Permission, Reach, Right


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What holds of one permission: on the agent's own issues and their children, on another's issue at hand, on an
    issue of somebody who reports to it, and elsewhere. `rule` is the company's own that moved it, if one did.

    `cap` is how often one run may use the verb, `own_cap` what the verb itself says; None: as often as it likes, or no
    verb.
    """

    permission: Permission
    own: Grant
    at_hand: Grant
    report: Grant
    elsewhere: Grant
    rule: PolicyRule | None
    cap: int | None
    own_cap: int | None

    @property
    def reach(self) -> str:
        return self.permission.reach.value


def movable_permissions() -> dict[str, Permission]:
    """What a rule can be about, by its word: what verbs take, and what else agents can be allowed."""
    known = {str(verb.right): verb.right for verb in VERBS} | {str(right): right for right in Right}
    movable = {
        word: permission
        for word, permission in known.items()
        if permission.reach is not Reach.NOWHERE and permission != Right.READ
    }
    return dict(sorted(movable.items()))


def find_permission(word: str) -> Permission:
    """The permission of that word. Invalid if no rule can be about it."""
    permission = movable_permissions().get(word)
    if permission is None:
        raise Invalid("Choose what the rule is about.", field="permission")
    return permission


def find_verb(word: str) -> Verb:
    """The verb of that name. Invalid if there is none."""
    if word not in BY_NAME:
        raise Invalid("Choose a verb.", field="verb")
    return BY_NAME[word]


def policy_table(
    company: Company, *, agent: Agent | None = None, role: str = "", preset: str = PolicyPreset.STANDARD
) -> list[PolicyRow]:
    """What holds for the agent; for agents of the role on that preset; without either for all on it. One query."""
    if agent is not None:
        role, preset = agent.role, agent.policy
    rules = PolicyRule.objects.filter(company=company).holding(role=role, agent=agent)
    grants = {permission: Grant(rule.grant) for permission, rule in rules.items()}
    return [
        _row(company, permission, preset, grants, rules.get(permission))
        for permission in movable_permissions().values()
    ]


def _row(
    company: Company, permission: Permission, preset: str, grants: Mapping[str, Grant], rule: PolicyRule | None
) -> PolicyRow:
    def on(relation: Relation) -> Grant:
        at_hand = relation is Relation.AT_HAND
        return authorise(permission, AgentStanding(preset, relation, at_hand, grants=grants)).grant

    own_cap = BY_NAME[permission].cap if permission in BY_NAME else None
    return PolicyRow(
        permission,
        own=on(Relation.OWN),
        at_hand=on(Relation.AT_HAND),
        report=on(Relation.REPORT),
        elsewhere=on(Relation.OTHER),
        rule=rule,
        cap=company.action_caps.get(permission, own_cap),
        own_cap=own_cap,
    )
