"""Selections that are kept under a name, for oneself or for everybody."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from django.db import IntegrityError

from issues.activity import record
from issues.actors import Actor
from issues.effects import savepoint, service
from issues.models import Company, SavedView
from issues.models.saved_view import FILTERS
from issues.policies import Right, require
from issues.refusals import Conflict, Forbidden, Invalid
from issues.services.issues import UNCHANGED
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
    view.query = _check_query(query)
    _write(view)
    record(actor, "view.saved", company, view=view.pk)
    return view


@service
def change_view(
    *, actor: Actor, view: SavedView, name: str = UNCHANGED, query: str = UNCHANGED, shared: bool = UNCHANGED
) -> SavedView:
    """Rename one's own view, share it or keep it to oneself, or keep other filters under its name."""
    _require_own(actor, view)
    before = (view.name, view.query, view.is_shared)
    if name is not UNCHANGED:
        view.name = check_line(name, "name", limit=60)
    if query is not UNCHANGED:
        view.query = _check_query(query)
    if shared is not UNCHANGED:
        view.is_shared = shared
    if (view.name, view.query, view.is_shared) != before:
        _write(view)
        record(actor, "view.changed", view.company, view=view.pk)
    return view


@service
def delete_view(*, actor: Actor, view: SavedView) -> None:
    """Delete one's own view; the issues in it are not touched."""
    _require_own(actor, view)
    record(actor, "view.deleted", view.company, view=view.pk)
    view.delete()


def _require_own(actor: Actor, view: SavedView) -> None:
    member = require(actor, Right.EDIT, view.company)
    if member is None or member.pk != view.member_id:
        raise Forbidden("That view is somebody else's.", "Keep what it selects as a view of your own.")


def _check_query(query: str) -> str:
    """The filters as an address has them. Invalid for one that no page knows."""
    filters = parse_qsl(query.removeprefix("?"))
    unknown = [name[:60] for name, _ in filters if name not in FILTERS]
    if unknown or (query.strip() and not filters):
        named = f"There is no filter “{unknown[0]}”." if unknown else "That is no filter."
        raise Invalid(named, f"There are: {', '.join(FILTERS)}.", field="query")
    return check_line(urlencode(filters), "query", limit=1_000) if filters else ""


def _write(view: SavedView) -> None:
    try:
        with savepoint():
            view.save()
    except IntegrityError:
        raise Conflict(f"You have a view “{view.name}” already.", "Choose another name, or delete that one.") from None
