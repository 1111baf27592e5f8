"""Projects and labels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.db import IntegrityError
from django.utils import timezone

from issues.activity import record
from issues.actors import Actor, Worker
from issues.effects import savepoint, service
from issues.models import Company, Issue, Label, Project
from issues.policies import Right, require, require_belonging
from issues.refusals import Conflict, Forbidden, Invalid
from issues.services.locks import lock_issue, save_issue
from issues.texts import check_line, check_text


@service
def create_project(*, actor: Actor, company: Company, name: str, description: str = "", rules: str = "") -> Project:
    require(actor, Right.MANAGE_WORK, company)
    project = Project(company=company, name=check_line(name, "name", limit=120))
    project.description = check_text(description, "description", limit=10_000)
    project.rules = check_text(rules, "rules", limit=10_000)
    _save_named(project, f"There is a project “{project.name}” already.")
    record(actor, "project.created", company, project=project.pk)
    return project


@service
def edit_project(
    *,
    actor: Actor,
    project: Project,
    name: str | None = None,
    description: str | None = None,
    rules: str | None = None,
) -> Project:
    require(actor, Right.MANAGE_WORK, project.company)
    if name is not None:
        project.name = check_line(name, "name", limit=120)
    if description is not None:
        project.description = check_text(description, "description", limit=10_000)
    if rules is not None:
        project.rules = check_text(rules, "rules", limit=10_000)
    _save_named(project, f"There is a project “{project.name}” already.")
    record(actor, "project.edited", project.company, project=project.pk)
    return project


@service
def archive_project(*, actor: Actor, project: Project) -> Project:
    """Take it out of menus; its issues keep it."""
    require(actor, Right.MANAGE_WORK, project.company)
    project.archived_at = timezone.now()
    project.save(update_fields=["archived_at"])
    record(actor, "project.archived", project.company, project=project.pk)
    return project


@service
def restore_project(*, actor: Actor, project: Project) -> Project:
    """Bring an archived project back into menus."""
    require(actor, Right.MANAGE_WORK, project.company)
    project.archived_at = None
    project.save(update_fields=["archived_at"])
    record(actor, "project.restored", project.company, project=project.pk)
    return project


@service
def create_label(*, actor: Actor, company: Company, name: str, colour: str = "#7a7f87") -> Label:
    """A label. Agents make one only where the company allows it."""
    if isinstance(actor, Worker):
        require_belonging(actor, company)
        if not company.agents_may_create_labels:
            raise Forbidden(f"There is no label “{name}”, and agents may not make labels here.")
    else:
        require(actor, Right.MANAGE_WORK, company)
    label = Label(company=company, name=_check_label_name(name), colour=_check_colour(colour))
    _save_named(label, f"There is a label “{label.name}” already.")
    record(actor, "label.created", company, label=label.pk)
    return label


@service
def edit_label(*, actor: Actor, label: Label, name: str | None = None, colour: str | None = None) -> Label:
    """Rename or recolour; issues keep it."""
    require(actor, Right.MANAGE_WORK, label.company)
    if name is not None:
        label.name = _check_label_name(name)
    if colour is not None:
        label.colour = _check_colour(colour)
    _save_named(label, f"There is a label “{label.name}” already.")
    record(actor, "label.edited", label.company, label=label.pk)
    return label


@service
def delete_label(*, actor: Actor, label: Label) -> None:
    require(actor, Right.MANAGE_WORK, label.company)
    record(actor, "label.deleted", label.company, label=label.pk)
    label.delete()


@service
def add_labels(*, actor: Actor, issue: Issue, labels: Sequence[Label]) -> Issue:
    return _change_labels(actor, Right.LABEL, issue, add=labels, remove=())


@service
def remove_labels(*, actor: Actor, issue: Issue, labels: Sequence[Label]) -> Issue:
    return _change_labels(actor, Right.UNLABEL, issue, add=(), remove=labels)


def _change_labels(actor: Actor, right: Right, issue: Issue, *, add: Sequence[Label], remove: Sequence[Label]) -> Issue:
    issue = lock_issue(issue)
    require(actor, right, issue)
    if any(label.company_id != issue.company_id for label in (*add, *remove)):
        raise Invalid("A label of another company cannot be used.", field="labels")
    present = set(issue.labels.values_list("pk", flat=True))
    added = [label for label in dict.fromkeys(add) if label.pk not in present]
    removed = [label for label in dict.fromkeys(remove) if label.pk in present]
    if not added and not removed:
        return issue
    issue.labels.add(*added)
    issue.labels.remove(*removed)
    save_issue(issue)
    record(
        actor,
        "issue.labels",
        issue,
        added=[label.name for label in added],
        removed=[label.name for label in removed],
    )
    return issue


def _check_label_name(name: str) -> str:
    name = check_line(name, "name", limit=60)
    if "," in name:
        raise Invalid("A label's name holds no comma.", field="name")
    return name


def _check_colour(colour: str) -> str:
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", colour):
        raise Invalid(f"“{colour}” is not a colour like #1f6feb.", field="colour")
    return colour.lower()


def _save_named(row: Project | Label, taken: str) -> None:
    try:
        with savepoint():
            row.save()
    except IntegrityError:
        raise Conflict(taken) from None
