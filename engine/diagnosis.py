"""What is wrong with this installation, each with what mends it."""

from __future__ import annotations

import shutil
import stat
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.timesince import timesince

from agents.adapters.base import ErrorKind
from agents.models import PROGRAMS, Adapter, Agent, Breaker, CompanyProvider, Pulse, Run
from agents.programs.base import Asked, Unusable
from agents.programs.registry import BY_ADAPTER
from agents.services.breakers import IN_WORDS
from engine.backups.databases import keeper
from engine.backups.making import PULSE
from engine.claim import AtWork, startable
from engine.routing import NoProvider, choose_endpoint
from issues.audit import is_shut
from issues.models import Webhook, WorkspaceFile
from issues.sealing import Unsealable, unseal
from issues.search_index import count_missing, is_kept

PULSE_IS_OLD = timedelta(seconds=30)
WAITS_TOO_LONG = timedelta(minutes=2)
LITTLE_DISK = 1024**3
"""Bytes."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. `mend` is the command or step that helps; empty when all is well."""

    what: str
    found: str
    mend: str = ""

    @property
    def is_well(self) -> bool:
        return not self.mend


def examine() -> Iterator[Check]:
    """Look at each part by itself. Without a database the rest cannot be looked at."""
    database = _database()
    yield database
    yield from _guarded(_folder, _secrecy, _disk, _broker)
    if database.is_well:
        yield from _guarded(
            _migrations,
            _search,
            _tick,
            _models,
            _providers,
            _programs,
            _webhooks,
            _stuck_runs,
            _late_wakeups,
            _workspaces,
            _audit,
            _backup,
            _restore,
        )


def _guarded(*looks: Callable[[], Check]) -> Iterator[Check]:
    for look in looks:
        try:
            yield look()
        except Exception as error:  # whatever a broken installation raises is what the operator wants to know
            name = look.__name__.strip("_").replace("_", " ")
            yield Check(name, f"{type(error).__name__}: {error}", "See the message; then run this again.")


def _database() -> Check:
    connection = connections[DEFAULT_DB_ALIAS]
    kind = connection.vendor
    try:
        connection.ensure_connection()
    except DatabaseError as error:
        return Check("database", f"{kind} cannot be reached: {error}", "Start it, or mend DATABASE_URL.")
    return Check("database", f"{kind} answers")


def _migrations() -> Check:
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    if missing:
        return Check("migrations", f"{missing} not applied", "manage.py migrate")
    return Check("migrations", "all applied")


def _search() -> Check:
    """The words of issues and comments are indexed, and kept so by the database."""
    connection = connections[DEFAULT_DB_ALIAS]
    if not is_kept(connection):
        return Check("search", "the index is not kept by the database", "manage.py rebuild_search")
    missing = count_missing(connection)
    if missing:
        return Check("search", f"the index lacks or has too many of {missing:,} texts", "manage.py rebuild_search")
    return Check("search", "the index is whole")


def _folder() -> Check:
    """The data folder can be written: tried, since permissions have many sources."""
    probe = settings.DATA_DIR / f".doctor-{uuid.uuid4().hex}"
    try:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return Check("data folder", f"{settings.DATA_DIR}: {error.strerror}", "Let this user write there.")
    return Check("data folder", f"{settings.DATA_DIR} can be written")


def _secrecy() -> Check:
    """Others on this machine cannot read SQLite's file. One that was made before Trimus saw to that may be open."""
    connection = connections[DEFAULT_DB_ALIAS]
    path = Path(connection.settings_dict["NAME"])
    if connection.vendor != "sqlite" or not path.is_file():
        return Check("secrecy", "what is in the database is the server's to guard")
    if path.stat().st_mode & stat.S_IROTH and path.parent.stat().st_mode & stat.S_IXOTH:
        return Check("secrecy", f"every user of this machine can read {path}", f"chmod 600 {path}*")
    return Check("secrecy", "the database is not open to every user of this machine")


def _disk() -> Check:
    free = shutil.disk_usage(settings.DATA_DIR).free
    told = f"{free / 1024**3:.1f} GB free"
    return Check("disk", told, "Make room: SQLite and runs need it." if free < LITTLE_DISK else "")


def _broker() -> Check:
    from trimus.celery import app

    kind = settings.CELERY_BROKER_URL.partition(":")[0]
    try:
        with app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, timeout=settings.BROKER_TIMEOUT_SECONDS)
    except Exception as error:  # each client raises its own
        return Check("broker", f"{kind} cannot be reached: {error}", "Start it, or mend CELERY_BROKER_URL.")
    return Check("broker", f"{kind} answers")


def _tick() -> Check:
    pulse = Pulse.objects.filter(name="tick").first()
    if pulse is None:
        return Check("beat and worker", "were never seen", "make run, or manage.py worker and manage.py beat")
    age = timezone.now() - pulse.felt_at
    if age > PULSE_IS_OLD:
        told = f"last seen {int(age.total_seconds()):,} seconds ago"
        return Check("beat and worker", told, "make run, or manage.py worker and manage.py beat")
    return Check("beat and worker", "are at work")


