"""How often a key may call."""

from __future__ import annotations

from engine.mcp import rates
from engine.mcp.rates import CALLS_AT_ONCE, CALLS_PER_SECOND, Rates


def test_many_calls_at_once_are_free_then_each_waits_and_nobody_waits_for_another() -> None:
    now = [100.0]
    counted = Rates(lambda: now[0])
    assert [counted.take("ada") for _ in range(CALLS_AT_ONCE)] == [0.0] * CALLS_AT_ONCE
    assert counted.take("ada") == 1 / CALLS_PER_SECOND
    assert counted.take("bob") == 0.0
    now[0] += 1 / CALLS_PER_SECOND
    assert counted.take("ada") == 0.0
    assert counted.take("ada") > 0.0


def test_who_has_all_calls_again_is_forgotten(monkeypatch: object) -> None:
    now = [100.0]
    counted = Rates(lambda: now[0])
    for number in range(rates.MOST_KEPT):
        counted.take(str(number))
    now[0] += CALLS_AT_ONCE
    counted.take("ada")
    assert len(counted._kept) == 1
