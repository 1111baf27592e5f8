"""`manage.py backup`: the whole installation as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.template.defaultfilters import pluralize
from django.utils import timezone

from engine.backups.databases import Unable
from engine.backups.making import make_backup
from engine.backups.progress import in_words


class Command(BaseCommand):
    help = "Write database and files to one file, while everything runs. The keys that open its secrets are not in it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--to", metavar="FILE", help="the file to write; one that exists is left alone")

    def handle(self, *, to: str | None, **_options: Any) -> None:
        target = Path(to) if to else settings.DATA_DIR / "backups" / f"trimus-{timezone.now():%Y%m%d-%H%M%S}.zip"
        try:
            made = make_backup(target.absolute(), self.stdout.write)
        except FileExistsError as error:
            raise CommandError(f"{error.filename or target} exists already: nothing was written.") from error
        except Unable as error:
            raise CommandError(f"No backup was made. {error}") from error
        except OSError as error:
            raise CommandError(f"No backup was made: {error.strerror or error} ({target}).") from error
        except DatabaseError as error:
            raise CommandError(f"No backup was made. The database says: {error}") from error
        self.stdout.write(f"{target} holds {made.manifest.held()} ({in_words(made.size)}).")
        if missing := made.manifest.missing:
            self.stderr.write(
                f"{len(missing):,} file{pluralize(missing, ' is,s are')} lost or damaged on this disk, and not in it:"
                f" {', '.join(missing[:3])}{' …' if missing[3:] else ''}"
            )
        self.stdout.write(self._about_keys())

    def _about_keys(self) -> str:
        """The archive opens no secret by itself, so whoever keeps it has to keep the key, elsewhere."""
        if (settings.DATA_DIR / "secret_key").exists():
            key = f"Keys of models in it are sealed under {settings.DATA_DIR / 'secret_key'}"
        else:
            key = "Keys of models in it are sealed under TRIMUS_SECRET_KEY, or TRIMUS_ENCRYPTION_KEYS"
        return f"{key}, which is not in it: keep that in another place, and .env and models.yaml with it."
