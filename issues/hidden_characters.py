"""Characters that no browser shows but a model reads: of no width, turning the direction of the text, tags. People see
their codes instead."""

from __future__ import annotations

import re

HIDDEN = re.compile(
    "[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
    # A joiner is at home between pictographs only.
    "(?<![\u2600-\u27bf\U0001f000-\U0001faff\ufe0f]\u200d)"
)


def name_hidden(text: str) -> str:
    """The text with the codes of hidden characters in their places, for where there is room for words only."""
    return HIDDEN.sub(_code, text)


def mark_hidden(escaped: str) -> str:
    """Escaped text with the codes of hidden characters in their places, set off from what was written."""
    return HIDDEN.sub(lambda match: f'<span class="code-point">{_code(match)}</span>', escaped)


def _code(match: re.Match[str]) -> str:
    return f"U+{ord(match.group()):04X}"
