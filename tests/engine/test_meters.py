"""What a worker has ready before its first run."""

from __future__ import annotations

from celery.signals import worker_init

from engine import meters
from trimus.celery import load_encoding


def test_a_worker_reads_the_encoding_when_it_starts_and_only_once() -> None:
    assert load_encoding in worker_init._live_receivers(None)
    meters._load.cache_clear()
    load_encoding()
    assert meters._load.cache_info().misses == 1
    meters.meter_for("a-model-nobody-knows")
    assert meters._load.cache_info().misses == 1
