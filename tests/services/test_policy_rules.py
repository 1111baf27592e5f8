"""A company's own rules: what they move, which holds when several do, and who makes them."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models import Agent, PolicyPreset
from agents.services.agents import worker_for
from issues.actors import Person
from issues.models import Activity, Company, Grant, PolicyRule, Role
from issues.policies import AgentStanding, Decision, Relation, Right, authorise, require
from issues.refusals import Forbidden, Invalid, NeedsApproval, NotFound
from issues.rights import Permission, Reach
from issues.services.companies import change_company, delete_company
from issues.services.policy import change_policy, set_cap
from tests import build

STANDARD = PolicyPreset.STANDARD


def decide(right: Permission, relation: Relation = Relation.OWN, **grants: Grant) -> Decision:
    """What holds for a standard agent under these grants; `_` in a name stands for `-`."""
    rules = {name.replace("_", "-"): grant for name, grant in grants.items()}
    return authorise(right, AgentStanding(STANDARD, relation, relation is Relation.AT_HAND, grants=rules))


class TestWhatTheyMove:
    @pytest.mark.parametrize("grant", Grant)
    def test_what_the_preset_allows_or_asks_for_becomes_what_the_rule_says(self, grant: Grant) -> None:
        assert decide(Right.LABEL, label=grant).grant is grant
        assert decide(Right.ASSIGN, Relation.OTHER, assign=grant).grant is grant
        assert decide(Right.INSTALL_SKILL, Relation.OTHER, install_skill=grant).grant is grant

    @pytest.mark.parametrize("grant", Grant)
    @pytest.mark.parametrize("right", [Right.LABEL, Right.STATUS, Right.PRIORITY])
    def test_what_is_out_of_reach_stays_so(self, right: Right, grant: Grant) -> None:
        assert decide(right, Relation.OTHER, **{right: grant}).grant is Grant.DENY

    @pytest.mark.parametrize("right", [right for right in Right if right.reach is Reach.NOWHERE])
    def test_what_only_people_do_stays_theirs(self, right: Right) -> None:
        assert decide(right, **{right.replace("-", "_"): Grant.ALLOW}).grant is Grant.DENY

    def test_a_rule_moves_nothing_else(self) -> None:
        assert decide(Right.LABEL, unlabel=Grant.DENY).grant is Grant.ALLOW

    def test_a_rule_beats_probation(self) -> None:
        standing = AgentStanding(PolicyPreset.PROBATION, Relation.OWN, grants={"assign": Grant.ALLOW})
        assert authorise(Right.ASSIGN, standing).grant is Grant.ALLOW
        assert authorise(Right.CLOSE, standing).grant is Grant.APPROVAL

    def test_a_rule_gives_no_more_than_the_person_has_who_began_the_chain(self) -> None:
        standing = AgentStanding(STANDARD, Relation.OWN, begun_by=Role.VIEWER, grants={"label": Grant.ALLOW})
        assert authorise(Right.LABEL, standing).grant is Grant.DENY

    @pytest.mark.parametrize(
        ("close", "status", "holds"),
        [
            (None, Grant.ALLOW, Grant.ALLOW),
            (None, Grant.APPROVAL, Grant.APPROVAL),
            (None, Grant.DENY, Grant.DENY),
            (Grant.APPROVAL, None, Grant.APPROVAL),
            (Grant.APPROVAL, Grant.ALLOW, Grant.APPROVAL),
            (Grant.ALLOW, Grant.APPROVAL, Grant.APPROVAL),
            (Grant.ALLOW, Grant.DENY, Grant.DENY),
            (Grant.DENY, Grant.APPROVAL, Grant.DENY),
        ],
    )
    def test_for_closing_the_stricter_of_two_words_holds(
        self, close: Grant | None, status: Grant | None, holds: Grant
    ) -> None:
        grants = {name: grant for name, grant in (("close", close), ("status", status)) if grant is not None}
        assert decide(Right.CLOSE, **grants).grant is holds

    def test_to_allow_statuses_does_not_allow_closing_elsewhere(self) -> None:
        assert decide(Right.CLOSE, Relation.OTHER, status=Grant.ALLOW).grant is Grant.APPROVAL

    def test_it_says_that_it_was_the_company(self) -> None:
        assert decide(Right.LABEL, label=Grant.DENY).reason == "The company's policy denies this."
        assert decide(Right.LABEL, label=Grant.APPROVAL).reason == "The company's policy asks the board before this."


@pytest.mark.django_db
class TestWhichHolds:
    def rule(self, company: Company, grant: Grant | None, **scope: Any) -> None:
        change_policy(actor=build.owner_of(company), company=company, permission=Right.LABEL, grant=grant, **scope)

    def grants(self, agent: Agent) -> dict[str, Grant]:
        return dict(worker_for(agent).grants)

    def test_the_closest_does(self, company: Company) -> None:
        ada = build.agent(company, "Ada", role="Engineer")
        bob = build.agent(company, "Bob", role="engineer")
        carl = build.agent(company, "Carl", role="tester")
        self.rule(company, Grant.DENY)
        self.rule(company, Grant.APPROVAL, role="ENGINEER")
        self.rule(company, Grant.ALLOW, agent=ada)
        assert self.grants(ada) == {"label": Grant.ALLOW}
        assert self.grants(bob) == {"label": Grant.APPROVAL}
        assert self.grants(carl) == {"label": Grant.DENY}

    def test_taken_back_the_next_wider_one_holds(self, company: Company) -> None:
        ada = build.agent(company, "Ada", role="engineer")
        self.rule(company, Grant.DENY)
        self.rule(company, Grant.ALLOW, agent=ada)
        self.rule(company, None, agent=ada)
        assert self.grants(ada) == {"label": Grant.DENY}
        self.rule(company, None)
        assert self.grants(ada) == {}

    def test_a_company_decides_for_its_own_agents_only(self, company: Company) -> None:
        other, _ = build.company_with_founder("OTHER")
        self.rule(other, Grant.DENY)
        assert self.grants(build.agent(company, "Ada")) == {}

    def test_services_obey_them(self, company: Company) -> None:
        ada = build.agent(company, "Ada")
        issue = build.issue(company, assignee=ada)
        self.rule(company, Grant.APPROVAL)
        with pytest.raises(NeedsApproval) as asked:
            require(worker_for(ada), Right.LABEL, issue)
        assert asked.value.permission == "label"
        require(worker_for(ada, approved=True), Right.LABEL, issue)
        self.rule(company, Grant.DENY)
        with pytest.raises(Forbidden):
            require(worker_for(ada, approved=True), Right.LABEL, issue)


@pytest.mark.django_db
class TestMakingThem:
    def change(self, actor: Person, company: Company, grant: Grant | None = Grant.DENY, **how: Any) -> None:
        arguments: dict[str, Any] = {"permission": Right.LABEL} | how
        change_policy(actor=actor, company=company, grant=grant, **arguments)

    def test_it_is_written_down_who_made_one_and_when(self, company: Company, owner: Person) -> None:
        self.change(owner, company)
        rule = PolicyRule.objects.get()
        assert rule.made_by == build.member_row(owner)
        assert rule.made_at is not None
        line = Activity.objects.get(kind="policy.changed")
        assert line.data == {"permission": "label", "from": None, "to": "deny"}

    def test_one_scope_has_one_rule_a_permission(self, company: Company, owner: Person) -> None:
        self.change(owner, company)
        self.change(owner, company, Grant.APPROVAL)
        assert PolicyRule.objects.get().grant == Grant.APPROVAL
        assert Activity.objects.filter(kind="policy.changed").latest("pk").data["from"] == "deny"

    @pytest.mark.parametrize("grant", [Grant.DENY, None])
    def test_what_holds_already_is_no_change(self, company: Company, owner: Person, grant: Grant | None) -> None:
        if grant is not None:
            self.change(owner, company, grant)
        before = Activity.objects.count()
        self.change(owner, company, grant)
        assert Activity.objects.count() == before

    @pytest.mark.parametrize("right", [Right.READ, Right.PIN, Right.DECIDE, Right.MANAGE_COMPANY])
    def test_what_agents_never_do_cannot_be_given_to_them(self, company: Company, owner: Person, right: Right) -> None:
        with pytest.raises(Invalid, match="does not decide"):
            self.change(owner, company, Grant.ALLOW, permission=right)

    def test_an_agent_of_another_company_cannot_be_named(self, company: Company, owner: Person) -> None:
        mallory = build.agent(build.company_with_founder("OTHER")[0], "Mallory")
        with pytest.raises(Invalid):
            self.change(owner, company, agent=mallory)

    def test_a_rule_is_not_for_a_role_and_an_agent_at_once(self, company: Company, owner: Person, ada: Agent) -> None:
        with pytest.raises(Invalid):
            self.change(owner, company, agent=ada, role="engineer")

    def test_a_stranger_finds_nothing(self, company: Company) -> None:
        with pytest.raises(NotFound):
            self.change(build.company_with_founder("OTHER")[1], company)

    def test_they_go_with_their_company(self, company: Company, owner: Person, ada: Agent) -> None:
        self.change(owner, company)
        self.change(owner, company, agent=ada)
        delete_company(actor=owner, company=company)
        assert not PolicyRule.objects.exists()


@pytest.mark.django_db
class TestCaps:
    @pytest.mark.parametrize("cap", [0, 3, 500])
    def test_one_is_set_and_taken_back(self, company: Company, owner: Person, cap: int) -> None:
        assert set_cap(actor=owner, company=company, verb="assign", cap=cap).action_caps == {"assign": cap}
        assert set_cap(actor=owner, company=company, verb="assign", cap=None).action_caps == {}
        told = [line.data for line in Activity.objects.filter(kind="policy.cap").order_by("pk")]
        assert told == [
            {"verb": "assign", "from": None, "to": cap},
            {"verb": "assign", "from": cap, "to": None},
        ]

    @pytest.mark.parametrize("cap", [-1, 501])
    def test_more_than_is_looked_at_cannot_be_allowed(self, company: Company, owner: Person, cap: int) -> None:
        with pytest.raises(Invalid, match="between 0 and 500"):
            set_cap(actor=owner, company=company, verb="assign", cap=cap)

    def test_what_holds_already_is_no_change(self, company: Company, owner: Person) -> None:
        set_cap(actor=owner, company=company, verb="assign", cap=3)
        before = Activity.objects.count()
        set_cap(actor=owner, company=company, verb="assign", cap=3)
        assert Activity.objects.count() == before


@pytest.mark.django_db
class TestFirstPreset:
    def test_a_company_may_let_hires_begin_on_probation(self, company: Company, owner: Person) -> None:
        assert build.agent(company, "Ada").policy == PolicyPreset.STANDARD
        company = change_company(actor=owner, company=company, hires_on_probation=True)
        assert build.agent(company, "Bob").policy == PolicyPreset.PROBATION

    def test_a_person_may_say_otherwise(self, company: Company, owner: Person) -> None:
        company = change_company(actor=owner, company=company, hires_on_probation=True)
        assert build.agent(company, "Ada", policy=PolicyPreset.TRUSTED).policy == PolicyPreset.TRUSTED
