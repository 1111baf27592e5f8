"""The Celery application: a doorbell. It carries "look" to the workers and a tick every few seconds."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import setup_logging, worker_init

from trimus import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "trimus.settings")
broker.register()

app = Celery("trimus")
app.config_from_object("django.conf:settings", namespace="CELERY")


@setup_logging.connect
def keep_logging(**kwargs: object) -> None:
    """Leave logging as the settings made it: Celery sets up its own unless something listens here."""


@worker_init.connect
def load_encoding(**_kwargs: object) -> None:
    """Read the token encoding now: the first run shall not wait for it."""
    from engine.meters import encoding

    encoding()
