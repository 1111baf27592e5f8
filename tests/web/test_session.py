"""Coming and going."""

from __future__ import annotations

import re

import pytest
from django.core.cache import cache
from django.test import Client

from issues.actors import Person
from issues.models import Company, LoginLink, Role, User
from issues.services.accounts import issue_login_link
from issues.services.companies import add_member
from issues.slowdown import FREE_TRIES
from tests import build


@pytest.fixture(autouse=True)
def no_tries_before() -> None:
    cache.clear()


@pytest.fixture
def user(db: None) -> User:
    return build.user("frida", password="a good long password")


def test_the_right_password_leads_to_where_one_wanted(user: User, company: Company) -> None:
    answer = Client().post("/login/", {"username": "frida", "password": "a good long password", "next": "/acme/board/"})
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/acme/board/"


def test_by_either_log_in_an_open_page_can_tell_whether_its_reader_is_still_there(user: User, company: Company) -> None:
    add_member(actor=build.owner_of(company), company=company, user=user, role=Role.BOARD)
    for address, fields in (
        ("/login/", {"username": "frida", "password": "a good long password"}),
        (f"/login/{issue_login_link(user)}/", {}),
    ):
        client = Client()
        client.post(address, fields)
        cookies = [f"{name}={morsel.value}" for name, morsel in client.cookies.items()]
        found = re.search(r'data-who="([^"]+)"', client.get("/acme/").content.decode())
        assert found is not None
        assert found[1] in cookies


def test_a_wrong_password_says_so_and_keeps_the_name(user: User) -> None:
    answer = Client().post("/login/", {"username": "frida", "password": "wrong"})
    assert answer.status_code == 422
    assert b"The name or the password is wrong." in answer.content
    assert b'value="frida"' in answer.content


def test_log_in_never_leads_to_another_site(user: User) -> None:
    for elsewhere in ("https://evil.example/", "//evil.example/", "/\\evil.example"):
        answer = Client().post("/login/", {"username": "frida", "password": "a good long password", "next": elsewhere})
        assert answer.headers["Location"] == "/"


def test_guessing_is_slowed_for_the_account_and_for_the_address(user: User) -> None:
    client = Client()
    for _ in range(FREE_TRIES):
        assert client.post("/login/", {"username": "frida", "password": "wrong"}).status_code == 422
    right = {"username": "frida", "password": "a good long password"}
    assert client.post("/login/", right).status_code == 429
    assert Client(REMOTE_ADDR="203.0.113.9").post("/login/", right).status_code == 429
    assert client.post("/login/", {"username": "somebody else", "password": "x"}).status_code == 429
    assert Client(REMOTE_ADDR="203.0.113.9").post("/login/", {"username": "other", "password": "x"}).status_code == 422


def test_looking_at_a_log_in_link_does_not_spend_it(user: User) -> None:
    address = f"/login/{issue_login_link(user)}/"
    client = Client()
    for _ in range(2):
        assert b"Log in" in client.get(address).content
    assert LoginLink.objects.get().used_at is None
    assert client.post(address).headers["Location"] == "/"
    assert client.get("/").status_code == 200


def test_a_log_in_link_works_once(user: User) -> None:
    address = f"/login/{issue_login_link(user)}/"
    assert Client().post(address).status_code == 302
    again = Client().post(address)
    assert again.status_code == 422
    assert b"already used" in again.content


def test_the_only_company_is_where_one_starts(page: Client) -> None:
    answer = page.get("/", follow=True)
    assert answer.redirect_chain[-1][0] == "/acme/"


def test_with_several_companies_one_chooses(page: Client, founder: Person) -> None:
    other, _ = build.company_with_founder("OTHER")
    from issues.models import Role
    from issues.services.companies import add_member

    add_member(actor=build.owner_of(other), company=other, user=founder.user, role=Role.BOARD)
    body = page.get("/").content.decode()
    assert "Acme Ltd" in body
    assert "Other Ltd" in body


def test_logging_out_ends_the_session(page: Client) -> None:
    assert page.post("/logout/").status_code == 302
    assert page.get("/acme/board/").status_code == 302


def test_a_chosen_theme_is_in_the_first_byte_of_the_next_page(page: Client) -> None:
    assert b'data-theme="system"' in page.get("/acme/board/").content
    assert page.post("/theme/", {"theme": "dark", "next": "/acme/board/"}).headers["Location"] == "/acme/board/"
    assert b'data-theme="dark"' in page.get("/acme/board/").content
    page.post("/theme/", {"theme": '"><script>'})
    assert b'data-theme="dark"' in page.get("/acme/board/").content


def test_a_script_whose_session_ended_is_told_and_takes_nothing_away(company: Company) -> None:
    issue = build.issue(company)
    answer = Client(headers={"HX-Request": "true"}).post(
        f"/acme/issues/{issue.identifier}/comments/", {"body": "Long words"}
    )
    assert answer.status_code == 401
    assert "what you wrote is still here" in answer.headers["HX-Trigger"]


def test_who_has_no_company_founds_one_and_comes_to_the_first_steps(user: User) -> None:
    client = Client()
    client.force_login(user)
    assert b"Found a company" in client.get("/").content
    answer = client.post("/found-company/", {"name": "Lighthouse Press", "key": "", "time_zone": "Europe/Berlin"})
    assert answer.headers["Location"] == "/lp/start/"
    assert client.get("/lp/start/").status_code == 200


def test_a_company_with_a_key_that_is_taken_is_not_founded_and_the_form_kept(page: Client, company: Company) -> None:
    answer = page.post("/found-company/", {"name": "Acme two", "key": "ACME", "time_zone": "UTC"})
    assert answer.status_code == 409
    assert b'value="Acme two"' in answer.content
