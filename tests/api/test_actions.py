"""Acting by verbs through the API."""

from __future__ import annotations

import datetime
import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent, Run, RunAction, RunState
from agents.services.agents import edit_agent
from agents.services.runs import cancel_run
from issues.actors import Person
from issues.models import (
    Activity,
    Approval,
    ApprovalStatus,
    Blob,
    Comment,
    Company,
    Grant,
    Issue,
    Priority,
    Role,
    Status,
    WorkspaceFile,
)
from issues.rights import Right
from issues.services.approvals import decide_approval
from issues.services.companies import change_company
from issues.services.keys import create_run_key
from issues.services.policy import change_policy, set_cap
from tests import build
from tests.api.client import Answer, Api, as_person
from tests.services.test_files import BAD_PATHS
from tests.verbs.test_file_attacks import can_be_said

PATH = "issues/ACME-1/actions"
KEY = {"Idempotency-Key": "order-66"}


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    """ACME-1, Ada's."""
    return build.issue(company, "The whole", assignee=ada)


@pytest.fixture
def bob(company: Company) -> Agent:
    return build.agent(company, "Bob")


def outcomes(answer: Answer) -> list[tuple[str, str]]:
    assert answer.status == 200, answer.body
    return [(one["verb"], one["outcome"]) for one in answer["actions"]]


class TestForms:
    @pytest.mark.parametrize(
        "body",
        [
            {"text": "/priority high\n/comment-on ACME-2\n```\nSee there.\n```"},
            {"actions": ["/priority high", "/comment-on ACME-2\n```\nSee there.\n```"]},
            {
                "actions": [
                    {"verb": "priority", "args": "high"},
                    {"verb": "/Comment-On", "args": "ACME-2", "body": "See there."},
                ]
            },
        ],
        ids=["text", "lines", "values"],
    )
    def test_all_three_say_the_same(self, api: Api, company: Company, issue: Issue, body: dict[str, Any]) -> None:
        build.issue(company)
        answer = api.post(PATH, body)
        assert outcomes(answer) == [("priority", "applied"), ("comment-on", "applied")]
        assert answer["actions"][0]["summary"] == "ACME-1 has priority high."
        assert (answer["actions"][0]["before"], answer["actions"][0]["after"]) == (
            {"priority": "none"},
            {"priority": "high"},
        )
        assert Issue.objects.get(number=1).priority == Priority.HIGH
        assert Comment.objects.get().body == "See there."

    def test_the_prose_of_a_text_is_the_comment(self, api: Api, ada: Agent, issue: Issue) -> None:
        answer = api.post(PATH, {"text": "Look at this first, please.\n\n/priority high"})
        comment = Comment.objects.get()
        assert (answer["comment"], answer["unsaid"]) == (comment.pk, "")
        assert comment.body == "Look at this first, please."
        assert [wakeup.source for wakeup in build.pending(ada, issue)] == ["assigned", "commented"]

    def test_issues_of_one_call_name_one_another(self, api: Api, issue: Issue) -> None:
        api.post(PATH, {"actions": ["/priority urgent on Draw it", {"verb": "create-issue", "args": "Draw it"}]})
        assert Issue.objects.get(title="Draw it").priority == Priority.URGENT

    @pytest.mark.parametrize(
        ("body", "field", "reason"),
        [
            ({}, "actions", "Send either"),
            ({"text": "/status done", "actions": ["/status done"]}, "actions", "Send either"),
            ({"text": "Well."}, "text", "no action"),
            ({"text": "/priority high\n/statsu done"}, "text", "Line 2 does not act: there is no such verb."),
            ({"text": "/note plan"}, "text", "Line 1 does not act: its fenced block is missing."),
            ({"text": "/note plan\n```\nFirst"}, "text", "its fenced block does not close."),
            ({"text": "/assign"}, "text", "its argument is missing."),
            ({"text": "> /priority high"}, "text", "no action"),
            ({"actions": ["/priority high", "Well."]}, "actions.1", "no action"),
            ({"actions": ["/priority high\n/priority low"]}, "actions.0", "more than one"),
            ({"actions": ["Well.\n/priority low"]}, "actions.0", "more than one"),
            ({"actions": ["/priority high", {"verb": "prioriti"}]}, "actions.1.verb", "There is no verb /prioriti."),
            ({"actions": [{"verb": "assign"}]}, "actions.0.args", "/assign needs an argument."),
            ({"actions": [{"verb": "status", "args": "done\n/assign @ada"}]}, "actions.0.args", "one line"),
            ({"actions": [{"verb": "note", "args": "plan"}]}, "actions.0.body", "/note needs a body."),
            ({"actions": [{"verb": "status", "args": "done", "body": "x"}]}, "actions.0.body", "takes no body"),
            ({"text": "/priority high\n" * 501}, "text", "at most 500"),
        ],
    )
    def test_what_does_not_act_refuses_the_whole_call(
        self, api: Api, issue: Issue, body: dict[str, Any], field: str, reason: str
    ) -> None:
        before = Activity.objects.count()
        answer = api.post(PATH, body)
        assert (answer.status, list(answer["errors"])) == (422, [field])
        assert reason in answer["detail"]
        assert Activity.objects.count() == before

    def test_a_near_verb_is_named(self, api: Api, issue: Issue) -> None:
        assert api.post(PATH, {"text": "/statsu done"})["hint"] == "Did you mean “status”?"

    @pytest.mark.parametrize("entry", [None, 1, [], ["/status done"], {}, {"args": "x"}, {"verb": "x", "line": 1}])
    def test_what_is_no_action_at_all_is_refused(self, api: Api, issue: Issue, entry: Any) -> None:
        assert api.post(PATH, {"actions": [entry]}).status == 422


