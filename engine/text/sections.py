"""Sections, and where they stand in a message: heading, body, blank line."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

MessageName: TypeAlias = Literal["system", "user"]

USER_SECTIONS = (
    "You",
    "Team Roster",
    "Capabilities Available",
    "Available Skills",
    "Your Assignment",
    "Description",
    "Pinned Context",
    "Conversation History",
    "Trigger",
    "Child Issues",
    "Attachments",
    "Notebook",
    "Available Actions",
    "Escalation Playbook",
    "Instructions",
)
"""The order of the user message. What changes least stands first, so that caches reach far."""

BETWEEN = "\n\n"


class Meter(Protocol):
    """Counts tokens: `estimate` for showing, `guard` for what must fit. `is_exact`: both are the model's own."""

    @property
    def is_exact(self) -> bool: ...

    def estimate(self, text: str) -> int: ...

    def guard(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True)
class RenderedSection:
    """Where a section stands.

    `start` and `end` count characters of its message, heading included; `size` is its UTF-8 bytes, `tokens`
    the meter's estimate. All four are 0 for a deferred one, which has left no trace in the message.
    """

    title: str
    message: MessageName
    start: int = 0
    end: int = 0
    size: int = 0
    tokens: int = 0
    is_whole: bool = True
    is_deferred: bool = False


@dataclass(frozen=True, slots=True)
class CacheBreakpoint:
    """A place, in characters of the message, up to which the text is likely to come again.

    `tokens` is the meter's estimate of all that a provider has read by then, both messages counted: a prefix
    that is too short is not kept.
    """

    message: MessageName
    offset: int
    tokens: int


def section_text(title: str, body: str) -> str:
    """A section as it stands in a message."""
    return f"## {title}{BETWEEN}{body}"


def message_text(bodies: Mapping[str, str]) -> str:
    """The message of these sections, in the order of the mapping."""
    return BETWEEN.join(section_text(title, body) for title, body in bodies.items())


def locate(
    message: MessageName, bodies: Mapping[str, str], cut: Collection[str], meter: Meter
) -> tuple[RenderedSection, ...]:
    """The sections of a message with their places in `message_text(bodies)`; `cut` names those shown in part."""
    sections = []
    start = 0
    for title, body in bodies.items():
        text = section_text(title, body)
        end = start + len(text)
        size, tokens = len(text.encode()), meter.estimate(text)
        sections.append(RenderedSection(title, message, start, end, size, tokens, is_whole=title not in cut))
        start = end + len(BETWEEN)
    return tuple(sections)


def end_of(sections: Collection[RenderedSection], last: Collection[str]) -> int:
    """Where the last section ends whose title is among `last`; 0 if there is none."""
    return max((section.end for section in sections if section.title in last), default=0)
