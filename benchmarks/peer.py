"""What the strongest peer was measured at, to stand beside our figures, and what we aim at.

Paperclip 2026.916.1 (Node 24, embedded PostgreSQL), on a machine like those we measure on: 2 cores, 24 GB, loopback,
quiet, medians. Machines differ and drift: compare orders, not digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """The peer's figure and our aim, in the unit of the row they stand in."""

    peer: str
    aim: str


SMALL, LARGE = 1_000, 10_000
"""Issues in the company, where a figure depends on them."""

FIGURES: Mapping[tuple[str, int], Figure] = {
    ("create", SMALL): Figure("40", "10"),
    ("create", LARGE): Figure("53", "10"),
    ("get", SMALL): Figure("38", "6"),
    ("get", LARGE): Figure("39", "6"),
    ("list 50", SMALL): Figure("77", "10"),
    ("list 50", LARGE): Figure("283", "12"),
    ("search 50", SMALL): Figure("103", "15"),
    ("search 50", LARGE): Figure("671", "25"),
    ("comment", SMALL): Figure("46", "10"),
    ("comment", LARGE): Figure("46", "10"),
}
"""One client, milliseconds, p50."""

CREATES_A_SECOND = Figure("28-32", "150")
CREATE_OF_EIGHT_MS = Figure("240", "50")
WALK_SECONDS = Figure("6.3", "1.5")
WALK_MEGABYTES = Figure("27.1", "6")
FIRST_START_SECONDS = Figure("15-17", "8")
RESTART_SECONDS = Figure("8-11", "3")
IDLE_MEGABYTES = Figure("700", "300")
LOADED_MEGABYTES = Figure("1,300", "450")

LIST_SECONDS = "4-6 s until visible"
"""A list of 1,000 issues, warm 3.5-4.7 s; ours is to be visible in 0.5 s."""
ISSUE_SECONDS = "4.4 s, 57 calls"
SEARCH_MS = "103 ms, API"
