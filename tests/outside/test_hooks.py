"""Hooks as programs call them that do not say how much they send."""

from __future__ import annotations

import http.client
from collections.abc import Iterable
from urllib.parse import urlsplit

import pytest

from issues.models import Company, Issue
from tests import build
from tests.outside.conftest import Server

pytestmark = pytest.mark.django_db(transaction=True)


def post_in_chunks(server: Server, token: str, chunks: Iterable[bytes]) -> int:
    """The status of the answer."""
    line = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    try:
        line.request("POST", f"/api/hooks/{token}", body=chunks, headers={"Content-Type": "application/json"})
        return line.getresponse().status
    finally:
        line.close()


def test_what_is_sent_in_chunks_arrives_whole_and_within_the_limit(server: Server, company: Company) -> None:
    _, token = build.hook(company)
    assert post_in_chunks(server, token, iter([b'{"title": "Disk', b' full"}'])) == 201
    assert Issue.objects.get().title == "Disk full"
    assert post_in_chunks(server, token, iter([b'"', b"x" * 200_000, b'"'])) == 413
    assert Issue.objects.count() == 1
