"""Logging: what one sees on the console, what a collector gets, what a topic opens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

SPEAK = """
import logging, django, structlog
django.setup()
logging.getLogger("trimus.parser").debug("dropped line %d", 3)
logging.getLogger("trimus.prompt").debug("not asked for")
structlog.get_logger("trimus.engine").info("claimed", run=12)
logging.getLogger("httpx2").info("a request")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("trimus.web").exception("it failed")
structlog.get_logger("trimus.engine").info("called", key="canary-of-a-key-0123456789")
try:
    raise ValueError("canary-of-a-key-0123456789 was not taken")
except ValueError:
    logging.getLogger("trimus.web").exception("it said canary-of-a-key-0123456789")
"""


LEAK = """
import logging, django, structlog
django.setup()
log = structlog.get_logger("trimus.engine")
logging.getLogger("django.request").error("Internal Server Error: %s", "/login/one-time_Token-123/")
logging.getLogger("django.request").error("Internal Server Error: %s", "/api/hooks/trh_fedcba9876543210")
log.warning("refused", error="Incorrect API key provided: sk-proj-abcdefghijklmnop, or trm_0123456789abcdef")
try:
    raise ValueError('new row violates "x"\\nDETAIL:  Failing row contains (7, Buy the\\n\\nrival).')
except ValueError as error:
    try:
        raise RuntimeError("could not write") from error
    except RuntimeError:
        log.exception("run.failed")
"""


FORGE = """
import logging, django, structlog
django.setup()
logging.getLogger("trimus.outages").error("%s %s", "GET", "/a\\n12:00:00 [info] all is well\\x1b[2J")
structlog.get_logger("trimus.engine").info("claimed", agent="x\\ry")
"""


READ = """
import django, structlog
django.setup()
from engine.actions import parse_agent_actions
with structlog.contextvars.bound_contextvars(run=12, agent="ada"):
    parse_agent_actions("Well.\\n/statsu done\\n/note plan\\n/assign\\n/write-file a ```\\nx\\n```\\n/" + "x" * 5_000)
"""


def spoken(tmp_path: Path, speak: str = SPEAK, **environment: str) -> list[str]:
    """The lines that a process with these settings logs."""
    own = {"DJANGO_SETTINGS_MODULE": "trimus.settings", "TRIMUS_DATA_DIR": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", speak],
        env=os.environ | own | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stderr.splitlines()


def test_the_console_gets_plain_lines_with_the_values_named(tmp_path: Path) -> None:
    lines = spoken(tmp_path)
    [claimed] = [line for line in lines if "claimed" in line]
    assert "[info]" in claimed
    assert "run=12" in claimed
    assert "trimus.engine" in claimed
    assert "\x1b" not in "".join(lines)
    assert "ZeroDivisionError: division by zero" in lines


def test_what_somebody_sent_begins_no_line_of_its_own(tmp_path: Path) -> None:
    lines = spoken(tmp_path, FORGE)
    assert not [line for line in lines if line.startswith("12:00:00")]
    assert [line for line in lines if "GET /a\\n12:00:00 [info] all is well\\x1b[2J" in line]
    assert [line for line in lines if "agent=x\\ry" in line]


def test_detail_shows_for_the_topics_that_were_asked_for_and_no_others(tmp_path: Path) -> None:
    assert not any("dropped line" in line for line in spoken(tmp_path))
    lines = spoken(tmp_path, TRIMUS_DEBUG="parser,others")
    assert any("dropped line 3" in line for line in lines)
    assert not any("not asked for" in line for line in lines)


def test_each_line_of_a_reply_that_was_dropped_is_told_with_its_reason_and_its_run(tmp_path: Path) -> None:
    assert not [line for line in spoken(tmp_path, READ) if "dropped" in line]
    lines = [line for line in spoken(tmp_path, READ, TRIMUS_DEBUG="parser") if "dropped" in line]
    told = ["2 dropped, unknown-verb", "3 dropped, missing-body", "4 dropped, missing-argument"]
    told += ["5 dropped, malformed-fence", "8 dropped, unknown-verb"]
    assert [words in line for words, line in zip(told, lines, strict=True)] == [True] * 5
    assert all("run=12" in line and "agent=ada" in line for line in lines)
    assert max(map(len, lines)) < 400


def test_libraries_that_tell_each_request_are_quiet(tmp_path: Path) -> None:
    assert not any("a request" in line for line in spoken(tmp_path))


def test_a_collector_gets_one_object_a_line(tmp_path: Path) -> None:
    events = [json.loads(line) for line in spoken(tmp_path, TRIMUS_LOG_JSON="true")]
    assert {"event": "claimed", "run": 12, "level": "info", "logger": "trimus.engine"}.items() <= events[0].items()
    assert "ZeroDivisionError" in events[1]["exception"]


def test_a_collector_is_what_reads_where_people_come_over_a_network(tmp_path: Path) -> None:
    away = {"TRIMUS_HOST": "0.0.0.0", "TRIMUS_ALLOWED_HOSTS": "trimus.example.org"}
    away["TRIMUS_SECRET_KEY"] = "k3y-" * 4 + "0123456789abcdefghijklmnopqrstuvwxyz"
    assert all(line.startswith("{") for line in spoken(tmp_path, **away))


@pytest.mark.parametrize("as_json", ["true", "false"])
def test_keys_and_links_and_rows_of_the_database_are_blotted_out(tmp_path: Path, as_json: str) -> None:
    said = "\n".join(spoken(tmp_path, LEAK, TRIMUS_LOG_JSON=as_json))
    for secret in (
        "one-time_Token-123",
        "abcdefghijklmnop",
        "0123456789abcdef",
        "fedcba9876543210",
        "Buy the",
        "rival",
    ):
        assert secret not in said
    for kept in ("/login/…", "sk-…", "trm_…", "trh_…", "could not write", "RuntimeError", "violates"):
        assert kept in said


@pytest.mark.parametrize("form", ["false", "true"])
def test_a_models_key_is_in_no_line(tmp_path: Path, form: str) -> None:
    lines = spoken(tmp_path, ANTHROPIC_API_KEY="canary-of-a-key-0123456789", TRIMUS_LOG_JSON=form)
    assert "canary" not in "".join(lines)
    assert "".join(lines).count("[masked: model key of this installation]") >= 3
