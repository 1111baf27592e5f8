"""Everything a prompt can show, as plain values: the contract between whoever gathers it and the renderer.

All instants are aware; the renderer turns them to the zone of `HeartbeatContext.now`. Texts are as their
authors wrote them: quoting, stripping and cutting are the renderer's business alone.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TypeAlias

from engine.text.grammar import BodyRule
from engine.text.points import CheckpointFields


class Tier(enum.StrEnum):
    """How much fixed text a prompt spends."""

    FULL = "full"
    LEAN = "lean"


class Scenario(enum.StrEnum):
    """What kind of heartbeat it is; `engine.text.scenario.choose_scenario` picks one."""

    REVIEW = "review"
    TRIAGE = "triage"
    REPLY = "reply"
    FOLLOWUP = "followup"
    CHECKIN = "checkin"
    WORK = "work"


class Standing(enum.StrEnum):
    """What somebody's word weighs in the company. The first three are people."""

    OWNER = "owner"
    BOARD = "board"
    VIEWER = "viewer"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody of the company, as named everywhere: `Ada (@ada, agent)`. `handle` is without the `@`."""

    name: str
    handle: str
    standing: Standing


# Who is asked


@dataclass(frozen=True, slots=True)
class Company:
    """The company's own words. Owners and board members write them, so they stand unquoted."""

    name: str
    mission: str = ""
    norms: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent whose heartbeat it is. Its instructions and knowledge stand unquoted, below the contract."""

    participant: Participant
    role: str = ""
    title: str = ""
    is_routing: bool = False
    instructions: str = ""
    knowledge: str = ""


@dataclass(frozen=True, slots=True)
class Colleague:
    """An agent beside it: a direct report, or a line of the roster. `description` is one line."""

    participant: Participant
    role: str = ""
    title: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class ReportingLine:
    """The agent's place in the company.

    `needs_approval` names what its policy sends to the board whatever the issue, as `assign` or `status done`:
    this part of a prompt must not depend on the issue. What only holds here stands in
    `Assignment.needs_approval`.
    """

    manager: Participant | None = None
    reports: tuple[Colleague, ...] = ()
    needs_approval: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Capability:
    """Something the company can do. `kind` is skill, routine or agent; `hint` says how it is invoked."""

    kind: str
    name: str
    hint: str


@dataclass(frozen=True, slots=True)
class Skill:
    """An enabled skill that applies to the agent, with its whole Markdown body."""

    name: str
    description: str
    body: str


# The issue at hand


@dataclass(frozen=True, slots=True)
class IssueLine:
    """An issue as other issues name it. `status` is the stored word (`in_progress`)."""

    identifier: str
    title: str
    status: str
    assignee: Participant | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """A reviewer with the verdict of the present round: outstanding, accept or send-back."""

    reviewer: Participant
    verdict: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A question to the board that nobody has decided. `kind` is request, question or action."""

    kind: str
    title: str
    requested_by: Participant


@dataclass(frozen=True, slots=True)
class Project:
    name: str
    description: str = ""
    rules: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The issue at hand, without its timeline.

    `is_own`: assigned to the agent, or unassigned and the agent was woken here. `blockers` are the open
    ones. `needs_approval` names verbs (without slash) that go to the board here beyond
    `ReportingLine.needs_approval`. `hook` is the name of the hook that opened it with what came in from outside.
    """

    identifier: str
    title: str
    status: str
    priority: str
    is_own: bool
    responsible: Participant
    assignee: Participant | None = None
    reviews: tuple[Review, ...] = ()
    due: date | None = None
    project: Project | None = None
    labels: tuple[str, ...] = ()
    blockers: tuple[IssueLine, ...] = ()
    parent: IssueLine | None = None
    approvals: tuple[PendingApproval, ...] = ()
    needs_approval: tuple[str, ...] = ()
    description: str = ""
    hook: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment. A deleted one is not part of a context."""

    id: int
    author: Participant
    written_at: datetime
    body: str
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class ActivityLine:
    """What somebody changed, in words that follow the actor: `set the status to done`. Without actor: the
    system.

    Comments are entries of their own, so their activity is left out by the gatherer.
    """

    actor: Participant | None
    at: datetime
    words: str


HistoryEntry: TypeAlias = Comment | ActivityLine


