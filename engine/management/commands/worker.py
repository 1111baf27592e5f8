"""`manage.py worker`: run what wakeups ask for."""

from __future__ import annotations

import warnings
from typing import Any

from celery.platforms import SecurityWarning
from django.core.management.base import BaseCommand, CommandParser

from trimus import lifeline, presence
from trimus.celery import app

# Workers learn of one another, and tell of themselves, through the database alone.
WITHOUT = ("--without-gossip", "--without-mingle", "--without-heartbeat")


class Command(BaseCommand):
    help = "Start a worker: it runs agents' heartbeats and what else was asked for."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(lifeline.OPTION, action="store_true", help=lifeline.OPTION_HELP)

    def handle(self, **options: Any) -> None:
        if options["lifeline"]:
            lifeline.hold()
        presence.hold()
        # It warns root of pickled messages; only JSON is accepted here.
        warnings.simplefilter("ignore", SecurityWarning)
        app.worker_main(["--quiet", "worker", "--loglevel", "INFO", *WITHOUT])
