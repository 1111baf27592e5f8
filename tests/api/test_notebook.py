"""What agents keep, read and put right through the API."""

from __future__ import annotations

import pytest

from agents.models import Agent, Note, Observation
from agents.services.notebook import remember, write_note
from issues.models import Activity, Company, Role
from tests import build
from tests.api.client import Api, as_agent, as_person


@pytest.fixture(autouse=True)
def kept(company: Company, ada: Agent) -> None:
    """Two notes and two observations of Ada's."""
    worker = build.at_work(ada, build.issue(company, assignee=ada))
    assert worker.home is not None
    for key, text in (("plan", "First the export."), ("Größe", "Zwölf Meter.")):
        write_note(actor=worker, issue=worker.home, key=key, text=text)
    for text in ("Exports break on quotation marks.", "ÜBERALL fehlt ein Test."):
        remember(actor=worker, issue=worker.home, text=text)


def test_both_are_listed_the_newest_first(api: Api, ada: Agent) -> None:
    notes = api.get(f"agents/{ada.pk}/notes").rows
    assert [(note["key"], note["text"], note["agent"]) for note in notes] == [
        ("Größe", "Zwölf Meter.", "ada"),
        ("plan", "First the export.", "ada"),
    ]
    observations = api.get(f"agents/{ada.pk}/observations").rows
    assert [(one["text"], one["issue"]) for one in observations] == [
        ("ÜBERALL fehlt ein Test.", "ACME-1"),
        ("Exports break on quotation marks.", "ACME-1"),
    ]
    assert observations[0]["run"] == notes[0]["run"] == ada.runs.get().pk


@pytest.mark.parametrize(
    ("kind", "words", "found"),
    [
        ("notes", "EXPORT first", 1),
        ("notes", "plan", 1),
        ("notes", "größe zwölf", 1),
        ("notes", "export zwölf", 0),
        ("observations", "überall", 1),
        ("observations", "break exports", 1),
        ("observations", "%", 0),
        ("observations", " ", 2),
    ],
)
def test_they_are_found_by_all_their_words_whatever_the_case(
    api: Api, ada: Agent, kind: str, words: str, found: int
) -> None:
    assert len(api.get(f"agents/{ada.pk}/{kind}", q=words).rows) == found


def test_people_put_them_right_and_the_activity_refers_and_copies_nothing(api: Api, ada: Agent) -> None:
    note, observation = Note.objects.get(key="plan"), Observation.objects.earliest("pk")
    before = note.written_at
    assert api.patch(f"notes/{note.pk}", {"text": "First the import."})["text"] == "First the import."
    assert api.patch(f"observations/{observation.pk}", {"text": "Only  on\nMondays."})["text"] == "Only on Mondays."
    note.refresh_from_db()
    assert note.written_at > before
    lines = Activity.objects.order_by("-pk")[:2]
    assert [(line.kind, line.data) for line in lines] == [
        ("observation.edited", {"agent": ada.pk, "observation": observation.pk}),
        ("note.edited", {"agent": ada.pk, "note": note.pk}),
    ]


def test_people_delete_them(api: Api, ada: Agent) -> None:
    note, observation = Note.objects.get(key="plan"), Observation.objects.earliest("pk")
    assert api.delete(f"notes/{note.pk}").status == 204
    assert api.delete(f"observations/{observation.pk}").status == 204
    assert api.delete(f"notes/{note.pk}").status == 404
    assert (ada.notes.count(), ada.observations.count()) == (1, 1)


@pytest.mark.parametrize("text", ["", "  ", "x" * 2_001, "a\x00b"])
def test_what_cannot_be_a_note_is_refused(api: Api, text: str) -> None:
    note = Note.objects.get(key="plan")
    assert api.patch(f"notes/{note.pk}", {"text": text}).status == 422
    note.refresh_from_db()
    assert note.text == "First the export."


def test_an_agent_reads_its_own_alone_and_writes_it_by_verbs_only(ada_api: Api, ada: Agent, company: Company) -> None:
    note = Note.objects.get(key="plan")
    assert ada_api.get(f"notes/{note.pk}")["key"] == "plan"
    assert ada_api.patch(f"notes/{note.pk}", {"text": "Mine."}).status == 403
    assert ada_api.delete(f"notes/{note.pk}").status == 403
    bob = as_agent(build.agent(company, "Bob"))
    assert bob.get(f"notes/{note.pk}").status == 404
    assert bob.get(f"agents/{ada.pk}/notes").status == 404
    assert bob.get(f"agents/{ada.pk}/observations").status == 404


def test_a_viewer_reads_and_changes_nothing(company: Company, ada: Agent) -> None:
    viewer = as_person(build.member(company, "vi", role=Role.VIEWER))
    note, observation = Note.objects.get(key="plan"), Observation.objects.earliest("pk")
    assert len(viewer.get(f"agents/{ada.pk}/notes").rows) == 2
    assert viewer.patch(f"notes/{note.pk}", {"text": "No."}).status == 403
    assert viewer.delete(f"observations/{observation.pk}").status == 403


def test_lists_come_in_pages(api: Api, ada: Agent) -> None:
    assert len(api.walk(f"agents/{ada.pk}/observations", limit=1)) == 2
    assert len(api.walk(f"agents/{ada.pk}/notes", limit=1)) == 2
