"""Issues from GitHub, Linear and Jira come whole, once, and wake and tell nobody."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from agents.models import Agent, Wakeup
from issues import blobs
from issues.actors import Person
from issues.models import Comment, Company, ImportedIssue, InboxItem, Issue, Priority, Status, Watch
from issues.refusals import Invalid
from issues.services import issue_imports
from issues.services.issue_imports import import_issues, plan_import
from issues.services.issues import delete_issue
from issues.texts import TEXT_BYTES
from issues.trackers.draft import Draft, Saying, moment_of, status_of
from issues.trackers.github import read_github
from issues.trackers.tables import read_table
from tests import build

pytestmark = pytest.mark.django_db

LISTED = [
    {
        "html_url": "https://github.com/acme/site/issues/12",
        "number": 12,
        "title": "Pages are slow",
        "body": "See @ada.\r\n\r\nThey take seconds.",
        "state": "open",
        "labels": [{"name": "bug", "color": "d73a4a"}],
        "assignees": [{"login": "octocat"}, {"login": "ada"}],
        "user": {"login": "octocat"},
        "comments": 2,
        "created_at": "2024-05-01T10:00:00Z",
        "parent_issue_url": "https://api.github.com/repos/acme/site/issues/13",
    },
    {"html_url": "https://github.com/acme/site/pull/14", "title": "A change", "state": "open", "pull_request": {}},
    {
        "html_url": "https://github.com/acme/site/issues/13",
        "title": "Be fast",
        "state": "closed",
        "state_reason": "not_planned",
        "created_at": "2024-04-01T10:00:00Z",
        "closed_at": "2024-04-02T10:00:00Z",
    },
]
PRINTED = [
    {
        "url": "https://github.com/acme/site/issues/20",
        "title": "Said there",
        "body": "",
        "state": "CLOSED",
        "stateReason": "COMPLETED",
        "labels": [{"name": "bug", "color": "d73a4a"}, {"name": "a, b", "color": ""}],
        "author": {"login": "octocat"},
        "comments": [
            {"author": {"login": "octocat"}, "body": "@ada, I saw it too.", "createdAt": "2024-05-03T10:00:00Z"},
            {"author": None, "body": "   ", "createdAt": "2024-05-03T10:00:00Z"},
        ],
        "createdAt": "2024-05-01T10:00:00Z",
        "closedAt": "2024-05-04T10:00:00Z",
    }
]
LINEAR = """"ID","Team","Title","Description","Status","Priority","Creator","Assignee","Labels","Created","Completed","Due Date","Parent issue"
"ENG-2","Eng","Second, with
two lines","Text
of three
lines","In Progress","Urgent","someone@there.test","ada@here.test","api, ui","Mon May 06 2024 12:00:00 GMT+0200 (CEST)","","2024-06-01","ENG-1"
"ENG-1","Eng","First","","Done","No priority","","","","2024-05-01T10:00:00.000Z","2024-05-02T10:00:00.000Z","",""
"ENG-3","Eng","","","Todo","","","","","","","",""
"ENG-4","Eng","Odd","","Somewhere","","","","","","","",""
"""  # noqa: E501
JIRA = """Summary,Issue key,Issue id,Status,Status Category,Priority,Resolution,Assignee,Reporter,Created,Resolved,Labels,Labels,Description,Comment,Comment,Parent id
Child,OPS-2,1002,Quality gate,In Progress,Highest,,Ada,Grace,01/May/24 9:30 AM,,infra,slow,h2. Text,02/May/24 9:30 AM;5f1;First; with a semicolon,no date at all,1001
Parent,OPS-1,1001,Done,Done,Minor,Won't Do,,Grace,01/May/24 9:30 AM,03/May/24 9:30 AM,,,,,,
"""  # noqa: E501


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada")


def bring(company: Company, drafts: list[Draft]) -> dict[str, Issue]:
    """The issues that came, by title."""
    import_issues(actor=build.owner_of(company), company=company, drafts=drafts)
    return {issue.title: issue for issue in company.issues.select_related("parent", "assignee_agent")}


def command(path: Path, **options: Any) -> str:
    out = io.StringIO()
    call_command("import_issues", str(path), company="acme", stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "issues.json"
    path.write_text(json.dumps(LISTED, indent=1))
    return path


def test_github_as_its_api_lists_it(company: Company, ada: Agent) -> None:
    reading = read_github(json.dumps(LISTED[:2]) + json.dumps(LISTED[2:]))  # as two pages
    assert reading.bad == []
    assert [remark.split(" ")[0] for remark in reading.remarks] == ["1", "1"]  # a pull request, comments not there
    came = bring(company, reading.drafts)
    slow, fast = came["Pages are slow"], came["Be fast"]
    assert (slow.status, slow.assignee_agent, slow.parent) == (Status.BACKLOG, ada, fast)
    assert slow.description.startswith("See @ada.\n\nThey take seconds.")
    assert slow.description.endswith("Brought from https://github.com/acme/site/issues/12, opened there by octocat.")
    assert slow.created_at == datetime.datetime(2024, 5, 1, 10, tzinfo=datetime.UTC)
    assert [(label.name, label.colour) for label in slow.labels.all()] == [("bug", "#d73a4a")]
    assert (fast.status, fast.closed_at) == (Status.CANCELLED, datetime.datetime(2024, 4, 2, 10, tzinfo=datetime.UTC))


def test_github_as_its_command_prints_it_with_comments(company: Company, owner: Person) -> None:
    issue = bring(company, read_github(json.dumps(PRINTED)).drafts)["Said there"]
    assert issue.status == Status.DONE
    assert {label.name for label in issue.labels.all()} == {"bug", "a; b"}
    comment = Comment.objects.get()
    assert comment.body == "*octocat wrote on 2024-05-03:*\n\n@ada, I saw it too."
    assert (comment.author_member, comment.created_at.day) == (build.member_row(owner), 3)


def test_linear(company: Company, ada: Agent) -> None:
    person = build.member(company, "adele")
    person.user.email = "ada@here.test"
    person.user.save(update_fields=["email"])
    reading = read_table(LINEAR)
    assert reading.bad == [(7, "Its column “Title” is empty.")]
    assert reading.remarks == ["No status of this tracker is “Somewhere”, so it is the backlog for 1."]
    came = bring(company, reading.drafts)
    second = came["Second, with two lines"]
    assert (second.status, second.priority, second.parent) == (Status.IN_PROGRESS, Priority.URGENT, came["First"])
    assert second.assignee_member == build.member_row(person)
    assert {label.name for label in second.labels.all()} == {"api", "ui"}
    assert (second.created_at.hour, second.due_date) == (10, datetime.date(2024, 6, 1))
    assert came["Odd"].status == Status.BACKLOG


def test_jira(company: Company, ada: Agent) -> None:
    came = bring(company, read_table(JIRA).drafts)
    child, parent = came["Child"], came["Parent"]
    assert (child.status, child.priority, child.assignee_agent) == (Status.IN_PROGRESS, Priority.URGENT, ada)
    assert child.parent == parent
    assert {label.name for label in child.labels.all()} == {"infra", "slow"}
    assert [comment.body for comment in child.comments.order_by("pk")] == [
        "*5f1 wrote on 2024-05-02:*\n\nFirst; with a semicolon",
        "*Somebody wrote:*\n\nno date at all",
    ]
    assert (parent.status, parent.priority) == (Status.CANCELLED, Priority.LOW)


def test_it_wakes_nobody_tells_nobody_and_nobody_follows(company: Company, ada: Agent) -> None:
    build.triage(company)
    person = build.member(company, "octocat")
    drafts = [
        Draft(1, "a", "To review", "@octocat, @ada!", Status.IN_REVIEW, assignees=("octocat",)),
        Draft(2, "b", "To do", "", Status.TODO, assignees=("ada",), comments=(Saying("x", "@octocat @ada"),)),
        Draft(3, "c", "For nobody", "", Status.TODO),
        Draft(4, "d", "Blocked", "", Status.BLOCKED),
    ]
    came = bring(company, drafts)
    assert [came[title].status for title in ("To review", "To do", "Blocked")] == ["in_review", "todo", "blocked"]
    assert came["To review"].assignee_member == build.member_row(person)
    assert not Wakeup.objects.exists()
    assert not InboxItem.objects.exists()
    assert not Watch.objects.exists()


def test_the_same_file_twice_brings_nothing_new_and_what_was_deleted_stays_so(
    company: Company, owner: Person, ada: Agent, listed: Path
) -> None:
    assert "ACME: 2 issues and 0 comments came" in command(listed)
    delete_issue(actor=owner, issue=Issue.objects.get(title="Be fast"))
    assert "0 new issues with 0 comments; 2 came before" in command(listed)
    assert Issue.objects.count() == 1
    assert ImportedIssue.objects.count() == 2


def test_one_that_was_interrupted_goes_on_where_it_ended(
    company: Company, owner: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issue_imports, "AT_ONCE", 1)
    drafts = [Draft(1, "child", "Child", parent="parent"), Draft(2, "parent", "Parent"), Draft(3, "c", "Third")]

    def stop(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_issues(actor=owner, company=company, drafts=drafts, progress=stop)
    assert [issue.title for issue in company.issues.all()] == ["Parent"]
    assert bring(company, drafts)["Child"].parent == company.issues.get(title="Parent")
    assert company.issues.count() == 3


def test_who_stops_it_is_told_that_it_goes_on(company: Company, listed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("issues.management.commands.import_issues.import_issues", stop)
    with pytest.raises(CommandError, match="Stopped. What came is whole; the same command goes on"):
        command(listed)


def test_a_ring_of_parents_is_opened_and_a_parent_that_is_nowhere_is_said(company: Company, owner: Person) -> None:
    drafts = [Draft(1, "a", "A", parent="b"), Draft(2, "b", "B", parent="a"), Draft(3, "c", "C", parent="nowhere")]
    assert plan_import(actor=owner, company=company, drafts=drafts).orphans == 2
    assert {title: issue.parent and issue.parent.title for title, issue in bring(company, drafts).items()} == {
        "A": "B",
        "B": None,
        "C": None,
    }


def test_a_preview_says_it_all_and_changes_nothing(company: Company, listed: Path) -> None:
    told = command(listed, preview=True)
    for said in (
        "Labels to be made: bug.",
        "Nobody here is octocat:",
        "GitHub: 2 new issues with 0 comments.",
        "Nothing was changed.",
    ):
        assert said in told
    assert not Issue.objects.exists()
    assert not ImportedIssue.objects.exists()


def test_bad_lines_are_named_and_hold_everything_unless_they_are_to_be_left_out(
    company: Company, tmp_path: Path
) -> None:
    path = tmp_path / "issues.json"
    rows = [LISTED[2], {"title": "No address"}, LISTED[0] | {"title": "x" * 400}, LISTED[2], 7]
    path.write_text(",\n".join(map(json.dumps, rows)).join("[]"))
    out = io.StringIO()
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("import_issues", str(path), company="ACME", stdout=out)
    told = out.getvalue().splitlines()
    assert [line.partition(":")[0] for line in told[:4]] == ["Line 2", "Line 3", "Line 4", "Line 5"]
    assert "gh issue list --json url" in told[0]
    assert "at most 300 fit" in told[1]
    assert "stands in the file twice" in told[2]
    assert not Issue.objects.exists()
    assert "ACME: 1 issue and 0 comments came" in command(path, skip_bad=True)


def test_names_in_a_file_give_the_terminal_no_orders_and_do_not_flood_it(company: Company, tmp_path: Path) -> None:
    path = tmp_path / "issues.json"
    labels = [{"name": f"\x1b[2J{number}"} for number in range(23)]
    path.write_text(json.dumps([LISTED[0] | {"labels": labels, "assignees": [{"login": "\x1b]0;gone\x07"}]}]))
    told = command(path, preview=True)
    assert "\x1b" not in told
    assert "\N{REPLACEMENT CHARACTER}[2J19 and 3 more." in told
    assert "Nobody here is \N{REPLACEMENT CHARACTER}]0;gone" in told


def test_what_is_no_file_of_a_known_tracker_is_said(company: Company, tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content, why in {
        b"Name,Value\na,b": "neither Linear's",
        b"": "neither Linear's",
        b'[{"a": 1}\n, {': "Line 2: it is no JSON",
        b'[{"a": ' + b"9" * 5000 + b"}]": "Line 1: it is no JSON",
        b"\xff\xfe": "is not UTF-8",
    }.items():
        path.write_bytes(content)
        with pytest.raises(CommandError, match=why):
            command(path)
    with pytest.raises(CommandError, match="There is no company NONE"):
        call_command("import_issues", str(path), company="none")


def test_a_draft_that_cannot_be_is_refused_before_any_is_made(company: Company, owner: Person) -> None:
    with pytest.raises(Invalid, match="Line 2: The title"):
        import_issues(actor=owner, company=company, drafts=[Draft(1, "a", "A"), Draft(2, "b", "b" * 301)])
    with pytest.raises(Invalid, match="Line 1: The parent holds half of a surrogate pair"):
        import_issues(actor=owner, company=company, drafts=[Draft(1, "a", "A", parent="\ud800")])
    assert not company.issues.exists()


def test_each_issue_takes_as_many_queries_among_ten_as_among_two(
    company: Company, owner: Person, django_assert_max_num_queries: Any
) -> None:
    drafts = [Draft(n, f"s{n}", f"T{n}", labels=("bug",), comments=(Saying("x", "Said."),)) for n in range(10)]
    with django_assert_max_num_queries(40 + 10 * 16):
        bring(company, drafts)


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("2024-05-01", (2024, 5, 1, 0)),
        ("2024-05-01T10:00:00+02:00", (2024, 5, 1, 8)),
        ("01/May/24 1:30 PM", (2024, 5, 1, 13)),
        ("sometime", None),
        ("", None),
        ("Mon Xyz 99 2024 12:00:00 GMT+0200", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59Z", None),
    ],
)
def test_moments(said: str, moment: tuple[int, ...] | None) -> None:
    found = moment_of(said)
    assert (found and (found.year, found.month, found.day, found.hour)) == moment


def test_words_for_statuses() -> None:
    assert [status_of(word) for word in ("To Do", "in-progress", "Won't Fix", "Strange")] == [
        Status.TODO,
        Status.IN_PROGRESS,
        Status.CANCELLED,
        None,
    ]


def test_two_sites_with_the_same_keys_are_told_apart(company: Company, tmp_path: Path) -> None:
    path, header = tmp_path / "issues.csv", "Summary,Issue key,Created\n"
    path.write_text(f"{header}Of the first,OPS-1,01/May/24 9:30 AM\n")
    command(path)
    path.write_text(f"{header}Of the first,OPS-1,01/May/24 9:30 PM\n")  # by somebody in another time zone
    assert "0 new issues with 0 comments; 1 came before" in command(path)
    path.write_text(f"{header}Of the second,OPS-1,01/Jun/24 9:30 AM\nChild,OPS-2,01/Jun/24 9:30 AM\n")
    with pytest.raises(CommandError, match="Nothing was changed"):
        command(path)
    assert "came before, as ACME-1, and was opened there on 2024-05-01" in command(path, preview=True)
    command(path, site="Second")
    assert "0 new issues with 0 comments; 2 came before" in command(path, site="second")
    assert sorted(company.issues.values_list("title", flat=True)) == ["Child", "Of the first", "Of the second"]


def test_one_whose_date_was_not_known_at_first_is_the_same_when_it_is(company: Company) -> None:
    bring(company, [Draft(1, "jira OPS-1", "One")])
    dated = Draft(1, "jira OPS-1", "One", created_at=datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC))
    assert plan_import(actor=build.owner_of(company), company=company, drafts=[dated]).known == 1


def test_texts_longer_than_any_here_come_whole_as_files(company: Company) -> None:
    long = "ж" * 40_000
    draft = Draft(1, "x 1", "Long", description=long, place="X-1", comments=(Saying("ann", f"{long}!"),))
    issue = bring(company, [draft])["Long"]
    assert len(issue.description.encode()) <= TEXT_BYTES
    assert issue.description.endswith("the whole text is attached as description.md.*\n\n---\n\nBrought from X-1.")
    comment = issue.comments.get().body
    assert comment.startswith("*ann wrote:*\n\nжжж")
    assert comment.endswith("attached as comment-1.md.*")
    whole = {one.name: blobs.read(one.blob).decode() for one in issue.attachments.all()}
    assert whole == {"description.md": long, "comment-1.md": f"{long}!"}
    longest = "a" * (TEXT_BYTES - len("\n\n---\n\nBrought from X-2."))
    exact = bring(company, [Draft(1, "x 2", "Exact", description=longest, place="X-2")])["Exact"]
    assert not exact.attachments.exists()


def test_a_label_with_odd_spaces_is_made_once(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issue_imports, "AT_ONCE", 1)
    bring(company, [Draft(n, f"x {n}", f"Issue {n}", labels=("needs   work",)) for n in range(2)])
    assert [label.name for label in company.labels.all()] == ["needs work"]


def test_addresses_of_a_server_of_ones_own_and_of_a_repository_named_pull() -> None:
    one = LISTED[0] | {"html_url": "https://git.acme.test/acme/pull/issues/12"}
    one["parent_issue_url"] = "https://git.acme.test/api/v3/repos/acme/pull/issues/13"
    [draft] = read_github(json.dumps(one)).drafts
    assert (draft.source, draft.parent) == ("git.acme.test/acme/pull#12", "git.acme.test/acme/pull#13")


@pytest.mark.parametrize(
    ("due", "day"),
    [
        ("Thu Jun 25 2026 23:00:00 GMT+0000 (GMT+00:00)", (2026, 6, 26)),  # midnight in London
        ("Fri Jun 26 2026 07:00:00 GMT+0000 (GMT+00:00)", (2026, 6, 26)),  # in California
        ("Fri Jun 26 2026 00:00:00 GMT+0200 (CEST)", (2026, 6, 26)),
        ("2026-06-26", (2026, 6, 26)),
    ],
)
def test_a_day_of_linear_is_that_of_who_set_it(due: str, day: tuple[int, int, int]) -> None:
    [draft] = read_table(f'"ID","Team","Title","Due Date"\n"E-1","Eng","One","{due}"\n').drafts
    assert draft.due_date == datetime.date(*day)


def test_a_status_of_linear_that_nobody_knows_is_told_by_its_steps() -> None:
    header = "ID,Team,Title,Status,Started,Completed,Canceled\n"
    day = "2024-05-01T10:00:00.000Z"
    reading = read_table(f"{header}E-1,E,A,Shipped,{day},{day},\nE-2,E,B,Baking,{day},,\nE-3,E,C,Binned,{day},,{day}\n")
    assert [draft.status for draft in reading.drafts] == [Status.DONE, Status.IN_PROGRESS, Status.CANCELLED]
    assert reading.remarks == []


def test_jira_names_parents_and_people_in_several_ways() -> None:
    header = "Summary;Issue key;Issue id;Reporter;Reporter Id;Parent;Comment\n"  # as Excel writes it
    rows = (
        'Top;OPS-1;1001;Grace;5f1;;""\n'
        'By key;OPS-2;1002;;;OPS-1;"02/May/24 9:30 AM;5f1;Text; more"\n'
        'By id;OPS-3;1003;;;1001;""\n'
        'Of nobody;OPS-4;;;;;""\n'
    )
    drafts = read_table(header + rows).drafts
    assert [draft.parent for draft in drafts] == ["", "jira OPS-1", "jira OPS-1", ""]
    assert [(said.author, said.body) for said in drafts[1].comments] == [("Grace", "Text; more")]


def test_without_ids_no_issue_of_jira_is_another_ones_parent() -> None:
    reading = read_table("Summary,Issue key,Parent\nOne,OPS-1,\nTwo,OPS-2,\n")
    assert [draft.parent for draft in reading.drafts] == ["", ""]


def test_a_row_with_cells_too_many_and_dates_that_nobody_can_read_are_told() -> None:
    header = "Summary,Issue key,Created,Labels\n"
    reading = read_table(
        f"{header}Shifted,OPS-1,01/May/24 9:30 AM,a,b\nBy Excel,OPS-2,6/21/2025 16:14,a\nShort,OPS-3\n"
    )
    assert reading.bad == [(2, "It has more cells than there are columns, so what stands in which is not to be told.")]
    assert [draft.place for draft in reading.drafts] == ["OPS-2", "OPS-3"]
    assert reading.remarks[-1] == "1 date is left out, as nobody can read “6/21/2025 16:14”."


def test_comments_that_were_hidden_there_do_not_come() -> None:
    shown, _ = PRINTED[0]["comments"]
    reading = read_github(json.dumps(PRINTED[0] | {"comments": [shown, shown | {"isMinimized": True}]}))
    assert [said.body for said in reading.drafts[0].comments] == [shown["body"]]
    assert reading.remarks == ["1 comment is left out that somebody hid there."]
