"""Tables for spreadsheets: of the audit and of the costs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from agents.models import Run
from issues import spreadsheets
from issues.actors import Person
from issues.models import Company, Role
from issues.spreadsheets import csv_answer, plain_cell
from tests import build
from tests.web.test_figures import call

FORMULAS = (
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1", " =1+1", '"=1+1', "'=1", "\" '=1", "\u00a0=1",
    "\u200b=1", "\ufeff=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", "\tplain",
)  # fmt: skip


def read(body: Iterator[bytes]) -> list[list[str]]:
    text = b"".join(body).decode("utf-8")
    assert text.startswith("\ufeff")
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def table(page: Client, address: str) -> list[list[str]]:
    answer = page.get(address)
    assert answer.status_code == 200
    assert answer.streaming
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"].startswith("attachment; ")
    return read(answer.streaming_content)


class TestCells:
    @pytest.mark.parametrize("text", FORMULAS)
    def test_what_is_like_a_formula_is_made_text(self, text: str) -> None:
        assert plain_cell(text) == f"'{text}"

    @pytest.mark.parametrize("value", ["a=b", "1-2", "", "me@home", "a\t=", -1, 0.5, None])
    def test_all_else_stays_as_it_is(self, value: object) -> None:
        assert plain_cell(value) == value  # type: ignore[arg-type]

    @given(st.lists(st.text(), min_size=1, max_size=4))
    def test_no_cell_begins_like_a_formula_wherever_a_spreadsheet_parts_them(self, cells: list[str]) -> None:
        [row] = read(csv_answer("t.csv", ["one"], [cells]).streaming_content)[1:]
        for cell in row:
            assert not cell.lstrip(' "\u00a0').startswith(("=", "+", "-", "@", "\t", "\r"))
        raw = b"".join(csv_answer("t.csv", ["one"], [cells]).streaming_content).decode()
        assert raw.splitlines()[1].startswith('"')

    def test_a_table_is_bounded_and_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(spreadsheets, "MOST_ROWS", 3)
        rows = read(csv_answer("t.csv", ["n"], ([number] for number in range(10))).streaming_content)
        assert [row[0] for row in rows[1:4]] == ["0", "1", "2"]
        assert rows[4:] == [["Only the first 3 rows are here: choose less for the rest."]]

    def test_rows_are_read_as_they_are_sent(self) -> None:
        read_so_far = []

        def rows() -> Iterator[list[int]]:
            for number in range(10_000):
                read_so_far.append(number)
                yield [number]

        next(iter(csv_answer("t.csv", ["n"], rows()).streaming_content))
        assert len(read_so_far) == spreadsheets.ROWS_AT_ONCE

    def test_half_a_surrogate_pair_breaks_nothing(self) -> None:
        assert read(csv_answer("t.csv", ["n"], [["a\ud800"]]).streaming_content)[1] == ["a?"]


class TestActivity:
    def test_it_has_who_what_and_when_in_words(self, page: Client, company: Company, founder: Person) -> None:
        issue = build.issue(company, "<b>Title</b>")
        build.comment(issue, "Hello & welcome.", actor=founder)
        header, newest, *_ = table(page, "/acme/activity/table.csv")
        line = dict(zip(header, newest, strict=True))
        assert (line["What"], line["Kind"], line["Issue"]) == ("commented", "comment.written", "ACME-1")
        assert (line["Handle"], line["Actor is"]) == (founder.member.handle, "Person")  # type: ignore[union-attr]
        assert line["Time (UTC)"].startswith(f"{timezone.now():%Y-%m-%d}")

    def test_a_name_that_is_a_formula_does_not_run(self, page: Client, company: Company) -> None:
        agent = build.agent(company, "=cmd|'/c calc'!A1", handle="evil", adapter="external")
        build.comment(build.issue(company), "x", actor=build.at_work(agent, build.issue(company)))
        cells = {cell for row in table(page, "/acme/activity/table.csv") for cell in row}
        assert "'=cmd|'/c calc'!A1" in cells
        assert not any(cell.startswith("=") for cell in cells)

    def test_it_takes_the_filters_of_the_page(self, page: Client, company: Company) -> None:
        build.issue(company)
        build.comment(build.issue(company), "x")
        kinds = [row[5] for row in table(page, "/acme/activity/table.csv?kind=comment")[1:]]
        assert kinds == ["comment.written"]
        assert {row[6] for row in table(page, "/acme/activity/table.csv?issue=acme-1")[1:]} == {"ACME-1"}

    def test_all_lines_are_there_in_order_however_many_are_read_at_once(
        self, page: Client, company: Company, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from issues.views import activity

        monkeypatch.setattr(activity, "TABLE_LINES", 2)
        for _ in range(4):
            build.issue(company)
        ids = [int(row[0]) for row in table(page, "/acme/activity/table.csv")[1:]]
        assert ids == sorted(ids, reverse=True)
        assert len(ids) == company.activity.count()

    def test_a_viewer_may_have_it_and_a_stranger_may_not(self, company: Company, browse: object) -> None:
        viewer = Client()
        viewer.force_login(build.member(company, "eve", role=Role.VIEWER).user)
        assert len(table(viewer, "/acme/activity/table.csv")) > 1
        stranger = Client()
        stranger.force_login(build.user("stranger"))
        assert stranger.get("/acme/activity/table.csv").status_code == 404


class TestCosts:
    @pytest.fixture
    def run(self, company: Company) -> Run:
        agent = build.agent(company, "Cleo", adapter="external")
        made = build.at_work(agent, build.issue(company, "=evil()", assignee=agent)).run
        assert made is not None
        return made

    def test_a_row_sums_what_is_alike(self, page: Client, run: Run) -> None:
        call(run, cost=1_500_000)
        call(run, cost=500_000)
        call(run, cost=None, model="tiny")
        header, *rows = table(page, "/acme/costs/table.csv")
        lines = [dict(zip(header, row, strict=True)) for row in rows]
        assert [(line["Model"], line["Calls"], line["Cost (USD)"]) for line in lines] == [
            ("gpt-4.1", "2", "2.0"),
            ("tiny", "1", ""),
        ]
        assert (lines[0]["Agent"], lines[0]["Issue"], lines[0]["Title"]) == ("Cleo", "ACME-1", "'=evil()")
        assert lines[1]["Calls without a known price"] == "1"

    def test_it_is_of_the_month_that_is_asked_for(self, page: Client, run: Run) -> None:
        call(run, cost=7, days_ago=40)
        assert len(table(page, "/acme/costs/table.csv")) == 1
        then = call(run, cost=7, days_ago=40).started_at
        assert len(table(page, f"/acme/costs/table.csv?month={then:%Y-%m}")) == 2

    def test_another_companys_calls_are_not_in_it(self, page: Client, run: Run) -> None:
        other, _ = build.company_with_founder("OTHR")
        agent = build.agent(other, "Zoe", adapter="external")
        foreign = build.at_work(agent, build.issue(other, assignee=agent)).run
        assert foreign is not None
        call(foreign, cost=5)
        assert len(table(page, "/acme/costs/table.csv")) == 1
