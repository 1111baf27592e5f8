"""What a webhook is told of a change: who did it, to what, and where to look. Never a text: who wants those asks the
API, with a key of its own.

`docs/webhooks.md` describes the form. `VERSION` is raised when a receiver of the old form would misread the new one;
more fields may come at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import structlog
from django.urls import reverse

from issues.models import Activity, Company, Delivery
from issues.names import Names, Somebody, Wanted
from issues.sentences import named_in
from trimus.addresses import address

log = structlog.get_logger(__name__)

VERSION = 1
TEST_KIND = "webhook.test"


def write_bodies(company: Company, deliveries: Iterable[Delivery]) -> list[Delivery]:
    """Give each delivery that has none yet its body. They are read with their lines of activity.

    Gives back those for which none could be written. That is a fault of this program: it is logged, and holds up no
    other.
    """
    new = [delivery for delivery in deliveries if not delivery.body]
    names = Names(company, _wanted(new))
    broken = []
    for delivery in new:
        try:
            delivery.body = _body(delivery, company, names)
        except Exception:
            log.exception("webhook.no_body", delivery=delivery.pk, kind=delivery.kind)
            broken.append(delivery)
    return broken


def _wanted(deliveries: Iterable[Delivery]) -> Wanted:
    wanted = Wanted()
    for delivery in deliveries:
        with suppress(Exception):  # a line that cannot be read must not hold up the others
            wanted |= named_in([delivery.activity] if delivery.activity is not None else [])
    return wanted


def _body(delivery: Delivery, company: Company, names: Names) -> str:
    told = {
        "type": delivery.kind,
        "timestamp": _stamp(delivery),
        "data": {
            "version": VERSION,
            "company": {"key": company.key, "url": f"{address()}/{company.slug}/"},
            **(_told(delivery.activity, company, names) if delivery.activity is not None else {}),
        },
    }
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _stamp(delivery: Delivery) -> str:
    """When it happened."""
    moment = delivery.activity.created_at if delivery.activity is not None else delivery.created_at
    return moment.isoformat().replace("+00:00", "Z")


def _told(line: Activity, company: Company, names: Names) -> dict[str, Any]:
    run = line.run_id or line.data.get("run")
    somebody = names.somebody(agent=line.agent_id, member=line.member_id)
    return {
        "activity": line.pk,
        "actor": _somebody(somebody) or {"kind": "system"},
        "issue": _issue(line, company),
        "comment": _comment(line, company),
        "approval": _linked(company, "approval", line.data.get("approval")),
        "run": _linked(company, "run", run),
        "change": _change(line, names),
    }


def _issue(line: Activity, company: Company) -> dict[str, str] | None:
    """None where there is none, or it was deleted since; of the deletion itself its identifier."""
    if line.issue is None:
        number = line.data.get("number")
        return {"identifier": f"{company.key}-{number}"} if line.kind == "issue.deleted" else None
    identifier = f"{company.key}-{line.issue.number}"
    return {"identifier": identifier, "url": _page(company, "issue", identifier)}


def _comment(line: Activity, company: Company) -> dict[str, Any] | None:
    pk = line.data.get("comment")
    if pk is None:
        return None
    if line.issue is None:
        return {"id": pk}
    issue = _page(company, "issue", f"{company.key}-{line.issue.number}")
    return {"id": pk, "url": f"{issue}?comment={pk}#comment-{pk}"}


def _linked(company: Company, page: str, pk: int | None) -> dict[str, Any] | None:
    return {"id": pk, "url": _page(company, page, pk)} if pk is not None else None


def _page(company: Company, page: str, named: object) -> str:
    return f"{address()}{reverse(page, args=[company.slug, named])}"


def _change(line: Activity, names: Names) -> dict[str, Any]:
    """What the line says of the change, with issues by their identifiers and people and agents by their handles."""
    data: Mapping[str, Any] = {name: value for name, value in line.data.items() if name not in _SAID_ELSEWHERE}
    match line.kind:
        case "issue.blockers":
            return {name: [_identifier(pk, names) for pk in ids] for name, ids in data.items()}
        case "issue.parent":
            return {name: _identifier(pk, names) for name, pk in data.items()}
        case "issue.assigned":
            return {**data, **{name: _somebody(names.refer(data[name])) for name in ("from", "to")}}
        case _:
            issues = {name: _identifier(data[name], names) for name in ("blocker", "parent") if name in data}
            return {**data, **issues, **_people(data, names)}


def _people(data: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """The fields that name members and agents; lines hold their ids."""
    one = {
        name: _somebody(rows.get(data[name]))
        for name, rows in (("agent", names.agents), ("member", names.members), ("stalled", names.agents))
        if name in data
    }
    several = {
        name: [_somebody(rows.get(pk)) for pk in data[name]]
        for name, rows in (("agents", names.agents), ("members", names.members))
        if name in data
    }
    return one | several


_SAID_ELSEWHERE = frozenset({"run", "comment", "approval"})


def _identifier(pk: int | None, names: Names) -> str | None:
    """None for nothing, and for an issue that was deleted since."""
    named = names.issues.get(pk) if pk is not None else None
    return named.identifier if named is not None else None


def _somebody(one: Somebody | None) -> dict[str, str] | None:
    return {"kind": one.kind, "handle": one.handle, "name": one.name} if one is not None else None
