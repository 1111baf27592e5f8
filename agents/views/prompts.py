"""A kept prompt and reply, taken apart for reading."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agents.models import Run
from issues.hidden_characters import HIDDEN


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the prompt. `size` is in bytes; a deferred one was left out for want of room. `cached_to` are the
    tokens, from the beginning, that a provider is asked to keep up to its end; none: no cache breakpoint is there."""

    title: str
    message: str
    size: int
    tokens: int
    is_whole: bool
    is_deferred: bool
    cached_to: int | None
    shown: SafeString


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply with the lines that acted and those that were dropped marked."""

    shown: SafeString
    hidden: int
    characters: int


def read_sections(run: Run) -> list[Section]:
    """The prompt as it was sent, section by section; nothing once its texts were dropped for age."""
    messages = {"system": run.system_message, "user": run.user_message}
    points = run.prompt_facts.get("breakpoints", ())
    breakpoints = {(point["message"], point["offset"]): point["tokens"] for point in points}
    return [
        Section(
            title=kept["title"],
            message=kept["message"],
            size=kept.get("size", 0),
            tokens=kept.get("tokens", 0),
            is_whole=kept.get("is_whole", True),
            is_deferred=kept.get("is_deferred", False),
            cached_to=breakpoints.get((kept["message"], kept.get("end"))),
            shown=_show_quotes(
                messages.get(kept["message"], "")[kept.get("start", 0) : kept.get("end", 0)].strip("\n")
            ),
        )
        for kept in run.prompt_sections
    ]


def read_reply(run: Run, *, acting: Collection[int]) -> Reply | None:
    """The reply as it was received; `acting` are the numbers of the lines that became actions. None before it came and
    once it was dropped for age."""
    if not run.reply:
        return None
    lines = re.split("\r\n|\r|\n", run.reply)
    shown = format_html_join(
        "\n", "{}", ((_mark(line) if number in acting else line,) for number, line in enumerate(lines, start=1))
    )
    return Reply(shown, len(HIDDEN.findall(run.reply)), len(run.reply))


def _mark(line: str) -> SafeString:
    return format_html('<span class="acts">{}</span>', line)


def _show_quotes(text: str) -> SafeString:
    """The text with its quoted lines set off: what others wrote is data to the agent, and a reader shall see it."""
    parts: list[SafeString] = []
    quoted: list[str] = []
    for line in [*text.split("\n"), None]:
        if line is not None and line.startswith(">"):
            quoted.append(line)
            continue
        if quoted:
            parts.append(format_html('<span class="quoted">{}</span>', "\n".join(quoted)))
            quoted = []
        if line is not None:
            parts.append(format_html("{}\n", line))
    return format_html_join("", "{}", ((part,) for part in parts))
