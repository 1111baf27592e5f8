"""The one place that asks again after a failure that may pass."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from agents.adapters.base import AdapterError, Completion, ModelRequest, Provider

# A sleep may last longer than asked; what is left of the deadline must stay positive.
_LEAST_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is tried and how long it may wait between tries.

    A wait over `longest_wait_seconds` is not slept through, as that would hold a worker: the failure is
    raised with its `retry_after`, for the caller to come back later.
    """

    attempts: int = 3
    first_wait_seconds: float = 1.0
    longest_wait_seconds: float = 30.0

    def wait(self, failed: int, failure: AdapterError, chance: float) -> float:
        """Seconds to wait after so many failed attempts: doubled each time, spread by chance (0 to 1) so that
        calls which failed together do not return together, and never less than the provider asks.
        """
        doubled: float = self.first_wait_seconds * 2 ** (failed - 1)
        return max(doubled * (0.5 + chance), failure.retry_after or 0.0)

    def allows(self, failed: int, wait_seconds: float) -> bool:
        """Whether another attempt may follow so many failed ones after such a wait."""
        return failed < self.attempts and wait_seconds <= self.longest_wait_seconds


async def complete_with_retries(
    provider: Provider,
    request: ModelRequest,
    policy: RetryPolicy | None = None,
    *,
    chance: Callable[[], float] = random.random,
) -> Completion:
    """Ask until there is an answer, a failure that will not pass, one that was billed, no attempt or no time left.

    The request's deadline holds for all attempts together, and so does what was set aside for one call: after a failure
    that cost something, whoever pays decides on the next. Raises AdapterError, with the number of attempts and what
    the last of them cost.
    """
    policy = policy or RetryPolicy()
    started = time.monotonic()
    attempt = 0
    while True:
        attempt += 1
        left = max(request.deadline_seconds - (time.monotonic() - started), _LEAST_SECONDS)
        try:
            completion = await provider.complete(replace(request, deadline_seconds=left))
        except AdapterError as failure:
            failure.attempts = attempt
            wait = policy.wait(attempt, failure, chance())
            in_time = time.monotonic() - started + wait < request.deadline_seconds
            if failure.was_billed or not (failure.retryable and in_time and policy.allows(attempt, wait)):
                raise
        else:
            seconds = time.monotonic() - started
            return replace(completion, attempts=attempt, seconds=seconds)
        await asyncio.sleep(wait)
