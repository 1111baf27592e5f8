"""Available Actions: the verbs that an agent may use here, from their cards. Each is introduced once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from engine.text.context import Actions, Tier, VerbCard
from engine.text.grammar import BodyRule

INTRODUCTION = (
    "A line that begins with one of these verbs acts; all else is your comment. One verb a line, outside lists, "
    "quotations and fences. `+ body`: a fenced block must follow; `[+ body]`: it may."
)
WRITING = "`@handle` in prose wakes that agent or notifies that person here: ask so; omit the @ to thank or cite."
EXPLAINING = "/help <verb> explains one."
BODIES = "Fence a body that holds a fence with four back-ticks."
CREATING = "Who gets an issue you create sees its text, not this issue."
VERB = re.compile(r"(?<![\w/])/([a-z]+(?:-[a-z]+)*)")
BODY_MARKS = {BodyRule.NONE: "", BodyRule.OPTIONAL: " [+ body]", BodyRule.REQUIRED: " + body"}


def render_actions(actions: Actions, tier: Tier) -> str:
    """The verbs with a line each, and the whole cards that were asked for.

    The lean tier says the first clause of the core verbs and names the others: every verb works in both.
    """
    explained = [card for card in actions.cards if tier is Tier.FULL or card.core]
    named = [card for card in actions.cards if card not in explained]
    asked = [card for card in actions.cards if card.name in actions.asked]
    blocks = [INTRODUCTION, "\n".join(_line(card, tier) for card in explained)]
    if named:
        verbs = [card.name for card in actions.cards]
        blocks.append(permitted((f"Also: {slashed(card.name for card in named)}.", EXPLAINING), verbs))
    blocks.append(" ".join(_notes(actions.cards)))
    return "\n".join([*blocks, *(_card(card) for card in asked)])


def short_lines(cards: Iterable[VerbCard]) -> str:
    """Each verb in the first clause of its line."""
    return "\n".join(_line(card, Tier.LEAN) for card in cards)


def permitted(sentences: Iterable[str], verbs: Collection[str]) -> str:
    """The sentences, without those that name a verb which is not among `verbs`: what policy denies an agent
    is not shown to it anywhere.
    """
    return " ".join(sentence for sentence in sentences if set(VERB.findall(sentence)) <= set(verbs))


def slashed(verbs: Iterable[str]) -> str:
    """`/assign, /status` from their names."""
    return ", ".join(f"/{verb}" for verb in verbs)


def _line(card: VerbCard, tier: Tier) -> str:
    summary = card.summary if tier is Tier.FULL else card.summary.partition(";")[0]
    return f"- {_form(card)}: {summary}"


def _form(card: VerbCard) -> str:
    return f"{card.usage}{BODY_MARKS[card.body]}"


def _notes(cards: Iterable[VerbCard]) -> list[str]:
    notes = [WRITING]
    if any(card.body is not BodyRule.NONE for card in cards):
        notes.append(BODIES)
    if any(card.name == "create-issue" for card in cards):
        notes.append(CREATING)
    return notes


def _card(card: VerbCard) -> str:
    """A whole card. Its example is fenced longer than any fence in it."""
    fence = "`" * max(4, 1 + max(map(len, re.findall("`+", card.example)), default=0))
    parts = (
        f"You asked about /{card.name}. {_form(card)}: {card.summary}",
        card.details,
        f"For example:\n{fence}\n{card.example.strip()}\n{fence}",
    )
    return "\n".join(part for part in parts if part)
