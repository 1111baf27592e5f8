"""What uvicorn serves: event streams and the tools of outside agents are asynchronous, all else is Django in a few
threads.

A page is a handful of queries, and threads with a connection each answer twice as many a second as Django's
own asynchronous handler does; a stream is a client that waits for hours, and would hold a thread for nothing. What a
tool does is a call of the API, which those threads answer.
"""

from __future__ import annotations

import os
import re

from a2wsgi import WSGIMiddleware
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from trimus.buffering import Buffering, Receive, Scope, Send

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "trimus.settings")
_django = get_wsgi_application()
# Import the pages now, not in the first visitor's time.
_ = get_resolver().url_patterns

from engine.mcp.door import PATH as TOOLS_PATH  # noqa: E402  (models can be imported from here on)
from engine.mcp.door import Door  # noqa: E402
from issues.converters import CompanySlug  # noqa: E402
from issues.events import stream, stream_to_program  # noqa: E402

API_EVENTS_PATH = re.compile("/api/events/?")
EVENTS_PATH = re.compile(rf"/{CompanySlug.regex}/events/")
_threads = WSGIMiddleware(_django, workers=settings.WEB_THREADS)
pages = Buffering(_threads, limit_bytes=settings.MAX_REQUEST_BYTES)
tools = Door(_threads)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Route one connection."""
    if scope["type"] == "http" and scope["method"] == "GET" and API_EVENTS_PATH.fullmatch(scope["path"]):
        await stream_to_program(scope, receive, send, api=_threads)
    elif scope["type"] == "http" and EVENTS_PATH.fullmatch(scope["path"]):
        await stream(scope, receive, send)
    elif scope["type"] == "http" and TOOLS_PATH.fullmatch(scope["path"]):
        await tools(scope, receive, send)
    else:
        await pages(scope, receive, send)
