"""Charts as figures: where each column of a drawing stands. Pure; templates draw them as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 1.5
"""The height of the smallest column that is not nothing: one that cannot be seen would say that there was nothing."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Lengths are in the drawing's own units, to a tenth; y grows downwards."""

    x: float
    y: float
    width: float
    height: float
    label: str
    value: int


@dataclass(frozen=True, slots=True)
class Chart:
    width: int
    height: int
    columns: tuple[Column, ...]
    total: int
    highest: int


def draw(values: Sequence[tuple[str, int]], *, width: int = 280, height: int = 56, gap: float = 0.25) -> Chart:
    """A column for each label and value, in order. `gap` is the share of a column's place that stays free."""
    highest = max((value for _, value in values), default=0)
    place = width / max(len(values), 1)
    columns = []
    for index, (label, value) in enumerate(values):
        tall = max(LEAST, height * value / highest) if value > 0 else 0.0
        columns.append(
            Column(
                x=round(index * place + place * gap / 2, 1),
                y=round(height - tall, 1),
                width=round(place * (1 - gap), 1),
                height=round(tall, 1),
                label=label,
                value=value,
            )
        )
    return Chart(width, height, tuple(columns), sum(value for _, value in values), highest)
