"""Claude Code, without a terminal: `claude -p --output-format stream-json`.

Each line is an event: `system` (with `init` the model and the session), `assistant` (what the model said or has tools
do, and the tokens of that call so far), `user` (what tools returned), and at the end one `result` with the reply, the
tokens of each model and the cost. See https://docs.claude.com/en/docs/claude-code/headless.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Decimal

from agents.adapters.base import Usage
from agents.adapters.counting import told_count
from agents.programs.base import Asked, ProgramSpec
from agents.programs.lines import Event, EventListener, list_in, paragraph, part_of, step, text_in

_MICRO = 1_000_000
_MOST_DOLLARS = 1_000_000
"""Of one run: more is no cost."""


class ClaudeListener(EventListener):
    """Understands the stream of Claude Code."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: dict[str, Usage] = {}
        self._last_words = ""

    def _event(self, event: Event) -> str:
        match event.get("type"):
            case "system" if event.get("subtype") == "init":
                self._say(model=text_in(event, "model"), session=text_in(event, "session_id"))
                return step("model", text_in(event, "model"))
            case "assistant":
                return self._assistant(event)
            case "result":
                self._result(event)
        return ""

    def _assistant(self, event: Event) -> str:
        """An event comes for each part of a message, and each says what the message has used until then."""
        self._say(has_begun=True)
        message = part_of(event, "message")
        usage = part_of(message, "usage")
        if usage:
            self._calls[text_in(message, "id")] = _usage(usage)
            self._say(usage=sum(self._calls.values(), Usage()))
        is_own = not event.get("parent_tool_use_id")  # else a helper's that it has sent off
        shown = []
        for part in list_in(message, "content"):
            if part.get("type") == "text":
                text = text_in(part, "text")
                shown.append(paragraph(text))
                self._last_words = text if is_own and text.strip() else self._last_words
            elif part.get("type") == "tool_use":
                asked = json.dumps(part.get("input"), ensure_ascii=False)
                shown.append(step(text_in(part, "name") or "tool", asked))
        return "".join(shown)

    def _result(self, event: Event) -> None:
        usage = _total(part_of(event, "modelUsage")) or _usage(part_of(event, "usage"))
        cost = _microdollars(event.get("total_cost_usd"))
        used = Usage(
            usage.input_tokens,
            usage.cached_input_tokens,
            usage.cache_write_tokens,
            usage.output_tokens,
            told_microdollars=cost,
        )
        self._say(usage=used, session=text_in(event, "session_id") or self._said.session)
        result = text_in(event, "result")
        if event.get("is_error") or event.get("subtype", "success") != "success":
            errors = event.get("errors")
            told = [str(error) for error in errors] if isinstance(errors, list) else []
            self._say(failure=" ".join(filter(None, (result, *told))) or text_in(event, "subtype") or "It failed.")
            return
        self._reply(result or self._last_words)  # some versions leave the result out of a resumed session

    def close(self) -> str:
        shown = super().close()
        if not self._said.text and not self._said.failure:
            self._say(failure="Its output ended without a result.")
        return shown


def _usage(told: Event) -> Usage:
    """Of one call, in the names of the API: what was read from a cache or kept in one stands beside the input."""
    cached, kept = told_count(told.get("cache_read_input_tokens")), told_count(told.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=told_count(told.get("input_tokens")) + cached + kept,
        cached_input_tokens=cached,
        cache_write_tokens=kept,
        output_tokens=told_count(told.get("output_tokens")),
    )


def _total(models: Mapping[str, object]) -> Usage | None:
    """Of all models together, in the names of the summary; None where it is missing. Helpers are in it, which the
    usage beside it leaves out."""
    found = [model for model in models.values() if isinstance(model, dict)]
    usages = [
        _usage(
            {
                "input_tokens": model.get("inputTokens"),
                "cache_read_input_tokens": model.get("cacheReadInputTokens"),
                "cache_creation_input_tokens": model.get("cacheCreationInputTokens"),
                "output_tokens": model.get("outputTokens"),
            }
        )
        for model in found
    ]
    total = sum(usages, Usage())
    return total if total.input_tokens or total.output_tokens else None


def _microdollars(told: object) -> int | None:
    """What it cost, rounded up; None for what is no sum of money."""
    if isinstance(told, bool) or not isinstance(told, int | float) or not 0 <= told <= _MOST_DOLLARS:
        return None
    return int((Decimal(str(told)) * _MICRO).to_integral_value(rounding=ROUND_CEILING))


def _arguments(words: Sequence[str], asked: Asked) -> tuple[str, ...]:
    model = ("--model", asked.model) if asked.model else ()
    resumed = ("--resume", asked.session) if asked.session else ()
    return (*words, "-p", "--output-format", "stream-json", "--verbose", *model, *resumed)


CLAUDE_LOCAL = ProgramSpec(
    name="claude_local",
    label="Claude Code",
    listener=ClaudeListener,
    arguments=_arguments,
    # Nobody is there to be asked whether it may change a file of its workspace.
    standard=("claude", "--permission-mode", "acceptEdits"),
    install="Install Claude Code (npm install -g @anthropic-ai/claude-code) and log in as the user of the worker.",
    skills_folder=(".claude", "skills"),
    asks="anthropic",
)
