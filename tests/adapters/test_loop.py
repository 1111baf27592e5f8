"""Calls from threads on the process's own event loop."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pytest

from agents.adapters.base import AdapterError, Completion, Endpoint, ErrorKind, ModelRequest, StopReason, Usage
from agents.adapters.loop import ModelLoop, model_loop, stop_model_loop
from agents.adapters.registry import ProviderSpec, load_providers
from agents.adapters.retry import RetryPolicy
from tests.adapters.servers import begun, redirect, serving, whole
from tests.adapters.wire import SDKS, ask, endpoint

ONCE = RetryPolicy(attempts=1)


@pytest.fixture
def loop() -> Iterator[ModelLoop]:
    running = ModelLoop()
    yield running
    running.stop()


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("answer", ["nothing", "a part"])
def test_cancelling_closes_the_connection_to_a_server_that_hangs(loop: ModelLoop, sdk: str, answer: str) -> None:
    with serving(begun(sdk) if answer == "a part" else b"") as server:
        call = loop.start(endpoint(sdk, base_url=server.url), ask(deadline_seconds=60))
        server.asked.get(timeout=5)
        assert not call.done()
        call.cancel()
        server.closed.get(timeout=1)  # raises Empty if the connection is still open a second later
        with pytest.raises(CancelledError):
            call.result(timeout=1)


def test_cancelling_frees_a_thread_that_waits_for_the_answer(loop: ModelLoop) -> None:
    seen: list[BaseException] = []

    with serving(b"") as server:
        call = loop.start(endpoint("openai", base_url=server.url), ask(deadline_seconds=60))

        def wait() -> None:
            try:
                call.result()
            except CancelledError as error:
                seen.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        server.asked.get(timeout=5)
        call.cancel()
        waiting.join(1)
    assert len(seen) == 1


@pytest.mark.parametrize("sdk", SDKS)
def test_calls_to_one_endpoint_share_a_connection(loop: ModelLoop, sdk: str) -> None:
    with serving(whole(sdk)) as server:
        for _ in range(3):
            call = loop.start(endpoint(sdk, base_url=server.url), ask())
            assert call.result(timeout=5).text == "Hello."
        assert server.connections == 1


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize("answer", ["nothing", "a part"])
def test_a_server_that_falls_silent_is_a_network_failure(loop: ModelLoop, sdk: str, answer: str) -> None:
    with serving(begun(sdk) if answer == "a part" else b"") as server:
        silent = endpoint(sdk, base_url=server.url, read_timeout_seconds=0.1)
        with pytest.raises(AdapterError) as raised:
            loop.start(silent, ask(), policy=ONCE).result(timeout=5)
    assert raised.value.kind is ErrorKind.NETWORK
    assert "said nothing" in str(raised.value)


@pytest.mark.parametrize("sdk", SDKS)
def test_a_deadline_ends_the_request_at_the_server(loop: ModelLoop, sdk: str) -> None:
    with serving(begun(sdk)) as server:
        call = loop.start(endpoint(sdk, base_url=server.url), ask(deadline_seconds=0.2), policy=ONCE)
        with pytest.raises(AdapterError) as raised:
            call.result(timeout=5)
        server.closed.get(timeout=1)
    assert raised.value.kind is ErrorKind.NETWORK


@pytest.mark.parametrize("sdk", SDKS)
def test_a_port_where_nobody_listens_is_a_network_failure(loop: ModelLoop, sdk: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(AdapterError) as raised:
        loop.start(endpoint(sdk, base_url=f"http://127.0.0.1:{port}"), ask(), policy=ONCE).result(timeout=5)
    assert raised.value.kind is ErrorKind.NETWORK


@pytest.mark.parametrize("sdk", SDKS)
def test_a_redirect_is_not_followed_so_that_the_key_goes_nowhere_else(loop: ModelLoop, sdk: str) -> None:
    with serving(whole(sdk)) as elsewhere, serving(redirect(elsewhere.url)) as server:
        with pytest.raises(AdapterError) as raised:
            loop.start(endpoint(sdk, base_url=server.url), ask()).result(timeout=5)
        assert raised.value.kind is ErrorKind.BAD_REQUEST
        assert elsewhere.connections == 0


@pytest.mark.parametrize("address", ["models.test/v1", "ftp://models.test", "http://models.test:port", "http://["])
@pytest.mark.parametrize("sdk", SDKS)
def test_an_address_that_is_none_is_a_bad_request(loop: ModelLoop, sdk: str, address: str) -> None:
    with pytest.raises(AdapterError) as raised:
        loop.start(endpoint(sdk, base_url=address), ask()).result(timeout=5)
    assert raised.value.kind is ErrorKind.BAD_REQUEST


def test_many_calls_wait_at_the_same_time(loop: ModelLoop) -> None:
    slow = Endpoint("scripted", script="- {reply: x, delay: 0.5}")
    begin = time.monotonic()
    calls = [loop.start(slow, ask()) for _ in range(200)]
    assert all(call.result(timeout=30).text == "x" for call in calls)
    assert time.monotonic() - begin < 50  # one after the other they take 100 s


def test_a_provider_that_is_not_there_is_a_bad_request(loop: ModelLoop) -> None:
    with pytest.raises(AdapterError) as raised:
        loop.start(Endpoint("oracle"), ask()).result(timeout=5)
    assert raised.value.kind is ErrorKind.BAD_REQUEST


class Counted:
    """A provider that says how many of its kind are open."""

    open = 0

    def __init__(self, endpoint: Endpoint) -> None:
        Counted.open += 1

    async def complete(self, request: ModelRequest) -> Completion:
        return Completion("x", "m", StopReason.END, Usage(), seconds=0.0)

    async def close(self) -> None:
        Counted.open -= 1


COUNTED = ProviderSpec("counted", "Counted", Counted)


def test_endpoints_that_are_no_longer_used_are_closed() -> None:
    Counted.open = 0
    loop = ModelLoop()
    providers = load_providers([f"{__name__}:COUNTED"])
    for number in range(40):
        changed = Endpoint("counted", api_key=f"key-{number}")
        loop.start(changed, ask(), providers=providers).result(timeout=5)
    assert Counted.open == 32
    loop.stop()
    assert Counted.open == 0


def test_stopping_cancels_what_runs_and_refuses_what_comes() -> None:
    loop = ModelLoop()
    with serving(b"") as server:
        call = loop.start(endpoint("openai", base_url=server.url), ask(deadline_seconds=60))
        server.asked.get(timeout=5)
        loop.stop()
        with pytest.raises(CancelledError):
            call.result(timeout=1)
        server.closed.get(timeout=1)
    with pytest.raises(RuntimeError):
        loop.start(endpoint("openai"), ask())
    loop.stop()


def test_a_process_has_one_loop_and_gets_another_when_that_was_stopped() -> None:
    first = model_loop()
    assert model_loop() is first
    stop_model_loop()
    second = model_loop()
    assert second is not first
    assert second.start(Endpoint("scripted", script="- {reply: x}"), ask()).result(timeout=5).text == "x"
    stop_model_loop()


FORK = """
import os
from agents.adapters.base import Endpoint
from agents.adapters.loop import model_loop
from tests.adapters.wire import ask
def answer():
    return model_loop().start(Endpoint("scripted", script="- {reply: x}"), ask()).result(timeout=5).text
assert answer() == "x"
child = os.fork()
if child == 0:
    os._exit(0 if answer() == "x" else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert answer() == "x"
"""


def test_a_forked_child_has_a_loop_of_its_own() -> None:
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=60)


def test_a_process_that_calls_no_model_imports_no_sdk() -> None:
    code = "import sys, agents.adapters.loop, agents.catalogue; assert not {'openai', 'anthropic'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
