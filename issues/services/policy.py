"""The company's own rules of what its agents may do, beside the presets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from issues.activity import record
from issues.actors import Actor
from issues.effects import service
from issues.models import Approval, Company, Grant, Member, PolicyRule
from issues.policies import Right, require
from issues.refusals import Forbidden, Invalid
from issues.rights import Permission, Reach
from issues.services.locks import lock_company
from issues.texts import check_line, fold

if TYPE_CHECKING:
    from agents.models import Agent

MOST = 500
"""No more actions of one reply are looked at anyway."""


@service
def change_policy(
    *,
    actor: Actor,
    company: Company,
    permission: Permission,
    grant: Grant | None,
    role: str = "",
    agent: Agent | None = None,
) -> PolicyRule | None:
    """Move a permission to allow, ask or deny: for one agent, for a role, or without either for all agents.

    A grant of None takes the rule back, and the next wider one or the preset holds again. What only people do cannot be
    moved.
    """
    member = require(actor, Right.MANAGE_AGENTS, company)
    if member is None:
        raise Forbidden("Only a person changes the policy.")
    if permission.reach is Reach.NOWHERE or permission == Right.READ:
        raise Invalid(f"The policy does not decide about “{permission}”.", field="permission")
    if agent is not None and (agent.company_id != company.pk or role):
        raise Invalid("A rule is for one agent of the company, for a role, or for all.", field="agent")
    role = fold(check_line(role, "role", limit=60, required=False))
    return write_rule(actor, member, lock_company(company), permission, grant, role=role, agent=agent)


@service
def set_cap(*, actor: Actor, company: Company, verb: str, cap: int | None) -> Company:
    """How often one run may use a verb. None takes it back to the verb's own figure."""
    if require(actor, Right.MANAGE_AGENTS, company) is None:
        raise Forbidden("Only a person changes the policy.")
    if cap is not None and not 0 <= cap <= MOST:
        raise Invalid(f"A run may use a verb between 0 and {MOST} times.", field="cap")
    company = lock_company(company)
    before = company.action_caps.get(verb)
    if before == cap:
        return company
    company.action_caps = {name: figure for name, figure in company.action_caps.items() if name != verb}
    if cap is not None:
        company.action_caps[verb] = cap
    company.save(update_fields=["action_caps"])
    record(actor, "policy.cap", company, verb=verb, **{"from": before, "to": cap})
    return company


def write_rule(
    actor: Actor,
    member: Member,
    company: Company,
    permission: str,
    grant: Grant | None,
    *,
    role: str = "",
    agent: Agent | None = None,
    approval: Approval | None = None,
) -> PolicyRule | None:
    """Make, change or remove the one rule of that scope, and say so in the activity. The company is held."""
    rule = PolicyRule.objects.filter(company=company, permission=permission, role=role, agent=agent).first()
    before = Grant(rule.grant) if rule is not None else None
    if before is grant:
        return rule
    if grant is None:
        assert rule is not None  # noqa: S101 - else before would be None, too
        rule.delete()
        rule = None
    else:
        rule = rule or PolicyRule(company=company, permission=permission, role=role, agent=agent)
        rule.grant, rule.made_by, rule.made_at, rule.approval = grant, member, timezone.now(), approval
        rule.save()
    scope = {"agent": agent.pk} if agent is not None else {"role": role} if role else {}
    record(actor, "policy.changed", company, permission=permission, **{"from": before, "to": grant}, **scope)
    return rule
