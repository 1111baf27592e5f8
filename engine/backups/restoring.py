"""Putting a backup in the place of what is here.

Everything is made ready beside what is here: verified, loaded, brought to this version, quieted. Then one stroke puts
it in place. Whoever is killed before that has changed nothing; what was here before is kept. What is left to do after
the stroke stands in the restored database itself, so that whoever comes next does it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.loader import MigrationLoader

from engine.backups.archive import ArchiveReader, growing_beside
from engine.backups.aside import files_aside, note_name_aside, put_workspaces_aside
from engine.backups.databases import Keeper, Unable, keeper, looking_at
from engine.backups.manifest import Manifest, Unfit, blob_name
from engine.backups.progress import Meter, Told
from engine.backups.quieting import quiet_down
from issues import blobs
from issues.models import Company
from issues.sealing import count_unsealable
from trimus import presence

IN_PLACE = "It is in place."
"""Told right after the stroke: who is interrupted without having read it has changed nothing."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What stands now, and where what stood before is kept."""

    manifest: Manifest
    paused: list[str] = field(default_factory=list)  # keys of companies
    unsealable: int = 0  # secrets that no key of this installation opens
    former: tuple[str, ...] = ()  # where it is kept; nothing where there was nothing
    unfinished: str = ""  # why workspaces of before still lie where they lay; empty: they do not


def restore_backup(path: Path, *, replace: bool, told: Told) -> Restored:
    """Put the backup in place. Unfit if it cannot be restored here, Unable if something is missing, Running if Trimus
    runs, OSError if the disk does not take it: then everything is as it was."""
    if (owner := presence.other_owner()) is not None:
        raise Unable(f"Trimus runs here as {owner}, who could not open what the superuser writes: sudo -u {owner} …")
    with presence.alone(), path.open("rb") as file:
        archive = ArchiveReader(file)
        database = keeper()
        _check_fit(archive.manifest, database)
        tables = connections[DEFAULT_DB_ALIAS].introspection.table_names()
        if not replace and Company._meta.db_table in tables and Company.objects.exists():
            raise Unable(
                "This installation is not empty: restore into a data folder and database of its own, or say --replace,"
                " which keeps what is here under another name."
            )
        database.check_alone()
        archive.verify(told)
        return _restore(archive, database, told, is_new=not tables)


def _restore(archive: ArchiveReader, database: Keeper, told: Told, *, is_new: bool) -> Restored:
    manifest = archive.manifest
    data = Path(settings.DATA_DIR)
    with growing_beside(data / "restored") as folder, _discarding(database):
        told("Database …")
        copy = folder / manifest.database
        archive.extract(manifest.database, copy)
        loaded = database.load(copy)
        with looking_at(loaded):
            told("Migrations …")
            call_command("migrate", interactive=False, verbosity=0)
            paused = quiet_down()
            unsealable = count_unsealable()
            name = note_name_aside(data)
        _bring_blobs(archive, folder, told)
        kept = []
        if is_new:
            database.put_in_place(loaded, None)
        else:
            with files_aside(data / name, folder) as aside:
                kept = [*map(str, sorted(aside.iterdir())), database.put_in_place(loaded, aside)]
        told(IN_PLACE)
    unfinished = ""
    try:
        kept += put_workspaces_aside()
    except (OSError, DatabaseError) as error:
        unfinished = str(error)
    return Restored(manifest, paused, unsealable, tuple(kept), unfinished)


def _check_fit(manifest: Manifest, database: Keeper) -> None:
    if manifest.engine != database.engine:
        raise Unfit(
            f"It holds a database of {manifest.engine}, and this installation's is {database.engine}: set DATABASE_URL"
            " accordingly. Between the two kinds go companies, by export_company and import_company."
        )
    if manifest.server_version > database.server_version():
        raise Unfit(f"It was made on PostgreSQL {manifest.server_version}, and this server is older.")
    loader = MigrationLoader(None)
    known = [f"{app}.{name}" for app, name in [*loader.disk_migrations, *loader.replacements]]
    if unknown := manifest.unknown_migrations(known):
        raise Unfit(
            f"It was made by a newer Trimus ({manifest.version}): this one does not know {unknown[0]}"
            f"{f' and {len(unknown) - 1} more migrations' if unknown[1:] else ''}. Upgrade first."
        )


@contextmanager
def _discarding(database: Keeper) -> Iterator[None]:
    """Remove what was loaded if it does not come into place; that this fails, too, hides nothing."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Unable, OSError):
            database.discard()
        raise


def _bring_blobs(archive: ArchiveReader, folder: Path, told: Told) -> None:
    """Add the bytes to those that are here. Each is known by its hash, so they are in nobody's way before the database
    names them; what is damaged here is replaced."""
    there = archive.manifest.blobs
    meter = Meter("Files", sum(one.size for one in there.values()), told)
    for digest, one in there.items():
        path = blobs.path_of(digest)
        if not _is_sound(path, digest):
            path.parent.mkdir(parents=True, exist_ok=True)
            archive.extract(blob_name(digest), folder / digest)
            (folder / digest).chmod(0o600)
            (folder / digest).replace(path)
        os.utime(path)  # young: the sweep leaves it alone, whatever comes between here and the end
        meter.add(one.size)


def _is_sound(path: Path, digest: str) -> bool:
    try:
        return blobs.digest_of(path.read_bytes()) == digest
    except FileNotFoundError:
        return False
