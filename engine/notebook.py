"""The notebook for a prompt: all of an agent's notes, and the few observations that fit what it is about."""

from __future__ import annotations

from collections.abc import Collection

from agents.models import Agent
from engine.inventory import Kept
from engine.text.context import Note, Notebook
from engine.text.relevance import words_of

SHOWN_OBSERVATIONS = 5


def read_notebook(agent: Agent, subject: str, there: Collection[Kept]) -> Notebook:
    """In two queries at most: `there` tells what there is. `subject` is what assignment and trigger say."""
    notes = agent.notes.order_by("-written_at", "-pk") if Kept.NOTES in there else ()
    return Notebook(
        tuple(Note(note.key, note.text, note.written_at) for note in notes),
        _fitting_observations(agent, subject) if Kept.OBSERVATIONS in there else (),
    )


def _fitting_observations(agent: Agent, subject: str) -> tuple[str, ...]:
    """Those with the most words in common with the subject; of equals the newest. One without any is not shown."""
    wanted = words_of(subject)
    texts = agent.observations.order_by("-pk").values_list("text", flat=True)
    common = [(len(words_of(text) & wanted), text) for text in texts]
    fitting = sorted((pair for pair in common if pair[0]), key=lambda pair: -pair[0])
    return tuple(text for _, text in fitting[:SHOWN_OBSERVATIONS])
