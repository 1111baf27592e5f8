"""What the reply parser needs to know of a verb: its name, whether it takes an argument, and its body rule."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass


class ArgumentRule(enum.Enum):
    """Whether text must follow the verb on its line."""

    REQUIRED = "required"
    OPTIONAL = "optional"


class BodyRule(enum.Enum):
    """Whether the next fenced block belongs to the verb."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class VerbGrammar:
    """The grammar of one verb. `name` is lower case, without the slash."""

    name: str
    argument: ArgumentRule
    body: BodyRule = BodyRule.NONE


Grammar = Mapping[str, VerbGrammar]
"""Verb name to its grammar: the whole verb set of a parser."""
