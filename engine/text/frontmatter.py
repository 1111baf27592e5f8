"""The `key: value` lines with which a body may begin."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stood before the line `---`, keys in lower case, and the text after it."""

    values: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


def read_front_matter(body: str, known: Collection[str]) -> FrontMatter:
    """Split a body. Lines count as front matter only if a line `---` ends them and each has a known key, so that no
    text is ever mistaken for settings; one line `---` before them is allowed."""
    lines = body.split("\n")
    start = 1 if lines[0].strip() == "---" else 0
    values: dict[str, str] = {}
    for place in range(start, len(lines)):
        line = lines[place].strip()
        if line == "---":
            if not values:
                break
            return FrontMatter(values, "\n".join(lines[place + 1 :]).strip("\n"))
        key, colon, value = line.partition(":")
        key = key.strip().lower().replace("_", "-")
        if not colon or key not in known:
            break
        values[key] = value.strip()
    return FrontMatter(text=body)
