"""How things look in bodies and queries: shapes go out, forms and queries come in."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, cast

from django.db.models import Manager
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from issues.models import Member, Priority

Reader = Callable[[Any], Any]


class Shape(serializers.Serializer[Any]):
    """What is answered. Its fields are the documentation and the reading of a row: each is compiled once into a
    plain function, because a list of 200 rows asks the framework's fields 3,000 times."""

    Meta: type

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.Meta = type("Meta", (), {"ref_name": cls.__name__.removesuffix("Shape")})

    def to_representation(self, instance: Any) -> dict[str, Any]:
        return {name: read(instance) for name, read in self._readers}

    @functools.cached_property
    def _readers(self) -> list[tuple[str, Reader]]:
        return [(name, _reader(field)) for name, field in self.fields.items()]


class Form(serializers.Serializer[Any]):
    """What a body may hold. A field that is not named here is an error, not a slip that goes unnoticed."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if isinstance(data, Mapping):
            unknown = [str(name)[:60] for name in data if name not in self.fields]
            if unknown:
                known = ", ".join(self.fields)
                raise serializers.ValidationError(
                    {name: [f"There is no such field here. There are: {known}."] for name in unknown}
                )
        values: dict[str, Any] = super().to_internal_value(data)
        return values


class Query(Form):
    """What the query of an address may hold."""


class SomebodyShape(Shape):
    """A member or an agent."""

    kind = serializers.ChoiceField(choices=["member", "agent"])
    handle = serializers.CharField()
    name = serializers.CharField()


@extend_schema_field(SomebodyShape)
class SomebodyField(serializers.ReadOnlyField):
    """Whichever of several relations is set: a member's, an agent's."""

    def __init__(self, *relations: str, **options: Any) -> None:
        self.relations = relations
        super().__init__(source="*", **options)

    def to_representation(self, value: Any) -> dict[str, str] | None:
        return next((refer(one) for name in self.relations if (one := getattr(value, name)) is not None), None)


def refer(one: Any) -> dict[str, str]:
    """How a member or agent is named."""
    kind = "member" if isinstance(one, Member) else "agent"
    return {"kind": kind, "handle": one.handle, "name": one.name}


def texts_of(*relations: str) -> list[str]:
    """The long texts of an agent behind these relations: to be left out of a query that only names it."""
    return [f"{relation}__{text}" for relation in relations for text in ("instructions", "knowledge", "script")]


class SecretsField(serializers.ListField):
    """What kinds of secrets a text seems to hold, of a row that is flagged."""

    child = serializers.CharField()

    def __init__(self, **options: Any) -> None:
        help_text = "Kinds of secrets that the text seems to hold. Agents see them masked; revoke them."
        super().__init__(help_text=help_text, **options)


class StampField(serializers.DateTimeField):
    """A moment in UTC."""

    def to_representation(self, value: datetime.datetime) -> str:
        return value.isoformat().replace("+00:00", "Z")


class WrittenField(serializers.CharField):
    """A text as somebody wrote it. The indentation of its first line stays: in Markdown it makes code of what would act
    as text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)


class PriorityField(serializers.ChoiceField):
    """A priority by its word."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=[(priority.slug, priority.label) for priority in Priority], **options)

    def to_internal_value(self, data: Any) -> Priority:  # type: ignore[override] # a choice is more than its word
        return Priority.from_slug(super().to_internal_value(data))

    def to_representation(self, value: Any) -> str:
        return Priority(value).slug


class CommaField(serializers.ListField):
    """Several values in one parameter of a query, with commas between them."""

    def to_internal_value(self, data: Any) -> list[Any]:
        values: list[Any] = super().to_internal_value([part.strip() for part in str(data).split(",") if part.strip()])
        return values


def _reader(field: serializers.Field[Any, Any, Any, Any]) -> Reader:
    """The field's reading of a row as one function. Null stays null."""
    get = _path(field.source or "*")
    if isinstance(field, serializers.ListSerializer):
        show = cast("Shape", field.child).to_representation
        return lambda row: [show(one) for one in _all(get(row))]
    if type(field) in _PLAIN:
        return get
    convert = field.to_representation

    def read(row: Any) -> Any:
        value = get(row)
        return None if value is None else convert(value)

    return read


def _path(source: str) -> Reader:
    """The way from a row to a field's value; null as soon as something on it is null."""
    if source == "*":
        return lambda row: row
    first, _, rest = source.partition(".")
    step = attrgetter(first)
    if not rest:
        return step
    further = _path(rest)
    return lambda row: None if (value := step(row)) is None else further(value)


def _all(value: Any) -> Any:
    return value.all() if isinstance(value, Manager) else value


_PLAIN = frozenset(
    {
        serializers.CharField,
        serializers.IntegerField,
        serializers.BooleanField,
        serializers.FloatField,
        serializers.ChoiceField,
        serializers.JSONField,
        serializers.ReadOnlyField,
    }
)
"""Fields whose value in a row is what goes out."""
