"""Holds every answer that a test gets against the API's own description."""

from __future__ import annotations

import functools
import re
from typing import Any

import jsonschema
from drf_spectacular.generators import SchemaGenerator

UNDESCRIBED = ("/api/schema", "/api/docs")


@functools.cache
def description() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


def check_answer(method: str, path: str, status: int, kind: str, body: Any) -> None:
    """Fail unless the description has this operation with this status, kind of content and body."""
    operation = find_operation(method, path)
    if operation is None:
        assert status in (404, 405), f"{method} {path} is not described"
        return
    answers = operation["responses"]
    answer = answers.get(str(status)) or answers["default"]
    assert status < 400 or answer is answers["default"]
    assert status >= 400 or answer is not answers["default"], f"{method} {path} answers {status} undescribed"
    content = answer.get("content", {})
    if not content:
        assert body is None
        return
    assert kind in content, f"{kind} is not described"
    schema = content[kind]["schema"] | {"components": description()["components"]}
    jsonschema.validate(body, schema, cls=jsonschema.Draft202012Validator)


def find_operation(method: str, path: str) -> dict[str, Any] | None:
    """The described operation that a call of this address is."""
    found = [
        operations[method.lower()]
        for template, operations in description()["paths"].items()
        if method.lower() in operations and re.fullmatch(_pattern(template), path.rstrip("/"))
    ]
    return found[0] if found else None


def _pattern(template: str) -> str:
    """A literal part of a template beats a variable one: `agents/me` is no id, as ids are numbers."""
    pattern = re.sub(r"\{(id)\}", "[0-9]+", template)
    return re.sub(r"\{\w+\}", "[^/]+", pattern)
