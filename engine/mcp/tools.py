"""What a tool is: one declaration from which its listing and the check of its arguments are derived."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.mcp.calls import Caller, Refused

Arguments = Mapping[str, Any]

_KINDS: Mapping[str, tuple[type, str]] = {"string": (str, "a text"), "integer": (int, "a whole number")}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool."""

    name: str
    description: str
    kind: Literal["string", "integer"] = "string"
    required: bool = True
    examples: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": self.kind, "description": self.description}
        return schema | {"examples": list(self.examples)} if self.examples else schema


@dataclass(frozen=True, slots=True)
class Told:
    """What a tool answers: in words, and as data where there is some. `is_refusal`: it was not done."""

    words: str
    data: dict[str, Any] = field(default_factory=dict)
    is_refusal: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `use` is called with arguments that were checked; it raises Refused. `reads`: it changes nothing."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    use: Callable[[Caller, Arguments], Awaitable[Told]]
    reads: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """What arguments it takes, as JSON Schema."""
        return {
            "type": "object",
            "properties": {parameter.name: parameter.schema for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.required],
            "additionalProperties": False,
        }

    def check(self, given: Arguments) -> Arguments:
        """The arguments without those that are null. Refused for one that is unknown, missing or of another kind."""
        arguments = {name: value for name, value in given.items() if value is not None}
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in arguments:
            if name not in known:
                raise Refused(f"{self.name} has no argument “{name[:60]}”. There are: {', '.join(known)}.")
        for parameter in self.parameters:
            if parameter.name in arguments:
                _check_kind(parameter, arguments[parameter.name])
            elif parameter.required:
                raise Refused(f"{self.name} needs the argument “{parameter.name}”: {parameter.description}")
        return arguments


def _check_kind(parameter: Parameter, value: Any) -> None:
    kind, words = _KINDS[parameter.kind]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Refused(f"“{parameter.name}” has to be {words}.")
