"""/create-issue: what its body may begin with, what is left out, and how the issues of one reply name each other."""

from __future__ import annotations

import pytest

from agents.models import ActionOutcome, PolicyPreset
from agents.services.agents import edit_agent
from issues.models import Activity, Grant, Issue, Priority, Status
from issues.rights import Right
from issues.services.companies import change_company
from issues.services.issues import assign_issue
from issues.services.policy import change_policy
from tests import build
from tests.verbs.stage import Stage, words


def create(title: str, *lines: str, text: str = "") -> str:
    """A /create-issue with these lines before its text."""
    body = "\n".join([*lines, "---", text] if lines else [text])
    return f"/create-issue {title}\n```\n{body}\n```\n"


def made(title: str = "A part") -> Issue:
    return Issue.objects.select_related("company").get(title=title)


class TestKeys:
    def test_each_is_read(self, stage: Stage) -> None:
        project = build.project(stage.company, "Moon")
        keys = (
            "assignee: @ada",
            "priority: P1",
            "labels: bug, backend",
            "project: moon",
            "blocked-by: ACME-7, ACME-6",
            "parent: ACME-1",
            "status: backlog",
        )
        outcome = stage.outcome(create("A part", *keys, text="Do it."))
        assert (outcome.outcome, outcome.reason) == (ActionOutcome.APPLIED, "")
        issue = made()
        assert (issue.assignee_agent, issue.priority, issue.project) == (stage.ada, Priority.HIGH, project)
        assert set(issue.labels.values_list("name", flat=True)) == {"bug", "backend"}
        assert set(issue.blockers.all()) == set(stage.others[-2:])
        assert (issue.parent, issue.status, issue.description) == (stage.issue, Status.BACKLOG, "Do it.")

    def test_without_any_it_is_a_child_of_the_issue_at_hand_and_of_its_project(self, stage: Stage) -> None:
        project = build.project(stage.company)
        whole = build.issue(stage.company, assignee=stage.bob, project=project)
        stage.reply("/create-issue A part", issue=whole)
        issue = made()
        assert (issue.parent, issue.project, issue.status) == (whole, project, Status.TODO)
        assert issue.responsible == whole.responsible

    def test_parent_none_makes_it_stand_by_itself(self, stage: Stage) -> None:
        stage.reply(create("A part", "parent: none"))
        assert made().parent is None

    def test_a_leading_line_of_dashes_is_allowed(self, stage: Stage) -> None:
        stage.reply("/create-issue A part\n```\n---\npriority: high\n---\nDo it.\n```")
        assert (made().priority, made().description) == (Priority.HIGH, "Do it.")

    def test_an_unknown_key_makes_all_of_it_text(self, stage: Stage) -> None:
        stage.reply(create("A part", "priority: high", "colour: red", text="Do it."))
        issue = made()
        assert issue.priority == Priority.NONE
        assert issue.description == "priority: high\ncolour: red\n---\nDo it."

    def test_lines_without_a_line_of_dashes_are_text(self, stage: Stage) -> None:
        stage.reply("/create-issue A part\n```\npriority: high\nDo it.\n```")
        assert (made().priority, made().description) == (Priority.NONE, "priority: high\nDo it.")

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("assignee: @adda", "Made without assignee: There is nobody called “adda”. Did you mean @ada?"),
            (
                "priority: soon",
                "Made without priority: “soon” is no priority. One of: urgent, high, medium, low, none.",
            ),
            ("labels: bugs", "Made without labels: There is no label “bugs”, and agents may not make labels here."),
            ("project: Moon", "Made without project: There is no project “Moon”."),
            ("blocked-by: ACME-99", "Made without blocked-by: There is no issue ACME-99 in this company."),
            ("parent: ACME-99", "Made without parent: There is no issue ACME-99 in this company."),
            ("status: dome", "Made without status: “dome” is no status. Did you mean “done”?"),
            ("status: done", "Made without status: Nothing here says what was done."),
            ("parent: ACME-7", "Made without parent: The issue is neither this agent's own nor one of its children."),
        ],
    )
    def test_one_that_cannot_be_used_is_recorded_and_the_issue_made_without_it(
        self, stage: Stage, line: str, reason: str
    ) -> None:
        outcome = stage.outcome(create("A part", "priority: low", line, text="Do it."))
        assert outcome.outcome == ActionOutcome.APPLIED
        assert outcome.reason.startswith(reason)
        assert (made().parent, made().status, made().description) == (stage.issue, Status.TODO, "Do it.")

    def test_labels_are_made_where_the_company_lets_agents_make_them(self, stage: Stage) -> None:
        change_company(actor=stage.owner, company=stage.company, agents_may_create_labels=True)
        stage.reply(create("A part", "labels: bug, new"))
        assert set(made().labels.values_list("name", flat=True)) == {"bug", "new"}

    def test_it_may_be_opened_as_cancelled_but_not_as_done_without_a_word(self, stage: Stage) -> None:
        stage.reply(create("A part", "status: cancelled"))
        assert made().status == Status.CANCELLED


