"""Who belongs to a company, by the API."""

from __future__ import annotations

import pytest
from django.test import Client

from issues.actors import Person
from issues.models import Activity, Company, KeptAnswer, Member, Role, User
from tests import build
from tests.api.client import Api, as_person


def test_somebody_new_is_brought_in_by_a_link_that_is_kept_nowhere(api: Api, company: Company) -> None:
    body = {"username": "mia", "name": "Mia", "role": "board"}
    added = api.post("members", body, **{"Idempotency-Key": "once"})
    assert (added.status, added["handle"], added["role"]) == (201, "mia", "board")
    assert added["login_link"].startswith("http://testserver/login/")
    assert Client().post(added["login_link"].removeprefix("http://testserver")).status_code == 302
    assert not KeptAnswer.objects.exists()
    assert [row["handle"] for row in api.get("members").rows] == ["acme-founder", "mia"]


def test_an_account_that_is_there_comes_without_a_link(api: Api, company: Company) -> None:
    build.company_with_founder("BETA", founder="mia")
    added = api.post("members", {"username": "mia", "role": "viewer"})
    assert (added.status, added["login_link"]) == (201, None)
    assert api.post("members", {"username": "mia", "role": "viewer"}).status == 409
    assert User.objects.filter(username="mia").count() == 1


def test_a_role_is_changed_and_one_owner_stays(api: Api, company: Company, founder: Person) -> None:
    mia = build.member_row(build.member(company, "mia"))
    assert api.patch(f"members/{mia.pk}", {"role": "owner"})["role"] == "owner"
    assert api.patch(f"members/{mia.pk}", {}).status == 200
    assert api.patch(f"members/{mia.pk}", {"role": "king"}).status == 422
    assert api.patch(f"members/{mia.pk}", {"role": "viewer"}).status == 200
    own = Member.objects.get(user=founder.user)
    assert api.patch(f"members/{own.pk}", {"role": "viewer"}).status == 409
    assert api.delete(f"members/{own.pk}").status == 409


def test_who_is_removed_is_out_at_once(api: Api, company: Company) -> None:
    person = build.member(company, "mia")
    theirs = as_person(person)
    assert theirs.get("issues").status == 200
    mia = build.member_row(person)
    assert api.delete(f"members/{mia.pk}").status == 204
    assert theirs.get("issues", company="ACME").status == 404
    assert [api.get(f"members/{mia.pk}").status, api.delete(f"members/{mia.pk}").status] == [404, 404]
    assert [row["handle"] for row in api.get("members").rows] == ["acme-founder"]


@pytest.mark.parametrize("role", [Role.BOARD, Role.VIEWER])
def test_owners_alone_say_who_belongs(company: Company, role: Role) -> None:
    other = build.member_row(build.member(company, "mia"))
    theirs = as_person(build.member(company, "bo", role=role))
    before = Activity.objects.count()
    tried = [
        theirs.post("members", {"username": "new", "role": "owner"}),
        theirs.patch(f"members/{other.pk}", {"role": "owner"}),
        theirs.delete(f"members/{other.pk}"),
    ]
    assert [answer.status for answer in tried] == [403] * 3
    assert theirs.get(f"members/{other.pk}")["handle"] == "mia"
    assert Activity.objects.count() == before
    assert not User.objects.filter(username="new").exists()


def test_no_agent_does(ada_api: Api, company: Company) -> None:
    mia = build.member_row(build.member(company, "mia"))
    assert ada_api.post("members", {"username": "new", "role": "viewer"}).status == 403
    assert ada_api.delete(f"members/{mia.pk}").status == 403
    assert ada_api.get(f"members/{mia.pk}").status == 200
