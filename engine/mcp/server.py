"""The protocol, by its SDK: tools are listed and called, each request by itself, in JSON.

The SDK's plain server, because its other one makes tools of functions, and ours are declared. It knows the current
revision of the protocol and the one before, and tells them apart.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from engine.guide import instructions
from engine.mcp.calls import Refused
from engine.mcp.door import CALLER
from engine.mcp.registry import BY_NAME, TOOLS
from engine.mcp.tools import Told, Tool
from engine.text.cleansing import cleanse_text
from issues.rest.bodies import JSON_BYTES
from issues.secrets import mask_secrets
from trimus.buffering import Application
from trimus.masking import mask

MOST_BYTES = JSON_BYTES + 64 * 1024
"""Of a request: what the API takes, in the protocol's envelope."""

FAULT = "This went wrong here; the installation's log says why. Look before you try it again."

logger = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]


async def open_application() -> Application:
    """The application that answers the protocol. It lives as long as the event loop."""
    manager = StreamableHTTPSessionManager(
        app=_server(), json_response=True, stateless=True, max_request_body_size=MOST_BYTES
    )
    opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    _living.add(asyncio.create_task(_live(manager, opened)))
    await opened
    return manager.handle_request


async def _live(manager: StreamableHTTPSessionManager, opened: asyncio.Future[None]) -> None:
    """Hold what answers requests open, until the loop's end cancels this. Whoever waits for that hears of a failure."""
    try:
        async with manager.run():
            opened.set_result(None)
            await asyncio.get_running_loop().create_future()
    except Exception as error:
        if opened.done():
            raise
        opened.set_exception(error)


_living: set[asyncio.Task[None]] = set()
"""The loop itself would let go of them."""


def _server() -> Server[Any]:
    return Server(
        "trimus",
        title="Trimus",
        instructions=instructions(),
        get_tool_input_schema=_schema_of,
        on_list_tools=_list,
        on_call_tool=_call,
    )


async def _list(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=_LISTED)


async def _call(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """A refusal is an answer: the model reads it and does something else. A fault is told as one, and no more of it:
    the SDK would send its words."""
    try:
        told = await _use(context, params.name, params.arguments or {})
    except Refused as refusal:
        told = Told(refusal.words, dict(refusal.facts), is_refusal=True)
    except Exception:
        logger.exception("the tool %r failed", params.name)
        told = Told(FAULT, is_refusal=True)
    # Much text takes a while to look through, and the loop is everybody's.
    return await asyncio.to_thread(_shown, told)


async def _use(context: Context, name: str, given: Mapping[str, Any]) -> Told:
    tool = BY_NAME.get(name)
    if tool is None:
        raise Refused(f"There is no tool “{name[:60]}”.")
    if context.request is None:
        raise RuntimeError("a tool was called without a request")
    return await tool.use(context.request.scope[CALLER], tool.check(given))


def _schema_of(name: str) -> Mapping[str, Any] | None:
    tool = BY_NAME.get(name)
    return tool.schema if tool is not None else None


def _listed(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=tool.reads, open_world_hint=False)
    return types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)


_LISTED = [_listed(tool) for tool in TOOLS]


def _shown(told: Told) -> types.CallToolResult:
    """What the model is given: words, else the data as JSON, as a text of which no line is a quotation's own."""
    data = _cleansed(told.data)
    words = _cleansed(told.words) or json.dumps(data, ensure_ascii=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=words)],
        structured_content=data or None,
        is_error=told.is_refusal,
    )


def _cleansed(value: Any) -> Any:
    """The value as a prompt would hold it: without what only a model would see, secrets masked."""
    match value:
        case str():
            return mask(mask_secrets(cleanse_text(value)[0]))
        case list():
            return [_cleansed(item) for item in value]
        case dict():
            return {name: _cleansed(item) for name, item in value.items()}
        case _:
            return value
