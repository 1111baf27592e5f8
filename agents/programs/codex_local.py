"""Codex, without a terminal: `codex exec --json`.

Each line is an event: `thread.started` with the session, `item.started` and `item.completed` for what it says and does,
`turn.completed` with the tokens of the whole session so far, `turn.failed` and `error`. See
https://developers.openai.com/codex/noninteractive.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.adapters.base import Usage
from agents.adapters.counting import told_count
from agents.programs.base import Asked, ProgramSpec
from agents.programs.lines import Event, EventListener, list_in, paragraph, part_of, step, text_in


class CodexListener(EventListener):
    """Understands the stream of Codex. Its last message is the reply."""

    def __init__(self) -> None:
        super().__init__()
        self._has_ended = False
        self._trouble = ""

    def _event(self, event: Event) -> str:
        match event.get("type"):
            case "thread.started":
                self._say(session=text_in(event, "thread_id"))
            case "item.started":
                self._say(has_begun=True)
                return _begun(part_of(event, "item"))
            case "item.completed":
                self._say(has_begun=True)
                return self._done(part_of(event, "item"))
            case "turn.completed":
                self._has_ended = True
                self._say(usage=_usage(part_of(event, "usage")), failure="")
            case "turn.failed":
                self._say(failure=text_in(event, "error", "message") or "Its turn failed.")
            case "error":  # it may try again by itself, and then goes on
                self._trouble = text_in(event, "message")
                return step("error", self._trouble)
        return ""

    def _done(self, item: Event) -> str:
        match item.get("type"):
            case "agent_message":
                text = text_in(item, "text")
                self._reply(text)
                return paragraph(text)
            case "command_execution" if item.get("exit_code"):
                return step("exit", str(item["exit_code"]))
            case "file_change":
                return step("changed", ", ".join(text_in(change, "path") for change in list_in(item, "changes")))
            case "error":
                return step("error", text_in(item, "message"))
        return ""

    def close(self) -> str:
        shown = super().close()
        if not self._has_ended and not self._said.failure:
            self._say(failure=self._trouble or "Its output ended before its turn did.")
        return shown


def _begun(item: Event) -> str:
    match item.get("type"):
        case "command_execution":
            return step("command", text_in(item, "command"))
        case "mcp_tool_call":
            return step("tool", f"{text_in(item, 'server')} {text_in(item, 'tool')}")
        case "web_search":
            return step("search", text_in(item, "query"))
    return ""


def _usage(told: Event) -> Usage:
    """What was read from a cache is part of the input here."""
    read = told_count(told.get("input_tokens"))
    said = told_count(told.get("output_tokens"))
    return Usage(
        input_tokens=read,
        cached_input_tokens=min(read, told_count(told.get("cached_input_tokens"))),
        output_tokens=said,
        reasoning_tokens=min(said, told_count(told.get("reasoning_output_tokens"))),
    )


def _arguments(words: Sequence[str], asked: Asked) -> tuple[str, ...]:
    model = ("--model", asked.model) if asked.model else ()
    resumed = ("resume", asked.session) if asked.session else ()
    # A workspace is no git repository; the prompt comes on standard input.
    return (*words, "exec", "--json", "--skip-git-repo-check", *model, *resumed, "-")


CODEX_LOCAL = ProgramSpec(
    name="codex_local",
    label="Codex",
    listener=CodexListener,
    arguments=_arguments,
    # It changes files of its workspace, in a sandbox of its own.
    standard=("codex", "--sandbox", "workspace-write"),
    install="Install Codex (npm install -g @openai/codex) and log in as the user of the worker.",
    skills_folder=(".agents", "skills"),
    asks="openai",
    counts_sessions=True,
)
