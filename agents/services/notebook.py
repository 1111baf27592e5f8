"""An agent's notebook: working notes under keys, and observations. It writes for itself alone; people put right what
it wrote."""

from __future__ import annotations

from django.utils import timezone

from agents.models import Agent, Note, Observation
from agents.models.notebook import Kept
from issues.activity import record
from issues.actors import Actor, Worker
from issues.effects import service
from issues.models import Issue
from issues.policies import Right, require
from issues.refusals import Invalid, NotFound
from issues.texts import check_line, check_text, fold

NOTES_KEPT = 20
KEY_CHARACTERS = 60
NOTE_CHARACTERS = 2_000
"""All notes together are at most 40,000 characters, what a prompt can still show beside everything else."""

OBSERVATIONS_KEPT = 500
OBSERVATION_CHARACTERS = 1_000


@service
def write_note(*, actor: Worker, issue: Issue, key: str, text: str) -> Note:
    """Write a note, over the one that had its key. When there would be too many, the oldest gives way."""
    require(actor, Right.NOTE, issue)
    key = check_line(key, "key", limit=KEY_CHARACTERS)
    text = _check_note(text)
    agent = _hold(actor.agent)
    note, _ = Note.objects.update_or_create(
        agent=agent,
        folded_key=fold(key),
        defaults={"key": key, "text": text, "written_at": timezone.now(), "run": actor.run},
    )
    kept = agent.notes.order_by("-written_at", "-pk").values_list("pk", flat=True)[:NOTES_KEPT]
    agent.notes.exclude(pk__in=list(kept)).delete()
    record(actor, "notebook.noted", issue, note=note.pk)
    return note


@service
def forget_note(*, actor: Worker, issue: Issue, key: str) -> None:
    """Take a note out. Invalid if there is none under that key."""
    require(actor, Right.FORGET, issue)
    note = find_note(actor.agent, key)
    record(actor, "notebook.forgot", issue, note=note.pk)
    note.delete()


@service
def remember(*, actor: Worker, issue: Issue, text: str) -> Observation:
    """Keep an observation made on the issue. Of those there are too many of, the oldest go."""
    require(actor, Right.REMEMBER, issue)
    agent = _hold(actor.agent)
    observation = Observation.objects.create(
        agent=agent,
        issue=issue,
        run=actor.run,
        text=check_line(text, "observation", limit=OBSERVATION_CHARACTERS),
        made_at=timezone.now(),
    )
    too_old = agent.observations.order_by("-pk").values_list("pk", flat=True)[OBSERVATIONS_KEPT:]
    agent.observations.filter(pk__in=list(too_old)).delete()
    record(actor, "notebook.remembered", issue, observation=observation.pk)
    return observation


@service
def edit_note(*, actor: Actor, note: Note, text: str) -> Note:
    """Put other words into an agent's note. It reads them in its next prompt as if it had written them just now."""
    require(actor, Right.MANAGE_AGENTS, note.company)
    note = _held(Note, note)
    text = _check_note(text)
    if text != note.text:
        note.text, note.written_at = text, timezone.now()
        note.save(update_fields=["text", "written_at"])
        record(actor, "note.edited", note.company, agent=note.agent_id, note=note.pk)
    return note


@service
def delete_note(*, actor: Actor, note: Note) -> None:
    """Take a note out of an agent's notebook."""
    require(actor, Right.MANAGE_AGENTS, note.company)
    note = _held(Note, note)
    record(actor, "note.deleted", note.company, agent=note.agent_id, note=note.pk)
    note.delete()


@service
def edit_observation(*, actor: Actor, observation: Observation, text: str) -> Observation:
    """Put right what an agent observed. It keeps its place and age."""
    require(actor, Right.MANAGE_AGENTS, observation.company)
    observation = _held(Observation, observation)
    text = check_line(text, "observation", limit=OBSERVATION_CHARACTERS)
    if text != observation.text:
        observation.text = text
        observation.save(update_fields=["text"])
        company, agent = observation.company, observation.agent_id
        record(actor, "observation.edited", company, agent=agent, observation=observation.pk)
    return observation


@service
def delete_observation(*, actor: Actor, observation: Observation) -> None:
    """Let an agent forget what it observed."""
    require(actor, Right.MANAGE_AGENTS, observation.company)
    observation = _held(Observation, observation)
    company, agent = observation.company, observation.agent_id
    record(actor, "observation.deleted", company, agent=agent, observation=observation.pk)
    observation.delete()


def find_note(agent: Agent, key: str) -> Note:
    """The agent's note under that key, however its letters are written. Invalid if there is none."""
    note = agent.notes.filter(folded_key=fold(" ".join(key.split()))).first()
    if note is None:
        raise Invalid(f"There is no note “{key}”.", field="key")
    return note


def _check_note(text: str) -> str:
    text = check_text(text, "note", required=True)
    if len(text) > NOTE_CHARACTERS:
        raise Invalid(f"The note has {len(text):,} characters; at most {NOTE_CHARACTERS:,} fit.", field="note")
    return text


def _held(kind: type[Kept], kept: Kept) -> Kept:
    """The row as it stands now, held. NotFound if it has given way meanwhile."""
    rows = kind._default_manager.select_for_update(of=("self",)).select_related("agent__company")
    held = rows.filter(pk=kept.pk).first()
    if held is None:
        raise NotFound(f"The {kind._meta.verbose_name} is gone.")
    return held


def _hold(agent: Agent) -> Agent:
    """The agent's row, held: of two of its runs that write at once, the second counts what the first wrote."""
    return Agent.objects.select_for_update(no_key=True).get(pk=agent.pk)
