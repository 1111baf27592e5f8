"""What the tools are: one for each verb, from its declaration, and those beside them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.mcp.calls import Api, Caller, Refused
from engine.mcp.issue_tools import ISSUE_TOOLS
from engine.mcp.registry import BY_NAME, TOOLS
from engine.mcp.tools import Tool
from engine.verbs.base import Verb
from engine.verbs.registry import VERBS
from tests.outside.callers import Rpc


def test_there_is_one_for_each_verb_in_their_order() -> None:
    assert [tool.name for tool in TOOLS] == [*(tool.name for tool in ISSUE_TOOLS), *(verb.name for verb in VERBS)]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_it_says_what_the_verb_says_and_takes_what_it_is_written_with(verb: Verb) -> None:
    tool = BY_NAME[verb.name]
    assert verb.summary[1:] in tool.description
    assert verb.details in tool.description
    parts = {"issue": "required", "args": verb.argument.value, "body": verb.body.value}
    names = [name for name, rule in parts.items() if rule != "none"]
    assert list(tool.schema["properties"]) == [*names, "idempotency_key"]
    assert tool.schema["required"] == [name for name, rule in parts.items() if rule == "required"]
    examples = {name: part["examples"][0] for name, part in tool.schema["properties"].items() if "examples" in part}
    assert tool.check(examples) == examples


@pytest.mark.django_db(transaction=True)
def test_a_client_is_listed_all_of_them(rpc: Rpc) -> None:
    listed = rpc.ask("tools/list")["tools"]
    assert [(tool["name"], tool["description"], tool["inputSchema"]) for tool in listed] == [
        (tool.name, tool.description, tool.schema) for tool in TOOLS
    ]
    changing = {tool["name"] for tool in listed if not tool["annotations"]["readOnlyHint"]}
    assert changing == {verb.name for verb in VERBS} | {"claim_issue", "release_issue", "write_comment"}


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("status", {"issue": "ACME-1"}, "status needs the argument “args”"),
        ("status", {"issue": "ACME-1", "args": None}, "status needs the argument “args”"),
        ("status", {"issue": "ACME-1", "args": "done", "body": "x"}, "status has no argument “body”"),
        ("status", {"issue": 1, "args": "done"}, "“issue” has to be a text."),
        ("get_skill", {"id": True}, "“id” has to be a whole number."),
        ("who_am_i", {"x": 1}, "who_am_i has no argument “x”"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(tool: str, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        BY_NAME[tool].check(arguments)


class Nobody(Caller):
    """Must not be asked."""

    async def ask(self, *args: Any, **options: Any) -> Any:
        raise AssertionError("the API was called")


def test_what_is_no_identifier_is_never_part_of_an_address() -> None:
    nobody = Nobody(Api(None, at_once=1), {})  # type: ignore[arg-type]
    for tool in (tool for tool in TOOLS if "issue" in tool.schema["properties"]):
        for wrong in ("ACME-1/comments", "../companies", "ACME-1?x=1", ""):
            with pytest.raises(Refused, match="There is no issue"):
                asyncio.run(use(tool, nobody, wrong))


async def use(tool: Tool, caller: Caller, issue: str) -> None:
    await tool.use(caller, {"issue": issue, "args": "x", "body": "x"})
