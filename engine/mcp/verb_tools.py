"""One tool for each verb, from the verb's own declaration."""

from __future__ import annotations

from typing import Any

from engine.mcp.calls import Caller
from engine.mcp.references import ISSUE, ONCE, path_of
from engine.mcp.tools import Arguments, Parameter, Told, Tool
from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.parser import parse
from engine.verbs.base import Verb

_NOT_DONE = ("denied", "failed")
_SHOWN = ("verb", "outcome", "reason", "summary", "before", "after", "issue", "approval")


def tool_of(verb: Verb) -> Tool:
    """The verb as a tool: its name, its help, and an argument for each part that it is written with."""

    async def use(caller: Caller, arguments: Arguments) -> Told:
        action = {"verb": verb.name} | {part: arguments[part] for part in ("args", "body") if part in arguments}
        form = {"actions": [action]}
        acted = await caller.post(path_of(arguments["issue"], "actions"), form, once=arguments.get(ONCE.name))
        return _told(acted["actions"][0], acted["run"])

    return Tool(verb.name, _description(verb), (ISSUE, *_parts(verb), ONCE), use)


def _description(verb: Verb) -> str:
    sentences = [f"{verb.summary[0].upper()}{verb.summary[1:]}.", verb.details]
    if verb.cap is not None:
        sentences.append(f"At most {verb.cap} in one run.")
    sentences.append(f"Where: {verb.right.reach.value}.")
    return " ".join(filter(None, sentences))


def _parts(verb: Verb) -> list[Parameter]:
    """What stands behind the verb on its line, and its fenced block."""
    example = parse(verb.example, {verb.name: verb.grammar}).actions[0]
    usage = verb.usage.removeprefix(f"/{verb.name}").strip()
    parts = [
        Parameter(
            "args",
            f"As {usage}, on one line.",
            required=verb.argument is ArgumentRule.REQUIRED,
            examples=(example.args,) if example.args else (),
        )
    ]
    if verb.body is not BodyRule.NONE:
        parts.append(
            Parameter(
                "body",
                "What the fenced block holds, without its fence.",
                required=verb.body is BodyRule.REQUIRED,
                examples=(example.body,) if example.body else (),
            )
        )
    return parts


def _told(action: dict[str, Any], run: int | None) -> Told:
    """What became of the action."""
    outcome = action["outcome"]
    words = {"denied": "Denied:", "failed": "Failed:", "approval": "The board is asked:"}.get(outcome, "")
    said = " ".join(filter(None, (words, action["summary"], action["reason"])))
    data = {name: action[name] for name in _SHOWN}
    return Told(said or "Done.", data | {"run": run}, is_refusal=outcome in _NOT_DONE)
