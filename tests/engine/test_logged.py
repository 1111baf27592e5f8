"""What is logged while a run is held names it, wherever it is logged, and tells nothing of what was written."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from agents.adapters.base import AdapterError, ErrorKind
from agents.models import Agent, Run
from issues.models import Company, Issue
from tests import build
from tests.engine.running import FakeModel, run_next
from trimus.logs import logging_config

pytestmark = pytest.mark.django_db(transaction=True)

WRITTEN = "Buy the rival before spring"


class Collector(logging.Handler):
    """Keeps each line as a collector of logs would get it."""

    def __init__(self) -> None:
        super().__init__()
        line = dict(logging_config(json=True, debug_topics=())["formatters"]["line"])
        self.setFormatter(line.pop("()")(**line))
        self.lines: list[dict[str, object]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector, root = Collector(), logging.getLogger()
    level = root.level
    root.addHandler(collector)
    root.setLevel(logging.INFO)
    yield collector
    root.removeHandler(collector)
    root.setLevel(level)


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    return build.issue(company, WRITTEN, description=WRITTEN, assignee=ada)


def test_each_line_names_run_agent_and_company_also_where_the_model_is_called(
    issue: Issue, model: FakeModel, collector: Collector
) -> None:
    model.meanwhile = lambda: logging.getLogger("somebody.elses").info("asked")
    run = run_next()
    assert [line["event"] for line in collector.lines] == ["asked", "run.let_go"]
    for line in collector.lines:
        assert (line["run"], line["agent"], line["company"]) == (run.pk, "ada", issue.company.key)


def test_afterwards_no_line_names_it(issue: Issue, model: FakeModel, collector: Collector) -> None:
    run_next()
    logging.getLogger("somebody.elses").info("later")
    assert collector.lines[-1]["event"] == "later"
    assert not {"run", "agent", "company"} & collector.lines[-1].keys()


@pytest.mark.parametrize("where", ["the model", "the database", "the code"])
def test_a_run_that_fails_is_logged_without_what_was_written(
    issue: Issue, model: FakeModel, collector: Collector, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def break_off(_run: Run) -> None:
        if where == "the code":
            raise ZeroDivisionError("by nought")
        Issue.objects.filter(title=WRITTEN).update(status="no such status")

    if where == "the model":
        model.answers = [AdapterError(ErrorKind.BAD_REQUEST, "It was not understood.")]
    else:
        monkeypatch.setattr("engine.heartbeat.apply_reply", break_off)
    assert run_next().state == "failed"
    assert WRITTEN not in json.dumps(collector.lines)
    if where != "the model":
        [failed] = [line for line in collector.lines if line["event"] == "run.failed"]
        assert "Traceback" in str(failed["exception"])
