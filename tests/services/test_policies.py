"""The policy: its table in full, and how an agent's standing to an issue is told."""

from __future__ import annotations

import pytest

from agents.models import Agent, PolicyPreset
from agents.services.agents import edit_agent, set_manager, worker_for
from issues.actors import Person, Worker
from issues.models import Company, Issue, Role
from issues.policies import (
    AgentStanding,
    Grant,
    PersonStanding,
    Relation,
    Right,
    agent_standing,
    authorise,
    require,
)
from issues.refusals import Forbidden, NeedsApproval
from issues.services.companies import change_role, remove_member
from tests import build

GRANTS = {"+": Grant.ALLOW, "?": Grant.APPROVAL, "-": Grant.DENY}

# A standard agent: + allowed, ? asks the board, - denied. `hand`: its run is on the issue, or on the issue's parent.
STANDINGS = {
    "own": (Relation.OWN, False),
    "child": (Relation.CHILD, False),
    "hand": (Relation.AT_HAND, True),
    "report": (Relation.REPORT, False),
    "report-hand": (Relation.REPORT, True),
    "other-hand": (Relation.OTHER, True),
    "other": (Relation.OTHER, False),
}
STANDARD = """
                  own  child  hand  report  report-hand  other-hand  other
read               +     +      +      -         +           +         -
status             +     +      ?      -         ?           ?         -
close              +     +      ?      ?         ?           ?         ?
assign             +     +      ?      +         +           ?         ?
priority           +     +      ?      +         +           ?         -
label              +     +      +      -         +           +         -
unlabel            +     +      +      -         +           +         -
blocked-by         +     +      ?      -         ?           ?         -
unblock            +     +      ?      -         ?           ?         -
create-issue       +     +      +      -         +           +         -
comment-on         +     +      +      +         +           +         +
request-approval   +     +      +      -         +           +         -
ask                +     +      +      -         +           +         -
review             +     +      +      -         +           +         -
use-skill          +     +      +      -         +           +         -
write-file         +     +      +      -         +           +         -
record-finding     +     +      +      -         +           +         -
note               +     +      +      -         +           +         -
forget             +     +      +      -         +           +         -
remember           +     +      +      -         +           +         -
pass               +     +      +      -         +           +         -
help               +     +      +      -         +           +         -
install-skill      ?     ?      ?      ?         ?           ?         ?
install-agent      ?     ?      ?      ?         ?           ?         ?
install-routine    ?     ?      ?      ?         ?           ?         ?
terminate          +     +      +      +         +           +         +
edit               -     -      -      -         -           -         -
pin                -     -      -      -         -           -         -
run                -     -      -      -         -           -         -
decide             -     -      -      -         -           -         -
manage-work        -     -      -      -         -           -         -
manage-agents      -     -      -      -         -           -         -
manage-company     -     -      -      -         -           -         -
"""


def read_table(text: str) -> dict[tuple[Right, str], Grant]:
    head, *rows = [line.split() for line in text.strip().splitlines()]
    return {(Right(row[0]), column): GRANTS[mark] for row in rows for column, mark in zip(head, row[1:], strict=True)}


TABLE = read_table(STANDARD)


def wanted(right: Right) -> dict[str, Grant]:
    """What the table says of a right, by standing."""
    return {column: TABLE[right, column] for column in STANDINGS}


def granted(right: Right, preset: PolicyPreset, begun_by: Role | None = None) -> dict[str, Grant]:
    return {
        column: authorise(right, AgentStanding(preset, relation, at_hand, begun_by)).grant
        for column, (relation, at_hand) in STANDINGS.items()
    }


def test_the_table_names_every_right() -> None:
    assert {right for right, _ in TABLE} == set(Right)


@pytest.mark.parametrize("right", Right)
def test_a_standard_agent_may_what_the_table_says(right: Right) -> None:
    assert granted(right, PolicyPreset.STANDARD) == wanted(right)


@pytest.mark.parametrize("right", Right)
def test_an_agent_on_probation_asks_before_closing_assigning_and_creating(right: Right) -> None:
    expected = wanted(right)
    if right in {Right.CLOSE, Right.ASSIGN, Right.CREATE_ISSUE}:
        expected = {column: Grant.APPROVAL if grant is Grant.ALLOW else grant for column, grant in expected.items()}
    assert granted(right, PolicyPreset.PROBATION) == expected


@pytest.mark.parametrize("right", Right)
def test_a_trusted_manager_also_closes_what_its_reports_have(right: Right) -> None:
    expected = wanted(right)
    if right in {Right.CLOSE, Right.STATUS}:
        expected |= {"report": Grant.ALLOW, "report-hand": Grant.ALLOW}
    assert granted(right, PolicyPreset.TRUSTED) == expected


@pytest.mark.parametrize("right", Right)
@pytest.mark.parametrize("preset", PolicyPreset)
def test_a_chain_begun_by_a_viewer_may_only_read(right: Right, preset: PolicyPreset) -> None:
    nothing = dict.fromkeys(STANDINGS, Grant.DENY)
    assert granted(right, preset, begun_by=Role.VIEWER) == (wanted(right) if right is Right.READ else nothing)


@pytest.mark.parametrize("right", Right)
@pytest.mark.parametrize("role", [Role.BOARD, Role.OWNER])
def test_a_chain_begun_by_the_board_gives_an_agent_nothing_more(right: Right, role: Role) -> None:
    assert granted(right, PolicyPreset.STANDARD, begun_by=role) == wanted(right)


