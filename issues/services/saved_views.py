"""Selections that are kept under a name, for oneself or for everybody."""

from __future__ import annotations

from django.db import IntegrityError

from issues.activity import record
from issues.actors import Actor
from issues.effects import savepoint, service
from issues.models import Company, SavedView
from issues.policies import Right, require
from issues.refusals import Conflict, Forbidden
from issues.texts import check_line


@service
def save_view(
    *, actor: Actor, company: Company, name: str, page: SavedView.Page, query: str, shared: bool = False
) -> SavedView:
    """Keep the filters of an address under a name. Conflict when one's own has that name already."""
    member = require(actor, Right.EDIT, company)
    if member is None:
        raise Forbidden("Only people keep views.")
    view = SavedView(company=company, member=member, page=page, is_shared=shared)
    view.name = check_line(name, "name", limit=60)
    view.query = check_line(query, "query", limit=1_000) if query else ""
    try:
        with savepoint():
            view.save()
    except IntegrityError:
        raise Conflict(f"You have a view “{view.name}” already.", "Choose another name, or delete that one.") from None
    record(actor, "view.saved", company, view=view.pk)
    return view


@service
def delete_view(*, actor: Actor, view: SavedView) -> None:
    """Delete one's own view; the issues in it are not touched."""
    member = require(actor, Right.EDIT, view.company)
    if member is None or member.pk != view.member_id:
        raise Forbidden("That view is somebody else's.")
    record(actor, "view.deleted", view.company, view=view.pk)
    view.delete()
