"""Selections that are kept under a name."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client

from issues.actors import Person
from issues.models import Company, SavedView, Status
from issues.services.approvals import ask_question
from issues.services.reviews import set_reviewers
from tests import build


def test_a_selection_is_kept_and_offered_on_board_and_list(page: Client, company: Company) -> None:
    sent = {"name": "Urgent ones", "page": "issues", "query": "priority=urgent&more=todo&nonsense=1"}
    answer = page.post("/acme/views/", sent)
    assert answer.headers["Location"] == "/acme/issues/?priority=urgent"
    for address in ("/acme/board/", "/acme/issues/"):
        body = page.get(address).content.decode()
        assert 'href="/acme/issues/?priority=urgent"' in body
        assert "Urgent ones" in body


def test_only_shared_views_are_offered_to_others_and_only_ones_own_are_deleted(
    page: Client, company: Company, browse: Callable[[Person], Client]
) -> None:
    own, shared = build.saved_view(company, "Alone"), build.saved_view(company, "Together", shared=True)
    other = browse(build.member(company))
    body = other.get("/acme/board/").content.decode()
    assert "Together" in body
    assert "Alone" not in body
    assert other.post(f"/acme/views/{own.pk}/delete/").status_code == 404
    assert other.post(f"/acme/views/{shared.pk}/delete/").status_code == 403
    assert page.post(f"/acme/views/{shared.pk}/delete/").headers["Location"] == "/acme/board/"
    assert list(SavedView.objects.all()) == [own]


def test_a_view_can_be_deleted_where_it_is_shown(page: Client, company: Company) -> None:
    view = build.saved_view(company, "Mine")
    assert f"/acme/views/{view.pk}/delete/" in page.get("/acme/board/?assignee=me").content.decode()
    assert f"/acme/views/{view.pk}/delete/" not in page.get("/acme/board/").content.decode()


def test_a_view_is_renamed_and_shared_by_the_one_who_keeps_it(
    page: Client, company: Company, browse: Callable[[Person], Client]
) -> None:
    view = build.saved_view(company, "Alone")
    other = browse(build.member(company))
    answer = page.post(f"/acme/views/{view.pk}/edit/", {"name": "Together", "shared": "yes"})
    assert answer.headers["Location"] == "/acme/views/"
    assert 'value="Together"' in page.get("/acme/views/").content.decode()
    assert ">Together</a>" in other.get("/acme/views/").content.decode()
    assert other.post(f"/acme/views/{view.pk}/edit/", {"name": "Theirs"}).status_code == 403
    page.post(f"/acme/views/{view.pk}/edit/", {"name": "Together"})
    assert "Together" not in other.get("/acme/views/").content.decode()
    assert other.post(f"/acme/views/{view.pk}/edit/", {"name": "Theirs"}).status_code == 404
    view.refresh_from_db()
    assert (view.name, view.query, view.is_shared) == ("Together", "assignee=me", False)


def test_a_view_can_hold_other_filters_under_its_name(page: Client, company: Company) -> None:
    view = build.saved_view(company, "Mine", shared=True)
    assert f'<option value="{view.pk}">Mine</option>' in page.get("/acme/board/").content.decode()
    sent = {"query": "priority=high&nonsense=1&group=assignee&sort=due", "replaces": str(view.pk)}
    answer = page.post("/acme/views/", sent)
    assert answer.headers["Location"] == "/acme/board/?priority=high&group=assignee&sort=due"
    view.refresh_from_db()
    assert (view.name, view.is_shared) == ("Mine", True)


def test_a_name_that_one_has_already_is_refused_when_renaming(page: Client, company: Company) -> None:
    build.saved_view(company, "Mine")
    other = build.saved_view(company, "Other")
    for name, status in (("mine", 409), ("", 422), ("x" * 61, 422)):
        assert page.post(f"/acme/views/{other.pk}/edit/", {"name": name}).status_code == status
    other.refresh_from_db()
    assert other.name == "Other"


def test_a_name_is_given_once(page: Client, company: Company) -> None:
    build.saved_view(company, "Mine")
    answer = page.post("/acme/views/", {"name": "MINE", "page": "board", "query": ""})
    assert answer.status_code == 409
    assert b"already" in answer.content


def test_what_waits_for_me_is_what_i_may_decide_answer_or_judge(
    page: Client, company: Company, founder: Person, browse: Callable[[Person], Client]
) -> None:
    member = build.member(company)
    asks, doubts, mine, theirs, reviewed, idle = (
        build.issue(company, title, actor=actor, status=status)
        for title, actor, status in (
            ("Asks", founder, Status.TODO),
            ("Doubts", founder, Status.TODO),
            ("Judged by who answers", founder, Status.IN_REVIEW),
            ("Answered for by another", member, Status.IN_REVIEW),
            ("Judged by a reviewer", founder, Status.IN_REVIEW),
            ("Idle", founder, Status.TODO),
        )
    )
    build.approval(asks, actor=build.at_work(build.agent(company, "Ada"), asks))
    ask_question(actor=build.at_work(build.agent(company, "Bob"), doubts), issue=doubts, question="Which?")
    set_reviewers(actor=founder, issue=reviewed, reviewers=[build.member_row(member)])
    for client, waiting in ((page, {asks, doubts, mine}), (browse(member), {asks, theirs, reviewed})):
        body = client.get("/acme/issues/?only=for-me").content.decode()
        shown = {issue for issue in (asks, doubts, mine, theirs, reviewed, idle) if f"row-{issue.identifier}" in body}
        assert shown == waiting
