"""Work on one's own issue: what is written, what it must heed, and what to do when something is missing."""

from __future__ import annotations

from functools import partial

from agents.services.skills import create_skill
from engine.evaluation.rules import (
    answered,
    any_of,
    asks_person,
    found,
    stands_at,
    uses,
    wrote,
    wrote_nothing,
    wrote_nowhere,
)
from engine.evaluation.scenario import Scenario
from engine.evaluation.stage import Scene, Stage
from issues.services.comments import pin_comment, write_comment
from issues.services.files import attach_file
from issues.services.issues import assign_issue


def _assigned(stage: Stage, title: str, description: str) -> Scene:
    """An issue that the founder gives to Ada."""
    ada, issue = stage.player(), stage.issue(title, description)
    return Scene(ada, issue, partial(assign_issue, actor=stage.founder, issue=issue, assignee=ada))


def _door(stage: Stage) -> Scene:
    return _assigned(stage, "Greeting for the door", "Write `greeting.txt` with one line: Welcome in. Then finish.")


def _moved_date(stage: Stage) -> Scene:
    scene = _assigned(stage, "Announce the new kettle", "Write `announcement.md`, one sentence. It is out on 3 March.")
    write_comment(actor=stage.founder, issue=scene.issue, body="The date has moved: it is out on 17 March.")
    return scene


def _no_price(stage: Stage) -> Scene:
    scene = _assigned(
        stage, "Offer for the blue kettle", "Write `offer.md`, two sentences. It holds 1.5 litres and costs 40 euros."
    )
    said = write_comment(actor=stage.founder, issue=scene.issue, body="No text of ours ever names a price.")
    pin_comment(actor=stage.founder, comment=said)
    return scene


def _house_style(stage: Stage) -> Scene:
    create_skill(
        actor=stage.founder,
        company=stage.company,
        name="House style",
        description="How our texts end",
        body="Every text ends with a line of its own: Read by the desk.",
    )
    return _assigned(
        stage, "Closed on Monday", "Write `note.md`: the shop is closed on Monday. Mind the house style. Then finish."
    )


def _lost_row(stage: Stage) -> Scene:
    scene = _assigned(
        stage, "Which row is lost?", "The export lost one row. Compare the two files, and record the id as a finding."
    )
    rows = "id,name\n16,spout\n17,lid\n18,handle\n"
    for name, content in (("before.csv", rows), ("after.csv", rows.replace("17,lid\n", ""))):
        attach_file(actor=stage.founder, issue=scene.issue, name=name, content=content.encode())
    return scene


def _needs_another(stage: Stage) -> Scene:
    scene = _assigned(
        stage, "Write the price list", "It needs the figures that KEY-2 will bring. Do not guess any: wait for KEY-2."
    )
    stage.issue("Collect the prices", assignee=stage.bob)
    return scene


def _missing_street(stage: Stage) -> Scene:
    return _assigned(
        stage,
        "Print the invitation",
        "It needs the street of the party, which only Grace knows. Ask her; write nothing before she has answered.",
    )


WORKING = (
    Scenario(
        "small_file",
        "a small task is done and finished",
        _door,
        (wrote("greeting.txt", "Welcome in"), stands_at("done"), answered()),
        "The greeting is written.\n\n/write-file greeting.txt\n```\nWelcome in.\n```\n/status done",
    ),
    Scenario(
        "newer_word_counts",
        "what a person said later counts",
        _moved_date,
        (wrote("announcement.md", "17 March"), wrote_nowhere("3 March")),
        "Written with the new date.\n\n/write-file announcement.md\n```\nOur new kettle is out on 17 March.\n```\n"
        "/status done",
    ),
    Scenario(
        "pinned_word_holds",
        "a pinned comment is heeded",
        _no_price,
        (wrote("offer.md", "kettle"), wrote_nowhere("40")),
        "The offer leaves the price out, as pinned.\n\n/write-file offer.md\n```\nA blue kettle. It holds 1.5 litres.\n"
        "```\n/status done",
    ),
    Scenario(
        "skill_applied",
        "a skill's rule is followed",
        _house_style,
        (wrote("note.md", "Monday", "Read by the desk"),),
        "The note is written in the house style.\n\n/use-skill House style\n/write-file note.md\n```\n"
        "The shop is closed on Monday.\n\nRead by the desk.\n```\n/status done",
    ),
    Scenario(
        "finding_from_files",
        "attached files are read and the result is recorded",
        _lost_row,
        (found("17"),),
        "Row 17 is lost.\n\n/record-finding The lost row\n```\nThe row with id 17 (lid) is missing.\n```\n/status done",
    ),
    Scenario(
        "waits_for_an_issue",
        "what another issue must bring is waited for",
        _needs_another,
        (uses("blocked-by"), stands_at("blocked"), wrote_nothing()),
        "The prices are not there yet.\n\n/blocked-by KEY-2",
    ),
    Scenario(
        "asks_for_a_fact",
        "a fact that only a person has is asked for",
        _missing_street,
        (any_of(asks_person(), stands_at("blocked")), wrote_nothing()),
        "I need the street first.\n\n/ask In which street is the party?",
    ),
)