class TestPeople:
    def test_one_action_that_is_refused_keeps_no_other_from_being_done(self, api: Api, issue: Issue) -> None:
        answer = api.post(PATH, {"actions": ["/priority soon", "/status in_progress", "/assign @nobody"]})
        assert outcomes(answer) == [("priority", "failed"), ("status", "applied"), ("assign", "failed")]
        assert "“soon” is no priority." in answer["actions"][0]["reason"]
        assert (answer["run"], RunAction.objects.count()) == (None, 0)

    def test_their_role_decides_and_not_the_policy_of_agents(
        self, api: Api, founder: Person, company: Company, issue: Issue
    ) -> None:
        change_policy(actor=founder, company=company, permission=Right.STATUS, grant=Grant.DENY)
        assert outcomes(api.post(PATH, {"text": "/status done"})) == [("status", "applied")]

    def test_they_have_no_caps(self, api: Api, issue: Issue) -> None:
        answer = api.post(PATH, {"actions": [f"/create-issue Part {number}" for number in range(12)]})
        assert {outcome for _, outcome in outcomes(answer)} == {"applied"}

    def test_what_they_create_is_nobodys_unless_said_and_me_is_themselves(
        self, api: Api, founder: Person, issue: Issue
    ) -> None:
        api.post(PATH, {"actions": ["/create-issue Loose", "/create-issue Mine\n```\nassignee: me\n---\n```"]})
        loose, mine = Issue.objects.filter(parent=issue).order_by("number")
        assert (loose.assignee_agent, loose.assignee_member) == (None, None)
        assert mine.assignee_member == founder.member
        assert mine.created_by_member == founder.member

    def test_a_viewer_is_denied_each(self, company: Company, issue: Issue) -> None:
        viewer = as_person(build.member(company, "vi", role=Role.VIEWER))
        answer = viewer.post(PATH, {"text": "Please.\n/status done\n/create-issue A part"})
        assert outcomes(answer) == [("status", "denied"), ("create-issue", "denied")]
        assert (answer["comment"], answer["unsaid"]) == (
            None,
            "A viewer may not do this. An owner may, and can change roles.",
        )
        assert Issue.objects.count() == 1


