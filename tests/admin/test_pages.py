"""Every table is on the admin site, and looking at it costs the same however much is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from issues.actors import Person
from issues.administration import Shown
from issues.models import ApiKey, Company, LoginLink
from issues.services.accounts import issue_login_link
from issues.services.keys import create_user_key
from tests import build
from tests.admin.everything import fill

MODELS = [model for label in ("issues", "agents") for model in apps.get_app_config(label).get_models()]
RUNAWAY = 20
"""Queries that no list takes, whatever it shows."""


def model_names() -> Iterator[str]:
    return (model._meta.label_lower for model in MODELS)


def test_every_table_has_a_page() -> None:
    assert set(MODELS) <= set(admin.site._registry)


@pytest.mark.parametrize("model", MODELS, ids=model_names())
def test_every_table_is_searched_filtered_and_related_rows_are_linked(model: type[Model]) -> None:
    page = admin.site._registry[model]
    assert page.search_fields
    assert page.list_filter
    if isinstance(page, Shown):
        for label, field, _ in page.related:
            assert apps.get_model(label)._meta.get_field(field).related_model is model


@pytest.fixture
def filled(company: Company) -> Company:
    fill(company, 1)
    return company


def test_lists_take_as_many_queries_for_3_rows_as_for_30(browser: Client, company: Company) -> None:
    fill(company, 3)
    few = {model: _queries(browser, model) for model in MODELS}
    fill(company, 27)
    many = {model: _queries(browser, model) for model in MODELS}
    assert {model: (few[model], many[model]) for model in MODELS if not many[model] <= few[model] <= RUNAWAY} == {}


@pytest.mark.parametrize("model", MODELS, ids=model_names())
def test_a_search_and_each_row_can_be_looked_at(browser: Client, filled: Company, model: type[Model]) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    assert browser.get(reverse(f"{name}_changelist"), {"q": "1"}).status_code == 200
    row = model._default_manager.first()
    assert row is not None, "fill() makes none"
    page = browser.get(reverse(f"{name}_change", args=[row.pk]))
    assert page.status_code == 200
    for address in set(re.findall(r'href="(/admin/[^"]+__exact=[^"]+)"', page.content.decode())):
        assert browser.get(address.replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize("path", ["", "issues/issue/", "agents/run/"])
def test_nobody_but_an_operator_gets_in(company: Company, path: str) -> None:
    staff = build.user("staff")
    staff.is_staff = True
    staff.save()
    for client in (Client(), Client()):
        answer = client.get(f"/admin/{path}")
        assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/admin/login/")
        client.force_login(staff)
        assert client.get(f"/admin/{path}").status_code == 302


def test_hashes_of_secrets_are_not_shown(browser: Client, operator: Person) -> None:
    key, text = create_user_key(actor=operator, user=operator.user)
    page = browser.get(reverse("admin:issues_apikey_change", args=[key.pk])).content.decode()
    assert key.prefix in page
    assert ApiKey.objects.get(pk=key.pk).key_hash not in page
    assert text not in page
    issue_login_link(operator.user)
    link = LoginLink.objects.get()
    assert link.token_hash not in browser.get(reverse("admin:issues_loginlink_change", args=[link.pk])).content.decode()


@pytest.mark.parametrize("name", ["issues_activity", "agents_run", "agents_wakeup", "issues_comment"])
def test_what_happened_is_read_and_never_written(browser: Client, filled: Company, name: str) -> None:
    assert browser.get(reverse(f"admin:{name}_add")).status_code == 403
    row = apps.get_model(name.replace("_", ".")).objects.first()
    address = reverse(f"admin:{name}_change", args=[row.pk])
    assert 'name="_save"' not in browser.get(address).content.decode()
    assert browser.post(address, {"kind": "forged"}).status_code == 403
    assert browser.post(reverse(f"admin:{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_a_page_holds_nothing_that_its_policy_forbids(browser: Client, filled: Company) -> None:
    for path in ("", "issues/issue/", f"issues/issue/{filled.issues.first().pk}/change/"):  # type: ignore[union-attr]
        page = browser.get(f"/admin/{path}").content.decode()
        assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", page)
        assert " style=" not in page
        assert " onclick=" not in page


def _queries(browser: Client, model: type[Model]) -> int:
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    browser.get(address)  # content types are looked up once a process
    with CaptureQueriesContext(connection) as captured:
        answer = browser.get(address)
    assert answer.status_code == 200
    return len(captured)
