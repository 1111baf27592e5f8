"""`manage.py up`: the whole of Trimus on one machine, by one command."""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor
from django.urls import reverse

from issues.models import Company
from issues.services.accounts import installation_founder, issue_login_link
from trimus import lifeline, presence
from trimus.addresses import ADDRESS_FILE, address, connectable, local_address
from trimus.static_files import collect_if_changed
from trimus.supervisor import Plan

# Seconds that runs under way have to finish after TERM; the leases recover those that do not.
GRACE_SECONDS = 20.0


def is_behind() -> bool:
    """Whether a migration is to be applied. Django's command, asked to apply none, takes as long as a whole process to
    find out what else there is to say about models."""
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


class Command(BaseCommand):
    help = "Start everything on this machine (web, worker, beat) and print a one-time log-in link."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=settings.PORT, help="the port to serve on")
        parser.add_argument("--demo", action="store_true", help="make the demo company without asking")
        parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
        parser.add_argument(lifeline.OPTION, action="store_true", help=lifeline.OPTION_HELP)

    def handle(self, *, port: int, demo: bool, no_browser: bool, **options: Any) -> None:
        self._require_free_port(port)
        presence.hold()  # until the supervisor takes this process's place: its children hold it then
        # The processes that follow read their settings anew, wherever this one was started.
        os.environ.update(TRIMUS_PORT=str(port))
        os.chdir(settings.BASE_DIR)
        self._prepare()
        self._offer_demo(demo)
        link = (local_address(port) if settings.LOCAL_MODE else address()) + self._login_path()
        ADDRESS_FILE.write_text(local_address(port))
        connections.close_all()
        self.stdout.flush()
        Plan(
            commands={
                "web": [sys.executable, "manage.py", "web", lifeline.OPTION],
                "worker": [sys.executable, "manage.py", "worker", lifeline.OPTION],
                "beat": [sys.executable, "-m", "trimus.beat", lifeline.OPTION],
            },
            grace_seconds=GRACE_SECONDS,
            host=connectable(settings.HOST),
            port=port,
            host_name=settings.ALLOWED_HOSTS[0],
            welcome=f"Trimus is ready: {link}\n(This link logs you in, once; `manage.py login_link` prints another."
            " Ctrl-C ends Trimus.)",
            open_url="" if no_browser else link,
            lifeline=options["lifeline"],
        ).become_supervisor()

    def _require_free_port(self, port: int) -> None:
        family = socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET
        with socket.socket(family) as probe:
            # As uvicorn binds, so that connections that are still closing do not count as taken.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((settings.HOST, port))
            except OSError as error:
                raise CommandError(
                    f"Cannot listen on {settings.HOST}, port {port}: {error.strerror}.\n"
                    f"If Trimus runs already, open {local_address(port)}; `manage.py login_link`"
                    " prints a link.\n"
                    f"Else choose another port: `make run PORT={port + 1}` or `manage.py up --port {port + 1}`."
                ) from error

    def _prepare(self) -> None:
        self.stdout.write("Preparing the database and the pages …")
        self.stdout.flush()
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        if is_behind():
            call_command("migrate", interactive=False, verbosity=0)
        collect_if_changed()

    def _offer_demo(self, demo: bool) -> None:
        """Make the demo company when asked to; on a terminal, ask before the first company exists."""
        if Company.objects.exists():
            return
        if not demo and sys.stdin.isatty():
            demo = self._wants_demo()
        if demo:
            call_command("demo")
        else:
            self.stdout.write("No demo company: `manage.py demo` makes one at any time.")

    def _wants_demo(self) -> bool:
        try:
            answer = input("Make a demo company with scripted agents, to look around without a key? [Y/n] ")
        except (EOFError, KeyboardInterrupt):
            raise CommandError("Stopped before anything was started.") from None
        return answer.strip().lower() in ("", "y", "yes")

    def _login_path(self) -> str:
        return reverse("log-in-by-link", args=[issue_login_link(installation_founder())])
