"""Saved views by the API."""

from __future__ import annotations

import pytest

from issues.models import Company, SavedView
from issues.models.saved_view import FILTERS
from issues.views.selection import Selection
from tests import build
from tests.api.client import Api, as_person


def test_a_view_is_saved_changed_and_deleted(api: Api, company: Company) -> None:
    made = api.post("views", {"name": "Urgent", "page": "issues", "query": "?status=open&priority=urgent"})
    assert (made.status, made["query"], made["shared"]) == (201, "status=open&priority=urgent", False)
    changed = api.patch(f"views/{made['id']}", {"name": "Hot", "shared": True})
    assert (changed["name"], changed["shared"], changed["query"]) == ("Hot", True, made["query"])
    assert api.get(f"views/{made['id']}").body == changed.body
    assert api.delete(f"views/{made['id']}").status == 204
    assert not SavedView.objects.exists()


@pytest.mark.parametrize("query", ["nonsense=1", "status=open&x=1", "status", "a\nb=1", "text=" + "x" * 1_000])
def test_what_no_page_can_select_by_is_not_kept(api: Api, query: str) -> None:
    refused = api.post("views", {"name": "Odd", "query": query})
    assert (refused.status, list(refused["errors"])) == (422, ["query"])


def test_the_filters_that_may_be_kept_are_those_of_the_pages() -> None:
    assert Selection.names() == FILTERS


def test_two_views_of_one_person_have_different_names(api: Api, company: Company) -> None:
    assert api.post("views", {"name": "Mine"}).status == 201
    assert api.post("views", {"name": "mine"}).status == 409
    assert as_person(build.member(company)).post("views", {"name": "Mine"}).status == 201


def test_others_see_what_is_shared_and_change_nothing(api: Api, ada_api: Api, company: Company) -> None:
    own, shared = build.saved_view(company, "Alone"), build.saved_view(company, "Together", shared=True)
    for other in (as_person(build.member(company)), ada_api):
        assert [row["name"] for row in other.get("views").rows] == ["Together"]
        assert other.get(f"views/{own.pk}").status == 404
        assert other.patch(f"views/{shared.pk}", {"name": "Ours"}).status == 403
        assert other.delete(f"views/{shared.pk}").status == 403
    assert ada_api.post("views", {"name": "An agent's"}).status == 403
    assert [row["name"] for row in api.get("views").rows] == ["Alone", "Together"]
