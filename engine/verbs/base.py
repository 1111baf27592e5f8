"""What a verb is: one declaration from which parser, prompt, help, API, docs, policy and tests are derived."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.text.grammar import ArgumentRule, BodyRule, VerbGrammar
from engine.text.parser import parse
from engine.text.types import Action
from issues.rights import Permission

if TYPE_CHECKING:
    from engine.verbs.scene import Scene
    from issues.models import Approval, Issue


@dataclass(frozen=True, slots=True)
class Request:
    """A verb with its words read: what exactly is asked.

    `values` is plain JSON with ids in place of names, so that an approval can carry it and be carried out later as it
    was shown. `before` holds what those values would replace; an approved request whose `before` no longer holds is
    not carried out.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Effect:
    """What carrying out a request changed, in words and as values before and after. `remarks` say what of it was left
    out, and why."""

    summary: str
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    issue: Issue | None = None
    approval: Approval | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb.

    `right` is the permission it takes. `usage` is the line shown to agents, `details` what a card for /help adds.
    `core` verbs are explained in every prompt; `cap` is how many of them one run may try. `is_change` is unset for
    verbs that move nothing, `makes_issues` set for those that go before all others of a reply: their requests have a
    `title`. `overwrites` is the kind of activity that tells of the field the verb sets, so that a person's change
    meanwhile is not overwritten.

    `resolve` reads the action's words and raises `issues.refusals.Invalid` for what cannot be read or found;
    `carry_out` calls the service, which checks permission. Both import Django when they run, never when imported.
    """

    name: str
    right: Permission
    usage: str
    summary: str
    example: str
    argument: ArgumentRule
    resolve: Callable[[Scene, Action], Request]
    carry_out: Callable[[Scene, Request], Effect]
    body: BodyRule = BodyRule.NONE
    details: str = ""
    core: bool = False
    cap: int | None = None
    is_change: bool = True
    makes_issues: bool = False
    overwrites: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", self.name):
            raise ValueError(f"a verb is lower-case words joined by dashes, not {self.name!r}")
        if not self.usage.startswith(f"/{self.name}"):
            raise ValueError(f"the usage of /{self.name} begins otherwise: {self.usage!r}")
        found = parse(self.example, {self.name: self.grammar})
        if [action.verb for action in found.actions] != [self.name] or found.dropped:
            raise ValueError(f"the example of /{self.name} does not parse as one /{self.name}: {self.example!r}")

    @property
    def grammar(self) -> VerbGrammar:
        return VerbGrammar(self.name, self.argument, self.body)