class TestAgents:
    def test_in_a_checkout_the_runs_caps_and_ledger_go_on_from_call_to_call(
        self, ada_api: Api, founder: Person, company: Company, issue: Issue
    ) -> None:
        set_cap(actor=founder, company=company, verb="create-issue", cap=2)
        run = ada_api.post("issues/ACME-1/checkout")["run"]
        first = ada_api.post(PATH, {"text": "/create-issue One\n/priority high"})
        second = ada_api.post(PATH, {"text": "/create-issue Two\n/create-issue Three"})
        assert outcomes(second) == [("create-issue", "applied"), ("create-issue", "denied")]
        assert second["actions"][1]["reason"] == "More than 2 of /create-issue in one run."
        assert (first["run"], second["run"]) == (run, run)
        rows = RunAction.objects.filter(run=run).values_list("ordinal", "verb")
        assert list(rows) == [(0, "create-issue"), (1, "priority"), (2, "create-issue"), (3, "create-issue")]
        shown = ada_api.get(f"runs/{run}")["actions"]
        assert shown == [*first["actions"], *second["actions"]]

    def test_more_approvals_than_a_person_reads_are_not_asked_for_by_many_calls_either(
        self, ada_api: Api, ada: Agent, founder: Person, company: Company, issue: Issue
    ) -> None:
        change_policy(actor=founder, company=company, permission=Right.LABEL, grant=Grant.APPROVAL)
        for number in range(12):
            build.label(company, f"l{number}")
        ada_api.post("issues/ACME-1/checkout")
        ended = [outcomes(ada_api.post(PATH, {"text": f"/label l{number}"}))[0][1] for number in range(12)]
        assert ended == ["approval"] * 10 + ["denied"] * 2

    def test_so_they_do_whichever_door_it_takes(
        self, ada_api: Api, ada: Agent, founder: Person, company: Company, issue: Issue
    ) -> None:
        other = build.issue(company, "Other")
        for verb, cap in (("create-issue", 1), ("comment-on", 1)):
            set_cap(actor=founder, company=company, verb=verb, cap=cap)
        run = ada_api.post("issues/ACME-1/checkout")["run"]
        tried = [
            ada_api.post("issues", {"title": "A part", "parent": "ACME-1"}),
            ada_api.post("issues", {"title": "One more", "parent": "ACME-1"}),
            ada_api.post("issues/ACME-1/comments", {"body": "An answer."}),
            ada_api.post("issues/ACME-2/comments", {"body": "A word."}),
            ada_api.post("issues/ACME-2/comments", {"body": "Another."}),
            ada_api.patch("issues/ACME-1", {"status": "in_progress", "priority": "high"}),
            ada_api.patch("issues/ACME-2", {"status": "cancelled"}),
            ada_api.post("issues/ACME-1/blockers", {"blockers": ["ACME-2"]}),
            ada_api.delete("issues/ACME-1/blockers/ACME-2"),
            ada_api.post("issues/ACME-1/questions", {"question": "Which?"}),
            ada_api.post("issues/ACME-1/requests", {"title": "May I?"}),
        ]
        assert [answer.status for answer in tried] == [201, 403, 201, 201, 403, 200, 403, 201, 204, 201, 201]
        assert tried[1]["detail"] == "More than 1 of /create-issue in one run."
        rows = RunAction.objects.filter(run=run).order_by("ordinal").values_list("verb", "args", "outcome")
        assert list(rows) == [
            ("create-issue", "A part", "applied"),
            ("create-issue", "One more", "denied"),
            ("comment-on", "ACME-2", "applied"),
            ("comment-on", "ACME-2", "denied"),
            ("status", "in_progress on ACME-1", "applied"),
            ("priority", "high on ACME-1", "applied"),
            ("status", "cancelled on ACME-2", "denied"),
            ("blocked-by", "ACME-2", "applied"),
            ("unblock", "ACME-2", "applied"),
            ("ask", "Which?", "applied"),
            ("request-approval", "May I?", "applied"),
        ]
        assert Activity.objects.filter(kind="action.refused", issue=other).count() == 2
        assert Issue.objects.filter(parent=issue).count() == 1

    def test_outside_of_a_checkout_a_call_of_another_door_is_a_run_of_its_own_too(
        self, ada_api: Api, issue: Issue
    ) -> None:
        assert ada_api.post("issues", {"title": "A part", "parent": "ACME-1"}).status == 201
        assert ada_api.post("issues/ACME-1/comments", {"body": "A word."}).status == 201
        rows = RunAction.objects.order_by("run").values_list("verb", "outcome", "run__state")
        assert list(rows) == [("create-issue", "applied", "succeeded"), ("comment-on", "applied", "succeeded")]
        comment = Comment.objects.get()
        assert comment.run == Run.objects.latest("pk")

    def test_so_words_alone_cannot_go_round_the_rate_of_runs(self, ada_api: Api, bob: Agent, company: Company) -> None:
        change_company(actor=build.owner_of(company), company=company, runs_per_hour=3)
        build.issue(company, "Somebody else's", assignee=bob)
        said = [ada_api.post("issues/ACME-1/comments", {"body": "@bob, look."}) for _ in range(5)]
        assert [answer.status for answer in said] == [201] * 3 + [409] * 2
        assert "in an hour" in said[-1]["detail"]
        assert Comment.objects.count() == 3

    def test_what_is_denied_there_stands_in_the_ledger(self, ada_api: Api, founder: Person, issue: Issue) -> None:
        change_policy(actor=founder, company=issue.company, permission=Right.PRIORITY, grant=Grant.DENY)
        assert ada_api.patch("issues/ACME-1", {"priority": "high"}).status == 403
        row = RunAction.objects.select_related("run").get()
        assert (row.verb, row.outcome, row.run.state) == ("priority", "denied", RunState.SUCCEEDED)

    def test_an_issue_under_no_other_is_opened_from_one_that_is_held(
        self, ada_api: Api, founder: Person, issue: Issue
    ) -> None:
        change_policy(actor=founder, company=issue.company, permission=Right.CREATE_ISSUE, grant=Grant.ALLOW)
        refused = ada_api.post("issues", {"title": "Out of nothing"})
        assert (refused.status, refused["hint"]) == (409, "Claim the issue first that calls for it.")
        ada_api.post("issues/ACME-1/checkout")
        assert ada_api.post("issues", {"title": "Out of something"}).status == 201

    def test_who_claims_what_it_holds_already_is_told_so(self, ada_api: Api, issue: Issue) -> None:
        run = ada_api.post("issues/ACME-1/checkout")["run"]
        again = ada_api.post("issues/ACME-1/checkout")
        assert (again.status, again["run"]) == (409, run)
        assert again["hint"] == "It is this agent's own checkout: go on, or release it."

    def test_what_was_tried_in_vain_stands_in_the_timeline_with_its_run(self, ada_api: Api, issue: Issue) -> None:
        run = ada_api.post("issues/ACME-1/checkout")["run"]
        ada_api.post(PATH, {"text": "/priority soon"})
        line = Activity.objects.get(kind="action.refused")
        assert line.data == {"run": run, "verb": "priority", "outcome": "failed", "count": 1}

    def test_what_needs_an_approval_is_carried_out_once_it_is_given(
        self, ada_api: Api, ada: Agent, founder: Person, issue: Issue
    ) -> None:
        edit_agent(actor=founder, agent=ada, policy="probation")
        ada_api.post("issues/ACME-1/checkout")
        answer = ada_api.post(PATH, {"text": "It is done.\n/status done\n/create-issue Next"})
        assert outcomes(answer) == [("status", "approval"), ("create-issue", "approval")]
        approval = Approval.objects.get(pk=answer["actions"][0]["approval"])
        assert approval.explanation == "It is done."
        decide_approval(actor=founder, approval=approval, status=ApprovalStatus.APPROVED)
        issue.refresh_from_db()
        assert issue.status == Status.DONE
        assert [one["outcome"] for one in ada_api.get(f"runs/{answer['run']}")["actions"]] == ["applied", "approval"]

    def test_without_a_checkout_the_call_is_a_run_of_its_own_that_leaves_wakeups_alone(
        self, ada_api: Api, ada: Agent, issue: Issue
    ) -> None:
        build.comment(issue, "@ada, look.")
        waiting = [wakeup.pk for wakeup in build.pending(ada, issue)]
        bob = build.agent(issue.company, "Bob")
        answer = ada_api.post(PATH, {"text": "@bob, look at this.\n/priority high"})
        assert outcomes(answer) == [("priority", "applied")]
        run = Run.objects.get(pk=answer["run"])
        assert (run.state, run.adapter, run.depth) == (RunState.SUCCEEDED, "external", 0)
        assert [wakeup.pk for wakeup in build.pending(ada, issue)] == waiting
        assert [(wakeup.depth, wakeup.cause_run) for wakeup in build.pending(bob, issue)] == [(1, run)]

    def test_without_a_checkout_it_is_refused_while_somebody_else_holds_the_issue(
        self, ada_api: Api, company: Company, issue: Issue
    ) -> None:
        build.at_work(build.agent(company, "Bob"), issue)
        before = Activity.objects.count()
        answer = ada_api.post(PATH, {"text": "/priority high"})
        assert (answer.status, answer["holder"]) == (409, "bob")
        assert Activity.objects.count() == before

    def test_from_a_checkout_elsewhere_it_acts_as_on_any_other_issue(
        self, ada_api: Api, company: Company, issue: Issue
    ) -> None:
        other = build.issue(company, "Somebody else's")
        run = ada_api.post("issues/ACME-1/checkout")["run"]
        answer = ada_api.post(
            f"issues/{other.identifier}/actions", {"text": "It is done.\n/priority high\n/status done"}
        )
        assert outcomes(answer) == [("priority", "denied"), ("status", "approval")]
        assert answer["run"] == run
        assert Approval.objects.get().issue == other

    def test_its_depth_is_its_runs(self, company: Company, ada_api: Api) -> None:
        issue = build.issue(company)
        bob = build.agent(company, "Bob")
        by = build.at_work(bob, build.issue(company))
        build.comment(issue, "@ada, your turn.", actor=by)
        ada_api.post("issues/ACME-1/checkout")
        ada_api.post(PATH, {"text": "@bob, back to you.\n/priority high"})
        assert [wakeup.depth for wakeup in build.pending(bob, issue)] == [2]

    def test_its_policy_decides(
        self, company: Company, founder: Person, ada: Agent, ada_api: Api, issue: Issue
    ) -> None:
        change_policy(actor=founder, company=company, permission=Right.PRIORITY, grant=Grant.DENY, agent=ada)
        answer = ada_api.post(PATH, {"text": "/priority high"})
        assert (outcomes(answer), answer["actions"][0]["reason"]) == (
            [("priority", "denied")],
            "The company's policy denies this.",
        )


