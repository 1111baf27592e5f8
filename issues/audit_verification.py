"""Walking the chain over the audit, to find the first line that is not as it was sealed."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from issues.audit_chain import BATCH, COLUMNS, FIRST, Line, mark_of, opening_of, read_marks, watermark_of_waiting
from issues.models import Activity, AuditSeal, Company


@dataclass(slots=True)
class Verdict:
    """What was found of one company's audit."""

    company: Company
    seals: int = 0
    sealed: int = 0  # lines
    late: int = 0  # those of them that were sealed after higher ids
    unsealed: int = 0  # lines that are younger than the last seal, or wait to be sealed late
    head: str = ""  # the last mark
    heads: set[str] = field(default_factory=set)  # where seals ended
    broken: str = ""  # the first place that is wrong; empty: none is

    def holds(self, head: str) -> bool:
        """Whether a head that was noted once is still part of the chain."""
        return head in self.heads


class _Broken(Exception):
    """The chain breaks here."""


def verify_audit(company: Company) -> Verdict:
    """Follow the company's chain from its first line. It stops at the first that is wrong, for every later mark stands
    on that one."""
    verdict = Verdict(company)
    sealed: list[int] = []
    mark, highest = FIRST, 0
    try:
        for seal in AuditSeal.objects.filter(company=company).order_by("number").iterator(chunk_size=100):
            mark = _follow(seal, verdict.seals + 1, mark, highest, sealed)
            verdict.seals, verdict.head, highest = seal.number, mark.hex(), seal.last_line
            verdict.heads.add(verdict.head)
        _look_for_inserted(company, sealed, highest)
    except _Broken as broken:
        verdict.broken = str(broken)
    verdict.sealed = len(sealed)
    verdict.late = _count_late(sealed)
    verdict.unsealed = Activity.objects.filter(company=company).count() - len(sealed)
    return verdict


def _follow(seal: AuditSeal, number: int, mark: bytes, highest: int, sealed: list[int]) -> bytes:
    """The mark at the end of the seal, which is to be the next one after `mark` and the line `highest`."""
    if seal.number != number:
        raise _Broken(f"Seal {number} is not there any more.")
    try:
        marks = list(read_marks(seal.marks))
    except struct.error:
        raise _Broken(f"Seal {number} is damaged.") from None
    mark = opening_of(mark, seal.sealed_at)
    for pk, line, said in _lines(marks):
        if line is None:
            raise _Broken(f"Line {pk} was removed.")
        mark = mark_of(mark, line)
        if mark != said:
            kind, when = line[COLUMNS.index("kind")], line[-1]
            raise _Broken(f"Line {pk} ({kind}, {when:%Y-%m-%d %H:%M} UTC), or its seal {number}, was changed.")
        sealed.append(pk)
    # By the last line new ones are told from late ones.
    if (seal.head, seal.lines, seal.last_line) != (mark.hex(), len(marks), max([highest, *(pk for pk, _ in marks)])):
        raise _Broken(f"Seal {number} was changed.")
    return mark


def _lines(marks: Sequence[tuple[int, bytes]]) -> Iterator[tuple[int, Line | None, bytes]]:
    """Each sealed line as it stands now; None where it is gone."""
    for start in range(0, len(marks), BATCH):
        some = marks[start : start + BATCH]
        rows = Activity.objects.filter(pk__in=[pk for pk, _ in some]).values_list(*COLUMNS)
        there: dict[int, Line] = {row[0]: row for row in rows}
        for pk, said in some:
            yield pk, there.get(pk), said


def _count_late(sealed: Sequence[int]) -> int:
    highest = late = 0
    for pk in sealed:
        late += pk < highest
        highest = max(highest, pk)
    return late


def _look_for_inserted(company: Company, sealed: list[int], last: int) -> None:
    """Find a line that stands among sealed ones, is not sealed, and is too old to be waited for."""
    until = min(last, watermark_of_waiting())
    among = Activity.objects.filter(company=company, pk__lte=until).order_by("pk")
    known = set(sealed)
    if among.count() == sum(pk <= until for pk in known):
        return
    for pk in among.values_list("pk", flat=True).iterator():
        if pk not in known:
            raise _Broken(f"Line {pk} was put in among sealed ones.")
