"""Filling the templates of hooks with what came in. That is text of strangers: characters that nobody sees are taken
out, no field is longer than it may be, and a filled template is not read again."""

from __future__ import annotations

import json
import re
from typing import Any

from issues.hidden_characters import HIDDEN
from issues.refusals import Invalid

MOST_FIELDS = 50
"""Fields of one template."""

FIELD_CHARACTERS = 16_000
"""Of one field; the rest is left out."""

WHOLE = "body"
"""Names all that came in, where there is no field of that name."""

_FIELD = re.compile(r"\{\{\s*([^{}\s][^{}]{0,199}?)\s*\}\}")
_JSON = json.JSONEncoder(ensure_ascii=False, indent=2)
_UNSENDABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def check_template(text: str, field: str) -> str:
    """The template, unless it has too many fields (Invalid)."""
    if len(_FIELD.findall(text)) > MOST_FIELDS:
        raise Invalid(f"The {field} has more than {MOST_FIELDS} fields.", field=field)
    return text


def fill(template: str, data: Any) -> str:
    """The template with each `{{field}}` in place of its value; one that did not come in is empty. `a.b.0` goes by
    names of objects and places of lists."""
    return _FIELD.sub(lambda found: value_of(data, found[1]), template)


def value_of(data: Any, path: str) -> str:
    """The field as text: texts as they are, all else as JSON. Empty if there is none."""
    found = _find(data, path.split("."))
    if found is None and path == WHOLE:
        found = data
    return _clean(_as_text(found))


def _find(data: Any, steps: list[str]) -> Any:
    for step in steps:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and step.isascii() and step.isdecimal() and len(step) < 7:
            data = data[int(step)] if int(step) < len(data) else None
        else:
            return None
    return data


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    written, size = [], 0
    for part in _JSON.iterencode(value):  # no further than is shown: indented, a body is many times its size
        written.append(part)
        size += len(part)
        if size > FIELD_CHARACTERS:
            break
    return "".join(written)


def _clean(text: str) -> str:
    cut = text if len(text) <= FIELD_CHARACTERS else text[:FIELD_CHARACTERS] + "…"
    return _UNSENDABLE.sub("", HIDDEN.sub("", cut.replace("\r\n", "\n")))
