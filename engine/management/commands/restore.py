"""`manage.py restore`: an installation from the file that `backup` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.template.defaultfilters import pluralize

from engine.backups.databases import Unable
from engine.backups.manifest import Unfit
from engine.backups.progress import room_in
from engine.backups.restoring import IN_PLACE, Restored, restore_backup
from trimus.presence import Running


class Command(BaseCommand):
    help = "Put a backup in place of what is here. Trimus has to be stopped; every company is paused afterwards."
    # The database may be of another version, or not be there yet.
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="what `manage.py backup` wrote")
        parser.add_argument(
            "--replace", action="store_true", help="also where there are companies, which are kept under another name"
        )

    def handle(self, *, file: str, replace: bool, **_options: Any) -> None:
        try:
            restored = restore_backup(Path(file), replace=replace, told=self.stdout.write)
        except Running as error:
            raise CommandError("Nothing was changed. Trimus runs here: stop it first.") from error
        except (Unfit, Unable) as error:
            raise CommandError(f"Nothing was changed. {error}") from error
        except OSError as error:
            named = f" ({error.filename})" if error.filename else ""
            raise CommandError(f"Nothing was changed: {error.strerror or error}{named}.") from error
        except DatabaseError as error:
            room = room_in(settings.DATA_DIR)
            raise CommandError(f"Nothing was changed. The database says: {error}; {room}.") from error
        except KeyboardInterrupt as error:
            raise CommandError(f"Interrupted. Unless “{IN_PLACE}” stands above, nothing was changed.") from error
        self._tell(restored)

    def _tell(self, restored: Restored) -> None:
        manifest, lost = restored.manifest, restored.unsealable
        self.stdout.write(f"Restored as it was on {manifest.made_at}: {manifest.held()}.")
        if restored.former:
            self.stdout.write(f"What was here is kept: {'; '.join(restored.former)}.")
        if restored.unfinished:
            self.stderr.write(
                f"Workspaces of before still lie where they lay ({restored.unfinished}): mend that, and the worker puts"
                " them aside."
            )
        if missing := manifest.missing:
            self.stderr.write(f"{len(missing):,} file{pluralize(missing, ' was,s were')} lost before it was made.")
        if lost:
            self.stderr.write(
                f"No key of this installation opens {lost:,} secret{pluralize(lost)} in it: put the former secret_key,"
                " TRIMUS_SECRET_KEY or TRIMUS_ENCRYPTION_KEYS back before you start, or set them anew."
            )
        if restored.paused:
            self.stdout.write(
                f"Paused: {', '.join(restored.paused)}. Nothing starts before somebody resumes them, each on its start"
                " page. API keys that were revoked since, and people who left, are back: look at both first."
            )