def _models() -> Check:
    """Every active agent that a model answers has one."""
    mute: list[str] = []
    why = ""
    agents = Agent.objects.active().filter(adapter=Adapter.LLM).select_related("company").order_by("company", "handle")
    for agent in agents:
        try:
            choose_endpoint(agent)
        except NoProvider as error:
            mute.append(f"{agent.company.key} @{agent.handle}")
            why = str(error)
    if mute:
        more = f" and {len(mute) - 5} more" if len(mute) > 5 else ""
        return Check("models", f"no model answers {', '.join(mute[:5])}{more}", why)
    return Check("models", f"active agents that have a provider: {len(agents)}")


def _providers() -> Check:
    """None is left alone, and each key of a company can be read."""
    left_alone = Breaker.objects.filter(open_until__isnull=False).order_by("provider", "host")
    if left_alone:
        told = "; ".join(f"{one} {IN_WORDS[ErrorKind(one.error_kind)]}: {one.error[:200]}" for one in left_alone[:5])
        return Check("providers", told, "Mend the key or the server; Settings, Models: try it, and let it be asked.")
    unread = [f"{row.company.key} {row.name}" for row in _sealed_keys() if not _can_be_read(row)]
    if unread:
        told = f"no key of this installation opens what {', '.join(unread[:5])} has sealed"
        return Check("providers", told, "Put the former TRIMUS_ENCRYPTION_KEYS or TRIMUS_SECRET_KEY back.")
    return Check("providers", "none is left alone")


def _sealed_keys() -> QuerySet[CompanyProvider]:
    return CompanyProvider.objects.exclude(sealed_key="").select_related("company").order_by("company", "pk")


def _can_be_read(provider: CompanyProvider) -> bool:
    try:
        unseal(provider.sealed_key)
    except Unsealable:
        return False
    return True


def _programs() -> Check:
    """What active agents run on the server is there, and may be run. Looked for on this host alone."""
    agents = Agent.objects.active().filter(adapter__in=PROGRAMS).select_related("company").order_by("company", "handle")
    if agents and not settings.CLI_AGENTS:
        return Check("programs", f"{len(agents)} agents are programs; none may be run", "Set TRIMUS_CLI_AGENTS=true.")
    for agent in agents:
        try:
            BY_ADAPTER[agent.adapter].command_line(agent.command, Asked(), settings.CLI_PATH)
        except Unusable as problem:
            whose = f"{agent.company.key} @{agent.handle} cannot be run"
            return Check("programs", whose, f"{problem} It is looked for in TRIMUS_CLI_PATH.")
    return Check("programs", f"active agents that are programs of the server: {len(agents)}")


def _webhooks() -> Check:
    """All receivers take what they are sent."""
    failing = Webhook.objects.filter(enabled=True).select_related("company").order_by("failing_since")
    told = [
        f"{one.company.key} {one.host} for {timesince(one.failing_since)}"
        for one in failing
        if one.failing_since is not None
    ]
    if told:
        more = f", and {len(told) - 5:,} more" if told[5:] else ""
        mend = "Settings, Webhooks shows what each receiver answered. After a day of failure a webhook is turned off."
        return Check("webhooks", f"these fail: {', '.join(told[:5])}{more}", mend)
    return Check("webhooks", "none fails")


def _stuck_runs() -> Check:
    late = Run.objects.live().filter(deadline_at__lt=timezone.now()).order_by("pk")
    if late:
        numbers = ", ".join(str(run.pk) for run in late[:5])
        return Check("runs", f"past their deadline: {numbers}", "A worker ends them within a lease: is one at work?")
    return Check("runs", f"{Run.objects.live().count()} under way, none past its deadline")


def _late_wakeups() -> Check:
    """Wakeups that could start and do not: due for long, and no reason written down."""
    late = startable(timezone.now() - WAITS_TOO_LONG, AtWork.now()).filter(waiting_because="")
    if late.exists():
        return Check("wakeups", f"{late.count()} wait since over two minutes", "Is a worker at work, with free slots?")
    return Check("wakeups", "none waits without a reason")


def _workspaces() -> Check:
    """Files whose newest version is not in the folder on disk, long after it was written."""
    late = WorkspaceFile.objects.filter(is_made=False, updated_at__lt=timezone.now() - WAITS_TOO_LONG)
    count = late.count()
    if not count:
        return Check("workspaces", "every file lies in its folder")
    why = late.exclude(unmade_because="").values_list("unmade_because", flat=True).first() or "no worker has tried"
    return Check("workspaces", f"{count} files are not on disk: {why}", "Mend that; a worker tries again every minute.")


def _audit() -> Check:
    """The database itself keeps activity from being changed. Whether it was, `verify_audit` says."""
    if is_shut(connections[DEFAULT_DB_ALIAS]):
        return Check("audit", "activity cannot be changed")
    return Check("audit", "the database does not keep activity from being changed", "manage.py migrate")


def _backup() -> Check:
    """When `manage.py backup` last came to its end. That is long ago where other means are used, so it is no fault."""
    pulse = Pulse.objects.filter(name=PULSE).first()
    if pulse is None:
        return Check("backup", "none was made yet: manage.py backup")
    told = f"the last one was made {timesince(pulse.felt_at)} ago, at {pulse.felt_at:%Y-%m-%d %H:%M} UTC"
    return Check("backup", f"{told}: manage.py backup")


def _restore() -> Check:
    """Whether one was killed before it came to its stroke. Nothing was changed then, but room is taken."""
    left = keeper().left_behind()
    if not left:
        return Check("restore", "none was interrupted")
    return Check(
        "restore",
        f"one is under way, or was killed before it changed anything and left {left}",
        "manage.py restore FILE --replace once more, or remove that.",
    )