class TestRunKeys:
    @pytest.fixture
    def run(self, ada: Agent, issue: Issue) -> Run:
        run = build.at_work(ada, issue).run
        assert run is not None
        return run

    @pytest.fixture
    def run_api(self, run: Run) -> Api:
        return Api(create_run_key(run=run, expires_at=timezone.now() + datetime.timedelta(hours=1))[1])

    def test_it_acts_in_its_run(self, run_api: Api, run: Run) -> None:
        answer = run_api.post(PATH, {"text": "/note plan\n```\nFirst this.\n```\n/priority high"})
        assert outcomes(answer) == [("note", "applied"), ("priority", "applied")]
        assert answer["run"] == run.pk

    @pytest.mark.parametrize("kind", BAD_PATHS)
    def test_it_writes_to_no_doubtful_path(self, run_api: Api, settings: Settings, tmp_path: Path, kind: str) -> None:
        settings.DATA_DIR = tmp_path
        for path in BAD_PATHS[kind]:
            answer = run_api.post(PATH, {"actions": [{"verb": "write-file", "args": path, "body": "attack"}]})
            if can_be_said(path):
                assert outcomes(answer) == [("write-file", "denied")]
                assert "refused" in answer["actions"][0]["reason"]
            else:
                assert (answer.status, list(answer["errors"])) == (422, ["actions.0.args"])
        assert (WorkspaceFile.objects.count(), Blob.objects.count()) == (0, 0)
        assert [one for one in tmp_path.rglob("*") if one.is_file()] == []

    def test_a_run_that_was_cancelled_acts_no_more(self, run_api: Api, run: Run, founder: Person) -> None:
        cancel_run(actor=founder, run=run)
        assert run_api.post(PATH, {"text": "/priority high"}).status == 401


