"""The embedded broker: whole messages, each taken once, whatever lies in its folder."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection, Queue
from kombu.exceptions import ChannelError

from trimus import broker

broker.register()
QUEUE = "doorbells"
# Threads of other tests in this process make fork unsafe.
processes = multiprocessing.get_context("spawn")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "broker"


def connect(folder: Path) -> Connection:
    return Connection("embedded://", transport_options={"folder": str(folder), "max_retries": 0})


def publish(folder: Path, *bodies: object) -> None:
    with connect(folder) as connection:
        queue = connection.SimpleQueue(QUEUE)
        for body in bodies:
            queue.put(body)
        queue.close()


def consume(folder: Path, *, patience: float = 0.2) -> list[Any]:
    """All bodies that arrive until none has for `patience` seconds."""
    bodies: list[Any] = []

    def take(body: Any, message: Any) -> None:
        bodies.append(body)
        message.ack()

    with (
        connect(folder) as connection,
        connection.Consumer(Queue(QUEUE), callbacks=[take]),
        contextlib.suppress(TimeoutError),
    ):
        while True:
            connection.drain_events(timeout=patience)
    return bodies


def published_file(folder: Path) -> Path:
    """A message file as the broker writes them, taken out of the way of consumers."""
    publish(folder, "sample")
    [path] = (folder / QUEUE).glob("*.msg")
    return path.rename(folder / "sample")


def test_messages_arrive_in_the_order_in_which_they_were_published(folder: Path) -> None:
    publish(folder, *range(50))
    assert consume(folder) == list(range(50))
    assert list((folder / QUEUE).iterdir()) == []


def test_a_waiting_consumer_gets_a_message_within_a_few_polls(folder: Path) -> None:
    assert broker.Transport.polling_interval <= 0.05
    arrivals: list[float] = []
    with (
        connect(folder) as connection,
        connection.Consumer(
            Queue(QUEUE), callbacks=[lambda body, message: arrivals.append(time.time() - body)], no_ack=True
        ),
    ):
        for _ in range(5):
            publish(folder, time.time())
            connection.drain_events(timeout=5)
    assert len(arrivals) == 5


def test_a_message_is_invisible_until_it_is_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    rename = Path.rename

    def spy(self: Path, target: Path) -> Path:
        seen.append(broker._message_names(folder / QUEUE))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", spy)
    publish(folder, "look")
    assert seen == [[]]
    assert consume(folder) == ["look"]


def damaged_contents(whole: bytes) -> dict[str, bytes]:
    payload = json.loads(whole)
    properties = payload["properties"]
    changed: dict[str, Any] = {
        "no properties": {key: value for key, value in payload.items() if key != "properties"},
        "properties a list": payload | {"properties": []},
        "no delivery tag": payload | {"properties": {**properties, "delivery_tag": None}},
        "a list as delivery tag": payload | {"properties": {**properties, "delivery_tag": ["x"]}},
        "unknown encoding": payload | {"properties": {**properties, "body_encoding": "rot13"}},
        "body a number": payload | {"body": 7},
        "a list": [1, 2, 3],
        "null": None,
        "a text": "look",
    }
    torn = {f"first {size} bytes": whole[:size] for size in (0, 1, 20, len(whole) - 1)}
    return {
        **torn,
        **{name: json.dumps(value).encode() for name, value in changed.items()},
        "binary": bytes(range(256)),
        "nested too deep": b"[" * 100_000,
        "too large": b" " * broker.MESSAGE_LIMIT_BYTES + whole,
    }


def test_torn_and_foreign_files_are_dropped_and_the_next_message_arrives(folder: Path) -> None:
    whole = published_file(folder).read_bytes()
    damaged = damaged_contents(whole)
    for number, content in enumerate(damaged.values()):
        (folder / QUEUE / f"{number:020d}-x.msg").write_bytes(content)
    publish(folder, "after")
    assert consume(folder) == ["after"]
    assert list((folder / QUEUE).iterdir()) == []


def test_what_is_no_message_by_name_or_kind_is_left_alone(folder: Path) -> None:
    publish(folder, "look")
    (folder / QUEUE / "notes.txt").write_text("mine")
    (folder / QUEUE / "0.msg").mkdir()
    (folder / QUEUE / "1.msg").symlink_to("nowhere")
    assert consume(folder) == ["look"]
    assert sorted(path.name for path in (folder / QUEUE).iterdir()) == ["0.msg", "1.msg", "notes.txt"]


def test_a_folder_that_vanishes_is_made_again(folder: Path) -> None:
    with connect(folder) as connection:
        queue = connection.SimpleQueue(QUEUE)
        queue.put("lost")
        for path in (folder / QUEUE).iterdir():
            path.unlink()
        (folder / QUEUE).rmdir()
        queue.put("found")
    assert consume(folder) == ["found"]


def test_a_put_that_fails_says_so_and_leaves_nothing_aside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    publish(folder)
    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(ChannelError, match="No space left"):
        publish(folder, "look")
    assert list((folder / QUEUE).iterdir()) == []


def test_what_a_killed_producer_left_aside_is_cleared_after_a_while(folder: Path) -> None:
    publish(folder)
    old, fresh = folder / QUEUE / ".old.msg", folder / QUEUE / ".fresh.msg"
    old.write_bytes(b"half")
    fresh.write_bytes(b"half")
    long_ago = time.time() - broker.ASIDE_LIFE_SECONDS - 60
    os.utime(old, (long_ago, long_ago))
    publish(folder)
    assert [path.name for path in (folder / QUEUE).iterdir()] == [fresh.name]


@pytest.mark.parametrize("name", ["", "..", "../up", "a/b", ".hidden", "a\0b"])
def test_a_queue_name_cannot_lead_out_of_the_folder(folder: Path, name: str) -> None:
    with connect(folder) as connection, pytest.raises(ChannelError, match="cannot name a queue"):
        connection.default_channel._put(name, {})


def test_purging_counts_and_removes_what_waits(folder: Path) -> None:
    publish(folder, 1, 2, 3)
    with connect(folder) as connection:
        assert connection.default_channel.queue_declare(QUEUE).message_count == 3
        assert connection.default_channel.queue_purge(QUEUE) == 3
    assert consume(folder) == []


def produce_many(folder: Path, producer: int, count: int) -> None:
    publish(folder, *([producer, number] for number in range(count)))


def produce_for_ever(folder: Path) -> None:
    for number in range(10**9):
        publish(folder, ("endless", number))


def consume_all(folder: Path, results: Any) -> None:
    results.put(consume(folder, patience=3))


def consume_slowly(folder: Path) -> None:
    with (
        connect(folder) as connection,
        connection.Consumer(Queue(QUEUE), callbacks=[lambda body, message: time.sleep(0.001)], no_ack=True),
    ):
        while True:
            connection.drain_events()


def test_many_producers_and_consumers_deliver_each_message_once(folder: Path) -> None:
    results = processes.Queue()
    consumers = [processes.Process(target=consume_all, args=(folder, results)) for _ in range(3)]
    producers = [processes.Process(target=produce_many, args=(folder, number, 200)) for number in range(3)]
    for process in consumers + producers:
        process.start()
    taken = [tuple(body) for _ in consumers for body in results.get(timeout=60)]
    for process in consumers + producers:
        process.join(60)
        assert process.exitcode == 0
    assert sorted(taken) == [(producer, number) for producer in range(3) for number in range(200)]


def test_killed_producers_and_consumers_leave_a_queue_that_works(folder: Path) -> None:
    publish(folder)
    victims = [processes.Process(target=produce_for_ever, args=(folder,)) for _ in range(2)]
    victims += [processes.Process(target=consume_slowly, args=(folder,)) for _ in range(2)]
    for process in victims:
        process.start()
    deadline = time.monotonic() + 60
    while not broker._message_names(folder / QUEUE) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)
    for process in victims:
        os.kill(process.pid, signal.SIGKILL)
        process.join(10)
    publish(folder, "after")
    left = consume(folder)
    assert left[-1] == "after"
    assert all(body[0] == "endless" for body in left[:-1])
