"""Handing work on: to the right one, in parts, upwards, and asking without giving it away."""

from __future__ import annotations

from functools import partial

from agents.services.agents import set_manager
from engine.evaluation.rules import any_of, asks_person, assigned_to, opened_for, stands_at, wakes, wrote_nothing
from engine.evaluation.scenario import Scenario
from engine.evaluation.stage import Scene, Stage
from issues.effects import mark_entered, unit
from issues.models import Issue
from issues.services.issues import assign_issue


def _unassigned(stage: Stage, title: str, description: str) -> Scene:
    """A new issue that nobody has, with Ada at the front desk."""
    ada = stage.player(title="Front desk", role="triage")
    issue = stage.issue(title, description)
    return Scene(ada, issue, partial(_enter, stage, issue))


def _enter(stage: Stage, issue: Issue) -> None:
    """What opening an issue without assignee does at its end."""
    with unit():
        mark_entered(issue, stage.founder)


def _import_fails(stage: Stage) -> Scene:
    return _unassigned(stage, "The nightly import drops rows", "Since Friday the database misses orders of the night.")


def _nobody_knows(stage: Stage) -> Scene:
    return _unassigned(stage, "It does not work", "Please repair it.")


def _two_parts(stage: Stage) -> Scene:
    ada = stage.player(title="Head of exports")
    for colleague in (stage.bob, stage.tess):
        set_manager(actor=stage.founder, agent=colleague, manager=ada)
    issue = stage.issue(
        "Ship the export",
        "Two parts: Bob mends the query, Tess writes a test for it. Give each of them an issue; do neither yourself.",
    )
    return Scene(ada, issue, partial(assign_issue, actor=stage.founder, issue=issue, assignee=ada))


def _lease(stage: Stage) -> Scene:
    ada = stage.player(instructions="You answer customers. Contracts are not yours: they go to your manager.")
    issue = stage.issue("Read the lease of the new shop", "Say whether we can sign this contract.")
    return Scene(ada, issue, partial(assign_issue, actor=stage.founder, issue=issue, assignee=ada))


def _table_name(stage: Stage) -> Scene:
    ada = stage.player()
    issue = stage.issue(
        "Which table holds the orders?",
        "Bob knows its name. Ask him here in a comment; the issue stays yours.",
    )
    return Scene(ada, issue, partial(assign_issue, actor=stage.founder, issue=issue, assignee=ada))


HANDING = (
    Scenario(
        "triage_to_the_right_one",
        "a new issue goes to whom it suits",
        _import_fails,
        (assigned_to("bob"),),
        "Imports are Bob's.\n\n/assign @bob",
        may_wake=frozenset({"bob"}),
    ),
    Scenario(
        "triage_without_a_clue",
        "an issue that says nothing is asked about or goes to the head, and is not closed",
        _nobody_knows,
        (any_of(asks_person(), assigned_to("max")), stands_at("backlog", "todo", "blocked")),
        "I cannot tell what this is about.\n\n/ask What does not work, and where do you see it?",
        may_wake=frozenset({"max"}),
    ),
    Scenario(
        "splits_work",
        "parts are handed to those named",
        _two_parts,
        (opened_for("bob", "tess"), wrote_nothing(), stands_at("todo", "in_progress", "blocked")),
        "One part for each.\n\n/create-issue Mend the export's query\n```\nassignee: @bob\n---\n"
        "The export's query has to be mended.\n```\n/create-issue Test the export\n```\nassignee: @tess\n---\n"
        "Write a test for the export's query.\n```",
        may_wake=frozenset({"bob", "tess"}),
        may_open=2,
    ),
    Scenario(
        "hands_upwards",
        "what is beyond one's job goes to the manager",
        _lease,
        (assigned_to("max"), stands_at("todo", "in_progress")),
        "Contracts are not mine, so this goes to Max.\n\n/assign @max",
        may_wake=frozenset({"max"}),
    ),
    Scenario(
        "asks_a_colleague",
        "a colleague is asked and the issue is kept",
        _table_name,
        (wakes("bob"), assigned_to("ada")),
        "@bob, what is the table called that holds the orders?",
        may_wake=frozenset({"bob"}),
    ),
)
