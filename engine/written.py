"""Actions that a program wrote down: as text, like a reply, or as values, one by one.

A model's reply is read leniently, for it cannot be asked again. A program can: whatever does not act is refused, before
anything is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.actions import parse_agent_actions
from engine.apply import MOST_ACTIONS
from engine.text.grammar import ArgumentRule, BodyRule
from engine.text.types import Action, AgentReply, DropReason
from engine.verbs.registry import BY_NAME, GRAMMAR
from engine.verbs.resolve import nearest
from issues.refusals import Invalid

_WHY = {
    DropReason.UNKNOWN_VERB: "there is no such verb",
    DropReason.MISSING_ARGUMENT: "its argument is missing",
    DropReason.MISSING_BODY: "its fenced block is missing",
    DropReason.MALFORMED_FENCE: "its fenced block does not close",
}


def read_text(text: str) -> AgentReply:
    """A text as a reply: its verbs act, its prose is the comment. Invalid, naming the line, for one that begins like a
    verb and would not act; and if none acts."""
    return _checked(parse_agent_actions(text), "text")


def read_list(entries: Sequence[str | Mapping[str, Any]]) -> AgentReply:
    """A list of actions, each as text or as `verb`, `args` and `body`. Invalid, with its place, for one that would not
    act."""
    actions = [_read_entry(entry, f"actions.{place}") for place, entry in enumerate(entries)]
    numbered = tuple(Action(one.verb, one.args, one.body, line) for line, one in enumerate(actions, 1))
    return _checked(AgentReply(numbered, "", (), ""), "actions")


def _checked(reply: AgentReply, field: str) -> AgentReply:
    for dropped in reply.dropped:
        word = dropped.line.split()[0].removeprefix("/")
        hint = nearest(word, BY_NAME) if dropped.reason is DropReason.UNKNOWN_VERB else ""
        raise Invalid(f"Line {dropped.number} does not act: {_WHY[dropped.reason]}.", hint, field=field)
    if not reply.actions:
        raise Invalid("There is no action in it.", field=field)
    if len(reply.actions) > MOST_ACTIONS:
        raise Invalid(f"These are {len(reply.actions):,} actions; at most {MOST_ACTIONS} are looked at.", field=field)
    return reply


def _read_entry(entry: str | Mapping[str, Any], field: str) -> Action:
    if isinstance(entry, str):
        reply = _checked(parse_agent_actions(entry), field)
        if len(reply.actions) > 1 or reply.prose:
            raise Invalid("It is more than one action.", "Send it as `text`.", field=field)
        return reply.actions[0]
    return _read_values(entry["verb"], entry.get("args", ""), entry.get("body"), field)


def _read_values(verb: str, args: str, body: str | None, field: str) -> Action:
    """The action, under the rules that a line and its fence would be read by."""
    name = verb.strip().removeprefix("/").lower()
    grammar = GRAMMAR.get(name)
    if grammar is None:
        raise Invalid(f"There is no verb /{name[:60]}.", nearest(name[:60], BY_NAME), field=f"{field}.verb")
    args = args.strip()
    if "\n" in args or "\r" in args:
        raise Invalid("An argument is one line.", field=f"{field}.args")
    if grammar.argument is ArgumentRule.REQUIRED and not args:
        raise Invalid(f"/{name} needs an argument.", f"It is used as: {BY_NAME[name].usage}.", field=f"{field}.args")
    if grammar.body is BodyRule.REQUIRED and body is None:
        raise Invalid(f"/{name} needs a body.", field=f"{field}.body")
    if grammar.body is BodyRule.NONE and body is not None:
        raise Invalid(f"/{name} takes no body.", field=f"{field}.body")
    return Action(name, args, body, 1)
