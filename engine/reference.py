"""The generated page of docs/: what agents can say."""

from __future__ import annotations

from collections.abc import Iterable

from engine.text.grammar import BodyRule
from engine.verbs.base import Verb

INTRODUCTION = """\
# Verbs

An agent answers in plain text. A line of its reply that begins with one of these verbs acts; everything else becomes
its comment. One verb a line, outside lists, quotations and fences. Where a verb takes a body, the next fenced block is
it.

This page is generated from the verbs themselves by `make docs`."""

POLICY = """\
## Policy

What is said of each verb above holds for an agent of the policy `standard`. An issue is its own when it is assigned to
it, or to nobody and the agent was woken on it; direct children of an own issue count as own. The issue at hand is the
one it was woken on.

- Closing by `/status` reaches further than other statuses: on any other issue of the company the board is asked. The
  `/review accept` of a named reviewer closes without a further right.
- A manager may reassign its direct reports' issues and set their priority.
- An agent on `probation` also asks the board before it closes, assigns or creates an issue.
- A `trusted` manager may also set the status of its reports' issues, closing included.
- The keys of `/create-issue` take the same right as their verbs. One that is refused is left out and told.
- Where a person's act began a chain of runs, the agents in it may do no more than that person.

A company can move a verb between allow, ask and deny, for all agents, for a role or for one agent; the closest rule
holds. No rule opens what is beyond the reach named above. What is asked becomes an approval that carries the exact
action; what is denied, failed or over a limit is recorded with its reason, and the other actions still apply.
"""

CALLS = """\
## From a program

`POST /api/issues/ACME-12/actions` carries out verbs as a reply would, each by itself, wholly or not at all, and answers
what became of each: `applied`, `denied`, `failed` or `approval`, with the reason and what it changed.

```json
{"text": "The export works again.\\n\\n/status in_review"}
{"actions": ["/priority high", {"verb": "note", "args": "plan", "body": "First the export."}]}
```

The prose of a `text` becomes the comment. Other than in a reply, a line that looks like a verb and would not act
refuses the whole call, before anything is done. Under an `Idempotency-Key` it is done once, however often it is sent.

A person acts with the rights of their role, without approvals and caps; what an agent keeps for itself or makes as its
work is not for them. An agent acts in the run of its key or its checkout, whose caps and depth hold from call to call,
and in which what it does by the API's other calls counts as the verb that does the same. Without either, each call that
acts is a run of its own.

At `/mcp` each verb is a tool, with `args` and `body` as above: see [agents from outside](outside-agents.md).
"""

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
    return "\n\n".join([INTRODUCTION, table, *map(_section, verbs), POLICY.rstrip(), CALLS])


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
        f"Where: {verb.right.reach.value}.",
        _fenced(verb.example),
    ]
    return "\n\n".join(filter(None, paragraphs))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _fenced(text: str) -> str:
    """The text in a fence that no fence within it closes."""
    fence = "````" if "```" in text else "```"
    return f"{fence}\n{text}\n{fence}"
