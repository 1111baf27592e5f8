"""Contexts for prompts: a small company, and an issue of it with whatever a test needs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from engine.text.context import (
    Actions,
    ActivityLine,
    Agent,
    Assignment,
    Attachment,
    Capability,
    Child,
    Colleague,
    Comment,
    Company,
    Finding,
    HeartbeatContext,
    History,
    IssueLine,
    Limits,
    Materials,
    Note,
    Notebook,
    Participant,
    PastAction,
    PendingApproval,
    Project,
    ReportingLine,
    Review,
    Scenario,
    Skill,
    Standing,
    Trigger,
    VerbCard,
    Wakeup,
    WorkspaceFile,
)
from engine.verbs.registry import VERBS

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 30, 9, 5, 41, tzinfo=ZONE)

ADA = Participant("Ada", "ada", Standing.AGENT)
BOB = Participant("Bob", "bob", Standing.AGENT)
MAX = Participant("Max", "max", Standing.AGENT)
TESS = Participant("Tess", "tess", Standing.AGENT)
GRACE = Participant("Grace Okafor", "grace", Standing.OWNER)
LINUS = Participant("Linus Berg", "linus", Standing.BOARD)
VERA = Participant("Vera", "vera", Standing.VIEWER)

CARDS = tuple(
    VerbCard(verb.name, verb.usage, verb.summary, verb.example, verb.details, verb.core, verb.body) for verb in VERBS
)
SKILLS = (
    Skill(
        "release-notes", "How release notes are written", "# Release notes\n\nList what changed.\n\n## Tone\n\nPlain."
    ),
    Skill("exports", "How exports are checked", "Compare row counts.\n\n```sh\n# count\nwc -l export.csv\n```"),
)


def before(minutes: float) -> datetime:
    return NOW - timedelta(minutes=minutes)


def comment(number: int, author: Participant, body: str, *, minutes: float = 60, pinned: bool = False) -> Comment:
    return Comment(number, author, before(minutes), body, pinned)


def assignment(**changes: Any) -> Assignment:
    plain = Assignment(
        identifier="ACME-12",
        title="Export loses rows",
        status="in_progress",
        priority="high",
        is_own=True,
        responsible=GRACE,
        assignee=ADA,
        description="The nightly export drops rows since Friday.\n\nFind out why and mend it.",
    )
    return replace(plain, **changes)


def plain(**changes: Any) -> HeartbeatContext:
    """An agent with its own issue, and nothing else."""
    context = HeartbeatContext(
        company=Company("Acme", "Tools that small shops can trust.", "Write plainly. Spend nothing without asking."),
        agent=Agent(ADA, role="engineer", title="Backend engineer", instructions="You keep the exports right."),
        reporting_line=ReportingLine(manager=MAX, needs_approval=("install-skill", "install-agent", "install-routine")),
        assignment=assignment(),
        actions=Actions(CARDS),
        scenario=Scenario.WORK,
        now=NOW,
    )
    return replace(context, **changes)


def rich(**changes: Any) -> HeartbeatContext:
    """An issue on which everything that a prompt can show is present."""
    ask = comment(3, GRACE, "@ada can you say by tonight which rows are lost?", minutes=30)
    pin = comment(2, LINUS, "Do not touch the table itself.\nOnly the export.", minutes=200, pinned=True)
    everything: dict[str, Any] = {
        "agent": replace(plain().agent, knowledge="# Exports\n\nThe export runs at two in the morning."),
        "reporting_line": ReportingLine(
            manager=MAX,
            reports=(Colleague(TESS, "tester", "Tester"),),
            needs_approval=("install-skill", "install-agent", "install-routine"),
        ),
        "assignment": assignment(
            reviews=(Review(TESS, "outstanding"), Review(LINUS, "send-back", "The second case is missing.")),
            due=date(2026, 12, 4),
            project=Project("Exports", "All that leaves the house.", "Never lose a row in silence."),
            labels=("bug", "export"),
            blockers=(IssueLine("ACME-9", "Get access to the store", "in_progress", BOB),),
            parent=IssueLine("ACME-3", "Trustworthy exports", "in_progress", MAX),
            approvals=(PendingApproval("request", "Replay Friday's export", ADA),),
        ),
        "skills": SKILLS,
        "pinned": (pin,),
        "history": History(
            (
                ActivityLine(GRACE, before(300), "opened the issue"),
                comment(1, GRACE, "Seen on Friday first.", minutes=290),
                pin,
                ActivityLine(ADA, before(120), "set the status to in_progress"),
                ActivityLine(ADA, before(119), "set the priority to high"),
                comment(4, ADA, "I can reproduce it:\n\n- 42 rows in\n- 40 rows out", minutes=110),
                ask,
            )
        ),
        "past_actions": (PastAction("status", "done", "denied", "say first what was done"),),
        "trigger": Trigger(
            (
                Wakeup(7, "assigned", by=GRACE, reason="assigned the issue to you"),
                Wakeup(8, "mention", "mentioned you in a comment", GRACE, text=ask.body, text_author=GRACE, comment=3),
            )
        ),
        "children": (
            Child(
                IssueLine("ACME-13", "List the lost rows", "done", BOB),
                before(40),
                (Finding(BOB, "Two rows", "Rows 17 and 23 are lost."),),
                comment(9, BOB, "Both hold a quotation mark.", minutes=41),
            ),
            Child(IssueLine("ACME-14", "Write a test", "todo", TESS), before(100)),
        ),
        "materials": Materials(
            attachments=(
                Attachment("friday.csv", "text/csv", 2_340, "id,name\n1,one\n2,two"),
                Attachment("photo.png", "image/png", 812_000, unread="not a kind that can be read"),
            ),
            files=(WorkspaceFile("export.py", 42, "print('rows')"), WorkspaceFile("dump.sql", 3_400_000)),
            findings=(Finding(ADA, "Where they go", "The quoting is wrong."),),
        ),
        "notebook": Notebook(
            (Note("plan", "First the test, then the quoting.", before(2)), Note("idea", "Ask Bob.", before(180))),
            ("Exports break on quotation marks.",),
        ),
    }
    return plain(**everything | changes)


def routing(**changes: Any) -> HeartbeatContext:
    """A triage agent with an issue that nobody has."""
    everything: dict[str, Any] = {
        "agent": Agent(TESS, role="triage", title="Dispatcher", is_routing=True, instructions="You hand work on."),
        "reporting_line": ReportingLine(),
        "scenario": Scenario.TRIAGE,
        "assignment": assignment(assignee=None, status="todo"),
        "roster": (
            Colleague(ADA, "engineer", "Backend engineer", "Exports and imports"),
            Colleague(BOB, "engineer", "Data engineer", "The store and its reports"),
            Colleague(MAX, "manager", "Head of engineering"),
        ),
        "capabilities": (
            Capability("skill", "exports", "/use-skill exports"),
            Capability("routine", "Weekly report", "opens an issue every Monday"),
        ),
        "skills": SKILLS,
        "trigger": Trigger((Wakeup(5, "created", reason="a new issue has no assignee"),)),
    }
    return plain(**everything | changes)


def long_history(count: int, length: int = 400) -> History:
    """That many comments by people and agents in turn, oldest first."""
    authors = (GRACE, ADA, LINUS, BOB)
    return History(
        tuple(
            Comment(number, authors[number % 4], before(10 * (count - number)), _words(number, length))
            for number in range(1, count + 1)
        )
    )


def _words(seed: int, length: int) -> str:
    words = ("rows", "export", "quoting", "Friday", "checks", "the", "store", "holds", "and", "again")
    text = " ".join(words[(seed * 7 + place * 3) % 10] for place in range(length // 5))
    return f"Comment {seed}. {text[:length]}"


SMALL_WINDOW = Limits(window=8_192, max_output=2_048)
