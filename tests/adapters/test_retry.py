"""The one place that asks again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from agents.adapters.base import (
    AdapterError,
    Completion,
    ErrorKind,
    ModelRequest,
    StopReason,
    Usage,
)
from agents.adapters.retry import RetryPolicy, complete_with_retries
from tests.adapters.wire import ask

DONE = Completion("Done.", "m", StopReason.END, Usage(output_tokens=3), seconds=0.1)
QUICK = RetryPolicy(attempts=3, first_wait_seconds=0.001)


class Scripted:
    """A provider that goes through outcomes one by one and remembers the deadlines that it was given."""

    def __init__(self, outcomes: Sequence[Completion | AdapterError]) -> None:
        self._outcomes = list(outcomes)
        self.deadlines: list[float] = []

    async def complete(self, request: ModelRequest) -> Completion:
        self.deadlines.append(request.deadline_seconds)
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, AdapterError):
            raise outcome
        return outcome

    async def close(self) -> None:
        pass


def overloaded(retry_after: float | None = None, **usage: int) -> AdapterError:
    return AdapterError(ErrorKind.OVERLOADED, "busy", retry_after=retry_after, usage=Usage(**usage))


def run(
    *outcomes: Completion | AdapterError, policy: RetryPolicy = QUICK, deadline: float = 5.0
) -> tuple[Completion | AdapterError, Scripted]:
    provider = Scripted(outcomes)
    try:
        result = asyncio.run(complete_with_retries(provider, ask(deadline_seconds=deadline), policy))
    except AdapterError as error:
        return error, provider
    return result, provider


def test_a_failure_that_passes_is_asked_again() -> None:
    result, _ = run(overloaded(), overloaded(), DONE)
    assert isinstance(result, Completion)
    assert result.text == "Done."
    assert result.attempts == 3


def test_the_last_failure_is_raised_when_no_attempt_is_left() -> None:
    result, provider = run(overloaded(), overloaded(), overloaded(), DONE)
    assert isinstance(result, AdapterError)
    assert result.attempts == 3
    assert len(provider.deadlines) == 3


@pytest.mark.parametrize("kind", [ErrorKind.AUTH, ErrorKind.REFUSED, ErrorKind.CONTEXT_TOO_LONG, ErrorKind.BAD_REQUEST])
def test_a_failure_that_does_not_pass_is_not_asked_again(kind: ErrorKind) -> None:
    result, provider = run(AdapterError(kind, "no"), DONE)
    assert isinstance(result, AdapterError)
    assert len(provider.deadlines) == 1


def test_a_long_wait_is_not_slept_through_but_handed_back() -> None:
    result, provider = run(overloaded(retry_after=31.0), DONE, deadline=600.0)
    assert isinstance(result, AdapterError)
    assert result.retry_after == 31.0
    assert len(provider.deadlines) == 1


def test_a_wait_that_ends_after_the_deadline_is_not_begun() -> None:
    result, provider = run(overloaded(retry_after=10.0), DONE, deadline=2.0)
    assert isinstance(result, AdapterError)
    assert len(provider.deadlines) == 1


def test_all_attempts_share_one_deadline() -> None:
    _, provider = run(overloaded(retry_after=0.05), DONE, deadline=1.0)
    assert provider.deadlines[0] <= 1.0
    assert provider.deadlines[1] <= 0.95


def test_what_was_billed_is_not_asked_again_since_only_one_call_was_set_aside() -> None:
    failed, provider = run(overloaded(), overloaded(input_tokens=1000), DONE)
    assert isinstance(failed, AdapterError)
    assert (failed.attempts, failed.usage) == (2, Usage(input_tokens=1000))
    assert len(provider.deadlines) == 2


def test_waits_double_spread_and_never_fall_below_what_was_asked() -> None:
    policy = RetryPolicy(first_wait_seconds=1.0)
    assert [policy.wait(failed, overloaded(), 0.5) for failed in (1, 2, 3)] == [1.0, 2.0, 4.0]
    assert (policy.wait(1, overloaded(), 0.0), policy.wait(1, overloaded(), 1.0)) == (0.5, 1.5)
    assert policy.wait(1, overloaded(retry_after=7.0), 0.5) == 7.0


def test_cancelling_ends_the_wait_between_attempts() -> None:
    async def cancel_while_waiting() -> None:
        provider = Scripted([overloaded(retry_after=20.0), DONE])
        call = asyncio.ensure_future(complete_with_retries(provider, ask(deadline_seconds=60.0)))
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(call, 1)
        assert len(provider.deadlines) == 1

    asyncio.run(cancel_while_waiting())
