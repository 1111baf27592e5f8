"""`manage.py rotate_keys`: seal every secret in the database under the newest key."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from issues.sealing import reseal_all


class Command(BaseCommand):
    help = "Seal every secret in the database under the first of the encryption keys; former ones can then be dropped."

    def handle(self, **_options: Any) -> None:
        sealed, lost = reseal_all()
        self.stdout.write(f"{sealed} secret{'' if sealed == 1 else 's'} sealed under the first key.")
        if lost:
            raise CommandError(f"{lost} more cannot be opened by any key: put the former key back, or set them anew.")
