"""The chain over the audit: what each line says is hashed after the line before, so that none can be changed, removed
or put in between without every later mark being wrong.

Not in the transaction of the change, which would make a company's work wait for itself: the tick seals what has stood
for a while, and the time of each seal is hashed, too. Lines name texts by their ids and never hold them, so a text that
is erased breaks nothing.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import operator
import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max, OuterRef, Subquery
from django.utils import timezone

from issues.models import Activity, AuditSeal, Company

SETTLED = datetime.timedelta(minutes=2)
"""Ids are given before transactions commit. A line is sealed when those around it have been committed, too, as a rule;
the exception is sealed as a late one."""

LATE = datetime.timedelta(days=1)
"""A transaction that committed later than the lines around it were sealed is waited for so long, until the newest seal:
while nobody seals no time goes by. A line that turns up after that was put in."""

BATCH = 1_000
"""Lines sealed in one transaction."""

FIRST = bytes(32)
"""The mark before the first line of a company."""

_MARK = struct.Struct(">Q32s")

Line = tuple[int, int, int | None, str, int | None, int | None, int | None, str, Any, datetime.datetime]
COLUMNS = ("pk", "company", "issue", "actor_kind", "member", "agent", "run", "kind", "data", "created_at")


def seal_new_lines() -> int:
    """Seal the next lines of all companies, oldest first. How many there were; 0 if another did so at the same time.

    Late lines are waited for by the time of the newest seal, which this makes: `seal_late_lines` comes before it.
    """
    watermark = _watermark()
    lines = Activity.objects.filter(pk__gt=watermark).order_by("pk").values_list(*COLUMNS)[:BATCH]
    # Up to the first that is too young: what is left out here comes with the next call.
    settled = timezone.now() - SETTLED
    ripe = list(_until(lines, settled))
    return _seal(ripe, watermark) if ripe else 0


def seal_late_lines() -> int:
    """Seal lines whose transactions committed after higher ids had been sealed, a day before the newest seal at most.
    How many."""
    watermark, low = _watermark(), watermark_of_waiting()
    if watermark == low:
        return 0
    # No older seal closes a line above `low`.
    sealed: set[int] = set()
    for marks in AuditSeal.objects.filter(last_line__gt=low).values_list("marks", flat=True).iterator():
        sealed.update(line for line, _ in read_marks(marks))
    lines = Activity.objects.filter(pk__gt=low, pk__lte=watermark).order_by("pk")
    late = [pk for pk in lines.values_list("pk", flat=True).iterator() if pk not in sealed][:BATCH]
    return _seal(list(lines.filter(pk__in=late).values_list(*COLUMNS)), watermark) if late else 0


def watermark_of_waiting() -> int:
    """The highest id that was sealed before the time in which late lines are waited for."""
    newest = AuditSeal.objects.order_by("-pk").values_list("sealed_at", flat=True).first()
    if newest is None:
        return 0
    return AuditSeal.objects.filter(sealed_at__lte=newest - LATE).aggregate(last=Max("last_line"))["last"] or 0


def opening_of(before: bytes, sealed_at: datetime.datetime) -> bytes:
    """What the first mark of a seal stands on: the last of the seal before, and when this one is made. Else late lines
    could be waited for anew by another time in an old seal."""
    return hashlib.sha256(before + _written(sealed_at).encode()).digest()


def mark_of(before: bytes, line: Line) -> bytes:
    """The SHA-256 of what a line says, after the mark before it."""
    *fields, created_at = line
    said = json.dumps([*fields, _written(created_at)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(before + said.encode()).digest()


def read_marks(marks: bytes | memoryview) -> Iterator[tuple[int, bytes]]:
    """Each line's id with its mark. Raises struct.error for what is no row of marks."""
    return _MARK.iter_unpack(bytes(marks))


def _written(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat(timespec="microseconds")


def _watermark() -> int:
    """The highest id that was sealed, of all companies."""
    return AuditSeal.objects.aggregate(last=Max("last_line"))["last"] or 0


def _until(lines: Iterable[Line], settled: datetime.datetime) -> Iterator[Line]:
    for line in lines:
        if line[-1] > settled:
            return
        yield line


def _seal(lines: Sequence[Line], watermark: int) -> int:
    """One seal a company. Of two who seal the same lines the second breaks a constraint, and has done nothing."""
    company_of = operator.itemgetter(COLUMNS.index("company"))
    by_company = {company: list(own) for company, own in groupby(sorted(lines, key=company_of), company_of)}
    newest = _newest_seals(by_company)
    if any(seal.last_line > watermark for seal in newest.values()):
        return 0  # somebody has sealed since the lines were looked for
    # Companies in order of their ids, as everybody inserts them: two never wait for one another.
    now = timezone.now()
    seals = [_next_seal(company, newest.get(company), own, now) for company, own in by_company.items()]
    try:
        with transaction.atomic():
            AuditSeal.objects.bulk_create(seals)
    except IntegrityError:
        return 0
    return len(lines)


def _newest_seals(companies: Iterable[int]) -> dict[int, AuditSeal]:
    newest = AuditSeal.objects.filter(company=OuterRef("pk")).order_by("-number").values("pk")[:1]
    ids = Company.objects.filter(pk__in=companies).values_list(Subquery(newest), flat=True)
    seals = AuditSeal.objects.filter(pk__in=[pk for pk in ids if pk is not None]).defer("marks")
    return {seal.company_id: seal for seal in seals}


def _next_seal(
    company: int, before: AuditSeal | None, lines: Sequence[Line], sealed_at: datetime.datetime
) -> AuditSeal:
    mark = opening_of(bytes.fromhex(before.head) if before is not None else FIRST, sealed_at)
    marks = bytearray()
    for line in lines:
        mark = mark_of(mark, line)
        marks += _MARK.pack(line[0], mark)
    return AuditSeal(
        company_id=company,
        number=before.number + 1 if before is not None else 1,
        lines=len(lines),
        last_line=max(lines[-1][0], before.last_line if before is not None else 0),
        marks=bytes(marks),
        head=mark.hex(),
        sealed_at=sealed_at,
    )
