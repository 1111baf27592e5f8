"""The streams of the programs that people install, as those write them."""

from __future__ import annotations

from typing import Any

Event = dict[str, Any]


def claude_began(session: str = "s-1", model: str = "claude-sonnet-5") -> Event:
    return {"type": "system", "subtype": "init", "session_id": session, "model": model, "tools": ["Bash"]}


def claude_said(*content: Event, message: str = "m-1", helper: str | None = None, **usage: int) -> Event:
    told = {"id": message, "role": "assistant", "content": list(content), "usage": usage}
    return {"type": "assistant", "session_id": "s-1", "parent_tool_use_id": helper, "message": told}


def claude_result(text: str | None = "All done.\n/status done", **fields: Any) -> Event:
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 5}
    whole = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "num_turns": 2,
        "result": text,
        "session_id": "s-1",
        "total_cost_usd": 0.0123456,
        "usage": usage,
    } | fields
    return whole if text is not None else {name: value for name, value in whole.items() if name != "result"}


def text(words: str) -> Event:
    return {"type": "text", "text": words}


def tool(name: str, **asked: Any) -> Event:
    return {"type": "tool_use", "id": "t-1", "name": name, "input": asked}


def codex_item(kind: str, *, when: str = "completed", **fields: Any) -> Event:
    return {"type": f"item.{when}", "item": {"id": "item_0", "type": kind} | fields}


def codex_story(
    reply: str, *, session: str = "c-1", read: int = 1_000, cached: int = 400, said: int = 50
) -> list[Event]:
    """A session with one turn. The tokens are those of the session so far."""
    return [
        {"type": "thread.started", "thread_id": session},
        {"type": "turn.started"},
        codex_item("command_execution", when="started", command="bash -lc ls", status="in_progress"),
        codex_item("command_execution", command="bash -lc ls", exit_code=0, status="completed"),
        codex_item("agent_message", text=reply),
        {
            "type": "turn.completed",
            "usage": {"input_tokens": read, "cached_input_tokens": cached, "output_tokens": said},
        },
    ]
