"""What bodies and queries refer to by the words people use: handles, names, identifiers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from issues.actors import Person, Worker
from issues.directory import Directory
from issues.models import Company, Issue, Label, Member, Project
from issues.refusals import Invalid, NotFound
from issues.rest.scope import Scope
from issues.texts import fold

if TYPE_CHECKING:
    from agents.models import Agent


def everybody_named(scope: Scope, words: Iterable[str], field: str) -> list[Agent | Member]:
    """Whom the words name, each once. Invalid for the first that names nobody."""
    directory = Directory(scope.company)
    found = (somebody_named(scope, word, field, directory) for word in words)
    return list(dict.fromkeys(one for one in found if one is not None))


def somebody_named(
    scope: Scope, word: str | None, field: str, directory: Directory | None = None
) -> Agent | Member | None:
    """The member or agent of that handle or name; None for null and `none`; `me` is the caller. Invalid otherwise."""
    if word is None or fold(word.strip()) == "none":
        return None
    if fold(word.strip()) == "me":
        return _caller(scope)
    try:
        return (directory or Directory(scope.company)).find(word)
    except Invalid as refusal:
        raise Invalid(refusal.reason, refusal.hint, field=field) from None


def handles_named(words: Iterable[str]) -> list[str]:
    """Handles as they are kept. Whether anybody has them makes no difference where they only leave somebody out."""
    return [word.strip().removeprefix("@").lower() for word in words]


def member_named(scope: Scope, word: str, field: str) -> Member:
    """The member of that handle or name. Invalid if that is nobody or an agent."""
    found = somebody_named(scope, word, field)
    if not isinstance(found, Member):
        raise Invalid(f"“{word}” is not a member.", field=field)
    return found


def agent_named(scope: Scope, word: str, field: str) -> Agent:
    """The agent of that handle or name. Invalid if that is nobody or a member."""
    found = somebody_named(scope, word, field)
    if found is None or isinstance(found, Member):
        raise Invalid(f"“{word}” is not an agent.", field=field)
    return found


def project_named(company: Company, name: str | None) -> Project | None:
    """The project of that name; None for null. Invalid if there is none."""
    if name is None:
        return None
    project = company.projects.filter(name__iexact=name.strip()).first()
    if project is None:
        raise Invalid(f"There is no project “{name}”.", field="project")
    return project


def labels_named(company: Company, names: Iterable[str], field: str) -> list[Label]:
    """The labels of those names. Invalid if one does not exist: a label is made on purpose, not by a slip."""
    wanted = list(dict.fromkeys(name.strip() for name in names))
    known = {fold(label.name): label for label in company.labels.all()} if wanted else {}
    missing = [name for name in wanted if fold(name) not in known]
    if missing:
        raise Invalid(f"There is no label “{missing[0]}”.", "Make it first: POST /api/labels.", field=field)
    return list(dict.fromkeys(known[fold(name)] for name in wanted))


def issue_named(scope: Scope, identifier: str | None, field: str) -> Issue | None:
    """The issue of that identifier; None for null and `none`. Invalid if the company has no such issue."""
    if identifier is None or identifier.strip().lower() == "none":
        return None
    try:
        return scope.issue(identifier)
    except NotFound as refusal:
        raise Invalid(refusal.reason, field=field) from None


def issues_named(scope: Scope, identifiers: Iterable[str], field: str) -> list[Issue]:
    """The issues of those identifiers. Invalid for the first that the company does not have."""
    wanted = [identifier for identifier in dict.fromkeys(identifiers) if identifier.strip().lower() != "none"]
    try:
        return scope.issues(wanted)
    except NotFound as refusal:
        raise Invalid(refusal.reason, field=field) from None


def _caller(scope: Scope) -> Agent | Member | None:
    if isinstance(scope.actor, Worker):
        return scope.actor.agent
    return scope.actor.member if isinstance(scope.actor, Person) else None
