"""A call that is sent again under its idempotency key makes nothing a second time."""

from __future__ import annotations

import datetime
import threading
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection, connections
from django.utils import timezone
from psycopg.errors import DeadlockDetected

from agents.models import Agent
from issues.api import files
from issues.models import Activity, Attachment, Comment, Company, Issue, KeptAnswer
from issues.services.files import attach_file
from tests import build
from tests.api.client import Api, as_person

KEY = {"Idempotency-Key": "order-66"}


def test_the_same_call_again_gets_the_first_answer(api: Api, company: Company) -> None:
    first = api.post("issues", {"title": "Once"}, **KEY)
    api.patch("issues/ACME-1", {"title": "Changed since"})
    again = api.post("issues", {"title": "Once"}, **KEY)
    assert (again.status, again.body) == (201, first.body)
    assert again.headers["ETag"] == first.headers["ETag"]
    assert (first.headers.get("Idempotent-Replay"), again.headers["Idempotent-Replay"]) == (None, "true")
    assert Issue.objects.count() == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("issues/ACME-1/comments", {"body": "Once, @ada."}),
        ("issues/ACME-1/checkout", {"agent": "ada"}),
        ("agents", {"name": "Bob"}),
        ("labels", {"name": "bug"}),
        ("views", {"name": "Mine"}),
        ("skills", {"name": "Pruning", "body": "Cut above a bud."}),
        ("routines", {"name": "Morning", "cron": "0 9 * * *", "title": "Mail", "assignee": "ada"}),
        ("projects", {"name": "Launch"}),
        ("issues/ACME-1/heartbeat", {"agent": "ada"}),
        ("companies", {"name": "Beta", "key": "BETA"}),
    ],
)
def test_whatever_is_made_is_made_once(api: Api, company: Company, ada: Agent, path: str, body: dict[str, Any]) -> None:
    build.issue(company)
    first = api.post(path, body, **KEY)
    assert first.status in (201, 202)
    before = Activity.objects.count()
    assert api.post(path, body, **KEY).body == first.body
    assert Activity.objects.count() == before


def test_the_text_of_a_new_key_is_kept_nowhere(api: Api) -> None:
    first, second = (api.post("keys", {"name": "Script"}, **KEY) for _ in range(2))
    assert first["key"] != second["key"]
    assert not KeptAnswer.objects.exists()


def test_a_key_used_for_another_call_is_refused(api: Api, company: Company) -> None:
    api.post("issues", {"title": "One"}, **KEY)
    assert api.post("issues", {"title": "Two"}, **KEY).status == 422
    assert api.post("labels", {"name": "One"}, **KEY).status == 422
    assert Issue.objects.get().title == "One"


def test_a_refused_call_can_be_sent_again(api: Api, company: Company) -> None:
    body = {"title": "Labelled", "labels": ["bug"]}
    assert api.post("issues", body, **KEY).status == 422
    build.label(company, "bug")
    assert api.post("issues", body, **KEY).status == 201


def test_the_keys_of_two_callers_are_two(api: Api, company: Company) -> None:
    other = as_person(build.member(company))
    assert api.post("issues", {"title": "Same"}, **KEY)["identifier"] == "ACME-1"
    assert other.post("issues", {"title": "Same"}, **KEY)["identifier"] == "ACME-2"


def test_an_answer_is_kept_for_a_day(api: Api, company: Company) -> None:
    api.post("issues", {"title": "Once"}, **KEY)
    KeptAnswer.objects.update(made_at=timezone.now() - datetime.timedelta(days=1, seconds=1))
    assert api.post("issues", {"title": "Once"}, **KEY)["identifier"] == "ACME-2"


@pytest.mark.parametrize("key", ["", "x" * 201, "ü", "a\tb"])
def test_a_key_that_is_none_is_refused(api: Api, company: Company, key: str) -> None:
    assert api.post("issues", {"title": "X"}, **{"Idempotency-Key": key}).status == 422
    assert not Issue.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_the_same_call_sent_eight_times_at_once_one_makes_something(api: Api, company: Company) -> None:
    build.issue(company)
    answers: list[Any] = []

    def send() -> None:
        try:
            calls = Api(api.key)
            answers.append(calls.post("issues/ACME-1/comments", {"body": "Once."}, **KEY))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers] == [201] * 8
    assert len({answer["id"] for answer in answers}) == 1
    assert Comment.objects.count() == 1
    assert connection.is_usable()


@pytest.mark.django_db(transaction=True)
def test_a_call_that_the_database_ended_for_a_deadlock_is_made_anew_with_its_file_whole(
    api: Api, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []

    def attach(**what: Any) -> Attachment:
        read.append(what["content"])
        if len(read) == 1:
            raise OperationalError("deadlock detected") from DeadlockDetected()
        return attach_file(**what)

    monkeypatch.setattr(files, "attach_file", attach)
    build.issue(company)
    upload = SimpleUploadedFile("a.txt", b"whole")
    answer = api.client.post("/api/issues/ACME-1/attachments", {"file": upload}, headers=KEY)
    assert (answer.status_code, read) == (201, [b"whole", b"whole"])
    assert Attachment.objects.count() == KeptAnswer.objects.count() == 1
