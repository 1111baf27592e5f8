"""The whole way to a real model and back, through both SDKs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pytest

from agents.adapters.base import AdapterError, Endpoint, ErrorKind, Message, ModelRequest, Role, StopReason
from agents.adapters.continuation import complete_whole
from agents.adapters.loop import ModelLoop
from agents.adapters.retry import RetryPolicy
from agents.adapters.thinking import COMMON_EFFORTS, ThinkingLevel
from tests import local_model as the_model
from tests.adapters.wire import SDKS, ask

pytestmark = pytest.mark.slow


@pytest.fixture(params=SDKS)
def endpoint(request: pytest.FixtureRequest, local_model: str) -> Endpoint:
    path = "/v1" if request.param == "openai" else ""
    return Endpoint(request.param, local_model + path)


@pytest.fixture
def loop() -> Iterator[ModelLoop]:
    running = ModelLoop()
    yield running
    running.stop()


def model_request(text: str, **changes: object) -> ModelRequest:
    return ask(text, **{"model": the_model.MODEL, "deadline_seconds": 120.0} | changes)


def test_a_question_is_answered_and_counted(loop: ModelLoop, endpoint: Endpoint) -> None:
    completion = loop.start(endpoint, model_request("Say hello in one word.")).result()
    assert completion.text
    assert completion.model == the_model.MODEL
    assert completion.stop_reason in {StopReason.END, StopReason.MAX_TOKENS}
    assert not completion.usage.estimated
    assert 10 < completion.usage.input_tokens < 100
    assert 0 < completion.usage.output_tokens <= 100
    assert completion.seconds > 0


def test_a_prompt_asked_twice_is_read_from_the_cache(loop: ModelLoop, endpoint: Endpoint) -> None:
    question = model_request("Name a colour. " * 40, max_output_tokens=2)
    first = loop.start(endpoint, question).result().usage
    second = loop.start(endpoint, question).result().usage
    assert second.input_tokens == first.input_tokens
    assert second.cached_input_tokens > 0.9 * second.input_tokens


def test_every_optional_part_of_a_request_is_understood(loop: ModelLoop, endpoint: Endpoint) -> None:
    request = model_request(
        "Go on.",
        messages=(
            Message(Role.USER, "Skills. Count to three.", breakpoints=(8,)),
            Message(Role.ASSISTANT, "One, two, "),
            Message(Role.USER, "Go on."),
        ),
        system="Contract. Role.",
        system_breakpoints=(9,),
        cache_key="ada",
        thinking=ThinkingLevel.HIGH,
        thinking_style=COMMON_EFFORTS,
    )
    assert loop.start(endpoint, request).result().usage.output_tokens > 0


def test_an_answer_stops_at_its_limit_and_is_continued(loop: ModelLoop, endpoint: Endpoint) -> None:
    request = model_request("Tell a long story about a lighthouse.", max_output_tokens=12)
    whole = complete_whole(lambda part: loop.start(endpoint, part).result(), request)
    assert whole.parts[0].stop_reason is StopReason.MAX_TOKENS
    assert whole.parts[0].usage.output_tokens == 12
    assert len(whole.parts) > 1
    assert whole.text.startswith(whole.parts[0].text)


def test_a_prompt_over_the_window_is_context_too_long(loop: ModelLoop, endpoint: Endpoint) -> None:
    request = model_request("word " * (the_model.CONTEXT_WINDOW + 1_000))
    with pytest.raises(AdapterError) as raised:
        loop.start(endpoint, request).result()
    assert raised.value.kind is ErrorKind.CONTEXT_TOO_LONG
    assert raised.value.attempts == 1


def test_an_answer_slower_than_its_deadline_is_a_network_failure(loop: ModelLoop, endpoint: Endpoint) -> None:
    # Reading so many words takes the model over a second; the name keeps them out of its cache.
    request = model_request(f"{endpoint.provider}: " + "word " * 500, deadline_seconds=0.2)
    with pytest.raises(AdapterError) as raised:
        loop.start(endpoint, request, policy=RetryPolicy(attempts=1)).result()
    assert raised.value.kind is ErrorKind.NETWORK


def test_cancelling_frees_the_model_for_the_next_question(loop: ModelLoop, endpoint: Endpoint) -> None:
    """The server answers one question at a time: had the first gone on, the second would wait for it."""
    for _ in range(5):  # it may happen to write a short one
        long = loop.start(endpoint, model_request("Write a very long novel.", max_output_tokens=7_000))
        time.sleep(0.5)
        if not long.done():
            break
    long.cancel()
    with pytest.raises(CancelledError):
        long.result(timeout=1)
    short = loop.start(endpoint, model_request("Say hello.", max_output_tokens=2))
    assert short.result(timeout=30).stop_reason in {StopReason.MAX_TOKENS, StopReason.END}


def test_a_path_that_the_server_does_not_have_is_a_bad_request(loop: ModelLoop, endpoint: Endpoint) -> None:
    wrong = Endpoint(endpoint.provider, f"{endpoint.base_url}/nowhere")
    with pytest.raises(AdapterError) as raised:
        loop.start(wrong, model_request("Hello?")).result()
    assert raised.value.kind is ErrorKind.BAD_REQUEST
