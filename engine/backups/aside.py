"""What was here before a restore, put aside under one name: bytes and key before the stroke, workspaces after it."""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from agents.models import Pulse
from issues import blobs, workspaces

_ASIDE = "restored"
"""Under this name stands, in a restored database, that workspaces are yet to be put aside, and by its time where to."""


def note_name_aside(data: Path) -> str:
    """Let the restored database say under which name what was here is put aside, and that workspaces are yet to be."""
    now = timezone.now().replace(microsecond=0)
    while any((folder / _name_aside(now)).exists() for folder in (data, workspaces.folder())):
        now += datetime.timedelta(seconds=1)
    Pulse.objects.update_or_create(name=_ASIDE, defaults={"felt_at": now})
    return _name_aside(now)


@contextmanager
def files_aside(aside: Path, folder: Path) -> Iterator[Path]:
    """The folder `aside` with what is to be kept of this one: the bytes that the former database names, which would be
    removed after a day, and the key that opens its secrets; on SQLite it becomes a whole data folder.

    It is filled elsewhere and has its name only for the stroke. It goes again if that fails; who is interrupted leaves
    it, as nobody knows then whether the former database is in it alone.
    """
    filling, data = folder / "aside", aside.parent
    filling.mkdir(mode=0o700)
    if blobs.folder().exists():
        shutil.copytree(blobs.folder(), filling / "blobs", copy_function=_link)
    if (key := data / "secret_key").exists():
        shutil.copy2(key, filling / key.name)
    filling.rename(aside)
    try:
        yield aside
    except Exception:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def put_workspaces_aside() -> list[str]:
    """After the stroke, once: put away the workspaces of before it. Those of the restored rows are made anew, and what
    agents left in the former ones is not lost. Where they lie now; nothing if there were none, or none is to be put
    away. OSError if the disk does not let it: whoever calls it next goes on."""
    if not Pulse.objects.filter(pk=_ASIDE).exists():
        return []
    with transaction.atomic():
        noted = Pulse.objects.select_for_update().filter(pk=_ASIDE).first()
        if noted is None:
            return []
        former = workspaces.folder() / _name_aside(noted.felt_at)
        for company in [path for path in workspaces.folder().glob("*") if path.name.isdecimal()]:
            former.mkdir(mode=0o700, exist_ok=True)
            if not (former / company.name).exists():  # else it is the new one, of a power cut that took the last commit
                company.rename(former / company.name)
        noted.delete()
    return [str(former)] if former.exists() else []


def _name_aside(moment: datetime.datetime) -> str:
    return f"before-{moment:%Y%m%d-%H%M%S}"


def _link(source: str, target: str) -> str:
    """Another name of the same bytes, which nobody changes; where the disk has no such names, a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target
