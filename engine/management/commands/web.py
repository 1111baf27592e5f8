"""`manage.py web`: answer requests."""

from __future__ import annotations

from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from trimus import lifeline, presence

# Seconds that open connections, event streams above all, have after TERM.
SHUTDOWN_SECONDS = 5


class Command(BaseCommand):
    help = "Serve the board, the API, the event streams and the tools of outside agents."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workers", type=int, default=1, help="processes to serve with (default 1)")
        parser.add_argument(lifeline.OPTION, action="store_true", help=lifeline.OPTION_HELP)

    def handle(self, *, workers: int, **options: Any) -> None:
        if options["lifeline"]:
            lifeline.hold()
        presence.hold()
        uvicorn.run(
            "trimus.asgi:application",
            host=settings.HOST,
            port=settings.PORT,
            workers=workers,
            log_config=None,
            access_log="access" in settings.DEBUG_TOPICS,
            server_header=False,
            proxy_headers=bool(settings.TRUSTED_PROXIES),
            forwarded_allow_ips=settings.TRUSTED_PROXIES,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
