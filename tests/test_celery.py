"""Celery as it is set up here, on each broker: doorbells arrive, and a broker that is down costs a second at most."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests import machine

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 60.0
# One second is what settings allow, the rest is for a busy machine; without limits it would hang for ever.
BOUND_SECONDS = 20.0

BROKERS = [
    pytest.param("embedded://localhost", id="embedded"),
    pytest.param(machine.REDIS_URL, id="redis", marks=pytest.mark.redis),
    pytest.param(machine.RABBITMQ_URL, id="rabbitmq", marks=pytest.mark.rabbitmq),
]


class Rig:
    """Processes that share one broker and, on a broker that others use too, a queue of their own."""

    def __init__(self, url: str, folder: Path) -> None:
        self.folder = folder
        self.queue = f"trimus-test-{uuid.uuid4().hex}"
        self.environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "trimus.settings",
            "CELERY_BROKER_URL": url,
            "TRIMUS_DATA_DIR": str(folder / "data"),
            "TRIMUS_WORKER_SLOTS": "4",
        }
        self.workers: list[subprocess.Popen[bytes]] = []

    def python(self, code: str) -> list[str]:
        setup = f"from tests import echo; echo.app.conf.task_default_queue = {self.queue!r}; "
        return [sys.executable, "-c", setup + code]

    def start_worker(self) -> subprocess.Popen[bytes]:
        code = "echo.app.worker_main(['--quiet', 'worker', *'{}'.split()])".format(
            "--without-gossip --without-mingle --without-heartbeat"
        )
        with (self.folder / "worker.log").open("ab") as log:
            worker = subprocess.Popen(
                self.python(code), env=self.environment, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
            )
        self.workers.append(worker)
        return worker

    def publish(self, *names: str) -> list[Path]:
        """Ask for a file of each name; the files that will appear."""
        paths = [self.folder / name for name in names]
        code = f"[echo.echo.delay(path) for path in {[str(path) for path in paths]!r}]"
        subprocess.run(self.python(code), env=self.environment, cwd=ROOT, check=True)
        return paths

    def publish_timed(self) -> str:
        """How long a publication that fails takes, in seconds, or that it did not fail."""
        code = """
import time
start = time.monotonic()
try:
    echo.echo.delay('x')
    print('it was published')
except Exception:
    print(time.monotonic() - start)
"""
        command = self.python("pass")
        command[-1] = command[-1].replace("; pass", "") + code
        result = subprocess.run(command, env=self.environment, cwd=ROOT, check=True, capture_output=True, text=True)
        return result.stdout.strip()

    def wait_for(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, (self.folder / "worker.log").read_text()
            time.sleep(0.05)

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()
        # Queues outlive their users on the servers.
        code = (
            "queue = echo.app.amqp.queues[echo.app.conf.task_default_queue](echo.app.connection().default_channel); "
            "queue.declare(); queue.delete()"  # without the one, Redis keeps the binding
        )
        subprocess.run(self.python(code), env=self.environment, cwd=ROOT, check=False, capture_output=True)


@pytest.fixture
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(request.param, tmp_path)
    yield rig
    rig.close()


def everything_exists(paths: list[Path]) -> Callable[[], bool]:
    return lambda: all(path.exists() for path in paths)


@pytest.mark.parametrize("rig", BROKERS, indirect=True)
def test_what_one_process_publishes_a_worker_does(rig: Rig) -> None:
    early = rig.publish("before", "the", "worker")
    rig.start_worker()
    late = rig.publish("after")
    rig.wait_for(everything_exists(early + late))


@pytest.mark.parametrize("rig", BROKERS, indirect=True)
def test_a_killed_worker_leaves_the_rest_to_the_next(rig: Rig) -> None:
    first = rig.start_worker()
    rig.wait_for(everything_exists(rig.publish("one")))
    first.kill()
    first.wait()
    paths = rig.publish("two", "three")
    rig.start_worker()
    rig.wait_for(everything_exists(paths))


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """Listens to connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        server.setblocking(False)
        yield server


def calls_to(server: socket.socket) -> int:
    """How many connections it was asked for."""
    count = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            server.accept()[0].close()
            count += 1
    return count


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_hangs_is_waited_for_once_and_not_for_long(
    scheme: str, silent: socket.socket, tmp_path: Path
) -> None:
    port = silent.getsockname()[1]
    assert float(Rig(f"{scheme}://127.0.0.1:{port}//", tmp_path).publish_timed()) < BOUND_SECONDS
    assert calls_to(silent) == 1


def test_no_wait_for_a_broker_may_take_more_than_a_second() -> None:
    assert settings.BROKER_TIMEOUT_SECONDS == 1.0


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_is_down_costs_no_time(scheme: str, tmp_path: Path) -> None:
    assert float(Rig(f"{scheme}://127.0.0.1:1//", tmp_path).publish_timed()) < BOUND_SECONDS


@pytest.mark.parametrize("rig", BROKERS[:1], indirect=True)
def test_a_worker_survives_whatever_lies_in_its_queue(rig: Rig) -> None:
    [made_whole] = rig.publish("whole")
    queue = rig.folder / "data" / "broker" / rig.queue
    [message] = queue.glob("*.msg")
    payload = json.loads(message.read_text())
    headers = payload["headers"]
    for number, change in enumerate(
        [
            {"headers": {}},
            {"headers": None},
            {"headers": []},
            {"headers": headers | {"task": "os.system"}},
            {"headers": headers | {"task": ["a"]}},
            {"headers": headers | {"id": None}},
            {"headers": headers | {"expires": "yesterday"}},
            {"headers": headers | {"eta": "never"}},
            {"headers": headers | {"timelimit": "long"}},
            {"headers": headers | {"retries": "x"}},
            {"body": None},
            {"body": "bm90IGpzb24="},
            {"body": "WzEsMiwzXQ=="},
            {"content-type": "application/x-python-serialize"},
            {"content-type": None},
            {"content-encoding": "klingon"},
            {"properties": payload["properties"] | {"delivery_info": None}},
            {"properties": payload["properties"] | {"delivery_info": []}},
            {"properties": payload["properties"] | {"correlation_id": 5, "reply_to": []}},
        ]
    ):
        (queue / f"{number:020d}-x.msg").write_text(json.dumps(payload | change))
    worker = rig.start_worker()
    rig.wait_for(everything_exists([made_whole, *rig.publish("after")]))
    assert worker.poll() is None
