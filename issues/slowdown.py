"""Log-in made slow for whoever guesses: per account and per address."""

from __future__ import annotations

import hashlib
import math
import time

from django.core.cache import cache

FREE_TRIES = 5
LONGEST_SECONDS = 300
FORGET_SECONDS = 3_600


class Slowdown:
    """Counts failed tries in the cache. After the fifth each further one doubles the wait, up to 5 minutes.

    A person who mistypes waits for nothing; a guesser has some 300 tries a day. An account's count is kept apart from
    an address's, so that a guesser elsewhere cannot lock anybody out for longer than the longest wait.
    """

    def seconds_to_wait(self, username: str, address: str) -> int:
        """Whole seconds until the next try is looked at; 0 for now."""
        until = max(self._until(key) for key in self._keys(username, address))
        return max(0, math.ceil(until - time.time()))

    def failed(self, username: str, address: str) -> None:
        for key in self._keys(username, address):
            tries = cache.get(key, (0, 0.0))[0] + 1
            wait = min(LONGEST_SECONDS, 2 ** (tries - FREE_TRIES)) if tries >= FREE_TRIES else 0
            cache.set(key, (tries, time.time() + wait), FORGET_SECONDS)

    def succeeded(self, username: str) -> None:
        """The right password ends the account's count; the address's stays."""
        cache.delete(self._key("account", username.lower()))

    def _until(self, key: str) -> float:
        return float(cache.get(key, (0, 0.0))[1])

    def _keys(self, username: str, address: str) -> tuple[str, str]:
        return self._key("account", username.lower()), self._key("address", address)

    @staticmethod
    def _key(kind: str, value: str) -> str:
        return f"log-in-{kind}-{hashlib.sha256(value.encode()).hexdigest()}"
