"""Scripts: replies written beforehand, each with the prompt that it fits.

A script is YAML, a list of rules. The first rule that fits a prompt answers it; nothing is remembered between
two prompts, so that any process at any time gives the same answer.

    - system: '^You are Ada\\b'             # a regular expression found in the system message
      when: 'Status: (?P<status>\\w+)'      # one found in the conversation, or a list of which each is found
      unless: 'All tests pass'             # one, or a list, of which none is found in the conversation
      reply: |
        It is {status} now.
        /status in_progress
      delay: 2                             # seconds before the reply
      stop: max_tokens                     # why it stops; end if left out
    - error: overloaded                    # instead of a reply: a failure of this kind

All expressions are multi-line. A group's name in braces stands for what the group matched; other braces are
text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from agents.adapters.base import ErrorKind, StopReason


class ScriptError(ValueError):
    """A script that cannot be read, with the number of the rule."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a prompt must and must not hold, and what then happens."""

    system: tuple[re.Pattern[str], ...] = ()
    when: tuple[re.Pattern[str], ...] = ()
    unless: tuple[re.Pattern[str], ...] = ()
    reply: str = ""
    error: ErrorKind | None = None
    delay: float = 0.0
    stop: StopReason = StopReason.END

    def groups(self, system: str, conversation: str) -> dict[str, str] | None:
        """What the named groups matched, or None when the rule does not fit."""
        if any(pattern.search(conversation) for pattern in self.unless):
            return None
        matches = [pattern.search(system) for pattern in self.system]
        matches += [pattern.search(conversation) for pattern in self.when]
        groups: dict[str, str] = {}
        for match in matches:
            if match is None:
                return None
            groups |= {name: value or "" for name, value in match.groupdict().items()}
        return groups

    def reply_with(self, groups: Mapping[str, str]) -> str:
        """The reply with groups in place of their names. Once and by name only: what they hold is a prompt's
        text.
        """
        return re.sub(r"\{(\w+)\}", lambda field: groups.get(field[1], field[0]), self.reply)


def parse_script(text: str) -> tuple[Rule, ...]:
    """Read a script. Raises ScriptError."""
    try:
        rules = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ScriptError(f"The script is no YAML: {error}") from error
    if not isinstance(rules, list) or not rules:
        raise ScriptError("The script holds no list of rules.")
    return tuple(_rule(number, fields) for number, fields in enumerate(rules, start=1))


_FIELDS = {"system", "when", "unless", "reply", "error", "delay", "stop"}


def _rule(number: int, fields: object) -> Rule:
    if not isinstance(fields, dict) or not fields.keys() <= _FIELDS:
        raise ScriptError(f"Rule {number} may have {', '.join(sorted(_FIELDS))} and nothing else.")
    if ("reply" in fields) == ("error" in fields):
        raise ScriptError(f"Rule {number} needs either a reply or an error.")
    try:
        return Rule(
            system=_patterns(fields.get("system")),
            when=_patterns(fields.get("when")),
            unless=_patterns(fields.get("unless")),
            reply=str(fields.get("reply", "")),
            error=ErrorKind(fields["error"]) if "error" in fields else None,
            delay=float(fields.get("delay", 0)),
            stop=StopReason(fields.get("stop", StopReason.END)),
        )
    except (TypeError, ValueError, re.error) as error:
        raise ScriptError(f"Rule {number} cannot be read: {error}") from error


def _patterns(value: object) -> tuple[re.Pattern[str], ...]:
    if value is None:
        return ()
    sources = value if isinstance(value, list) else [value]
    return tuple(re.compile(str(source), re.MULTILINE) for source in sources)