@dataclass(frozen=True, slots=True)
class History:
    """The timeline, oldest first.

    A gatherer may leave out the middle of a long one: then the first comment is still there and `left_out`
    counts the comments missing between it and the next entry.
    """

    entries: tuple[HistoryEntry, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the talk came to up to a comment: `until` is its id, `comments` how many there are until then."""

    fields: CheckpointFields
    until: int
    comments: int


@dataclass(frozen=True, slots=True)
class PastAction:
    """An action of this agent's last run on this issue that did not happen, or not whole. `verb` is without slash,
    `outcome` a word or two: `denied`, `failed`, `in part`."""

    verb: str
    args: str
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class Wakeup:
    """Why the agent is woken.

    `source` is the stored word (`mention`), `by` who asked (none: the system), `reason` a line in words.
    `issue` is the linked one: the blocker, the child. `text` is what caused it (the mentioning comment or
    description, the decided approval's title) with its author, `comment` the id if that is a comment of
    this issue; `note` what `by` said with it: a person's note, the decision's note, the answer.
    """

    id: int
    source: str
    reason: str = ""
    by: Participant | None = None
    issue: IssueLine | None = None
    text: str = ""
    text_author: Participant | None = None
    comment: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Trigger:
    """All wakeups to deliver, newest last. `agents_comments` counts the comments since the last person's:
    all are agents' own."""

    wakeups: tuple[Wakeup, ...] = ()
    agents_comments: int = 0


# Around the issue


@dataclass(frozen=True, slots=True)
class Finding:
    author: Participant
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Child:
    """A direct child with what it produced. `changed_at` orders children; `newest_comment` may be long."""

    issue: IssueLine
    changed_at: datetime
    findings: tuple[Finding, ...] = ()
    newest_comment: Comment | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file on the issue. `size` in bytes; `unread` says why there is no text (empty: there is)."""

    name: str
    media_type: str
    size: int
    text: str = ""
    unread: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceFile:
    """A file of the issue's workspace. `size` in bytes; `text` is none for what is large or not text."""

    path: str
    size: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Materials:
    """What lies on the issue: attachments, workspace files, and its own findings."""

    attachments: tuple[Attachment, ...] = ()
    files: tuple[WorkspaceFile, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    key: str
    text: str
    written_at: datetime


@dataclass(frozen=True, slots=True)
class Notebook:
    """The agent's keyed notes, and the few observations that match the assignment."""

    notes: tuple[Note, ...] = ()
    observations: tuple[str, ...] = ()


# What can be answered


@dataclass(frozen=True, slots=True)
class VerbCard:
    """A verb that the agent may use here. `usage` is its line with the slash; `core` verbs are explained in
    the lean tier too; `details` and `example` stand on the card that /help asks for."""

    name: str
    usage: str
    summary: str
    example: str
    details: str = ""
    core: bool = False
    body: BodyRule = BodyRule.NONE


@dataclass(frozen=True, slots=True)
class Actions:
    """Verbs in the registry's order, those that policy denies already left out; `asked` names (without
    slash) those whose whole card /help asked for."""

    cards: tuple[VerbCard, ...]
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a prompt. Tokens; `window` and `max_output` are the model's, `prompt_budget` the company's.

    `is_last_run`: no further run follows by itself (continue limit, hops, runs). `is_budget_low`: over 80%
    is used.
    """

    window: int = 128_000
    max_output: int = 4_096
    prompt_budget: int = 24_000
    is_last_run: bool = False
    is_budget_low: bool = False


@dataclass(frozen=True, slots=True)
class HeartbeatContext:
    """One heartbeat's whole prompt as values. `now` is aware and in the company's zone.

    `roster` and `capabilities` are shown to routing roles only. `asked_skills` names skills that the agent
    applied without having seen their body: they stand whole. `hint` is the engine's remark on the agent's
    last reply here.
    """

    company: Company
    agent: Agent
    assignment: Assignment
    actions: Actions
    scenario: Scenario
    now: datetime
    tier: Tier = Tier.FULL
    reporting_line: ReportingLine = field(default_factory=ReportingLine)
    roster: tuple[Colleague, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    skills: tuple[Skill, ...] = ()
    asked_skills: tuple[str, ...] = ()
    pinned: tuple[Comment, ...] = ()
    history: History = field(default_factory=History)
    checkpoint: Checkpoint | None = None
    past_actions: tuple[PastAction, ...] = ()
    hint: str = ""
    trigger: Trigger = field(default_factory=Trigger)
    children: tuple[Child, ...] = ()
    materials: Materials = field(default_factory=Materials)
    notebook: Notebook = field(default_factory=Notebook)
    limits: Limits = field(default_factory=Limits)
