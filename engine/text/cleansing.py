"""Takes out of a whole context what a reader would not see but a model would, and what no model is to see: secrets.
Before anything is rendered.

Doing it to the context, not text by text while rendering, is the point: no renderer can forget it.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Collection
from typing import Any, TypeVar

from issues.secrets import mask_secrets

T = TypeVar("T")

LINE_BREAKS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
"""Everything that some reader takes for the end of a line becomes one: a prefix must reach every line."""

SURROGATES = re.compile("[\ud800-\udfff]")
"""Halves of a pair: no encoding carries them, so no provider could be sent one."""

HIDDEN = re.compile(
    "["
    "\x00-\x08\x0e-\x1f\x7f-\x9f"  # controls but tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # invisible letters and fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width, bidirectional controls
    "\ufe00-\ufe0d\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and the second set of variation selectors, which can carry whole sentences
    "\ufe0e\ufe0f]"
    # A text or emoji selector is at home behind a symbol; anywhere else it carries a bit of something.
    "(?<![#*0-9\u00a9\u00ae\u2000-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff][\ufe0e\ufe0f])"
)


def cleanse_text(text: str) -> tuple[str, int]:
    """The text with line feeds for all line breaks and without hidden characters, and how many those were."""
    text = SURROGATES.sub("\ufffd", LINE_BREAKS.sub("\n", text))
    return HIDDEN.subn("", text)


def cleanse(value: T, known: Collection[str] = ()) -> tuple[T, int]:
    """A value of frozen dataclasses, tuples and texts with every text cleansed and its secrets masked, and how many
    hidden characters that took.

    `known` are secrets by their value. What needs no change is returned as it is.
    """
    clean, hidden = _cleanse(value, known)
    return clean, hidden


def _cleanse(value: Any, known: Collection[str]) -> tuple[Any, int]:
    if isinstance(value, str):
        return (value, 0) if isinstance(value, enum.Enum) else _cleanse_and_mask(value, known)
    if isinstance(value, tuple):
        return _cleanse_tuple(value, known)
    if dataclasses.is_dataclass(value):
        return _cleanse_fields(value, known)
    return value, 0


def _cleanse_and_mask(text: str, known: Collection[str]) -> tuple[str, int]:
    """Masked last: a hidden character in the middle of a secret would keep it from being found."""
    clean, hidden = cleanse_text(text)
    masked = mask_secrets(clean, known)
    return (masked if masked != text else text), hidden


def _cleanse_tuple(items: tuple[Any, ...], known: Collection[str]) -> tuple[tuple[Any, ...], int]:
    pairs = [_cleanse(item, known) for item in items]
    if all(clean is item for (clean, _), item in zip(pairs, items, strict=True)):
        return items, 0
    return tuple(clean for clean, _ in pairs), sum(hidden for _, hidden in pairs)


def _cleanse_fields(record: Any, known: Collection[str]) -> tuple[Any, int]:
    changed: dict[str, Any] = {}
    total = 0
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        clean, hidden = _cleanse(value, known)
        if clean is not value:
            changed[field.name] = clean
            total += hidden
    return (dataclasses.replace(record, **changed) if changed else record), total
