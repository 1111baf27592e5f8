"""Checking the values of a row against what its model says of them, as a refusal instead of a form's error."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db.backends.base.operations import BaseDatabaseOperations
from django.db.models import Model

from issues.refusals import Invalid


def check_fields(row: Model, names: Iterable[str]) -> None:
    """Invalid, naming the first field that cannot hold its value. Values come out in the field's own type."""
    wanted = set(names)
    _check_integers(row, wanted)
    others = [field.name for field in row._meta.concrete_fields if field.name not in wanted]
    try:
        row.clean_fields(exclude=others)
    except ValidationError as error:
        name, reasons = next(iter(error.message_dict.items()))
        raise Invalid(f"The {name.replace('_', ' ')} cannot be used: {reasons[0]}", field=name) from None


def _check_integers(row: Model, names: set[str]) -> None:
    """Hold numbers to the range of their type, which SQLite, unlike others, does not have."""
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if field.name not in names or not isinstance(value, int):
            continue
        bounds = BaseDatabaseOperations.integer_field_ranges.get(field.get_internal_type())
        if bounds is not None and not bounds[0] <= value <= bounds[1]:
            raise Invalid(f"The {field.verbose_name} must be from {bounds[0]:,} to {bounds[1]:,}.", field=field.name)
