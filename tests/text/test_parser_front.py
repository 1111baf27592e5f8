"""`engine.actions`, the door through which everything else calls the parser."""

import logging
import subprocess
import sys

import pytest

from engine.actions import parse_agent_actions


def test_importing_the_parser_imports_no_django() -> None:
    code = "import engine.actions, sys; print(*(name for name in sys.modules if name.partition('.')[0] == 'django'))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output.split() == []


def test_a_reply_is_read_by_the_verbs_of_the_registry() -> None:
    reply = parse_agent_actions("Done.\n/Status done")
    assert [(action.verb, action.args) for action in reply.actions] == [("status", "done")]
    assert reply.prose == "Done."


def test_each_dropped_line_is_logged_with_its_reason_when_the_topic_is_open(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "trimus.parser")
    parse_agent_actions("/foo bar\n/status")
    assert caplog.messages == [
        "line 1 dropped, unknown-verb: '/foo bar'",
        "line 2 dropped, missing-argument: '/status'",
    ]


def test_nothing_is_logged_while_the_topic_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "trimus.parser")
    parse_agent_actions("/foo bar")
    assert not caplog.messages