class TestRights:
    @pytest.mark.parametrize(
        ("right", "key"),
        [
            (Right.ASSIGN, "assignee: @ada"),
            (Right.PRIORITY, "priority: high"),
            (Right.LABEL, "labels: bug"),
            (Right.BLOCKED_BY, "blocked-by: ACME-7"),
            (Right.STATUS, "status: backlog"),
        ],
    )
    @pytest.mark.parametrize("grant", [Grant.DENY, Grant.APPROVAL])
    def test_a_key_takes_the_right_of_its_verb(self, stage: Stage, right: Right, key: str, grant: Grant) -> None:
        change_policy(actor=stage.owner, company=stage.company, permission=right, grant=grant)
        outcome = stage.outcome(create("A part", key))
        assert outcome.outcome == ActionOutcome.APPLIED
        assert outcome.reason.startswith(f"Made without {key.partition(':')[0]}: ")
        issue = made()
        assert (issue.assignee_agent, issue.priority, issue.status) == (stage.bob, Priority.NONE, Status.TODO)
        assert not issue.labels.exists()
        assert not issue.blockers.exists()

    def test_keys_do_not_count_against_the_caps_of_their_verbs(self, stage: Stage) -> None:
        outcomes = stage.reply("".join(create(f"Part {number}", "assignee: @ada") for number in range(10))).outcomes
        assert words(list(outcomes)) == ["applied"] * 10
        assert stage.ada.assigned_issues.count() == 10

    def test_on_somebody_elses_issue_a_child_can_be_made_and_taken_on_but_not_handed_out(self, stage: Stage) -> None:
        assign_issue(actor=stage.owner, issue=stage.issue, assignee=stage.ada)
        outcomes = stage.reply(create("Mine", "assignee: me") + create("Hers", "assignee: @ada")).outcomes
        assert [outcome.reason for outcome in outcomes] == [
            "",
            "Made without assignee: that needs the board's yes.",
        ]
        assert made("Mine").assignee_agent == made("Hers").assignee_agent == stage.bob


class TestAssignee:
    def test_without_one_the_triage_agent_is_woken(self, stage: Stage) -> None:
        tria = build.triage(stage.company)
        stage.reply("/create-issue A part")
        assert made().assignee_agent is None
        assert [wakeup.source for wakeup in build.pending(tria, made())] == ["created"]

    def test_without_a_triage_agent_it_is_the_creators(self, stage: Stage) -> None:
        stage.reply("/create-issue A part")
        assert made().assignee_agent == stage.bob

    def test_one_that_cannot_be_read_leaves_it_to_triage_too(self, stage: Stage) -> None:
        tria = build.triage(stage.company)
        stage.reply(create("A part", "assignee: @nobody"))
        assert made().assignee_agent is None
        assert build.pending(tria, made())

    def test_the_triage_agent_itself_keeps_what_it_makes(self, stage: Stage) -> None:
        stage.bob = edit_agent(actor=stage.owner, agent=stage.bob, role="triage")
        stage.reply("/create-issue A part")
        assert made().assignee_agent == stage.bob

    def test_a_person_can_be_named(self, stage: Stage) -> None:
        stage.reply(create("A part", "assignee: @acme-founder"))
        assert made().assignee_member == build.member_row(stage.owner)


