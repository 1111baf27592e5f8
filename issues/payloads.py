"""The payload of an approval as text: all of it, in an order and form that a person can read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from issues.models import Approval, ApprovalKind
from issues.names import Names


def payload_text(approval: Approval, names: Names | None = None) -> str:
    """Everything that would be done, as it is stored; texts in it keep their lines. With `names`, ids of people and
    agents are followed by whom they mean. Empty for what is no action."""
    if approval.kind != ApprovalKind.ACTION:
        return ""
    return "\n".join(_lines(approval.payload, names, ""))


def _lines(value: Mapping[str, Any], names: Names | None, indent: str) -> list[str]:
    lines: list[str] = []
    for key, item in value.items():
        if isinstance(item, dict) and item:
            lines += [f"{indent}{key}:", *_lines(item, names, indent + "  ")]
        elif isinstance(item, list) and item and all(isinstance(one, dict) for one in item):
            for number, one in enumerate(item, 1):
                lines += [f"{indent}{key}, {number} of {len(item)}:", *_lines(one, names, indent + "  ")]
        elif isinstance(item, str) and "\n" in item:
            lines += [f"{indent}{key}:", *(f"{indent}  {line}" for line in item.split("\n"))]
        elif isinstance(item, str):
            lines.append(f"{indent}{key}: {item}")
        else:
            lines.append(f"{indent}{key}: {json.dumps(item, ensure_ascii=False)}{_whom(key, item, names)}")
    return lines


def _whom(key: str, item: Any, names: Names | None) -> str:
    somebody = names.refer({key: item}) if names is not None and isinstance(item, int) else None
    return f" ({somebody.name})" if somebody else ""
