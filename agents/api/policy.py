"""What agents may do: the table that holds, the company's own rules, and how often one run may use a verb."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from django.db.models import Q, QuerySet
from rest_framework import serializers

from agents.models import Agent, PolicyPreset
from engine.policy_table import PolicyRow, find_permission, find_verb, policy_table
from issues.actors import Actor, Worker
from issues.keysets import OLDEST_FIRST
from issues.models import Grant, PolicyRule
from issues.refusals import Forbidden, Invalid
from issues.rest.paging import Page
from issues.rest.references import agent_named
from issues.rest.scope import row_in_scope, scope_of
from issues.rest.shapes import Form, Query, Shape, SomebodyField, StampField, texts_of
from issues.rest.views import CompanyQuery, Resource, operation
from issues.services.policy import MOST, change_policy, set_cap
from issues.texts import fold

TAG = "Policy"


class PermissionShape(Shape):
    """What holds of one permission."""

    permission = serializers.CharField(help_text="A verb, or what else agents can be allowed.")
    reach = serializers.CharField(help_text="How far the preset `standard` lets it reach, in words.")
    own = serializers.ChoiceField(choices=Grant.choices, help_text="On its own issues and their children.")
    at_hand = serializers.ChoiceField(choices=Grant.choices, help_text="Where it was woken on somebody else's issue.")
    report = serializers.ChoiceField(choices=Grant.choices, help_text="On an issue of an agent that reports to it.")
    elsewhere = serializers.ChoiceField(choices=Grant.choices, help_text="On any other issue of the company.")
    rule = serializers.IntegerField(source="rule.pk", allow_null=True, help_text="The rule that moved it.")
    cap = serializers.IntegerField(allow_null=True, help_text="How often one run may use the verb; null: no limit.")
    own_cap = serializers.IntegerField(allow_null=True, help_text="What the verb itself says.")


class PolicyShape(Shape):
    """What agents may do."""

    company = serializers.CharField()
    agent = serializers.CharField(source="agent.handle", allow_null=True)
    role = serializers.CharField()
    preset = serializers.ChoiceField(choices=PolicyPreset.choices)
    permissions = PermissionShape(many=True)


class PolicyRuleShape(Shape):
    """A permission that the company moved for one agent, for a role, or for all agents."""

    id = serializers.IntegerField()
    permission = serializers.CharField()
    grant = serializers.ChoiceField(choices=Grant.choices)
    role = serializers.CharField(help_text="Empty: whatever the role.")
    agent = serializers.CharField(source="agent.handle", allow_null=True)
    made_by = SomebodyField("made_by")
    made_at = StampField()
    approval = serializers.IntegerField(source="approval_id", allow_null=True, help_text="The answer that made it.")


class CapShape(Shape):
    """How often one run may use a verb."""

    verb = serializers.CharField(source="permission")
    cap = serializers.IntegerField(allow_null=True, help_text="Null: no limit.")
    own_cap = serializers.IntegerField(allow_null=True, help_text="What the verb itself says.")


class PolicyQuery(Query):
    company = serializers.CharField(required=False, default="", max_length=10)
    agent = serializers.CharField(required=False, help_text="A handle. An agent that asks is shown its own.")
    role = serializers.CharField(required=False, default="", max_length=60)
    preset = serializers.ChoiceField(choices=PolicyPreset.choices, required=False, default=PolicyPreset.STANDARD)


class RuleForm(Form):
    company = serializers.CharField(required=False, default="", max_length=10)
    permission = serializers.CharField(max_length=40)
    grant = serializers.ChoiceField(choices=Grant.choices)
    role = serializers.CharField(required=False, default="", allow_blank=True, max_length=60)
    agent = serializers.CharField(required=False, allow_null=True, default=None, help_text="A handle.")


class CapForm(Form):
    company = serializers.CharField(required=False, default="", max_length=10)
    verb = serializers.CharField(max_length=40)
    cap = serializers.IntegerField(
        allow_null=True, min_value=0, max_value=MOST, help_text="Null: as often as the verb itself says."
    )


@dataclass(frozen=True, slots=True)
class Policy:
    """The table with whom it is of."""

    company: str
    agent: Agent | None
    role: str
    preset: str
    permissions: list[PolicyRow]


class PolicyTable(Resource):
    @operation("Get the policy", tag=TAG, query=PolicyQuery, answer=PolicyShape)
    def get(self, *, query: Mapping[str, Any]) -> Policy:
        """What holds for an agent, for a role, or without either for all agents, by the presets and the company's own
        rules together. It may be less where a person of lesser rights began the chain of runs."""
        scope = scope_of(self.actor, query["company"])
        agent = agent_named(scope, query["agent"], "agent") if "agent" in query else None
        if isinstance(scope.actor, Worker):
            if agent not in (None, scope.actor.agent):
                raise Forbidden("An agent reads its own policy alone.")
            agent = scope.actor.agent
        elif agent is not None and query["role"]:
            raise Invalid("Name an agent or a role.", field="role")
        role = agent.role if agent is not None else query["role"]
        preset = agent.policy if agent is not None else query["preset"]
        rows = policy_table(scope.company, agent=agent, role=role, preset=preset)
        return Policy(scope.company.key, agent, role, preset, rows)


class PolicyRules(Resource):
    @operation("List policy rules", tag=TAG, query=CompanyQuery, answer=PolicyRuleShape, paged=True)
    def get(self, *, query: Mapping[str, Any]) -> Page[PolicyRule]:
        """An agent is shown those that hold for it."""
        scope = scope_of(self.actor, query["company"])
        return self.page(_rules(scope.actor).filter(company=scope.company), OLDEST_FIRST, query)

    @operation("Set a policy rule", tag=TAG, body=RuleForm, answer=PolicyRuleShape, status=HTTPStatus.CREATED)
    def post(self, *, form: Mapping[str, Any]) -> PolicyRule:
        """There is one for each permission and each agent or role: set again, it is changed. A rule for one agent goes
        before one for its role, and that before one for all; none opens what even the board's yes could not."""
        scope = scope_of(self.actor, form["company"])
        agent = agent_named(scope, form["agent"], "agent") if form["agent"] is not None else None
        rule = change_policy(
            actor=scope.actor,
            company=scope.company,
            permission=find_permission(form["permission"]),
            grant=Grant(form["grant"]),
            role=form["role"],
            agent=agent,
        )
        assert rule is not None  # noqa: S101 - only taking one back leaves none
        return rule


