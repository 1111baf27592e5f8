"""Nothing that is sent breaks the API: every operation, with values that break others."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from agents.models import Agent
from agents.services.notebook import remember, write_note
from issues.models import Company, Grant
from issues.rights import Right
from issues.services.files import write_file
from issues.services.findings import record_finding
from issues.services.policy import change_policy
from tests import build
from tests.api.client import Api
from tests.api.contract import description

ROUNDS = 12
"""Calls of each operation."""

TOKEN = f"trh_{'7' * 48}"
"""Of a hook."""

NASTY: list[Any] = [
    None,
    True,
    0,
    -1,
    2**31,
    2**63,
    10**40,
    1.5,
    1e308,
    "",
    " ",
    "\n",
    "a" * 301,
    "a" * 70_000,
    "\x00",
    "\ud800",
    "\u202e\u200b",
    "ﬀ",
    "İ",
    "' OR 1=1 --",
    "%",
    "_",
    "\\",
    "../../etc/passwd",
    "{{7*7}}",
    "<script>",
    "@ada",
    "@@ada@",
    "none",
    "me",
    "ada",
    "ACME-1",
    "ACME-2",
    "acme-999999999",
    "ACME-0",
    "#1",
    "todo",
    "done",
    "approved",
    "assign",
    "/status done",
    ["/status done", {"verb": "note", "args": "x", "body": "y"}],
    "urgent",
    "2027-02-30",
    "9999-12-31",
    "0001-01-01T00:00:00Z",
    "2027-01-01T00:00:00+14:00",
    [],
    {},
    [[]],
    ["bug", "bug"],
    ["ACME-1"],
    ["ACME-1", "ACME-1"],
    [None],
    [{}],
    {"a": {"b": [1]}},
]


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in description()["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


@pytest.fixture
def things(company: Company, ada: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with low ids to aim at."""
    issue = build.issue(company, "First", assignee=ada, labels=[build.label(company, "bug")])
    build.issue(company, "Second")
    build.project(company)
    build.skill(company)
    build.comment(issue)
    worker = build.at_work(ada, issue)
    build.approval(issue, actor=worker)
    build.saved_view(company)
    with monkeypatch.context() as patch:
        patch.setattr("issues.services.hooks.secrets.token_hex", lambda _bytes: TOKEN.removeprefix("trh_"))
        build.hook(company)
    build.routine(company, ada)
    write_file(actor=worker, issue=issue, path="a.md", text="Written.")
    record_finding(actor=worker, issue=issue, body="Found.")
    write_note(actor=worker, issue=issue, key="plan", text="First this.")
    remember(actor=worker, issue=issue, text="It breaks on Mondays.")
    change_policy(actor=build.owner_of(company), company=company, permission=Right.LABEL, grant=Grant.DENY)


@pytest.mark.parametrize("seed", range(2))
def test_no_call_breaks_anything(api: Api, ada_api: Api, things: None, seed: int) -> None:
    chance = random.Random(seed)
    statuses = set()
    for method, path, operation in operations():
        for _ in range(ROUNDS):
            caller = chance.choice([api, api, ada_api])
            answer = _send(caller, chance, method, _aimed(chance, path), operation)
            assert answer < 500, f"{method} {path}"
            statuses.add(answer)
    assert {200, 201, 204, 404, 422} <= statuses  # it did get in


def _send(api: Api, chance: random.Random, method: str, path: str, operation: dict[str, Any]) -> int:
    """Send one call and hold the answer against the description; its status."""
    if method == "get":
        if path.endswith("/content"):
            return api.client.get(path).status_code
        return api.get(path, **_query(chance, operation)).status
    if method == "delete":
        return api.delete(path).status
    content = operation.get("requestBody", {}).get("content", {})
    if "multipart/form-data" in content:
        return api.raw("POST", path, b"--x--", "multipart/form-data; boundary=x").status
    return getattr(api, method)(path, _body(chance, content)).status


def _body(chance: random.Random, content: dict[str, Any]) -> Any:
    if chance.random() < 0.1:
        return chance.choice(NASTY)
    if not content:
        return {}
    name = content["application/json"]["schema"].get("$ref", "").rpartition("/")[2]
    if not name:  # whatever somebody's program sends
        return {f"{chance.choice(NASTY)}"[:99]: chance.choice(NASTY) for _ in range(3)}
    schema = description()["components"]["schemas"][name]
    fields = schema["properties"]
    body = {field: chance.choice(NASTY) for field in fields if chance.random() < 0.4}
    # What is needed is mostly there, or nothing else would be looked at.
    for field in schema.get("required", []):
        if chance.random() < 0.7:
            body[field] = _fitting(fields[field])
    return body


def _fitting(schema: dict[str, Any]) -> Any:
    if "$ref" in schema:
        schema = description()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "enum" in schema:
        return schema["enum"][0]
    return ["ACME-2"] if schema.get("type") == "array" else "Something"


def _query(chance: random.Random, operation: dict[str, Any]) -> dict[str, str]:
    parameters = [one for one in operation.get("parameters", []) if one["in"] == "query"]
    values = [value for value in NASTY if isinstance(value, str | int) and value != "\ud800"]
    query = {one["name"]: str(chance.choice(values)) for one in parameters if chance.random() < 0.3}
    return query | {one["name"]: "first" for one in parameters if one.get("required") and chance.random() < 0.7}


def _aimed(chance: random.Random, path: str) -> str:
    """The address of something that is there, mostly."""
    parts = {"{id}": ["1", "1", "2", "999999999999999999"], "{key}": ["ACME", "acme", "NONE"]}
    parts["{token}"] = [TOKEN, "trh_0"]
    parts |= {part: ["ACME-1", "ACME-2", "ACME-9"] for part in ("{identifier}", "{blocker}")}
    for part, values in parts.items():
        path = path.replace(part, chance.choice(values))
    return path
