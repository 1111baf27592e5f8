"""What both SDKs need around a call: a client with limits, a deadline, and failures without secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import httpx2

from agents.adapters.base import AdapterError, Completion, Endpoint, ErrorKind
from agents.adapters.errors import Symptom, reported_failure, too_slow
from agents.adapters.public_addresses import PublicTransport

Classify = Callable[[Exception, Endpoint], AdapterError | None]

_WRITE_TIMEOUT_SECONDS = 30.0

# Stands for a key where there is none: both SDKs insist on one, servers at home take any.
_NO_KEY = "none"


def usable_key(endpoint: Endpoint) -> str:
    """The key to send. Raises AdapterError for one that cannot stand in a header, without showing it."""
    key = endpoint.api_key.strip()
    if not key:
        return _NO_KEY
    if not key.isascii() or not key.isprintable() or " " in key:
        raise AdapterError(ErrorKind.AUTH, f"The key for {endpoint.host} holds characters that no key has.")
    return key


def usable_url(endpoint: Endpoint) -> str:
    """The address to call. Raises AdapterError for one that cannot be, without showing a password in it."""
    try:
        parts = urlsplit(endpoint.url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an address in brackets that is none
        valid = False
    if not valid:
        raise AdapterError(
            ErrorKind.BAD_REQUEST, f"The address of the provider {endpoint.provider} is no http or https address."
        )
    return endpoint.url


def timeouts(endpoint: Endpoint) -> httpx2.Timeout:
    """Limits of single steps. `pool` has none: the number of calls at once is limited by who starts them."""
    return httpx2.Timeout(
        connect=endpoint.connect_timeout_seconds,
        read=endpoint.read_timeout_seconds,
        write=_WRITE_TIMEOUT_SECONDS,
        pool=None,
    )


def http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    """The client of one endpoint. It follows no redirect, so that a key goes nowhere else."""
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
    if endpoint.only_public:
        return httpx2.AsyncClient(
            timeout=timeouts(endpoint), transport=PublicTransport(limits), follow_redirects=False, trust_env=False
        )
    return httpx2.AsyncClient(timeout=timeouts(endpoint), limits=limits, follow_redirects=False)


async def within_deadline(
    call: Awaitable[Completion], *, seconds: float, endpoint: Endpoint, classify: Classify
) -> Completion:
    """Await a call for at most so many seconds and turn what SDKs raise into AdapterError.

    `classify` returns None for an exception that is none of theirs: that one is a bug and propagates.
    """
    try:
        async with asyncio.timeout(seconds):
            return await call
    except AdapterError:
        raise
    except TimeoutError:
        failure = too_slow(endpoint, seconds)
    except Exception as error:
        known = classify(error, endpoint)
        if known is None:
            raise
        failure = known
    # Not raised above: as its context, the SDK's exception would drag the request with its key along.
    raise failure


# Some servers answer a wrong path with a page and some know no streams; both with status 200.
_NOT_STREAMS = {"application/json", "text/html"}


async def require_stream(response: httpx2.Response, endpoint: Endpoint) -> None:
    """Raise AdapterError if a server answered with a document: an error, or not such a server at all."""
    content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type not in _NOT_STREAMS:
        return
    await response.aread()
    body = response.json() if content_type == "application/json" else None
    if isinstance(body, dict) and body.get("error"):
        raise reported_failure(symptom_of(body["error"], status=200), endpoint, response.headers)
    raise AdapterError(
        ErrorKind.BAD_REQUEST,
        f"{endpoint.host} sent a document ({content_type}) instead of a stream. Is its address right?",
    )


def symptom_of(error: object, *, status: int | None, otherwise: str = "") -> Symptom:
    """What the `error` of a body says, whatever its shape; `otherwise` is its text if it has none."""
    if not isinstance(error, dict):
        return Symptom(status, text=str(error or otherwise))
    code, kind, text = (error.get(name) for name in ("code", "type", "message"))
    return Symptom(status, text=str(text or otherwise or error), code=str(code or ""), type=str(kind or ""))
