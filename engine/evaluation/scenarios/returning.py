"""What comes back, and what only wants an answer or none."""

from __future__ import annotations

from functools import partial

from engine.evaluation.rules import (
    asks_nothing,
    assigned_to,
    says,
    stands_at,
    wrote,
    wrote_nothing,
)
from engine.evaluation.scenario import Scenario
from engine.evaluation.stage import Scene, Stage
from issues.models import Status
from issues.services.comments import write_comment
from issues.services.findings import record_finding
from issues.services.issues import set_status


def _both_counts(stage: Stage) -> Scene:
    ada = stage.player()
    parent = stage.issue(
        "How many kettles are missing?",
        "Two counts are under way. When both are in, say the difference between them in a comment and finish.",
        assignee=ada,
        status=Status.IN_PROGRESS,
    )
    for agent, place, count in ((stage.bob, "books", 57), (stage.tess, "shelf", 40)):
        child = stage.issue(f"Count by the {place}", parent=parent, assignee=agent)
        with stage.at_work(agent, child) as worker:
            record_finding(actor=worker, issue=child, title="Count", body=f"By the {place} there are {count} kettles.")
        if agent == stage.bob:
            set_status(actor=stage.founder, issue=child, status=Status.DONE)
    return Scene(ada, parent, partial(set_status, actor=stage.founder, issue=child, status=Status.DONE))


def _store_opens(stage: Stage) -> Scene:
    ada = stage.player()
    blocker = stage.issue("Open the store", assignee=stage.bob)
    issue = stage.issue(
        "Label the shelves",
        "As soon as the store is open, write `labels.txt` with three words: pots, pans, kettles. Then finish.",
        assignee=ada,
        blockers=[blocker],
    )
    return Scene(ada, issue, partial(set_status, actor=stage.founder, issue=blocker, status=Status.DONE))


def _leap_year(stage: Stage) -> Scene:
    ada = stage.player()
    issue = stage.issue("Plan the calendar", "A page a day.", assignee=stage.bob, status=Status.IN_PROGRESS)
    body = "@ada, a question aside: how many days has a leap year?"
    return Scene(ada, issue, partial(write_comment, actor=stage.founder, issue=issue, body=body))


def _thanks(stage: Stage) -> Scene:
    ada = stage.player()
    issue = stage.issue("Ideas for the window", "Collected for later.", assignee=ada, status=Status.BACKLOG)
    body = "Thank you. There is nothing to do for now: I shall come back to this in spring."
    return Scene(ada, issue, partial(write_comment, actor=stage.founder, issue=issue, body=body))


RETURNING = (
    Scenario(
        "children_came_in",
        "the children's results are put together",
        _both_counts,
        (says("17"), stands_at("done")),
        "The books say 57 and the shelf 40, so 17 kettles are missing.\n\n/status done",
    ),
    Scenario(
        "blocker_is_gone",
        "work goes on where it waited",
        _store_opens,
        (wrote("labels.txt", "pots", "pans", "kettles"), stands_at("done")),
        "The store is open; the labels are written.\n\n/write-file labels.txt\n```\npots\npans\nkettles\n```\n"
        "/status done",
    ),
    Scenario(
        "answers_and_no_more",
        "a question on another's issue is answered by prose alone",
        _leap_year,
        (says("366"), assigned_to("bob"), stands_at("in_progress"), wrote_nothing(), asks_nothing()),
        "A leap year has 366 days.",
    ),
    Scenario(
        "nothing_to_do",
        "thanks are left as they are",
        _thanks,
        (stands_at("backlog"), assigned_to("ada"), wrote_nothing(), asks_nothing()),
        "/pass Grace comes back to it in spring.",
    ),
)
