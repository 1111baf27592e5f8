"""Which parts of a prompt may be cut or deferred, in what order, and how each is rendered for its allowance."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from engine.text.children import fit_children
from engine.text.context import HeartbeatContext, Wakeup
from engine.text.fitting import Fitting, Measure, fit_lines, fit_texts
from engine.text.history import Timeline, fit_timeline, outcome_lines, timeline_of
from engine.text.identity import capability_lines, roster_lines
from engine.text.materials import fit_materials, fit_notebook
from engine.text.packing import Part
from engine.text.quoting import quote_clamped
from engine.text.skills import fit_skills

LEAST_DESCRIPTION = 400
OUTCOMES = "Outcomes"
"""The one part that is no section of its own: it ends Conversation History."""


def deferrable_parts(
    context: HeartbeatContext, verbs: Collection[str], delivered: Sequence[Wakeup], measure: Measure
) -> Iterator[Part]:
    """The parts that have something to show.

    The shares sum to one. Skills have half, because what a company taught its agents must not depend on how
    long an issue has become; a routing agent's roster and capabilities have theirs for the same reason.
    """
    callers = {wakeup.issue.identifier for wakeup in delivered if wakeup.issue}
    if description := context.assignment.description.strip():
        yield Part("Description", 90, 0.10, partial(_fit_description, description, measure))
    if outcomes := outcome_lines(context.past_actions, context.hint):
        yield Part(OUTCOMES, 85, 0.03, partial(_fit_outcomes, outcomes, measure))
    if context.history.entries:
        timeline = timeline_of(context.history, _elsewhere(context, delivered), context.now.tzinfo, context.checkpoint)
        yield Part("Conversation History", 80, 0.12, partial(_fit_history, timeline, measure))
    if context.agent.is_routing and context.roster:
        yield Part("Team Roster", 75, 0.06, partial(_fit_roster, context, measure))
    if context.skills:
        yield Part("Available Skills", 70, 0.50, partial(_fit_skills, context, verbs, measure))
    if context.agent.is_routing and context.capabilities:
        yield Part("Capabilities Available", 65, 0.03, partial(_fit_capabilities, context, measure))
    if context.children:
        yield Part("Child Issues", 60, 0.08, partial(_fit_children, context, callers, measure))
    if context.notebook.notes or context.notebook.observations:
        yield Part("Notebook", 55, 0.04, partial(_fit_notebook, context, measure))
    if context.materials.attachments or context.materials.files or context.materials.findings:
        yield Part("Attachments", 50, 0.04, partial(_fit_materials, context, measure))


def _elsewhere(context: HeartbeatContext, delivered: Sequence[Wakeup]) -> dict[int, str]:
    """Comments whose text stands in another section, with that section's title."""
    shown = (wakeup.comment for wakeup in delivered if wakeup.text.strip())
    places = {comment: "Trigger" for comment in shown if comment is not None}
    return places | {comment.id: "Pinned Context" for comment in context.pinned}


def _fit_description(text: str, measure: Measure, room: int) -> Fitting | None:
    return fit_texts(
        partial(quote_clamped, text),
        longest=len(text),
        least=min(len(text), LEAST_DESCRIPTION),
        allowance=room,
        measure=measure,
    )


def _fit_outcomes(lines: Sequence[str], measure: Measure, room: int) -> Fitting | None:
    return fit_lines(lines, lambda count: f"[{count} more]", allowance=room, measure=measure)


def _fit_history(timeline: Timeline, measure: Measure, room: int) -> Fitting | None:
    return fit_timeline(timeline, allowance=room, measure=measure)


def _fit_roster(context: HeartbeatContext, measure: Measure, room: int) -> Fitting | None:
    described = roster_lines(context.roster, described=True)
    whole = fit_lines(described, _colleagues, allowance=room, measure=measure)
    if whole and whole.is_whole:
        return whole
    short = fit_lines(roster_lines(context.roster, described=False), _colleagues, allowance=room, measure=measure)
    return Fitting(short.text, short.size, is_whole=False) if short else None


def _colleagues(count: int) -> str:
    return f"[{count} more colleagues]"


def _fit_skills(context: HeartbeatContext, verbs: Collection[str], measure: Measure, room: int) -> Fitting | None:
    wakeups = context.trigger.wakeups
    trigger = " ".join(f"{wakeup.reason} {wakeup.text} {wakeup.note}" for wakeup in wakeups)
    subject = f"{context.assignment.title} {context.assignment.description} {trigger}"
    return fit_skills(context.skills, context.asked_skills, subject, verbs, allowance=room, measure=measure)


def _fit_capabilities(context: HeartbeatContext, measure: Measure, room: int) -> Fitting | None:
    lines = capability_lines(context.capabilities)
    return fit_lines(lines, lambda count: f"[{count} more]", allowance=room, measure=measure)


def _fit_children(context: HeartbeatContext, callers: Collection[str], measure: Measure, room: int) -> Fitting | None:
    return fit_children(context.children, callers, context.now.tzinfo, allowance=room, measure=measure)


def _fit_notebook(context: HeartbeatContext, measure: Measure, room: int) -> Fitting | None:
    return fit_notebook(context.notebook, context.now, allowance=room, measure=measure)


def _fit_materials(context: HeartbeatContext, measure: Measure, room: int) -> Fitting | None:
    return fit_materials(context.materials, allowance=room, measure=measure)
