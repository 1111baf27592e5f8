"""Trigger: why the agent is woken, each wakeup with the text that caused it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from engine.text.context import Trigger, Wakeup
from engine.text.fitting import Measure, fit_texts
from engine.text.quoting import flat, issue_line, named, quote_clamped

TRIGGER_CHARACTERS = 12_000
TEXT_CHARACTERS = 8_000
"""Of one text: what a person asks must be read whole, and a pasted log must not be."""
LEAST_CHARACTERS = 200
TOO_MUCH = 1 << 40
DESCRIPTION = "Description"


@dataclass(frozen=True, slots=True)
class TriggerText:
    """The section, and which wakeups it delivers; the others stay pending."""

    text: str
    delivered: tuple[Wakeup, ...] = ()
    points_to_description: bool = False


def render_trigger(
    trigger: Trigger, *, pinned: Collection[int], description: str, allowance: int, measure: Measure
) -> TriggerText:
    """The newest wakeups that fit 12,000 characters and `allowance` tokens; the newest one always, cut if it
    must be.

    A text that stands above already, pinned or as the description, is pointed to instead of repeated.
    """
    if not trigger.wakeups:
        return TriggerText("")

    def block(wakeup: Wakeup, limit: int = TEXT_CHARACTERS) -> str:
        return _wakeup(wakeup, _stands_in(wakeup, pinned, description), limit)

    def reckon(text: str) -> int:
        return measure(text) if len(text) <= TRIGGER_CHARACTERS else TOO_MUCH

    *older, newest = trigger.wakeups
    fitting = fit_texts(
        lambda limit: block(newest, limit),
        longest=TEXT_CHARACTERS,
        least=LEAST_CHARACTERS,
        allowance=allowance,
        measure=reckon,
    )
    delivered = [newest]
    text = fitting.text if fitting else block(newest, LEAST_CHARACTERS)
    for wakeup in reversed(older):
        longer = f"{block(wakeup)}\n{text}"
        if reckon(longer) > allowance:
            break
        text = longer
        delivered.insert(0, wakeup)
    remarks = _remarks(trigger.agents_comments, len(trigger.wakeups) - len(delivered))
    points = any(_stands_in(wakeup, pinned, description) == DESCRIPTION for wakeup in delivered)
    return TriggerText("\n".join([text, *remarks]), tuple(delivered), points)


def _remarks(agents_comments: int, waiting: int) -> list[str]:
    remarks = []
    if agents_comments:
        remarks.append(f"Comments by agents since a person last wrote here: {agents_comments}.")
    if waiting:
        remarks.append(f"Wakeups that wait for the next run: {waiting}.")
    return remarks


def _stands_in(wakeup: Wakeup, pinned: Collection[int], description: str) -> str:
    """The section in which the wakeup's text stands already; empty for none."""
    if wakeup.comment in pinned:
        return "Pinned Context"
    if wakeup.text and wakeup.comment is None and wakeup.text.strip() == description.strip():
        return DESCRIPTION
    return ""


def _wakeup(wakeup: Wakeup, stands_in: str, limit: int) -> str:
    asker = f" by {named(wakeup.by)}" if wakeup.by else ""
    reason = f": {flat(wakeup.reason, 500)}" if wakeup.reason.strip() else ""
    lines = [f"- {wakeup.source}{asker}{reason}"]
    if wakeup.issue:
        lines.append(f"Linked issue: {issue_line(wakeup.issue)}")
    if wakeup.text.strip():
        author = f" by {named(wakeup.text_author)}" if wakeup.text_author else ""
        lines.append(f"Text{author}:" if not stands_in else f"Text{author}: see {stands_in}.")
        if not stands_in:
            lines.append(quote_clamped(wakeup.text, limit))
    if wakeup.note.strip():
        author = f" by {named(wakeup.by)}" if wakeup.by else ""
        lines += [f"Note{author}:", quote_clamped(wakeup.note, limit)]
    return "\n".join(lines)
