"""Child Issues: what each direct child came to, so that the agent of the parent can read what was produced."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import tzinfo

from engine.text.assignment import comment_header
from engine.text.context import Child, Finding
from engine.text.fitting import Fitting, Measure, fit_lines, fit_texts
from engine.text.quoting import flat, issue_line, named, quote_clamped

CALLER_CHARACTERS = 8_000
"""For each text of the child that woke the agent."""
OTHER_CHARACTERS = 4_000
LEAST_CHARACTERS = 400
CHILDREN_WITH_TEXT = 20
"""When space is short only so many children show their texts, the others a line each."""


def in_reading_order(children: Sequence[Child], callers: Collection[str]) -> list[Child]:
    """The children that woke the agent first, then the most recently changed. `callers` are identifiers."""
    newest_first = sorted(children, key=lambda child: child.changed_at, reverse=True)
    return sorted(newest_first, key=lambda child: child.issue.identifier not in callers)


def fit_children(
    children: Sequence[Child],
    callers: Collection[str],
    zone: tzinfo | None,
    *,
    allowance: int,
    measure: Measure,
) -> Fitting | None:
    """The children with their texts as wide as fit; with lines alone when no texts fit."""
    ordered = in_reading_order(children, callers)

    def render(limit: int) -> str:
        shown = len(ordered) if limit >= OTHER_CHARACTERS else CHILDREN_WITH_TEXT
        return "\n\n".join(
            _child(child, _limit(child, callers, limit), zone) if place < shown else _heading(child)
            for place, child in enumerate(ordered)
        )

    return fit_texts(
        render, longest=OTHER_CHARACTERS, least=LEAST_CHARACTERS, allowance=allowance, measure=measure
    ) or fit_lines([_heading(child) for child in ordered], _more, allowance=allowance, measure=measure)


def finding_text(finding: Finding, limit: int) -> str:
    """A finding with its author; the title on its line, the body quoted."""
    title = f": {flat(finding.title)}" if finding.title.strip() else ""
    return f"Finding by {named(finding.author)}{title}\n{quote_clamped(finding.body, limit)}"


def _limit(child: Child, callers: Collection[str], limit: int) -> int:
    """The caller has twice the room of the others as long as there is room, and all of its own in the whole."""
    if child.issue.identifier not in callers:
        return limit
    return CALLER_CHARACTERS if limit >= OTHER_CHARACTERS else min(CALLER_CHARACTERS, 2 * limit)


def _child(child: Child, limit: int, zone: tzinfo | None) -> str:
    parts = [_heading(child), *(finding_text(finding, limit) for finding in child.findings)]
    if comment := child.newest_comment:
        parts.append(f"Newest comment, {comment_header(comment, zone)}\n{quote_clamped(comment.body, limit)}")
    return "\n".join(parts)


def _heading(child: Child) -> str:
    return f"### {issue_line(child.issue)}"


def _more(count: int) -> str:
    return f"[{count} more children]"