class TestAgain:
    def test_the_same_call_under_one_key_is_done_once(self, api: Api, issue: Issue) -> None:
        body = {"text": "Twice?\n/create-issue A part\n/priority soon"}
        first = api.post(PATH, body, **KEY)
        before = Activity.objects.count()
        again = api.post(PATH, body, **KEY)
        assert (again.status, again.body, again.headers["Idempotent-Replay"]) == (200, first.body, "true")
        assert Activity.objects.count() == before
        assert api.post(PATH, {"text": "/priority low"}, **KEY).status == 422

    def test_an_agents_too(self, ada_api: Api, issue: Issue) -> None:
        first, again = (ada_api.post(PATH, {"text": "/create-issue A part"}, **KEY) for _ in range(2))
        assert first.body == again.body
        assert Run.objects.count() == 1

    @pytest.mark.django_db(transaction=True)
    def test_of_eight_calls_at_once_in_one_run_each_has_its_place(self, ada_api: Api, issue: Issue) -> None:
        ada_api.post("issues/ACME-1/checkout")
        answers = []

        def send(number: int) -> None:
            try:
                answers.append(Api(ada_api.key).post(PATH, {"text": f"/create-issue Part {number}\n/priority high"}))
            finally:
                connections.close_all()

        threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answer.status for answer in answers] == [200] * 8
        assert sorted(RunAction.objects.values_list("ordinal", flat=True)) == list(range(16))
        assert Issue.objects.filter(parent=issue).count() == 8
