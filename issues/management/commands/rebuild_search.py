"""`manage.py rebuild_search`: index the words of issues and comments anew."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DEFAULT_DB_ALIAS, connections

from issues.models import Comment, Issue
from issues.search_index import rebuild_index


class Command(BaseCommand):
    help = "Make the index of search anew, from what the tables hold. Needed only where `doctor` says so."

    def handle(self, **_options: Any) -> None:
        began = time.monotonic()
        rebuild_index(connections[DEFAULT_DB_ALIAS])
        texts = f"{Issue.objects.count():,} issues and {Comment.objects.count():,} comments"
        self.stdout.write(f"Indexed {texts} in {time.monotonic() - began:.1f} seconds.")
