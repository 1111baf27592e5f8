"""Making a backup, while everything runs."""

from __future__ import annotations

import logging
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from agents.models import Pulse
from engine.backups.archive import ArchiveWriter, growing_beside, put_in_place
from engine.backups.databases import Contents, Keeper, Unable, keeper
from engine.backups.manifest import Manifest, blob_name
from engine.backups.progress import Meter, Told
from issues import blobs
from trimus import presence

logger = logging.getLogger(__name__)

PULSE = "backup"
"""Under this name stands when the last one was made."""


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was made."""

    path: Path
    size: int  # bytes
    manifest: Manifest


def make_backup(target: Path, told: Told) -> Made:
    """Write everything to the file `target`, which only its owner can read. It has that name only once it is whole.

    The database first, at one moment, then the bytes that it names: they are stored before the rows are, and nothing
    removes any until the end. FileExistsError if there is such a file already, Unable if a tool is missing or there is
    nothing, OSError if the disk does not take it: then nothing is left. SystemExit while a backup is restored.
    """
    if target.exists():
        raise FileExistsError(target)
    _check_there()
    target.parent.mkdir(parents=True, exist_ok=True)
    # A restore meanwhile would put another database under the file that is read here.
    with presence.counted(), growing_beside(target) as folder, blobs.kept_whole():
        database = keeper()
        told("Database …")
        copy, contents = database.copy(folder, told)
        growing = folder / "whole"
        with growing.open("xb") as file:
            growing.chmod(0o600)
            archive = ArchiveWriter(file)
            try:
                manifest = _write(archive, database, copy, contents, told)
            except BaseException:
                archive.abandon()
                raise
            file.flush()
            os.fsync(file.fileno())
        put_in_place(growing, target)
    _note_made()
    return Made(target, target.stat().st_size, manifest)


def _check_there() -> None:
    """An installation that was named wrongly is empty, and its backup would be one of nothing."""
    if MigrationRecorder.Migration._meta.db_table not in connections[DEFAULT_DB_ALIAS].introspection.table_names():
        raise Unable("The database is empty: TRIMUS_DATA_DIR or DATABASE_URL may name another one than you mean.")


def _note_made() -> None:
    """For `doctor`. The backup is whole without it, and must not be told as failed."""
    try:
        Pulse.objects.update_or_create(name=PULSE, defaults={"felt_at": timezone.now()})
    except DatabaseError as error:
        logger.warning("that this backup was made is not noted in the database: %s", error)


def _write(archive: ArchiveWriter, database: Keeper, copy: Path, contents: Contents, told: Told) -> Manifest:
    with copy.open("rb") as source:
        meter = Meter("Database packed", copy.stat().st_size, told)
        archive.add(copy.name, source, meter, is_packed=database.engine == "postgresql")
    copy.unlink()  # the files may need its room
    manifest = Manifest(
        made_at=timezone.now().isoformat(timespec="seconds"),
        version=_version(),
        engine=database.engine,
        server_version=database.server_version(),
        migrations=contents.migrations,
        counts=contents.counts,
        missing=_write_blobs(archive, contents.blobs, told),
        members=archive.members,
    )
    archive.finish(manifest)
    return manifest


def _write_blobs(archive: ArchiveWriter, digests: list[str], told: Told) -> list[str]:
    """The digests whose bytes the disk has lost, or keeps no longer as they were."""
    sizes = {digest: _size(digest) for digest in digests}
    meter = Meter("Files", sum(size or 0 for size in sizes.values()), told)
    missing = []
    for digest, size in sizes.items():
        if size is None or not _is_sound(digest):
            missing.append(digest)
            continue
        with blobs.path_of(digest).open("rb") as source:
            archive.add(blob_name(digest), source, meter)
    return missing


def _version() -> str:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def _size(digest: str) -> int | None:
    try:
        return blobs.path_of(digest).stat().st_size
    except OSError:
        return None


def _is_sound(digest: str) -> bool:
    """What is damaged on the disk is told now, and not first when it is wanted back."""
    try:
        return blobs.digest_of(blobs.path_of(digest).read_bytes()) == digest
    except OSError:
        return False
