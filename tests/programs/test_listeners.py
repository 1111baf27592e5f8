"""What the streams of programs mean: their reply, their use, their session, and what people are shown of them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from agents.adapters.base import Usage
from agents.programs import lines
from agents.programs.base import Asked, Flooded, Listener, Said, Unusable
from agents.programs.claude_local import CLAUDE_LOCAL, ClaudeListener
from agents.programs.codex_local import CODEX_LOCAL, CodexListener
from tests.programs.streams import (
    Event,
    claude_began,
    claude_result,
    claude_said,
    codex_item,
    codex_story,
    text,
    tool,
)


def as_bytes(events: Sequence[Event]) -> bytes:
    return "".join(f"{json.dumps(event)}\n" for event in events).encode()


def hear(listener: Listener, *events: Event, pieces: int = 1_000_000) -> tuple[Said, str]:
    """What it understood, and what it showed, of the events in pieces of so many bytes."""
    whole = as_bytes(events)
    shown = [listener.hear(whole[at : at + pieces]) for at in range(0, len(whole), pieces)]
    shown.append(listener.close())
    return listener.said, "".join(shown)


class TestClaude:
    def test_the_result_is_the_reply_with_session_model_and_cost(self) -> None:
        said, _ = hear(ClaudeListener(), claude_began(), claude_result())
        assert (said.text, said.session, said.model) == ("All done.\n/status done", "s-1", "claude-sonnet-5")
        assert said.usage == Usage(10, output_tokens=5, told_microdollars=12_346)
        assert not said.failure

    @pytest.mark.parametrize("pieces", [1, 7, 4_096])
    def test_it_comes_in_pieces_of_any_size(self, pieces: int) -> None:
        events = (claude_began(), claude_said(text("Grüße aus dem Süden.")), claude_result("Grüße."))
        assert hear(ClaudeListener(), *events, pieces=pieces) == hear(ClaudeListener(), *events)

    def test_what_it_says_and_does_is_shown(self) -> None:
        said = claude_said(text("I look first."), tool("Bash", command="ls\n-l"))
        _, shown = hear(ClaudeListener(), claude_began(), said, claude_result())
        assert shown == '[model] claude-sonnet-5\n\nI look first.\n\n[Bash] {"command": "ls\\n-l"}\n'

    def test_until_the_result_each_message_counts_once_with_its_caches(self) -> None:
        first = {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100}
        listener = ClaudeListener()
        listener.hear(
            as_bytes(
                [
                    claude_said(text("One"), message="m-1", **first, output_tokens=1),
                    claude_said(tool("Read"), message="m-1", **first, output_tokens=8),
                    claude_said(text("Two"), message="m-2", input_tokens=5, output_tokens=2),
                ]
            )
        )
        assert listener.said.usage == Usage(128, 100, 20, 10)

    def test_helpers_that_it_sends_off_count_in_the_end(self) -> None:
        models = {
            "claude-sonnet-5": {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 90, "costUSD": 0.01},
            "claude-haiku-4-5": {"inputTokens": 200, "outputTokens": 50, "cacheCreationInputTokens": 7},
        }
        said, _ = hear(ClaudeListener(), claude_result(modelUsage=models))
        assert said.usage == Usage(307, 90, 7, 55, told_microdollars=12_346)

    @pytest.mark.parametrize("cost", [None, "free", True, -1, float("nan"), float("inf"), 1e12])
    def test_a_cost_that_is_none_is_unknown_and_not_nothing(self, cost: object) -> None:
        said, _ = hear(ClaudeListener(), claude_result(total_cost_usd=cost))
        assert said.usage is not None
        assert said.usage.told_microdollars is None

    def test_a_result_that_is_left_out_is_its_last_words(self) -> None:
        helped = claude_said(text("A helper's."), message="m-2", helper="t-1")
        said, _ = hear(ClaudeListener(), claude_said(text("Its own.")), helped, claude_result(None))
        assert said.text == "Its own."

    @pytest.mark.parametrize(
        ("fields", "failure"),
        [
            ({"is_error": True, "result": "Invalid API key"}, "Invalid API key"),
            ({"subtype": "error_max_turns", "result": ""}, "error_max_turns"),
            (
                {"subtype": "error_during_execution", "errors": ["No conversation found"], "result": ""},
                "No conversation",
            ),
        ],
    )
    def test_a_failure_is_told_in_its_words_and_what_it_used_counts(
        self, fields: dict[str, object], failure: str
    ) -> None:
        said, _ = hear(ClaudeListener(), claude_result(**fields))
        assert failure in said.failure
        assert (said.text, said.usage is not None) == ("", True)

    def test_a_stream_without_a_result_is_a_failure(self) -> None:
        said, _ = hear(ClaudeListener(), claude_began(), claude_said(text("Half")))
        assert (said.text, said.failure) == ("", "Its output ended without a result.")

    def test_its_command_line(self) -> None:
        words = ("/bin/claude", "--permission-mode", "plan")
        asked = Asked(model="opus", session="s-1")
        assert CLAUDE_LOCAL.arguments(words, asked) == (
            *words, "-p", "--output-format", "stream-json", "--verbose", "--model", "opus", "--resume", "s-1",
        )  # fmt: skip
        assert CLAUDE_LOCAL.words("") == ("claude", "--permission-mode", "acceptEdits")

    def test_where_it_is_missing_it_is_said_how_to_get_it(self) -> None:
        with pytest.raises(Unusable, match=r"no program “claude”\. Install Claude Code \(npm install"):
            CLAUDE_LOCAL.command_line("", Asked(), "/nowhere")


class TestCodex:
    def test_the_last_message_is_the_reply_with_session_and_use(self) -> None:
        story = codex_story("Done.\n/status done")
        said, shown = hear(CodexListener(), *story[:2], codex_item("agent_message", text="I look first."), *story[2:])
        assert (said.text, said.session) == ("Done.\n/status done", "c-1")
        assert said.usage == Usage(1_000, 400, output_tokens=50)
        assert not said.failure
        assert shown == "\nI look first.\n\n[command] bash -lc ls\n\nDone.\n/status done\n\n"

    def test_what_it_does_is_shown(self) -> None:
        _, shown = hear(
            CodexListener(),
            codex_item("command_execution", command="false", exit_code=1),
            codex_item("file_change", changes=[{"path": "a.md", "kind": "add"}, {"path": "b.md", "kind": "update"}]),
            codex_item("web_search", when="started", query="herbs"),
            codex_item("mcp_tool_call", when="started", server="docs", tool="find"),
            codex_item("error", message="Slow today."),
        )
        assert shown == "[exit] 1\n[changed] a.md, b.md\n[search] herbs\n[tool] docs find\n[error] Slow today.\n"

    def test_a_turn_that_failed_is_told_in_its_words(self) -> None:
        failed = {"type": "turn.failed", "error": {"message": "You have no credits left."}}
        said, _ = hear(CodexListener(), failed)
        assert said.failure == "You have no credits left."

    def test_an_error_after_which_it_went_on_is_none(self) -> None:
        said, shown = hear(CodexListener(), {"type": "error", "message": "Reconnecting 1/5"}, *codex_story("Here."))
        assert (said.text, said.failure) == ("Here.", "")
        assert "[error] Reconnecting 1/5" in shown

    def test_a_stream_that_broke_off_is_a_failure(self) -> None:
        assert hear(CodexListener(), *codex_story("Half.")[:-1])[0].failure == "Its output ended before its turn did."
        assert hear(CodexListener(), {"type": "error", "message": "No network"})[0].failure == "No network"

    def test_its_command_line(self) -> None:
        asked = Asked(model="gpt-5.5", session="c-1")
        assert CODEX_LOCAL.arguments(("/bin/codex",), asked) == (
            "/bin/codex", "exec", "--json", "--skip-git-repo-check", "--model", "gpt-5.5", "resume", "c-1", "-",
        )  # fmt: skip
        assert CODEX_LOCAL.arguments(("/bin/codex",), Asked())[-2:] == ("--skip-git-repo-check", "-")


@pytest.mark.parametrize("make", [ClaudeListener, CodexListener])
class TestWhateverComes:
    @pytest.mark.parametrize(
        "line",
        [
            b"", b"null", b"[]", b"{}", b"12", b'{"type": 7}', b'{"type": "new"}', b"\xff\xfe", b"{" * 100_000,
            b'{"type": "assistant"}', b'{"type": "assistant", "message": {"content": 7, "usage": "much"}}',
            b'{"type": "assistant", "message": {"content": [7, {"type": "text"}, {"type": "tool_use"}]}}',
            b'{"type": "result", "usage": {"input_tokens": -5}, "modelUsage": {"a": 1}, "result": {"text": 1}}',
            b'{"type": "item.completed"}', b'{"type": "item.completed", "item": {"type": "agent_message", "text": []}}',
            b'{"type": "item.completed", "item": {"type": "file_change", "changes": [1, {}]}}',
            b'{"type": "turn.completed", "usage": {"input_tokens": "many"}}', b'{"type": "turn.failed", "error": "no"}',
        ],
    )  # fmt: skip
    def test_it_raises_nothing_and_what_comes_after_is_read(self, make: type[Listener], line: bytes) -> None:
        listener = make()
        listener.hear(line + b"\n")
        said, _ = hear(listener, claude_result("Here."), *codex_story("Here."))
        assert (said.text, said.failure) == ("Here.", "")

    def test_words_that_are_no_event_are_shown(self, make: type[Listener]) -> None:
        assert make().hear(b"npm warn: old\n") == "npm warn: old\n"

    def test_a_line_that_is_too_long_is_left_out(self, make: type[Listener], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lines, "LINE_BYTES", 10_000)
        listener = make()
        for _ in range(5):
            assert listener.hear(b"x" * 4_000) == ""
        said, shown = hear(listener, {"type": "swallowed"}, claude_result("Here."), *codex_story("Here."))
        assert said.text == "Here."
        assert "x" not in shown.replace("exec", "")

    def test_more_than_anybody_reads_is_a_flood(self, make: type[Listener], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lines, "MOST_BYTES", 10_000)
        with pytest.raises(Flooded):
            make().hear(b"x" * 10_001)

    def test_so_is_a_reply_that_is_too_long(self, make: type[Listener]) -> None:
        with pytest.raises(Flooded):
            hear(make(), claude_result("x" * 1_100_000), *codex_story("x" * 1_100_000))
