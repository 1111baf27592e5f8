"""How a text by somebody enters a prompt: it never begins a line, and never passes for one of ours.

Blocks are prefixed line by line; single-line fields are flattened and stand at the end of their line, behind
what we know ourselves. All of it expects cleansed text.
"""

from __future__ import annotations

import re

from engine.text.context import IssueLine, Participant

QUOTE = "> "
FENCE = re.compile(r"\s*(`{3,}(?!.*`)|~{3,})(.*)$")
"""Back-ticks with more of them behind are a code span, which hides no heading below it."""
HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
NAME_MARKS = str.maketrans({"(": "[", ")": "]", "@": None})
"""A name can hold anything; brackets and @ are how a prompt tells a name from a handle and a standing."""


def quote(text: str) -> str:
    """Every line of the text behind `> `; outer blank lines go."""
    return "\n".join(f"{QUOTE}{line}".rstrip() for line in text.strip("\n").split("\n"))


def quote_clamped(text: str, limit: int) -> str:
    """As `quote`; of a text over `limit` characters only head and tail, and between them how many were cut.

    The count stands outside the quotation, so that no text can pretend to have been cut.
    """
    if len(text) <= limit:
        return quote(text)
    head = text[: limit - limit // 3].rstrip()
    tail = text[len(text) - limit // 3 :].lstrip()
    cut = len(text) - len(head) - len(tail)
    parts = (quote(head), f"[{cut:,} characters cut]", quote(tail) if tail else "")
    return "\n".join(part for part in parts if part)


def flat(text: str, limit: int = 300) -> str:
    """The text on one line, white space made single; cut with an ellipsis over `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def named(participant: Participant) -> str:
    """`Ada (@ada, agent)`, whatever the name tries to say of itself."""
    name = flat(participant.name.translate(NAME_MARKS), 120)
    return f"{name} (@{participant.handle}, {participant.standing})"


def issue_line(issue: IssueLine) -> str:
    """`ACME-13 (done, Bob (@bob, agent)): title`. The title comes last: nothing behind it can be mistaken."""
    assignee = named(issue.assignee) if issue.assignee else "unassigned"
    return f"{issue.identifier} ({issue.status}, {assignee}): {flat(issue.title)}"


def size_of(count: int) -> str:
    """A number of bytes for readers: `340 bytes`, `3.2 kB`, `1.5 MB`."""
    if count < 1_000:
        return f"{count} bytes"
    return f"{count / 1_000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def demote_headings(markdown: str, by: int) -> str:
    """The company's own Markdown with its headings `by` levels deeper, so that none looks like a section.

    In a fence, where nothing is a heading, a line that begins like a section is set one space in. An open fence
    is closed, so that it ends with its text.
    """
    lines: list[str] = []
    fence = ""
    for line in markdown.strip("\n").split("\n"):
        marks = FENCE.match(line)
        if not fence:
            lines.append(HEADING.sub(lambda found: "#" * min(6, len(found[1]) + by), line, count=1))
            fence = marks[1] if marks else ""
            continue
        if marks and marks[1].startswith(fence) and not marks[2].strip():
            fence = ""
        lines.append(f" {line}" if line.startswith("##") else line)
    return "\n".join([*lines, fence] if fence else lines)
