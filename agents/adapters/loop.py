"""The event loop on which a process calls models.

Callers are threads that wait for an answer each. The calls themselves share one loop in a thread of its own:
an asynchronous request can be cancelled while it waits, which closing a synchronous client does not do.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future

from agents.adapters.base import AdapterError, Completion, Endpoint, ErrorKind, ModelRequest, Provider
from agents.adapters.registry import ProviderSpec, load_providers
from agents.adapters.retry import RetryPolicy, complete_with_retries

# Endpoints change when keys do; beyond so many the one that rested longest is closed.
_MOST_IDLE_PROVIDERS = 32
_STOP_SECONDS = 5.0


class ModelLoop:
    """One event loop in its own thread, with one provider an endpoint so that connections are reused."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._submitting = threading.Lock()
        self._stopped = False
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="model-loop", daemon=True)
        self._thread.start()
        self._ready.wait()

    def start(
        self,
        endpoint: Endpoint,
        request: ModelRequest,
        *,
        providers: Mapping[str, ProviderSpec] | None = None,
        policy: RetryPolicy | None = None,
    ) -> Future[Completion]:
        """Begin a call. The future gives its Completion or raises AdapterError; cancelling it, from any
        thread, ends the request at the provider and makes whoever waits for the result raise CancelledError
        at once.
        """
        call = self._complete(endpoint, request, providers or load_providers(), policy)
        with self._submitting:
            if self._stopped:
                call.close()
                raise RuntimeError("this loop has been stopped")
            return asyncio.run_coroutine_threadsafe(call, self._loop)

    def stop(self, timeout_seconds: float = _STOP_SECONDS) -> None:
        """Cancel every call, close every connection, end the thread. Calling it again does nothing."""
        with self._submitting:
            if not self._stopped:
                self._stopped = True
                self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(timeout_seconds)

    @property
    def stopped(self) -> bool:
        return self._stopped

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._pool = _ProviderPool()
        self._ready.set()
        await self._stopping.wait()
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await self._pool.close()

    async def _complete(
        self,
        endpoint: Endpoint,
        request: ModelRequest,
        providers: Mapping[str, ProviderSpec],
        policy: RetryPolicy | None,
    ) -> Completion:
        spec = providers.get(endpoint.provider)
        if spec is None:
            raise AdapterError(ErrorKind.BAD_REQUEST, f"There is no provider {endpoint.provider!r}.")
        async with self._pool.borrowed(spec, endpoint) as provider:
            return await complete_with_retries(provider, request, policy)


class _ProviderPool:
    """Providers by endpoint. It lives on the loop's thread alone, so that nothing here needs a lock."""

    def __init__(self) -> None:
        self._busy: dict[tuple[ProviderSpec, Endpoint], tuple[Provider, int]] = {}
        self._idle: OrderedDict[tuple[ProviderSpec, Endpoint], Provider] = OrderedDict()

    @contextlib.asynccontextmanager
    async def borrowed(self, spec: ProviderSpec, endpoint: Endpoint) -> AsyncIterator[Provider]:
        key = (spec, endpoint)
        provider, calls = self._busy.get(key) or (self._idle_or_new(spec, endpoint), 0)
        self._busy[key] = (provider, calls + 1)
        try:
            yield provider
        finally:
            _, calls = self._busy.pop(key)
            if calls > 1:
                self._busy[key] = (provider, calls - 1)
            else:
                self._idle[key] = provider
                await self._close_longest_idle()

    def _idle_or_new(self, spec: ProviderSpec, endpoint: Endpoint) -> Provider:
        key = (spec, endpoint)
        return self._idle.pop(key) if key in self._idle else spec.make(endpoint)

    async def _close_longest_idle(self) -> None:
        while len(self._idle) > _MOST_IDLE_PROVIDERS:
            _, provider = self._idle.popitem(last=False)
            await provider.close()

    async def close(self) -> None:
        for provider in (*self._idle.values(), *(provider for provider, _ in self._busy.values())):
            await provider.close()


_process_loop: ModelLoop | None = None
_choosing = threading.Lock()


def model_loop() -> ModelLoop:
    """This process's loop, begun when first asked for: a process that calls no model has none."""
    global _process_loop
    with _choosing:
        if _process_loop is None or _process_loop.stopped:
            _process_loop = ModelLoop()
        return _process_loop


def stop_model_loop() -> None:
    """End this process's loop if it has one."""
    with _choosing:
        if _process_loop is not None:
            _process_loop.stop()


def _forget_in_child() -> None:
    """A forked child has the object but not its thread, and a copy of a lock that somebody may have held."""
    global _process_loop, _choosing
    _process_loop, _choosing = None, threading.Lock()


atexit.register(stop_model_loop)
os.register_at_fork(after_in_child=_forget_in_child)