class PolicyRuleItem(Resource):
    @operation("Get a policy rule", tag=TAG, answer=PolicyRuleShape)
    def get(self, *, id: int) -> PolicyRule:
        return row_in_scope(self.actor, _rules(self.actor), id)[1]

    @operation("Take back a policy rule", tag=TAG)
    def delete(self, *, id: int) -> None:
        """The next wider one holds again, or the preset."""
        scope, rule = row_in_scope(self.actor, _rules(self.actor), id)
        change_policy(
            actor=scope.actor,
            company=rule.company,
            permission=find_permission(rule.permission),
            grant=None,
            role=rule.role,
            agent=rule.agent,
        )


class PolicyCaps(Resource):
    @operation("Set how often a run may use a verb", tag=TAG, body=CapForm, answer=CapShape)
    def post(self, *, form: Mapping[str, Any]) -> PolicyRow:
        """What is over it is denied and told; the rest applies."""
        scope = scope_of(self.actor, form["company"])
        verb = find_verb(form["verb"])
        company = set_cap(actor=scope.actor, company=scope.company, verb=verb.name, cap=form["cap"])
        return next(row for row in policy_table(company) if row.permission == verb.right)


def _rules(actor: Actor) -> QuerySet[PolicyRule]:
    rows = PolicyRule.objects.select_related("company", "agent", "made_by__user").defer(*texts_of("agent"))
    if isinstance(actor, Worker):
        rows = rows.filter(Q(agent=actor.agent) | Q(agent=None, role__in={"", fold(actor.agent.role)}))
    return rows
