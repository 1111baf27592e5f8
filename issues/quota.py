"""How much room a company's files may take: attachments, and every version of workspace files, each at its full size.

A counter, because adding up all files on each write would take longer the more there are. It is right by itself:
room is taken in the transaction that adds the file, before the file's row, and the counter's row is held from then to
the end. What deleting takes away at the same moment as somebody adds is put right by the hourly recount.
"""

from __future__ import annotations

from django.db.models import F, Sum
from django.db.models.functions import Greatest

from issues.effects import service
from issues.models import Attachment, Company, FileUse, FileVersion, Issue
from issues.refusals import OverQuota

MIB = 1024 * 1024


def allowed_bytes(company: Company) -> int:
    return company.file_quota_mib * MIB


def take_room(company: Company, size: int, *, field: str) -> None:
    """Count `size` bytes more, or raise OverQuota. `field` is the parameter that the file came in."""
    allowed = allowed_bytes(company)
    fitting = FileUse.objects.filter(pk=company.pk, bytes__lte=allowed - size)
    if fitting.update(bytes=F("bytes") + size):
        return
    use, _ = FileUse.objects.get_or_create(company_id=company.pk)
    # A first file's counter was made just now; anybody else's use is as it was.
    if not fitting.update(bytes=F("bytes") + size):
        raise OverQuota(needed=size, used=use.bytes, allowed=allowed, field=field)


def give_room_back(issue: Issue) -> None:
    """Count out what an issue's files take, before it is deleted."""
    freed = _versions(issue__pk=issue.pk) + _attachments(issue__pk=issue.pk)
    if freed:
        FileUse.objects.filter(pk=issue.company_id).update(bytes=Greatest(F("bytes") - freed, 0))


@service
def recount(company_id: int) -> None:
    """Put the counter right. It is held before the files are added up: whoever adds one waits, or was before."""
    FileUse.objects.get_or_create(company_id=company_id)
    use = FileUse.objects.select_for_update().get(pk=company_id)
    real = _versions(issue__company=company_id) + _attachments(issue__company=company_id)
    if use.bytes != real:
        FileUse.objects.filter(pk=company_id).update(bytes=real)


def _versions(**of: int) -> int:
    rows = FileVersion.objects.filter(**{f"file__{name}": value for name, value in of.items()})
    return rows.aggregate(total=Sum("blob__size"))["total"] or 0


def _attachments(**of: int) -> int:
    return Attachment.objects.filter(**of).aggregate(total=Sum("blob__size"))["total"] or 0
