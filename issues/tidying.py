"""Clearing away what nothing refers to any more: bytes of files, and workspaces of issues that were deleted; and what
nobody can use any more: sessions, log-in links and kept answers whose time is over.

Level-triggered: it looks at what is there, not at what happened, so whatever a crash left goes the same way.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from issues import blobs, workspaces
from issues.folders import INCOMING, Obstacle, remove_folder
from issues.models import (
    Attachment,
    Blob,
    Company,
    Delivery,
    FileVersion,
    HookCall,
    Issue,
    KeptAnswer,
    LoginLink,
    Webhook,
    WorkspaceFile,
)
from issues.models.kept_answer import ANSWERS_KEPT
from issues.quota import recount
from issues.services.hooks import CALLS_KEPT

log = logging.getLogger(__name__)

BATCH = 1_000
"""Rows cleared away in one go; the next one goes on."""

MAKES = 50
"""Workspaces made up for in one go: those of a broken disk must not hold up a sweep."""

WRITER_IS_GONE = timedelta(minutes=1)
"""After this, whoever wrote a file's row has made its workspace, or never will."""


LINKS_STAY = timedelta(days=30)
"""A log-in link that is over stays on the admin site for so long: somebody may ask who came in by it."""


def make_left_behind() -> None:
    """Make the workspaces whose writer ended before it did, or whose disk failed. In no order: one that fails always
    does not stand in the way of the others."""
    since = timezone.now() - WRITER_IS_GONE
    behind = WorkspaceFile.objects.filter(is_made=False, updated_at__lt=since).order_by()
    issues = Issue.objects.filter(pk__in=behind.values("issue")).order_by("?")
    for issue in issues.only("company")[:MAKES]:
        workspaces.make_workspace(workspaces.place_of(issue))


def tidy_up() -> None:
    """Each part by itself, so that one that fails does not stop the others."""
    for part in (
        remove_bytes,
        remove_workspaces,
        find_lost_workspaces,
        recount_all,
        forget_what_is_over,
    ):
        _guarded(part)


def remove_bytes() -> None:
    """Remove what no row refers to, and files under no row. Not while a backup is made: the next hour does it."""
    with blobs.may_remove() as may:
        if may:
            _guarded(remove_unreferenced)
            _guarded(remove_unrecorded)


def remove_unreferenced() -> None:
    """Remove blobs that neither an attachment nor a version of a file refers to, with their bytes."""
    before = timezone.now() - blobs.KEPT_FOR_SURE
    unused = (
        Blob.objects.filter(kept_at__lt=before)
        .exclude(pk__in=Attachment.objects.values("blob"))
        .exclude(pk__in=FileVersion.objects.values("blob"))
    )
    for blob in list(unused.order_by("kept_at")[:BATCH]):
        _guarded(partial(_remove_blob, blob))


def _remove_blob(blob: Blob) -> None:
    """The file goes while the row is held: who stores the same bytes now waits, finds neither, and makes both."""
    with transaction.atomic():
        # What was stored again since has another time, and a reference does not come without that.
        unused = Blob.objects.select_for_update().filter(pk=blob.pk, kept_at=blob.kept_at).first()
        if unused is not None:
            blobs.path_of(blob.pk).unlink(missing_ok=True)
            unused.delete()


def remove_unrecorded() -> None:
    """Remove files under no row: of transactions that were rolled back, or half a file of a process that was killed.

    One part of the folders each hour, all in a day.
    """
    hour = timezone.now().hour
    for folder in _folders(blobs.folder()):
        if int(folder.name, 16) % 24 == hour:
            _remove_unrecorded(folder)


def _remove_unrecorded(folder: Path) -> None:
    old = time.time() - blobs.KEPT_FOR_SURE.total_seconds()
    names = [entry.name for entry in os.scandir(folder) if entry.stat(follow_symlinks=False).st_mtime < old]
    known = set(Blob.objects.filter(pk__in=names).values_list("pk", flat=True))
    for name in names:
        if name.startswith(INCOMING):
            (folder / name).unlink(missing_ok=True)
        elif name not in known:
            _guarded(partial(_remove_file, folder / name))


def _remove_file(path: Path) -> None:
    """Under a row of its own, so that nobody can begin to refer to the file while it goes."""
    with contextlib.suppress(IntegrityError), transaction.atomic():
        row = Blob.objects.create(sha256=path.name, size=0)
        path.unlink(missing_ok=True)
        row.delete()


def remove_workspaces() -> None:
    """Remove the workspaces of issues and companies that were deleted."""
    for company in _folders(workspaces.folder()):
        if not company.name.isdecimal():  # none of ours
            continue
        if not Company.objects.filter(pk=int(company.name)).exists():
            _guarded(partial(_remove_folder, company))
            continue
        entries = list(company.iterdir())  # before the rows: a workspace is younger than its issue
        issues = Issue.objects.filter(company=int(company.name)).values_list("pk", flat=True)
        there = {str(pk) for pk in issues}
        for entry in entries:
            if entry.name.partition(".")[0] not in there:
                _guarded(partial(_remove_folder, entry))


def _remove_folder(path: Path) -> None:
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
        return
    above = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        remove_folder(above, path.name)
    except Obstacle as obstacle:
        log.warning("%s was not removed: %s", path, obstacle)
    finally:
        os.close(above)


def find_lost_workspaces() -> None:
    """Have workspaces made again whose folder is gone: after a backup was restored, which leaves them out."""
    made = WorkspaceFile.objects.filter(is_made=True).order_by().values_list("issue__company", "issue").distinct()
    lost = [issue for company, issue in made.iterator() if not workspaces.Place(company, issue).path.exists()]
    for start in range(0, len(lost), BATCH):
        WorkspaceFile.objects.filter(issue__in=lost[start : start + BATCH]).update(is_made=False)


def recount_all() -> None:
    for company in Company.objects.values_list("pk", flat=True):
        recount(company)


def forget_what_is_over() -> None:
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    now = timezone.now()
    LoginLink.objects.filter(expires_at__lt=now - LINKS_STAY).delete()
    Delivery.objects.exclude(webhook__in=Webhook.objects.all()).delete()
    HookCall.objects.filter(made_at__lt=now - CALLS_KEPT).delete()
    KeptAnswer.objects.filter(made_at__lt=now - ANSWERS_KEPT).delete()


def _folders(of: Path) -> Iterator[Path]:
    """Folders in it; none if there is no such place yet."""
    with contextlib.suppress(FileNotFoundError):
        yield from sorted(path for path in of.iterdir() if path.is_dir())


def _guarded(part: Callable[[], object]) -> None:
    try:
        part()
    except Exception:
        log.exception("tidying up did not come to its end")
