"""Answers that stop at their limit."""

from __future__ import annotations

import pytest

from agents.adapters.base import (
    AdapterError,
    Completion,
    ErrorKind,
    Message,
    ModelRequest,
    Role,
    StopReason,
    Usage,
)
from agents.adapters.continuation import CONTINUE, complete_whole
from tests.adapters.wire import ask


class Asked:
    """Answers with texts one by one, cut off all but the last, and keeps what it was asked."""

    def __init__(self, *texts: str, last: StopReason = StopReason.END) -> None:
        self._texts, self._last = list(texts), last
        self.requests: list[ModelRequest] = []

    def __call__(self, request: ModelRequest) -> Completion:
        self.requests.append(request)
        text = self._texts.pop(0)
        stop = StopReason.MAX_TOKENS if self._texts else self._last
        return Completion(text, "m", stop, Usage(10, output_tokens=2), seconds=1.0)


def test_a_whole_answer_is_asked_for_once() -> None:
    whole = complete_whole(asked := Asked("All of it."), ask())
    assert whole.text == "All of it."
    assert len(asked.requests) == 1


def test_parts_are_joined_where_they_were_cut() -> None:
    whole = complete_whole(Asked("/sta", "tus do", "ne\n"), ask())
    assert whole.text == "/status done\n"
    assert [part.text for part in whole.parts] == ["/sta", "tus do", "ne\n"]
    assert whole.usage == Usage(30, output_tokens=6)
    assert whole.seconds == 3.0
    assert whole.stop_reason is StopReason.END


def test_the_rest_is_asked_for_with_all_that_came_so_far() -> None:
    complete_whole(asked := Asked("One ", "two ", "three."), ask("Count."))
    assert asked.requests[-1].messages == (
        Message(Role.USER, "Count."),
        Message(Role.ASSISTANT, "One two "),
        Message(Role.USER, CONTINUE),
    )


def test_the_rest_is_asked_for_three_times_and_no_more() -> None:
    whole = complete_whole(asked := Asked("a", "b", "c", "d", "e"), ask())
    assert len(asked.requests) == 4
    assert whole.text == "abcd"
    assert whole.stop_reason is StopReason.MAX_TOKENS


def test_an_answer_spent_on_thinking_has_no_rest_to_ask_for() -> None:
    whole = complete_whole(asked := Asked(" ", last=StopReason.MAX_TOKENS), ask())
    assert len(asked.requests) == 1
    assert whole.stop_reason is StopReason.MAX_TOKENS


def test_thinking_at_the_start_of_a_part_does_not_come_between_the_parts() -> None:
    whole = complete_whole(Asked("The answ", "<think>\nWhere was I?\n</think>\ner is 4."), ask())
    assert whole.text == "The answer is 4."


def test_a_failure_while_asking_for_the_rest_is_passed_on() -> None:
    def once(request: ModelRequest) -> Completion:
        if len(request.messages) > 1:
            raise AdapterError(ErrorKind.CONTEXT_TOO_LONG, "too long")
        return Completion("Half of", "m", StopReason.MAX_TOKENS, Usage(), seconds=1.0)

    with pytest.raises(AdapterError):
        complete_whole(once, ask())
