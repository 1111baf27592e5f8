"""The settings: what they say, what they change, and what is shown only once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent, Budget, Run, Spending
from agents.services.spending import Cost, reserve, this_month
from issues.actors import Person
from issues.models import ApiKey, Company, InboxItem, Member, Notice, Role, User
from issues.services.files import attach_file
from issues.services.keys import create_agent_key, create_user_key, find_key
from tests import build
from tests.web.test_pages import text_of
from trimus.language_models import LanguageModels

Browse = Callable[[Person], Client]
LIMITS = {
    "part": "limits",
    "hop_limit": "3",
    "continue_limit": "5",
    "runs_per_hour": "12",
    "max_concurrent_runs": "20",
    "prompt_budget": "24000",
}


def test_the_company_says_who_it_is(page: Client, company: Company) -> None:
    sent = {
        "part": "company",
        "name": "Lighthouse",
        "mission": "Guides.",
        "norms": "Be kind.",
        "time_zone": "Asia/Tokyo",
    }
    assert page.post("/acme/settings/", sent).status_code == 302
    company.refresh_from_db()
    assert (company.name, company.mission, company.norms) == ("Lighthouse", "Guides.", "Be kind.")
    assert company.time_zone == "Asia/Tokyo"


def test_limits_are_numbers_and_switches(page: Client, company: Company) -> None:
    page.post("/acme/settings/", {**LIMITS, "agents_may_create_labels": "1"})
    company.refresh_from_db()
    assert company.hop_limit == 3
    assert company.agents_may_create_labels
    assert not company.comments_wake_assignee  # an empty box is a no


@pytest.mark.parametrize("value", ["many", "-1", "", "99999999"])
def test_a_limit_that_is_no_good_number_comes_back_as_it_was_sent(value: str, page: Client, company: Company) -> None:
    answer = page.post("/acme/settings/", {**LIMITS, "hop_limit": value})
    assert answer.status_code == 422
    assert f'name="hop_limit" value="{value}"' in answer.content.decode()
    company.refresh_from_db()
    assert company.hop_limit == 8


def test_retention_is_saved_by_itself(page: Client, company: Company) -> None:
    page.post("/acme/settings/", {"part": "retention", "retention_days": "30"})
    company.refresh_from_db()
    assert (company.retention_days, company.name) == (30, "Acme Ltd")


def test_the_room_for_files_is_set_and_its_use_is_shown(page: Client, company: Company, founder: Person) -> None:
    attach_file(actor=founder, issue=build.issue(company), name="a.bin", content=b"\x00" * 3 * 1024 * 1024)
    assert "3.0 MB of 2.0 GB used" in text_of(page.get("/acme/settings/").content).replace("\xa0", " ")
    page.post("/acme/settings/", {"part": "files", "file_quota_mib": "4"})
    company.refresh_from_db()
    assert company.file_quota_mib == 4
    answer = page.post("/acme/settings/", {"part": "files", "file_quota_mib": "0"})
    assert answer.status_code == 422
    assert 'name="file_quota_mib" value="0"' in answer.content.decode()


def test_a_newcomer_gets_an_account_and_a_link_that_is_shown_once(page: Client, company: Company) -> None:
    answer = page.post("/acme/settings/members/", {"username": "nia", "name": "Nia", "role": "board"})
    link = re.search(r"http://testserver(/login/[^<]+)", answer.content.decode())
    assert link
    assert "no-store" in answer.headers["Cache-Control"]
    assert link[1] not in page.get("/acme/settings/members/").content.decode()
    newcomer = Client()
    newcomer.post(link[1])
    assert "Nia" in text_of(newcomer.get("/acme/settings/members/").content)


def test_somebody_with_an_account_gets_no_link(page: Client, company: Company) -> None:
    build.company_with_founder("OTHER", founder="olga")
    answer = page.post("/acme/settings/members/", {"username": "OLGA", "role": "viewer"})
    assert answer.status_code == 302
    assert Member.objects.filter(company=company, user__username="olga", role=Role.VIEWER).exists()
    assert User.objects.filter(username__iexact="olga").count() == 1


def test_a_role_is_changed_and_a_member_removed_but_never_the_last_owner(
    page: Client, company: Company, founder: Person
) -> None:
    member = build.member_row(build.member(company, "nia"))
    page.post(f"/acme/settings/members/{member.pk}/role/", {"role": "viewer"})
    member.refresh_from_db()
    assert member.role == Role.VIEWER
    page.post(f"/acme/settings/members/{member.pk}/remove/")
    member.refresh_from_db()
    assert member.removed_at is not None
    own = build.member_row(founder)
    answer = page.post(f"/acme/settings/members/{own.pk}/remove/")
    assert answer.status_code == 409
    assert b"at least one owner" in answer.content


def test_a_key_is_shown_once_works_and_is_revoked(page: Client, company: Company, founder: Person, ada: Agent) -> None:
    for sent, user in (({"name": "Mine"}, founder.user), ({"name": "Hers", "agent": ada.pk}, None)):
        answer = page.post("/acme/settings/keys/", {"days": "30", **sent})
        text = re.search(r"trm_[0-9a-f]{48}", answer.content.decode())
        assert text
        assert "no-store" in answer.headers["Cache-Control"]
        key = find_key(text[0])
        assert key is not None
        assert key.user == user
        assert key.expires_at is not None
        listed = page.get("/acme/settings/keys/").content.decode()
        assert text[0] not in listed
        assert key.prefix in listed
        page.post(f"/acme/settings/keys/{key.pk}/revoke/")
        assert find_key(text[0]) is None


def test_a_key_can_be_made_to_read_alone_and_is_listed_as_such(page: Client) -> None:
    page.post("/acme/settings/keys/", {"name": "Report", "days": "30", "scope": "read"})
    assert ApiKey.objects.get().scope == "read"
    assert "Reads only" in page.get("/acme/settings/keys/").content.decode()
    assert page.post("/acme/settings/keys/", {"name": "X", "days": "30", "scope": "all"}).status_code == 422


def test_others_see_no_keys_but_their_own(company: Company, founder: Person, browse: Browse, ada: Agent) -> None:
    hers, _ = create_agent_key(actor=founder, agent=ada, name="Of Ada")
    founders, _ = create_user_key(actor=founder, user=founder.user, name="Of the founder")
    person = build.member(company)
    client = browse(person)
    body = client.get("/acme/settings/keys/").content.decode()
    assert "Of Ada" not in body
    assert "Of the founder" not in body
    assert client.post(f"/acme/settings/keys/{founders.pk}/revoke/").status_code == 404
    assert client.post(f"/acme/settings/keys/{hers.pk}/revoke/").status_code == 403
    assert client.post("/acme/settings/keys/", {"days": "30", "agent": ada.pk}).status_code == 403
    assert ApiKey.objects.filter(revoked_at=None).count() == 2


def test_a_budget_is_set_in_dollars_and_shown_with_what_is_used_and_set_aside(
    page: Client, company: Company, ada: Agent
) -> None:
    page.post("/acme/settings/budgets/", {"agent": ada.pk, "dollars": "12.50", "tokens": "1,000", "runs": ""})
    budget = Budget.objects.get(agent=ada)
    assert (budget.microdollars, budget.tokens, budget.runs) == (12_500_000, 1_000, None)
    agent = build.agent(company, "Cleo", adapter="external")
    run = build.at_work(agent, build.issue(company, assignee=agent)).run
    assert isinstance(run, Run)
    reserve(run, Cost(700, 2_000_000), starts_run=False)
    Spending.objects.filter(agent=agent, month=this_month()).update(microdollars=3_000_000, unpriced_calls=2)
    said = text_of(page.get("/acme/settings/budgets/").content)
    for words in ("of $12.50", "$3.00", "$2.00 set aside", "2 calls of models without a known price"):
        assert words in said, words


@pytest.mark.parametrize(
    "sent", [{"dollars": "much"}, {"dollars": "-1"}, {"tokens": "1.5"}, {"runs": "x"}, {"dollars": "NaN"}]
)
def test_a_budget_of_nonsense_is_refused_in_place(sent: dict[str, str], page: Client, company: Company) -> None:
    answer = page.post("/acme/settings/budgets/", sent)
    assert answer.status_code == 422
    assert b"no limit" in answer.content
    assert not Budget.objects.exists()


def test_models_say_who_asks_what_and_never_show_a_key(
    page: Client, company: Company, settings: Any, ada: Agent
) -> None:
    settings.LLM = LanguageModels(openai_api_key="sk-canary-1234", openai_base_url="https://api.openai.com/v1")
    build.agent(company, "Bea", provider="openai", model="gpt-4.1")
    build.agent(company, "Cara", provider="anthropic")
    body = page.get("/acme/settings/models/").content
    said = text_of(body)
    assert b"canary" not in body
    assert "Bea openai, gpt-4.1" in said
    assert "ANTHROPIC_API_KEY is not set" in said
    assert "Ada A script, no model" in said


def test_a_model_without_a_known_price_is_said_to_be_unpriced(page: Client, company: Company, settings: Any) -> None:
    settings.LLM = LanguageModels(compatible_base_url="http://127.0.0.1:1/v1", compatible_model="tiny")
    build.agent(company, "Bea")
    assert "Unpriced" in text_of(page.get("/acme/settings/models/").content)


def test_ones_profile_is_ones_own_for_whatever_role(company: Company, browse: Browse) -> None:
    person = build.member(company, role=Role.VIEWER)
    client = browse(person)
    client.post("/acme/profile/", {"name": "Vi", "time_zone": "Asia/Tokyo"})
    person.user.refresh_from_db()
    assert (person.user.name, person.user.time_zone) == ("Vi", "Asia/Tokyo")
    answer = client.post("/acme/profile/", {"name": "Vi", "time_zone": "Moon/Base"})
    assert answer.status_code == 422


def test_a_password_is_set_without_one_and_changed_only_with_it(company: Company, browse: Browse) -> None:
    person = build.member(company)
    client = browse(person)
    first, second = "a long first one", "a long second one"
    client.post("/acme/profile/password/", {"new": first, "again": first})
    assert client.get("/acme/profile/").status_code == 200  # still logged in
    for wrong in (
        {"current": "guess", "new": second, "again": second},
        {"current": first, "new": second, "again": "another"},
        {"current": first, "new": "short", "again": "short"},
    ):
        assert client.post("/acme/profile/password/", wrong).status_code == 422
    client.post("/acme/profile/password/", {"current": first, "new": second, "again": second})
    person.user.refresh_from_db()
    assert person.user.check_password(second)


def test_one_letter_keys_and_the_theme_are_kept_in_the_browser(page: Client, company: Company) -> None:
    assert 'data-keys="off"' not in page.get("/acme/board/").content.decode()
    page.post("/acme/profile/browser/", {"theme": "dark"})
    body = page.get("/acme/board/").content.decode()
    assert 'data-keys="off"' in body
    assert 'data-theme="dark"' in body
    page.post("/acme/profile/browser/", {"theme": "dark", "keys": "1"})
    assert 'data-keys="off"' not in page.get("/acme/board/").content.decode()


def test_a_company_is_deleted_only_by_who_writes_its_key(page: Client, company: Company) -> None:
    assert page.post("/acme/settings/delete/", {"key": "yes"}).status_code == 422
    assert Company.objects.exists()
    assert page.post("/acme/settings/delete/", {"key": "acme"}).headers["Location"] == "/"
    assert not Company.objects.exists()


@pytest.mark.parametrize("address", ["", "members/", "policy/", "models/", "budgets/"])
def test_a_viewer_reads_the_settings_and_is_offered_no_change(
    address: str, company: Company, browse: Browse, ada: Agent
) -> None:
    body = browse(build.member(company, role=Role.VIEWER)).get(f"/acme/settings/{address}").content.decode()
    main = body.split('id="main"')[1].split('<div class="connection"')[0]
    assert "csrfmiddlewaretoken" not in main
    assert "<button" not in main


def test_notices_by_e_mail_are_chosen_on_the_profile_page(page: Client, founder: Person, settings: Any) -> None:
    body = page.get("/acme/profile/").content.decode()
    assert "No e-mail is sent from here yet" in body
    assert re.findall(r'name="kinds" value="(\w+)" checked', body) == ["mention", "asked", "budget"]
    settings.NOTICES_BY_MAIL = True
    answer = page.post("/acme/profile/notices/", {"email": "me@example.org", "kinds": ["mention", "news"]})
    assert answer.status_code == 302
    body = page.get("/acme/profile/").content.decode()
    assert "No e-mail is sent from here yet" not in body
    assert re.findall(r'name="kinds" value="(\w+)" checked', body) == ["mention", "news"]
    assert 'value="me@example.org"' in body


def test_an_address_that_is_none_is_refused_and_stays_in_the_field(page: Client, founder: Person) -> None:
    answer = page.post("/acme/profile/notices/", {"email": "me@", "kinds": ["news"]})
    body = answer.content.decode()
    assert answer.status_code == 422
    assert "That is not an e-mail address." in body
    assert 'value="me@"' in body
    assert re.findall(r'name="kinds" value="(\w+)" checked', body) == ["news"]


def test_an_e_mail_that_could_not_be_sent_is_said_until_one_could(
    page: Client, company: Company, founder: Person
) -> None:
    def notice(state: str, error: str = "") -> None:
        item = InboxItem.objects.create(company=company, member=founder.member, kind="mention", text="x")
        Notice.objects.create(item=item, state=state, error=error, due_at=timezone.now(), ended_at=timezone.now())

    notice("failed", "550 No such <b>box</b>")
    assert "550 No such &lt;b&gt;box&lt;/b&gt;" in page.get("/acme/profile/").content.decode()
    notice("sent")
    assert "could not be sent" not in page.get("/acme/profile/").content.decode()
