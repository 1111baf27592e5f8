"""How the words of verbs are read: leniently where the set of values is closed, exactly elsewhere, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agents.models import ActionOutcome, Agent
from engine.verbs.resolve import (
    MOST_NAMED,
    bare,
    find_issue,
    find_issues,
    find_somebody,
    plain_word,
    read_names,
    read_priority,
    read_status,
    unquoted,
)
from engine.verbs.scene import Scene
from issues.models import Issue, Priority, Status
from issues.refusals import Invalid
from issues.services.companies import change_company
from issues.services.projects import add_labels
from tests import build
from tests.verbs.stage import Stage

STATUSES = {
    Status.BACKLOG: ["backlog", "Backlog", "back-log"],
    Status.TODO: ["todo", "TODO", "To do", "to-do", "to_do"],
    Status.IN_PROGRESS: ["in_progress", "in progress", "In-Progress", "inprogress", "wip", "WIP."],
    Status.IN_REVIEW: ["in_review", "in review", "review", "Review."],
    Status.BLOCKED: ["blocked", "`blocked`", '"Blocked"'],
    Status.DONE: ["done", "Done.", "'done'", '"done."', "“done”", "complete", "completed", "closed", "CLOSED"],
    Status.CANCELLED: ["cancelled", "canceled", "`canceled`."],
}
PRIORITIES = {
    Priority.URGENT: ["urgent", "critical", "P0", "Urgent."],
    Priority.HIGH: ["high", "p1", "`high`"],
    Priority.MEDIUM: ["medium", "normal", "p2"],
    Priority.LOW: ["low", "p3", "LOW"],
    Priority.NONE: ["none", "None."],
}


def pairs(table: Mapping[Any, list[str]]) -> list[tuple[str, Any]]:
    return [(word, value) for value, words in table.items() for word in words]


@pytest.mark.parametrize(("word", "status"), pairs(STATUSES))
def test_a_status_is_read_however_it_is_written(word: str, status: Status) -> None:
    assert read_status(word) is status


@pytest.mark.parametrize(("word", "priority"), pairs(PRIORITIES))
def test_a_priority_is_read_however_it_is_written(word: str, priority: Priority) -> None:
    assert read_priority(word) is priority


@pytest.mark.parametrize("word", ["dome", "finished", "done!", "done..", "not done", "", "p4", "**done**"])
def test_what_is_no_value_of_the_set_is_refused_with_the_set_or_the_nearest(word: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_status(word)
    assert refused.value.hint


def test_a_near_miss_is_named() -> None:
    with pytest.raises(Invalid, match=r"“in_progres” is no status\. Did you mean “in_progress”\?"):
        read_status("in_progres")
    with pytest.raises(Invalid, match=r"“soon” is no priority\. One of: urgent, high, medium, low, none\."):
        read_priority("soon")


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('"a"', "a"),
        ("`a.b`", "a.b"),
        ("''a''", "a"),
        ("“a”", "a"),
        ("„a“", "a"),
        ('"a', '"a'),
        ("it's", "it's"),
        ("", ""),
    ],
)
def test_only_outer_pairs_of_quotes_come_off(text: str, inside: str) -> None:
    assert unquoted(text) == inside


def test_one_full_stop_comes_off_and_not_two() -> None:
    assert bare("done.") == "done"
    assert bare("done..") == "done."
    assert bare("`done`.") == bare('"done."') == "done"


def test_reading_takes_time_by_the_length_of_the_word_alone() -> None:
    for text in ('"' * 2_000_000, "a " * 1_000_000, "_" * 2_000_000):
        plain_word(text)


class TestIssues:
    @pytest.fixture
    def scene(self, stage: Stage) -> Scene:
        return stage.scene()

    @pytest.mark.parametrize("word", ["ACME-7", "acme-7", "#7", "`ACME-7`", "ACME-7.", '"#7".', " ACME-007 "])
    def test_one_is_named_by_identifier_or_number(self, stage: Stage, scene: Scene, word: str) -> None:
        assert find_issue(scene, word) == stage.seventh

    @pytest.mark.parametrize(
        "word", ["ACME-99", "OTHER-1", "#0", "ACME-999999999", "ACME-٧", "7", "ACME7", "Something"]
    )
    def test_what_names_none_of_the_company_is_refused(self, stage: Stage, scene: Scene, word: str) -> None:
        build.issue(build.company_with_founder("OTHER")[0])
        with pytest.raises(Invalid):
            find_issue(scene, word)

    def test_several_stand_between_commas_or_identifiers_between_spaces(self, stage: Stage, scene: Scene) -> None:
        wanted = stage.others[-2:]
        for text in ("ACME-6, ACME-7", "ACME-6,ACME-7,", "#6 ACME-7", "ACME-6, ACME-7, acme-6"):
            assert find_issues(scene, text) == wanted

    def test_there_is_a_limit_to_how_many_one_line_names(self, scene: Scene) -> None:
        with pytest.raises(Invalid, match="More than"):
            find_issues(scene, "#1," * (MOST_NAMED + 1))

    def test_a_title_with_commas_is_one_title(self, stage: Stage, scene: Scene) -> None:
        plan, first = stage.others[0], stage.others[1]
        scene.made |= {"Plan, build, ship": [plan], "Plan": [first]}
        assert find_issues(scene, "Plan, build, ship") == [plan]
        assert find_issues(scene, "Plan, Plan, build, ship, ACME-7") == [first, plan, stage.seventh]

    @pytest.mark.parametrize("word", ["Write it", '"Write it"', "`Write it`.", "Write  it"])
    def test_a_title_is_read_in_quotes_too(self, stage: Stage, scene: Scene, word: str) -> None:
        scene.made["Write it"] = [stage.others[0]]
        assert find_issue(scene, word) == stage.others[0]

    def test_a_title_is_exact_and_a_near_one_is_named(self, stage: Stage, scene: Scene) -> None:
        scene.made["Write the export"] = [stage.others[0]]
        with pytest.raises(Invalid, match="Did you mean “Write the export”"):
            find_issue(scene, "Write the exports")

    def test_a_title_that_two_issues_of_the_reply_have_names_neither(self, stage: Stage, scene: Scene) -> None:
        scene.made["Write it"] = stage.others[:2]
        with pytest.raises(Invalid, match="2 issues called"):
            find_issue(scene, "Write it")


class TestPeopleAndAgents:
    @pytest.fixture
    def scene(self, stage: Stage) -> Scene:
        build.agent(stage.company, "Grace Hopper", handle="grace")
        return stage.scene()

    @pytest.mark.parametrize("word", ["@ada", "ada", "Ada", "@ADA", "`@ada`", '"Ada".', "@ada."])
    def test_an_agent_is_named_by_handle_or_name(self, stage: Stage, scene: Scene, word: str) -> None:
        assert find_somebody(scene, word) == stage.ada

    @pytest.mark.parametrize("word", ["@acme-founder", "Acme-founder"])
    def test_so_is_a_person(self, stage: Stage, scene: Scene, word: str) -> None:
        assert find_somebody(scene, word) == build.member_row(stage.owner)

    @pytest.mark.parametrize("word", ["me", "Me.", "`me`"])
    def test_me_is_the_agent_itself(self, stage: Stage, scene: Scene, word: str) -> None:
        assert find_somebody(scene, word) == stage.bob

    @pytest.mark.parametrize("word", ["none", "None", '"none".'])
    def test_none_is_nobody(self, scene: Scene, word: str) -> None:
        assert find_somebody(scene, word) is None

    def test_a_name_of_two_words_needs_no_handle(self, scene: Scene) -> None:
        assert find_somebody(scene, "Grace Hopper") == Agent.objects.get(handle="grace")

    def test_a_near_miss_is_named(self, scene: Scene) -> None:
        with pytest.raises(Invalid, match=r"nobody called “adda”\. Did you mean @ada\?"):
            find_somebody(scene, "@adda")

    def test_nobody_of_another_company_is_found(self, stage: Stage, scene: Scene) -> None:
        build.agent(build.company_with_founder("OTHER")[0], "Mallory")
        with pytest.raises(Invalid, match="nobody called"):
            find_somebody(scene, "@mallory")


class TestOn:
    """A trailing `on ACME-7` names another issue; each verb that takes it acts there."""

    @pytest.mark.parametrize(
        ("line", "field", "value"),
        [
            ("/status in review on ACME-7", "status", "in_review"),
            ("/priority high ON #7", "priority", Priority.HIGH),
            ("/assign me on acme-7.", "assignee_agent.handle", "bob"),
            ("/label bug, backend on `ACME-7`", "label", {"bug", "backend"}),
        ],
    )
    def test_it_acts_on_the_other_issue(self, stage: Stage, line: str, field: str, value: object) -> None:
        child = build.issue(stage.company, "A part", parent=stage.issue)
        before = stage.again()
        outcome = stage.outcome(line.replace("7", str(child.number)))
        assert (outcome.outcome, outcome.reason) == (ActionOutcome.APPLIED, "")
        assert _value(stage.again(child), field) == value
        assert stage.again().version == before.version

    def test_labels_come_off_there_too(self, stage: Stage) -> None:
        child = build.issue(stage.company, "A part", parent=stage.issue)
        add_labels(actor=stage.owner, issue=child, labels=stage.labels)
        stage.reply(f"/unlabel bug on {child.identifier}")
        assert _value(child, "label") == {"backend", "triage"}

    def test_an_issue_of_the_same_reply_is_named_by_its_title(self, stage: Stage) -> None:
        stage.reply("/priority urgent on Draw the map\n/create-issue Draw the map")
        assert Issue.objects.get(title="Draw the map").priority == Priority.URGENT

    def test_a_value_that_speaks_of_something_else_is_left_whole(self, stage: Stage) -> None:
        outcome = stage.outcome("/status done on Friday")
        assert outcome.reason.startswith("“done on Friday” is no status.")

    def test_an_issue_that_does_not_exist_is_said(self, stage: Stage) -> None:
        outcome = stage.outcome("/status in_review on ACME-99")
        assert (outcome.outcome, outcome.reason) == (ActionOutcome.FAILED, "There is no issue ACME-99 in this company.")


class TestLabels:
    def test_names_stand_between_commas_once_each(self) -> None:
        assert read_names("a, `b`,, 'a' ,“c d”") == ["a", "b", "c d"]

    def test_an_unknown_one_is_refused_with_the_nearest(self, stage: Stage) -> None:
        outcome = stage.outcome("/label bug, bakend")
        assert outcome.outcome == ActionOutcome.FAILED
        assert outcome.reason == (
            "There is no label “bakend”, and agents may not make labels here. Did you mean “backend”?"
        )
        assert not stage.issue.labels.exists()

    def test_an_unknown_one_is_made_where_the_company_lets_agents(self, stage: Stage) -> None:
        change_company(actor=stage.owner, company=stage.company, agents_may_create_labels=True)
        stage.reply("/label Bug, shiny")
        assert _value(stage.issue, "label") == {"bug", "shiny"}

    def test_what_the_issue_does_not_carry_cannot_be_taken_off(self, stage: Stage) -> None:
        outcome = stage.outcome("/unlabel bug")
        assert outcome.reason == "ACME-1 has no label “bug”."


NEAR_MISSES = {
    "/use-skill release-note": "You have no skill “release-note”. Did you mean “release-notes”?",
    "/forget plans": "There is no note “plans”. Did you mean “plan”?",
    "/help asign": "You have no verb /asign. Did you mean “assign”?",
    "/review accepted": "“accepted” is no verdict. Did you mean “accept”?",
    "/unblock ACME-7": "ACME-7 does not block ACME-1.",
    "/blocked-by the other one": "“the other one” names no issue. Use an identifier like ACME-12.",
}


@pytest.mark.parametrize(("line", "reason"), NEAR_MISSES.items())
def test_what_cannot_be_found_is_said_with_what_was_perhaps_meant(stage: Stage, line: str, reason: str) -> None:
    build.skill(stage.company, "release-notes")
    outcomes = stage.reply(f"/note plan\n```\nFirst.\n```\n{line}").outcomes
    assert (outcomes[-1].outcome, outcomes[-1].reason) == (ActionOutcome.FAILED, reason)


@pytest.mark.parametrize(
    "line",
    [
        "/assign @mallory",
        "/status done on OTHER-1",
        "/blocked-by OTHER-1",
        "/unblock OTHER-1",
        "/comment-on OTHER-1\n```\nHello.\n```",
        "/label secret",
        "/use-skill spying",
        "/create-issue Mine\n```\nparent: OTHER-1\nassignee: @mallory\nproject: Moon\nlabels: secret\n---\n```",
    ],
)
def test_nothing_of_another_company_can_be_named(stage: Stage, line: str) -> None:
    other, _ = build.company_with_founder("OTHER")
    mallory = build.agent(other, "Mallory")
    theirs = build.issue(other, assignee=mallory)
    build.project(other, "Moon")
    build.label(other, "secret")
    build.skill(other, "spying")
    outcome = stage.outcome(line)
    assert outcome.outcome == (ActionOutcome.APPLIED if "create" in line else ActionOutcome.FAILED)
    assert outcome.reason
    assert stage.again(theirs).version == theirs.version
    assert not theirs.comments.exists()
    if "create" in line:
        made = Issue.objects.get(title="Mine")
        assert (made.parent, made.assignee_agent, made.project) == (stage.issue, stage.bob, None)


def _value(issue: Issue, field: str) -> object:
    if field == "label":
        return set(issue.labels.values_list("name", flat=True))
    value: object = issue
    for part in field.split("."):
        value = getattr(value, part)
    return value
