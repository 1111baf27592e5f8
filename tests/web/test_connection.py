"""Hiring an agent that works outside of Trimus, and telling its program how to come in."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.test import Client

from agents.models import Adapter, Agent
from issues.actors import Person
from issues.models import ApiKey, Company
from issues.services.keys import create_agent_key, find_key
from tests import build
from tests.web.test_access import Browse

HIRE = "/acme/agents/hire/"
OTTO = "/acme/agents/otto/"


@pytest.fixture
def otto(company: Company) -> Agent:
    return build.agent(company, "Otto", adapter=Adapter.EXTERNAL)


def settings_in(page: str) -> Any:
    """What the page gives a client of the tools."""
    found = re.search(r'<pre class="payload"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert found is not None
    return json.loads(html.unescape(found[1]))["mcpServers"]["trimus"]


def test_an_agent_is_hired_outside_and_brought_in_by_the_same_choice(page: Client, company: Company) -> None:
    page.post(HIRE, {"name": "Otto", "provider": "outside:", "model": "left over"})
    otto = Agent.objects.get()
    assert (otto.adapter, otto.provider, otto.model) == (Adapter.EXTERNAL, "", "")
    assert '<option value="outside:" selected>' in page.get(f"{OTTO}edit/").content.decode()
    page.post(f"{OTTO}edit/", {"name": "Otto", "provider": "scripted"})
    otto.refresh_from_db()
    assert (otto.adapter, otto.provider) == (Adapter.LLM, "scripted")
    assert "Connection" not in page.get(OTTO).content.decode()


def test_its_page_says_where_it_calls_and_whether_it_has(page: Client, founder: Person, otto: Agent) -> None:
    body = page.get(OTTO).content.decode()
    assert settings_in(body)["url"] == "http://testserver/mcp"
    assert "http://testserver/skill.md" in body
    assert "It has no key yet." in body
    text = create_agent_key(actor=founder, agent=otto)[1]
    assert "It has a key, and has not called yet." in page.get(OTTO).content.decode()
    find_key(text)
    assert "It called last" in page.get(OTTO).content.decode()


def test_an_owner_is_led_to_making_its_key_which_comes_ready_to_be_copied(page: Client, otto: Agent) -> None:
    link = f"/acme/settings/keys/?agent={otto.pk}"
    assert f'href="{link}#make"' in page.get(OTTO).content.decode()
    assert f'<option value="{otto.pk}" selected>' in page.get(link).content.decode()
    made = page.post("/acme/settings/keys/", {"agent": otto.pk, "days": "90"}).content.decode()
    scheme, _, text = settings_in(made)["headers"]["Authorization"].partition(" ")
    assert (scheme, find_key(text)) == ("Bearer", ApiKey.objects.get())


def test_others_are_told_who_makes_it(browse: Browse, company: Company, otto: Agent) -> None:
    body = browse(build.member(company)).get(OTTO).content.decode()
    assert "It has no key yet; an owner makes one." in body
    assert "Make a key" not in body
