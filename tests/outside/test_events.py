"""The event stream for programs, over a real connection."""

from __future__ import annotations

import httpx2
import pytest

from agents.models import Agent
from issues.models import Issue
from tests import build
from tests.outside.callers import key_of
from tests.outside.conftest import Server

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_program_hears_of_a_comment(server: Server, ada: Agent, issue: Issue) -> None:
    headers = {"Authorization": f"Bearer {key_of(ada)}", "Accept": "text/event-stream"}
    with httpx2.stream("GET", f"{server.url}/api/events", headers=headers, timeout=30, trust_env=False) as answer:
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
        assert "trimus-reader" not in answer.headers
        build.comment(issue)
        assert any("comment.written" in line for line in answer.iter_lines())


def test_a_refusal_is_told_as_by_any_address(server: Server) -> None:
    for path in ("/api/events", "/api/events/"):
        answer = httpx2.get(f"{server.url}{path}", headers={"Authorization": "Bearer trm_0"}, trust_env=False)
        assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
        assert answer.json()["status"] == 401
