"""The content security policy is never in a page's way: no page asks for what it forbids."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client

from issues.actors import Person
from issues.models import Company
from tests.web.everything import addresses, one_of_everything

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
PAGES = sorted(TEMPLATES.rglob("*.html"))


class Inspector(HTMLParser):
    """Collects what the policy would refuse, and ids that stand twice."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        for name, value in attrs:
            if name == "style" or name.startswith(("on", "hx-on")):
                self.faults.append(f"<{tag} {name}>")
            if name in ("src", "href", "action") and re.match(r"(https?:)?//|javascript:|data:", value or ""):
                self.faults.append(f"<{tag} {name}={value}>")
            if name == "hx-vals" and (value or "").startswith("js:"):
                self.faults.append(f"<{tag} hx-vals=js:>")
        if tag == "style" or (tag == "script" and not values.get("src")):
            self.faults.append(f"inline <{tag}>")
        if (own := values.get("id")) is not None:
            if own in self.ids:
                self.faults.append(f"id {own} twice")
            self.ids.add(own)


def faults_in(html: str) -> list[str]:
    inspector = Inspector()
    inspector.feed(html)
    return inspector.faults


@pytest.mark.parametrize("path", PAGES, ids=[str(path.relative_to(TEMPLATES)) for path in PAGES])
def test_a_template_holds_nothing_inline(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\sstyle=|\son[a-z]+=|\shx-on|<style|javascript:", text)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert "|safe" not in text


def test_no_page_asks_for_what_the_policy_forbids(page: Client, company: Company, founder: Person) -> None:
    everything = one_of_everything(company, founder)
    looked_at = 0
    for name, wanted in sorted(set(addresses())):
        answer = page.get(everything.address(name, wanted))
        if answer.status_code != 200 or "html" not in answer.headers["Content-Type"]:
            continue
        looked_at += 1
        assert faults_in(answer.content.decode()) == [], name
        policy = answer.headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
    assert looked_at > 20


@pytest.mark.parametrize("address", ["/login/", "/login/abc/", "/nowhere", "/design/"])
def test_neither_do_pages_outside_of_a_company(address: str, page: Client, db: None) -> None:
    client = page if address == "/design/" else Client()
    assert faults_in(client.get(address).content.decode()) == []


def test_fragments_for_scripts_are_parts_of_their_pages(page: Client, company: Company, founder: Person) -> None:
    everything = one_of_everything(company, founder)
    for name in (
        "board",
        "issues",
        "issue",
        "approvals",
        "approval",
        "inbox",
        "activity",
        "runs",
        "run",
        "agents",
        "agent",
    ):
        address = everything.address(name, dict(addresses())[name])
        part = page.get(address, headers={"HX-Request": "true"}).content.decode().strip()
        assert part.startswith("<div"), name
        own = re.search(r'id="([a-z-]+)"', part)
        assert own, name
        assert f'id="{own[1]}"' in page.get(address).content.decode(), name
