"""Issues over the API."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models import Agent, Wakeup
from agents.services.agents import edit_agent
from issues.actors import Person
from issues.models import Company, Grant, Issue, Role, Status
from issues.policies import Right
from issues.services.policy import change_policy
from tests import build
from tests.api.client import Api, as_person


def test_an_issue_is_opened_with_words_for_everything_it_refers_to(api: Api, company: Company, ada: Agent) -> None:
    build.label(company, "bug")
    build.project(company, "Launch")
    build.issue(company, "The whole")

    answer = api.post(
        "issues",
        {
            "title": "  Fix   the   door ",
            "description": "It squeaks.",
            "priority": "high",
            "assignee": "@ada",
            "project": "launch",
            "labels": ["BUG"],
            "parent": "acme-1",
            "due_date": "2027-01-31",
        },
    )

    assert answer.status == 201
    assert answer["identifier"] == "ACME-2"
    assert answer["title"] == "Fix the door"
    assert answer["status"] == "todo"
    assert answer["priority"] == "high"
    assert answer["assignee"] == {"kind": "agent", "handle": "ada", "name": "Ada"}
    assert answer["project"] == "Launch"
    assert answer["labels"] == ["bug"]
    assert answer["parent"] == "ACME-1"
    assert answer["due_date"] == "2027-01-31"
    assert answer["responsible"]["handle"] == "acme-founder"
    assert answer["created_by"]["kind"] == "member"
    assert answer.headers["ETag"] == f'"{answer["version"]}"'


def test_opening_an_issue_for_an_agent_wakes_it(api: Api, ada: Agent) -> None:
    api.post("issues", {"title": "Work", "assignee": "ada"})
    assert [wakeup.source for wakeup in build.pending(ada)] == ["assigned"]


def test_an_issue_opened_with_an_open_blocker_is_blocked(api: Api, company: Company) -> None:
    build.issue(company, "First")
    answer = api.post("issues", {"title": "Second", "blockers": ["ACME-1"]})
    assert answer["status"] == "blocked"
    assert answer["blockers"] == [{"identifier": "ACME-1", "title": "First", "status": "todo"}]


@pytest.mark.parametrize("spelling", ["ACME-1", "acme-1", "Acme-1"])
def test_an_identifier_is_read_in_any_case(api: Api, company: Company, spelling: str) -> None:
    build.issue(company, "Found")
    assert api.get(f"issues/{spelling}")["title"] == "Found"


@pytest.mark.parametrize("path", ["issues", "issues/", "issues/ACME-1", "issues/ACME-1/"])
def test_a_slash_at_the_end_makes_no_difference(api: Api, company: Company, path: str) -> None:
    build.issue(company)
    assert api.get(path).status == 200


def test_a_slash_at_the_end_of_a_post_keeps_its_body(api: Api, company: Company) -> None:
    assert api.post("issues/", {"title": "Kept"}).status == 201
    assert company.issues.get().title == "Kept"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"status": "done"}, ["Done thing"]),
        ({"status": "todo,done"}, ["Ada's", "Plain", "Child", "Done thing"]),
        ({"status": "closed"}, ["Done thing"]),
        ({"status": "open"}, ["Ada's", "Plain", "Child"]),
        ({"assignee": "ada"}, ["Ada's"]),
        ({"assignee": "me"}, ["Done thing"]),
        ({"assignee": "none", "status": "open"}, ["Plain", "Child"]),
        ({"label": "bug"}, ["Plain"]),
        ({"label": "bug,big"}, []),
        ({"priority": "urgent,high"}, ["Ada's"]),
        ({"project": "launch"}, ["Plain"]),
        ({"project": "none", "status": "open"}, ["Ada's", "Child"]),
        ({"parent": "ACME-2"}, ["Child"]),
        ({"parent": "none", "status": "open"}, ["Ada's", "Plain"]),
        ({"text": "plain"}, ["Plain"]),
        ({"text": "squeaks door"}, ["Plain"]),
        ({"updated_since": "2000-01-01T00:00:00Z", "status": "done"}, ["Done thing"]),
        ({"updated_since": "2100-01-01T00:00:00Z"}, []),
    ],
)
def test_a_list_holds_the_issues_that_fit_all_filters(
    api: Api, company: Company, founder: Person, ada: Agent, query: dict[str, str], found: list[str]
) -> None:
    bug, _ = build.label(company, "bug"), build.label(company, "big")
    build.issue(company, "Ada's", assignee=ada, priority=2)
    plain = build.issue(company, "Plain", labels=[bug], project=build.project(company), description="The door squeaks.")
    build.issue(company, "Child", parent=plain)
    build.issue(company, "Done thing", status=Status.DONE, assignee=build.member_row(founder))

    assert [row["title"] for row in api.get("issues", **query).rows] == found


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"status": "finished"}, "status"),
        ({"priority": "very"}, "priority"),
        ({"assignee": "nobody"}, "assignee"),
        ({"label": "nolabel"}, "label"),
        ({"project": "noproject"}, "project"),
        ({"parent": "ACME-99"}, "parent"),
        ({"updated_since": "yesterday"}, "updated_since"),
        ({"limit": "0"}, "limit"),
        ({"limit": "201"}, "limit"),
        ({"offset": "1000000000000000000000"}, "offset"),
        ({"statsu": "todo"}, "statsu"),
        ({"text": "nul\x00"}, "text"),
        ({"order": "random"}, "order"),
    ],
)
def test_a_filter_that_cannot_be_read_is_named_and_never_ignored(
    api: Api, company: Company, query: dict[str, str], field: str
) -> None:
    answer = api.get("issues", **query)
    assert answer.status == 422
    assert [name.split(".")[0] for name in answer["errors"]] == [field]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("2", ["Second thing"]),
        ("#2", ["Second thing"]),
        ("acme-2", ["Second thing"]),
        ("thing", ["Second thing", "First thing"]),
        ("first thing", ["First thing"]),
        ("thing first", ["First thing"]),
        ("hinge", ["First thing"]),
        ("100%", ["First thing"]),
        ("%", []),
    ],
)
def test_search_finds_by_number_and_by_words(api: Api, company: Company, words: str, found: list[str]) -> None:
    build.issue(company, "First thing", description="About a hinge, 100 times.")
    build.issue(company, "Second thing")
    assert [row["title"] for row in api.get("search", q=words).rows] == found


def test_a_patch_changes_all_it_names_in_one_go(api: Api, company: Company, ada: Agent) -> None:
    issue = build.issue(company, "Old", status=Status.BACKLOG)
    build.issue(company, "Parent")
    build.label(company, "bug")

    answer = api.patch(
        f"issues/{issue.identifier}",
        {
            "title": "New",
            "description": "Now with text.",
            "status": "in_progress",
            "priority": "urgent",
            "assignee": "ada",
            "labels": ["bug"],
            "parent": "ACME-2",
        },
    )

    assert answer.status == 200
    shown = {name: answer[name] for name in ("title", "description", "status", "priority", "labels", "parent")}
    assert shown == {
        "title": "New",
        "description": "Now with text.",
        "status": "in_progress",
        "priority": "urgent",
        "labels": ["bug"],
        "parent": "ACME-2",
    }
    assert answer["assignee"]["handle"] == "ada"
    assert len(build.pending(ada)) == 1


def test_a_patch_of_which_one_part_is_refused_changes_nothing(api: Api, company: Company) -> None:
    issue = build.issue(company, "Old")
    child = build.issue(company, "Child", parent=issue)

    answer = api.patch("issues/ACME-1", {"title": "New", "priority": "high", "parent": child.identifier})

    assert answer.status == 422
    assert answer["errors"].keys() == {"parent"}
    issue.refresh_from_db()
    assert (issue.title, issue.version) == ("Old", 1)


def test_labels_in_a_patch_are_the_labels_afterwards(api: Api, company: Company) -> None:
    old, new = build.label(company, "old"), build.label(company, "new")
    issue = build.issue(company, labels=[old])
    assert api.patch("issues/ACME-1", {"labels": ["new"]})["labels"] == ["new"]
    assert list(issue.labels.all()) == [new]


@pytest.mark.parametrize("empty", [None, "none"])
def test_an_assignee_is_taken_away_by_null_and_by_none(
    api: Api, company: Company, ada: Agent, empty: str | None
) -> None:
    build.issue(company, assignee=ada)
    assert api.patch("issues/ACME-1", {"assignee": empty})["assignee"] is None


def test_a_write_over_a_newer_version_is_refused_with_the_issue_as_it_is(api: Api, company: Company) -> None:
    build.issue(company, "Read")
    read = api.get("issues/ACME-1").headers["ETag"]
    api.patch("issues/ACME-1", {"title": "Changed by another"})

    stale = api.patch("issues/ACME-1", {"title": "Mine"}, **{"If-Match": read})

    assert stale.status == 412
    assert stale["current"]["title"] == "Changed by another"
    again = api.patch("issues/ACME-1", {"title": "Mine"}, **{"If-Match": stale.headers["ETag"]})
    assert (again.status, again["title"]) == (200, "Mine")


def test_an_etag_that_is_none_is_malformed(api: Api, company: Company) -> None:
    build.issue(company)
    assert api.patch("issues/ACME-1", {"title": "X"}, **{"If-Match": '"abc"'}).status == 400


def test_the_children_of_an_issue_are_listed_in_the_order_of_work(api: Api, company: Company) -> None:
    parent = build.issue(company, "Parent")
    build.issue(company, "Later", parent=parent)
    build.issue(company, "Sooner", parent=parent, priority=1)
    assert [row["title"] for row in api.get("issues/ACME-1/children").rows] == ["Sooner", "Later"]


def test_blockers_are_added_listed_and_removed(api: Api, company: Company) -> None:
    build.issue(company, "Waits")
    build.issue(company, "First")

    assert api.post("issues/ACME-1/blockers", {"blockers": ["ACME-2"]})["status"] == "blocked"
    assert [row["identifier"] for row in api.get("issues/ACME-1/blockers").rows] == ["ACME-2"]
    assert api.post("issues/ACME-2/blockers", {"blockers": ["ACME-1"]}).status == 422
    assert api.delete("issues/ACME-1/blockers/ACME-2").status == 204
    assert api.get("issues/ACME-1")["status"] == "todo"


def test_a_deleted_issue_is_gone(api: Api, company: Company) -> None:
    build.issue(company)
    assert api.delete("issues/ACME-1").status == 204
    assert api.get("issues/ACME-1").status == 404
    assert not Issue.objects.exists()


def test_a_reviewer_judges_over_the_api(api: Api, company: Company, ada: Agent) -> None:
    build.issue(company, assignee=ada)
    api.patch("issues/ACME-1", {"status": "in_review"})
    assert api.post("issues/ACME-1/verdict", {"verdict": "accept"})["status"] == "done"


def test_reviewers_are_named_by_people_over_the_api(api: Api, ada_api: Api, company: Company, ada: Agent) -> None:
    build.issue(company, status=Status.IN_REVIEW)
    named = api.post("issues/ACME-1/reviewers", {"reviewers": ["@ada", "me"]})
    assert [row["reviewer"]["handle"] for row in named["reviewers"]] == ["acme-founder", "ada"]
    assert [wakeup.source for wakeup in build.pending(ada)] == ["review_requested"]
    assert ada_api.post("issues/ACME-1/reviewers", {"reviewers": []}).status == 403
    assert api.post("issues/ACME-1/reviewers", {"reviewers": ["nobody"]})["errors"].keys() == {"reviewers"}
    assert api.post("issues/ACME-1/reviewers", {"reviewers": []})["reviewers"] == []


def test_what_changed_is_listed_as_activity(api: Api, company: Company) -> None:
    api.post("issues", {"title": "Work"})
    api.patch("issues/ACME-1", {"status": "done"})
    kinds = [row["kind"] for row in api.get("issues/ACME-1/activity").rows]
    assert kinds == ["issue.created", "issue.status"]
    newest = api.get("activity").rows[0]
    assert (newest["kind"], newest["issue"], newest["actor"]["handle"]) == ("issue.status", "ACME-1", "acme-founder")


def test_somebody_in_two_companies_names_the_one_that_is_meant(api: Api, founder: Person) -> None:
    assert api.post("companies", {"name": "Other", "key": "OTHR"}).status == 201
    unnamed = api.post("issues", {"title": "Where?"})
    assert (unnamed.status, list(unnamed["errors"])) == (422, ["company"])
    assert api.post("issues", {"title": "There", "company": "othr"})["identifier"] == "OTHR-1"
    assert [row["identifier"] for row in api.get("issues", company="OTHR").rows] == ["OTHR-1"]


def test_a_refused_wakeup_leaves_no_trace_of_the_issue(api: Api, company: Company) -> None:
    """A title that a service refuses makes no number be spent."""
    assert api.post("issues", {"title": " \n "}).status == 422
    assert api.post("issues", {"title": "Real"})["identifier"] == "ACME-1"
    assert Wakeup.objects.count() == 0


class TestOpenedByAnAgent:
    @pytest.fixture(autouse=True)
    def home(self, company: Company, ada: Agent, ada_api: Api) -> None:
        build.issue(company, "Home", assignee=ada)
        ada_api.post("issues/ACME-1/checkout")

    def test_it_says_of_it_what_its_policy_lets_it_say(
        self, ada_api: Api, company: Company, founder: Person, ada: Agent
    ) -> None:
        build.agent(company, "Bob")
        child = {"title": "Part", "parent": "ACME-1"}
        assert ada_api.post("issues", child | {"assignee": "bob", "priority": "high"}).status == 201
        edit_agent(actor=founder, agent=ada, policy="probation")
        change_policy(actor=founder, company=company, permission=Right.CREATE_ISSUE, grant=Grant.ALLOW)
        change_policy(actor=founder, company=company, permission=Right.PRIORITY, grant=Grant.DENY)
        for said in ({"assignee": "bob"}, {"priority": "high"}, {"status": "done"}):
            assert ada_api.post("issues", child | said).status == 403, said
        assert ada_api.post("issues", child | {"assignee": "me"}).status == 201

    @pytest.mark.parametrize("said", [{"responsible": "acme-founder"}, {"due_date": "2027-01-01"}])
    def test_what_only_people_say_it_does_not(self, ada_api: Api, said: dict[str, str]) -> None:
        assert ada_api.post("issues", {"title": "Part", "parent": "ACME-1"} | said).status == 403

    def test_the_caps_of_its_run_hold_whichever_way_it_goes(self, ada_api: Api, company: Company) -> None:
        for number in range(6):
            assert ada_api.post("issues", {"title": f"Plain {number}", "parent": "ACME-1"}).status == 201
        by_verb = ada_api.post("issues/ACME-1/actions", {"text": "\n".join(f"/create-issue {n}" for n in range(6))})
        assert [action["outcome"] for action in by_verb["actions"]] == ["applied"] * 4 + ["denied"] * 2
        refused = ada_api.post("issues", {"title": "One more", "parent": "ACME-1"})
        assert (refused.status, refused["detail"]) == (403, "More than 10 of /create-issue in one run.")
        for number in range(6):
            said = ada_api.post("issues/ACME-2/comments", {"body": f"{number}"}).status
            assert said == (201 if number < 5 else 403)
        assert ada_api.post("issues/ACME-1/comments", {"body": "At home it goes on."}).status == 201


def test_whoever_follows_an_issue_is_listed_until_they_do_not(
    api: Api, ada_api: Api, company: Company, founder: Person
) -> None:
    build.issue(company)
    reader = as_person(build.member(company, "reader", role=Role.VIEWER))
    for _ in range(2):
        assert reader.post("issues/ACME-1/watchers").status == 204
    [row] = api.get("issues/ACME-1/watchers").rows
    assert row["member"]["handle"] == "reader"
    assert ada_api.post("issues/ACME-1/watchers").status == 403
    assert reader.delete("issues/ACME-1/watchers").status == 204
    assert api.get("issues/ACME-1/watchers").rows == []


def test_blockers_are_found_in_one_query_however_many(
    api: Api, company: Company, django_assert_max_num_queries: Any
) -> None:
    names = [build.issue(company).identifier for _ in range(20)]
    with django_assert_max_num_queries(25):
        made = api.post("issues", {"title": "Last", "blockers": names})
    assert [blocker["identifier"] for blocker in made["blockers"]] == names
    refused = api.post("issues", {"title": "Last", "blockers": ["ACME-1", "acme-99", "OTHR-1"]})
    assert (refused.status, refused["errors"]) == (422, {"blockers": ["There is no issue ACME-99."]})
