"""Servers of a test's own, to be killed and begun anew: other tests use the machine's."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests import machine
from tests.servers import free_port, wait_until

START_SECONDS = 300.0


@dataclass
class PrivateServer:
    """One server on a free port. What it keeps lies in `folder` and outlives its deaths."""

    folder: Path
    command: list[str]
    port: int
    answers: Callable[[], bool]
    environment: dict[str, str] = field(default_factory=dict)
    user: str | None = None
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                env=os.environ | self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=self.user,
                extra_groups=None if self.user is None else [],
            )
        wait_until(self.answers, self.log, START_SECONDS)

    def kill(self) -> None:
        """End it and all its children, as by kill -9."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def log(self) -> str:
        return (self.folder / "server.log").read_text(errors="replace")


@contextlib.contextmanager
def redis() -> Iterator[tuple[PrivateServer, str]]:
    """A Redis that keeps nothing, and its address."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with _running(PrivateServer(_folder(), command, port, lambda: _listens(port))) as server:
        yield server, f"redis://127.0.0.1:{port}/0"


@contextlib.contextmanager
def rabbitmq() -> Iterator[tuple[PrivateServer, str]]:
    """A RabbitMQ node, and its address."""
    folder, port = _folder(), free_port()
    environment = {
        "RABBITMQ_NODENAME": f"trimus-{uuid.uuid4().hex[:12]}@localhost",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none.conf"),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
        "HOME": str(folder),
    }
    program = machine.rabbitmq_program()
    assert program is not None
    server = PrivateServer(folder, [program], port, lambda: _speaks_amqp(port), environment)
    with _running(server):
        yield server, f"amqp://guest:guest@127.0.0.1:{port}//"


@contextlib.contextmanager
def postgres() -> Iterator[tuple[PrivateServer, str]]:
    """A PostgreSQL cluster, and the address of its database `postgres`. It syncs to disk, as it is to be killed."""
    folder, port = _folder(), free_port()
    programs = machine.postgres_programs()
    assert programs is not None
    user = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(folder, entry.pw_uid, entry.pw_gid)
    data = folder / "data"
    initdb = [f"{programs}/initdb", "--pgdata", str(data), "--username", "trimus", "--auth", "trust", "--no-sync"]
    subprocess.run(initdb, check=True, capture_output=True, user=user, extra_groups=None if user is None else [])
    command = [f"{programs}/postgres", "-D", str(data), "-p", str(port), "-k", str(folder), "-h", "127.0.0.1"]
    address = f"postgres://trimus@127.0.0.1:{port}/postgres"

    def answers() -> bool:
        try:
            psycopg.connect(address, connect_timeout=2).close()
        except psycopg.Error:
            return False
        return True

    with _running(PrivateServer(folder, command, port, answers, user=user)) as server:
        yield server, address


@contextlib.contextmanager
def _running(server: PrivateServer) -> Iterator[PrivateServer]:
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)


def _folder() -> Path:
    """Not in pytest's, which no other user may enter."""
    return Path(tempfile.mkdtemp(prefix="trimus-server-"))


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True


def _speaks_amqp(port: int) -> bool:
    """Whether it greets: the port is open some seconds before that."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            connection.sendall(b"AMQP\x00\x00\x09\x01")
            return bool(connection.recv(1))
    except OSError:
        return False
