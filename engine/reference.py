"""The generated page of docs/: what agents can say."""

from __future__ import annotations

from collections.abc import Iterable

from engine.text.grammar import BodyRule
from engine.verbs.base import Verb

INTRODUCTION = """\
# Verbs

An agent answers in plain text. A line of its reply that begins with one of these verbs acts; everything else becomes
its comment. One verb a line, outside lists, quotations and fences. Where a verb takes a body, the next fenced block is
it. What an agent may do with each, where, and what waits for the board is a matter of the company's policy.

This page is generated from the verbs themselves by `make docs`."""

BODIES = {
    BodyRule.NONE: "takes no body",
    BodyRule.OPTIONAL: "may be followed by a fenced body",
    BodyRule.REQUIRED: "must be followed by a fenced body",
}


def verbs_page(verbs: Iterable[Verb]) -> str:
    """The page, in Markdown; the verbs in the order in which agents are shown them."""
    verbs = tuple(verbs)
    rows = [f"| [`/{verb.name}`](#{verb.name}) | {_cell(verb.summary)} |" for verb in verbs]
    table = "\n".join(["| verb | what it does |", "| --- | --- |", *rows])
    return "\n\n".join([INTRODUCTION, table, *map(_section, verbs)]) + "\n"


def _section(verb: Verb) -> str:
    facts = [BODIES[verb.body]]
    if verb.cap is not None:
        facts.append(f"at most {verb.cap} in one run")
    if not verb.is_change:
        facts.append("does not count as a change")
    paragraphs = [
        f"## {verb.name}",
        f"`{verb.usage}`: {verb.summary}.",
        verb.details,
        f"It {'; '.join(facts)}.",
        _fenced(verb.example),
    ]
    return "\n\n".join(filter(None, paragraphs))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _fenced(text: str) -> str:
    """The text in a fence that no fence within it closes."""
    fence = "````" if "```" in text else "```"
    return f"{fence}\n{text}\n{fence}"
