"""Where the engine is told by the layer below. Filled once, at start-up, by `engine`."""

from __future__ import annotations

from collections.abc import Callable

doorbells: tuple[Callable[[], object], ...] = ()
"""Called after the commit of a transaction that wrote a wakeup: somebody go and look."""

dry_run_bells: tuple[Callable[[int], object], ...] = ()
"""Called after a dry re-run was asked for, with its id."""
