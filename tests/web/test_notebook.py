"""The notebook of an agent as people see it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from agents.services.notebook import remember, write_note
from issues.actors import Person
from issues.models import Company, Role
from tests import build

PAGE = "/acme/agents/ada/notebook/"


@pytest.fixture
def ada(company: Company) -> Agent:
    """Ada, with a note and sixty observations."""
    agent = build.agent(company, "Ada")
    worker = build.at_work(agent, build.issue(company, assignee=agent))
    assert worker.home is not None
    write_note(actor=worker, issue=worker.home, key="plan", text="First the export.\nThen <b>the</b> import.")
    for number in range(60):
        remember(actor=worker, issue=worker.home, text=f"Observation number {number}.")
    return agent


def seen(body: str) -> list[str]:
    return re.findall(r'<p class="prose">(Observation number \d+\.)</p>', body)


def test_notes_and_the_newest_observations_are_read_and_the_older_ones_on_demand(page: Client, ada: Agent) -> None:
    body = page.get(PAGE).content.decode()
    assert "First the export.<br>Then &lt;b&gt;the&lt;/b&gt; import." in body
    assert seen(body) == [f"Observation number {number}." for number in range(59, 9, -1)]
    older = re.search(r'href="(\?before=\d+)"', body)
    assert older is not None
    rest = page.get(PAGE + older[1]).content.decode()
    assert seen(rest) == [f"Observation number {number}." for number in range(9, -1, -1)]
    assert "First the export." not in rest


def test_words_are_searched_in_both(page: Client, ada: Agent) -> None:
    body = page.get(PAGE, {"text": "number 7."}).content.decode()
    assert seen(body) == [f"Observation number {number}." for number in (57, 47, 37, 27, 17, 7)]
    assert "No note holds all of these words." in body
    assert "First the export." in page.get(PAGE, {"text": "EXPORT"}).content.decode()


def test_a_note_is_changed_and_deleted(page: Client, ada: Agent) -> None:
    note = ada.notes.get()
    page.post(f"{PAGE}notes/{note.pk}/", {"text": "Only the import."})
    assert "Only the import." in page.get(PAGE).content.decode()
    page.post(f"{PAGE}notes/{note.pk}/", {"text": "Only the import.", "delete": "yes"})
    assert "No notes yet" in page.get(PAGE).content.decode()


def test_an_observation_is_changed_and_deleted(page: Client, ada: Agent) -> None:
    observation = ada.observations.latest("pk")
    page.post(f"{PAGE}observations/{observation.pk}/", {"text": "Otherwise."})
    assert "Otherwise." in page.get(PAGE).content.decode()
    page.post(f"{PAGE}observations/{observation.pk}/", {"delete": "yes"})
    assert "Otherwise." not in page.get(PAGE).content.decode()


def test_a_text_that_is_refused_is_not_lost(page: Client, ada: Agent) -> None:
    long = "Too long. " * 300
    answer = page.post(f"{PAGE}notes/{ada.notes.get().pk}/", {"text": long})
    assert answer.status_code == 422
    assert long.strip() in answer.content.decode()


def test_another_agents_note_is_not_at_this_ones_address(page: Client, company: Company, ada: Agent) -> None:
    build.agent(company, "Bob")
    answer = page.post(f"/acme/agents/bob/notebook/notes/{ada.notes.get().pk}/", {"delete": "yes"})
    assert answer.status_code == 404
    assert ada.notes.exists()


def test_a_viewer_reads_it_without_forms(company: Company, ada: Agent, browse: Callable[[Person], Client]) -> None:
    viewer = browse(build.member(company, "vi", role=Role.VIEWER))
    body = viewer.get(PAGE).content.decode()
    assert "First the export." in body
    assert "<textarea" not in body


def test_the_agents_page_leads_there(page: Client, ada: Agent) -> None:
    assert "1 note, 60 observations" in page.get("/acme/agents/ada/").content.decode()


def test_it_takes_as_many_queries_with_one_observation_as_with_fifty(page: Client, ada: Agent) -> None:
    with CaptureQueriesContext(connection) as many:
        page.get(PAGE)
    ada.observations.exclude(pk=ada.observations.latest("pk").pk).delete()
    with CaptureQueriesContext(connection) as one:
        page.get(PAGE)
    assert len(one) == len(many) <= 15
