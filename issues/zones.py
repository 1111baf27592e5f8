"""The time zones that forms offer."""

from __future__ import annotations

import functools
import zoneinfo


@functools.cache
def zone_names() -> tuple[str, ...]:
    """UTC, then every place by its name; the many old names without a place are left out."""
    places = (
        name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith(("Etc/", "posix/"))
    )
    return ("UTC", *sorted(places))
