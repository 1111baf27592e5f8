"""`/mcp`: who comes in, before anything of the protocol is looked at.

Each request stands for itself: there is no session, no stream and nothing kept between two of them.
"""

from __future__ import annotations

import asyncio
import json
import re
from http import HTTPStatus
from importlib import import_module
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from rest_framework.response import Response

from engine.mcp.calls import Answer, Api
from issues.rest.problems import MEDIA_TYPE, problem
from trimus.buffering import Application, Receive, Scope, Send

PATH = re.compile("/mcp/?")
CALLER = "trimus.caller"
"""Where in a request's scope the tools find who calls."""

_HOW = "An owner makes a key under Settings, API keys; send it in the header Authorization: Bearer trm_…"
_RELAYED = ("content-type", "www-authenticate", "retry-after")


class Door:
    """The application at `/mcp`. `pages` serves the API; half of its threads at most answer calls from here."""

    def __init__(self, pages: Application) -> None:
        self._api = Api(pages, at_once=max(1, settings.WEB_THREADS // 2))
        self._opening: asyncio.Task[Application] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request in, or answer why not. Whether the key is good and may call again so soon, the API says."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        refused = _unfit(scope["method"], headers) or _keyless(headers)
        if refused is not None:
            await _send(send, _plain(refused))
            return
        caller = self._api.caller(scope)
        me = await caller.ask("GET", "me")
        if me.is_refusal:
            await _send(send, me)
            return
        application = await self._opened()
        await application({**scope, CALLER: caller.admitted}, receive, send)

    async def _opened(self) -> Application:
        """The protocol's own application, made when the first client calls: most installations have none."""
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    async def _open(self) -> Application:
        server = await asyncio.to_thread(import_module, "engine.mcp.server")
        application: Application = await server.open_application()
        return application


def _unfit(method: str, headers: dict[bytes, str]) -> Response | None:
    """Why the request is none for here. A page of somewhere else may have been told that its name is this machine's
    address; what it sends still carries that name. Judged by the names that all of the installation answers to."""
    if not _is_ours(headers.get(b"host", "")):
        return problem(HTTPStatus.MISDIRECTED_REQUEST, "misdirected", "Nobody of that name is here.")
    origin = headers.get(b"origin")
    if origin is not None and not _is_ours(_host_of(origin)):
        return problem(HTTPStatus.FORBIDDEN, "forbidden", "Pages of other sites do not call from here.")
    if method != "POST":
        answer = problem(
            HTTPStatus.METHOD_NOT_ALLOWED,
            "method-not-allowed",
            "MCP clients post here; there is no stream and no session.",
            hint="How an agent takes part stands at /skill.md.",
        )
        answer["Allow"] = "POST"
        return answer
    return None


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _is_ours(host: str) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _keyless(headers: dict[bytes, str]) -> Response | None:
    if headers.get(b"authorization"):
        return None
    answer = problem(HTTPStatus.UNAUTHORIZED, "unauthenticated", "No key came with the call.", hint=_HOW)
    answer["WWW-Authenticate"] = 'Bearer realm="Trimus"'
    return answer


def _plain(answer: Response) -> Answer:
    headers = {name.lower(): value for name, value in answer.items()} | {"content-type": MEDIA_TYPE}
    return Answer(answer.status_code, headers, json.dumps(answer.data).encode())


async def _send(send: Send, answer: Answer) -> None:
    """A refusal, to be shown as it is. A client that came without https is not sent on: its key is out already."""
    if answer.headers.get("location"):
        answer = _plain(problem(HTTPStatus.FORBIDDEN, "forbidden", "Here it is https alone."))
    kept = [(name, answer.headers[name]) for name in (*_RELAYED, "allow") if name in answer.headers]
    headers = [(name.encode(), value.encode("latin-1")) for name, value in kept]
    headers.append((b"content-length", str(len(answer.content)).encode()))
    await send({"type": "http.response.start", "status": int(answer.status), "headers": headers})
    await send({"type": "http.response.body", "body": answer.content})