class TestSiblings:
    @pytest.mark.parametrize("order", ["forward", "backward"])
    def test_they_name_one_another_as_blockers_in_any_order(self, stage: Stage, order: str) -> None:
        parts = [create("First"), create("Second", "blocked-by: First"), create("Third", "blocked-by: First, Second")]
        stage.reply("".join(parts if order == "forward" else reversed(parts)))
        assert set(made("Third").blockers.all()) == {made("First"), made("Second")}
        assert [made(title).status for title in ("First", "Second", "Third")] == ["todo", "blocked", "blocked"]

    def test_a_ring_among_them_is_refused_where_it_would_close(self, stage: Stage) -> None:
        outcomes = stage.reply(create("First", "blocked-by: Second") + create("Second", "blocked-by: First")).outcomes
        assert outcomes[0].reason == ""
        assert "already waits for this issue" in outcomes[1].reason
        assert made("First").status == Status.BLOCKED

    def test_another_verb_may_name_them_before_they_stand_in_the_reply(self, stage: Stage) -> None:
        outcomes = stage.reply("/blocked-by The part\n/comment-on The part\n```\nHello.\n```\n/create-issue The part")
        assert words(list(outcomes.outcomes)) == ["applied"] * 3
        assert list(stage.again().blockers.all()) == [made("The part")]
        assert made("The part").comments.get().body == "Hello."

    def test_the_issue_at_hand_waits_for_them(self, stage: Stage) -> None:
        stage.reply(create("One") + "/blocked-by One")
        assert stage.again().status == Status.BLOCKED


class TestBeforeTheBoard:
    """Issues that policy sends to the board are one question, with what names their titles."""

    PLAN = (
        create("First", "assignee: @ada")
        + create("Second", "blocked-by: First", "assignee: @ada")
        + "/blocked-by Second\n/priority high"
    )

    @pytest.fixture(autouse=True)
    def on_probation(self, stage: Stage) -> None:
        stage.bob = edit_agent(actor=stage.owner, agent=stage.bob, policy=PolicyPreset.PROBATION)

    def test_they_are_one_approval(self, stage: Stage) -> None:
        outcomes = stage.reply(self.PLAN).outcomes
        assert words(list(outcomes)) == ["approval", "approval", "approval", "applied"]
        assert len({outcome.approval for outcome in outcomes[:3]}) == 1
        assert not stage.issue.children.exists()
        assert stage.again().priority == Priority.HIGH
        approval = stage.issue.approvals.get()
        assert approval.title == "3 actions: /create-issue First; /create-issue Second; /blocked-by Second"

    def test_a_yes_carries_all_of_it_out(self, stage: Stage) -> None:
        run = stage.reply(self.PLAN).run
        approval = stage.decide(stage.issue.approvals.get())
        assert approval.failure == ""
        assert set(stage.issue.children.all()) == {made("First"), made("Second")}
        assert made("First").assignee_agent == stage.ada
        assert list(made("Second").blockers.all()) == [made("First")]
        assert list(stage.again().blockers.all()) == [made("Second")]
        assert {action.outcome for action in run.actions.all()} == {"applied"}

    def test_it_is_all_or_nothing(self, stage: Stage) -> None:
        run = stage.reply(self.PLAN).run
        change_policy(
            actor=stage.owner, company=stage.company, permission=Right.BLOCKED_BY, grant=Grant.DENY, agent=stage.bob
        )
        approval = stage.decide(stage.issue.approvals.get())
        assert approval.failure == "The company's policy denies this."
        assert not stage.issue.children.exists()
        assert [action.outcome for action in run.actions.all()] == ["failed", "failed", "failed", "applied"]

    def test_an_action_that_names_an_issue_made_without_asking_finds_it_later(self, stage: Stage) -> None:
        change_policy(
            actor=stage.owner, company=stage.company, permission=Right.CREATE_ISSUE, grant=Grant.ALLOW, agent=stage.bob
        )
        stage.reply("/create-issue First\n/assign @ada on First")
        assert made("First").assignee_agent == stage.bob
        assert stage.decide(stage.issue.approvals.get()).failure == ""
        assert made("First").assignee_agent == stage.ada

    def test_what_a_yes_made_begins_a_chain_of_its_own(self, stage: Stage) -> None:
        stage.reply(create("First", "assignee: @ada"))
        stage.decide(stage.issue.approvals.get())
        (wakeup,) = build.pending(stage.ada, made("First"))
        assert (wakeup.depth, wakeup.chain) == (0, wakeup.pk)


def test_of_five_hundred_only_the_first_ten_are_made_and_each_try_is_recorded(stage: Stage) -> None:
    before = Issue.objects.count()
    run = stage.reply("\n".join(f"/create-issue Part {number}" for number in range(500))).run
    assert Issue.objects.count() == before + 10
    outcomes = run.actions.values_list("outcome", flat=True)
    assert (len(outcomes), outcomes[9], set(outcomes[10:])) == (500, "applied", {"denied"})
    line = Activity.objects.get(kind="action.refused", run=run)
    assert (line.data["verb"], line.data["count"]) == ("create-issue", 490)