@pytest.mark.parametrize("right", Right)
def test_people_may_what_their_role_says(right: Right) -> None:
    allowed = {role for role in Role if authorise(right, PersonStanding(role)).grant is Grant.ALLOW}
    if right is Right.READ:
        assert allowed == set(Role)
    elif right is Right.MANAGE_COMPANY:
        assert allowed == {Role.OWNER}
    else:
        assert allowed == {Role.OWNER, Role.BOARD}


@pytest.mark.parametrize("right", Right)
def test_whoever_is_not_allowed_is_told_why(right: Right) -> None:
    for relation, at_hand in STANDINGS.values():
        decision = authorise(right, AgentStanding(PolicyPreset.STANDARD, relation, at_hand))
        assert bool(decision.reason) == (decision.grant is not Grant.ALLOW)


@pytest.mark.django_db
class TestStanding:
    """How an issue stands to an agent, from what is stored."""

    def relation(self, worker: Worker, issue: Issue) -> Relation:
        return agent_standing(worker, Issue.objects.get(pk=issue.pk)).relation

    def test_what_is_assigned_to_it_is_its_own_wherever_it_runs(self, company: Company, ada: Agent) -> None:
        here = build.issue(company, assignee=ada)
        elsewhere = build.issue(company, assignee=ada)
        worker = build.at_work(ada, here)
        assert self.relation(worker, here) is Relation.OWN
        assert self.relation(worker, elsewhere) is Relation.OWN
        assert self.relation(worker_for(ada), here) is Relation.OWN

    def test_an_unassigned_issue_is_its_own_where_it_runs_and_nowhere_else(self, company: Company, ada: Agent) -> None:
        here, elsewhere = build.issue(company), build.issue(company)
        worker = build.at_work(ada, here)
        assert self.relation(worker, here) is Relation.OWN
        assert self.relation(worker, elsewhere) is Relation.OTHER

    def test_an_issue_of_somebody_else_is_only_at_hand(self, company: Company, ada: Agent, bob: Agent) -> None:
        bobs = build.issue(company, assignee=bob)
        persons = build.issue(company, assignee=build.owner_of(company).member)
        assert self.relation(build.at_work(ada, bobs), bobs) is Relation.AT_HAND
        assert self.relation(build.at_work(ada, persons), persons) is Relation.AT_HAND

    def test_children_of_its_own_are_its_children_and_grandchildren_are_not(self, company: Company, ada: Agent) -> None:
        own = build.issue(company, assignee=ada)
        child = build.issue(company, parent=own)
        grandchild = build.issue(company, parent=child)
        worker = build.at_work(ada, build.issue(company))
        assert self.relation(worker, child) is Relation.CHILD
        assert self.relation(worker, grandchild) is Relation.OTHER

    def test_children_of_an_issue_at_hand_are_near_but_not_its_own(
        self, company: Company, ada: Agent, bob: Agent
    ) -> None:
        bobs = build.issue(company, assignee=bob)
        child = build.issue(company, parent=bobs)
        found = agent_standing(build.at_work(ada, bobs), child)
        assert (found.relation, found.at_hand) == (Relation.OTHER, True)

    def test_what_a_report_has_is_a_reports_issue(self, company: Company, ada: Agent, bob: Agent) -> None:
        set_manager(actor=build.owner_of(company), agent=bob, manager=ada)
        bobs = build.issue(company, assignee=bob)
        assert self.relation(worker_for(ada), bobs) is Relation.REPORT
        assert self.relation(worker_for(bob), build.issue(company, assignee=ada)) is Relation.OTHER

    def test_an_approved_action_may_what_would_ask_but_not_what_is_denied(
        self, company: Company, ada: Agent, bob: Agent
    ) -> None:
        bobs = build.issue(company, assignee=bob)
        with pytest.raises(NeedsApproval):
            require(worker_for(ada), Right.CLOSE, bobs)
        require(worker_for(ada, approved=True), Right.CLOSE, bobs)
        with pytest.raises(Forbidden, match="neither"):
            require(worker_for(ada, approved=True), Right.STATUS, bobs)

    def test_an_agent_has_no_more_rights_than_the_person_who_woke_it(
        self, company: Company, owner: Person, ada: Agent
    ) -> None:
        boss = build.member(company, "boss", role=Role.BOARD)
        own = build.issue(company, assignee=ada)
        worker = build.at_work(ada, own, by=boss)
        require(worker, Right.STATUS, own)
        change_role(actor=owner, member=build.member_row(boss), role=Role.VIEWER)
        worker.run.chain_member.refresh_from_db()
        with pytest.raises(Forbidden, match="began this chain"):
            require(worker_for(ada, worker.run), Right.STATUS, own)

    def test_a_chain_of_somebody_who_was_removed_may_nothing(self, company: Company, owner: Person, ada: Agent) -> None:
        boss = build.member(company, "boss", role=Role.OWNER)
        own = build.issue(company, assignee=ada)
        worker = build.at_work(ada, own, by=boss)
        remove_member(actor=owner, member=build.member_row(boss))
        worker.run.chain_member.refresh_from_db()
        with pytest.raises(Forbidden, match="began this chain"):
            require(worker_for(ada, worker.run), Right.COMMENT, own)

    def test_the_preset_that_counts_is_the_agents(self, company: Company, owner: Person, ada: Agent) -> None:
        own = build.issue(company, assignee=ada)
        ada = edit_agent(actor=owner, agent=ada, policy=PolicyPreset.PROBATION)
        with pytest.raises(NeedsApproval, match="probation"):
            require(build.at_work(ada, own), Right.CLOSE, own)
