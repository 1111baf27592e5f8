"""What agents keep from run to run: notes and observations. Agents write it by their verbs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from agents.models import Agent, Note, Observation
from agents.models.notebook import KeptQuerySet
from agents.services.notebook import (
    NOTE_CHARACTERS,
    OBSERVATION_CHARACTERS,
    delete_note,
    delete_observation,
    edit_note,
    edit_observation,
)
from issues.actors import Actor, Worker
from issues.keysets import NEWEST_FIRST
from issues.refusals import NotFound
from issues.rest.paging import Page
from issues.rest.scope import row_in_scope
from issues.rest.shapes import Form, Shape, StampField, WrittenField, texts_of
from issues.rest.views import PageQuery, Resource, operation

TAG = "Notebooks"


class NoteShape(Shape):
    """A working note, which its agent is shown in every prompt."""

    id = serializers.IntegerField()
    agent = serializers.CharField(source="agent.handle")
    key = serializers.CharField()
    text = serializers.CharField()
    written_at = StampField()
    run = serializers.IntegerField(source="run_id", allow_null=True, help_text="The run that wrote it.")


class ObservationShape(Shape):
    """Something an agent noticed, which it is shown where it fits."""

    id = serializers.IntegerField()
    agent = serializers.CharField(source="agent.handle")
    text = serializers.CharField()
    issue = serializers.CharField(source="issue.identifier", allow_null=True, help_text="Null once it was deleted.")
    made_at = StampField()
    run = serializers.IntegerField(source="run_id", allow_null=True)


class KeptQuery(PageQuery):
    q = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="All of these words."
    )


class NoteForm(Form):
    text = WrittenField(max_length=NOTE_CHARACTERS)


class ObservationForm(Form):
    text = serializers.CharField(max_length=OBSERVATION_CHARACTERS, help_text="One line.")


class AgentNotes(Resource):
    @operation("List the notes of an agent", tag=TAG, query=KeptQuery, answer=NoteShape, paged=True)
    def get(self, *, id: int, query: Mapping[str, Any]) -> Page[Note]:
        """An agent reads its own alone."""
        rows = _notes(self.actor).filter(agent=_agent(self.actor, id)).holding(query["q"])
        return self.page(rows, NEWEST_FIRST, query)


class NoteItem(Resource):
    @operation("Get a note", tag=TAG, answer=NoteShape)
    def get(self, *, id: int) -> Note:
        return row_in_scope(self.actor, _notes(self.actor), id)[1]

    @operation("Change a note", tag=TAG, body=NoteForm, answer=NoteShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Note:
        """People only: an agent writes it anew by /note."""
        scope, note = row_in_scope(self.actor, _notes(self.actor), id)
        return edit_note(actor=scope.actor, note=note, text=form.get("text", note.text))

    @operation("Delete a note", tag=TAG)
    def delete(self, *, id: int) -> None:
        scope, note = row_in_scope(self.actor, _notes(self.actor), id)
        delete_note(actor=scope.actor, note=note)


class AgentObservations(Resource):
    @operation("List the observations of an agent", tag=TAG, query=KeptQuery, answer=ObservationShape, paged=True)
    def get(self, *, id: int, query: Mapping[str, Any]) -> Page[Observation]:
        """The newest first. An agent reads its own alone."""
        rows = _observations(self.actor).filter(agent=_agent(self.actor, id)).holding(query["q"])
        return self.page(rows, NEWEST_FIRST, query)


class ObservationItem(Resource):
    @operation("Get an observation", tag=TAG, answer=ObservationShape)
    def get(self, *, id: int) -> Observation:
        return row_in_scope(self.actor, _observations(self.actor), id)[1]

    @operation("Change an observation", tag=TAG, body=ObservationForm, answer=ObservationShape)
    def patch(self, *, id: int, form: Mapping[str, Any]) -> Observation:
        """People only."""
        scope, observation = row_in_scope(self.actor, _observations(self.actor), id)
        return edit_observation(actor=scope.actor, observation=observation, text=form.get("text", observation.text))

    @operation("Delete an observation", tag=TAG)
    def delete(self, *, id: int) -> None:
        scope, observation = row_in_scope(self.actor, _observations(self.actor), id)
        delete_observation(actor=scope.actor, observation=observation)


def _agent(actor: Actor, pk: int) -> Agent:
    """The agent whose notebook it is. NotFound for another agent's, as for one that does not exist."""
    _, agent = row_in_scope(actor, Agent.objects.select_related("company"), pk)
    if isinstance(actor, Worker) and actor.agent.pk != agent.pk:
        raise NotFound(f"There is no notebook of agent {pk}.", "An agent reads its own alone.")
    return agent


def _notes(actor: Actor) -> KeptQuerySet[Note]:
    rows = Note.objects.select_related("agent__company").defer(*texts_of("agent"))
    return rows.filter(agent=actor.agent) if isinstance(actor, Worker) else rows


def _observations(actor: Actor) -> KeptQuerySet[Observation]:
    rows = Observation.objects.select_related("agent__company", "issue__company")
    rows = rows.defer(*texts_of("agent"), "issue__description")
    return rows.filter(agent=actor.agent) if isinstance(actor, Worker) else rows
