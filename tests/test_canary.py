"""A planted key is searched for everywhere: nothing that Trimus keeps, sends or shows holds it, but the header of the
call that it is for."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from agents.adapters import registry
from agents.adapters.base import Endpoint, Provider
from agents.adapters.openai import OpenAIProvider
from agents.adapters.registry import ProviderSpec
from agents.models import Breaker, Run, RunState, Wakeup
from engine.checkpoints import checkpoint_after
from engine.trying import try_provider
from issues.actors import Person
from issues.models import Company, Issue
from tests import build
from tests.adapters.wire import DONE, answer, event, stream
from tests.admin.test_pages import MODELS
from tests.api.client import as_person
from tests.api.test_tenants import CALLS
from tests.engine.houses import past
from tests.engine.running import run_next
from tests.web.everything import addresses, one_of_everything
from trimus import logs

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-canary-7f3a9b2c-0123456789-abcd"
NEW_KEY = "sk-canary-0d4e8c11-9876543210-dcba"
WHOLE = (KEY, NEW_KEY)


@pytest.fixture
def company() -> Company:
    company, _ = build.company_with_founder()
    build.provider(company, "canary", base_url="http://canary.test/v1", key=KEY, model="m")
    company.refresh_from_db()
    return company


@pytest.fixture
def owner(company: Company) -> Person:
    return build.owner_of(company)


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """All that is logged, as it would be written, the debug lines of the SDKs and their transport too."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    made = logs.logging_config(json=False, debug_topics=[])["formatters"]["line"]
    factory = made.pop("()")
    handler.setFormatter(factory(**made))
    loggers = [logging.getLogger(name) for name in ("", *logs.QUIET_LOGGERS)]
    levels = [logger.level for logger in loggers]
    logging.getLogger().addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    yield written
    logging.getLogger().removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@contextlib.contextmanager
def server(respond: Callable[[httpx2.Request], httpx2.Response]) -> Iterator[list[httpx2.Request]]:
    """The real SDK over a transport that keeps what it is sent."""
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return respond(request)

    def make(endpoint: Endpoint) -> Provider:
        return OpenAIProvider(endpoint, transport=httpx2.AsyncClient(transport=httpx2.MockTransport(handle)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "PROVIDERS", (ProviderSpec("openai", "canary", make), *registry.PROVIDERS[1:]))
        yield seen


def echoing(status: int) -> Callable[[httpx2.Request], httpx2.Response]:
    """A server that repeats the key it was sent: in its error, or in its answer."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        key = request.headers["authorization"].removeprefix("Bearer ")
        if status == 200:
            said = f"My key is {key}, and backwards {key[::-1]}.\n\n/note {key}\n```\n{key}\n```\n"
            piece = {"index": 0, "delta": {"content": said}, "finish_reason": "stop"}
            return stream(event({"id": key, "model": key, "created": 1, "choices": [piece]}), DONE, x_request_id=key)
        error = {"message": f"Incorrect API key provided: {key}", "code": key, "type": key, "param": key}
        return httpx2.Response(status, headers={"x-request-id": key}, json={"error": error})

    return respond


def everything_in_the_database() -> str:
    """Each value of each table, read below the models."""
    with connection.cursor() as cursor:
        values = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - the database's own names
            values.append(repr(cursor.fetchall()))
    return "\n".join(values)


def everything_on_disk() -> Iterator[tuple[Path, bytes]]:
    for path in Path(settings.DATA_DIR).rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()


def test_the_key_is_nowhere_but_in_the_header_of_its_call(
    company: Company, owner: Person, logged: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    ada = build.agent(company, "Ada", provider="canary")
    with server(echoing(401)) as refused:
        assert not try_provider(actor=owner, company=company, name="canary").answers
        build.issue(company, assignee=ada)
        assert run_next().state == RunState.FAILED
    Breaker.objects.update(open_until=past())
    Wakeup.objects.update(due_at=past())
    with server(echoing(200)) as answered:
        assert KEY not in try_provider(actor=owner, company=company, name="canary").words
        run = run_next()
        checkpoint_after(run)
    assert run.state == RunState.SUCCEEDED
    assert KEY[::-1] in str(run.reply)  # the reply is there, and only what is exactly the key is masked
    assert {request.headers["authorization"] for request in (*refused, *answered)} == {f"Bearer {KEY}"}
    assert not any(KEY.encode() in request.content for request in (*refused, *answered))
    everything = one_of_everything(company, owner)

    client = Client()
    client.force_login(owner.user)
    for name, wanted in sorted(set(addresses())):
        assert_absent(client.get(everything.address(name, wanted | frozenset())), name)
    for address in (f"runs/{one.pk}/" for one in Run.objects.all()):
        assert_absent(client.get(f"/acme/{address}"), address)
    form = {"name": "second", "protocol": "no such", "secret": NEW_KEY}
    assert_absent(client.post(reverse("add-provider", args=["acme"]), form), "a form that comes back")
    viewer = Client()
    viewer.force_login(build.member(company).user)
    assert_absent(viewer.post(reverse("add-provider", args=["acme"]), form), "a form of one who may not")
    client.post(reverse("add-provider", args=["acme"]), form | {"protocol": "openai"})

    api = as_person(owner)
    for method, path in CALLS:
        if method == "get" and "<" not in path:
            assert not held_in(str(api.get(path, **({"q": "key"} if path == "search" else {})).body)), path
    for path in ("models", "providers", "providers/canary"):
        assert not held_in(str(api.get(f"companies/ACME/{path}").body)), path
    answer_of_api = api.post("companies/ACME/providers", {"name": "third", "protocol": "openai", "key": NEW_KEY})
    assert answer_of_api.status == 201
    assert not held_in(str(answer_of_api.body))
    for row in Run.objects.all():
        for path in (f"runs/{row.pk}", f"runs/{row.pk}/prompt"):
            assert not held_in(str(api.get(path).body)), path

    owner.user.is_staff = owner.user.is_superuser = True
    owner.user.save()
    for model in MODELS:
        label = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        assert_absent(client.get(reverse(f"{label}_changelist")), label)
        for pk in model._default_manager.values_list("pk", flat=True)[:50]:
            assert_absent(client.get(reverse(f"{label}_change", args=[pk])), f"{label} {pk}")

    with contextlib.suppress(SystemExit):
        call_command("doctor")
    call_command("rotate_keys")
    assert not held_in(capsys.readouterr().out)
    kept = everything_in_the_database()
    assert KEY[::-1] in kept  # what is there is found
    assert not held_in(kept)
    assert [path for path, content in everything_on_disk() if held_in(content.decode("latin-1"))] == []
    assert "canary.test" in logged.getvalue()  # its calls are in the log
    assert not held_in(logged.getvalue())


def held_in(text: str) -> bool:
    return any(key in text for key in WHOLE)


def assert_absent(response: Any, where: str) -> None:
    body = b"".join(response.streaming_content) if response.streaming and not response.is_async else None
    if body is None:
        body = b"" if response.streaming else response.content
    assert not held_in(body.decode("latin-1")), where


def test_a_key_that_somebody_wrote_into_an_issue_is_masked_in_the_prompt(company: Company) -> None:
    ada = build.agent(company, "Ada", provider="canary", instructions=f"Use {KEY}.")
    issue: Issue = build.issue(company, f"Why does {KEY} fail?", description=f"It is `{KEY}`.", assignee=ada)
    build.comment(issue, f"@ada try {KEY}!")
    with server(lambda request: answer("openai", "Noted.")) as seen:
        run = run_next()
    (request,) = seen
    assert KEY.encode() not in request.content
    assert KEY not in run.system_message + run.user_message
    assert run.user_message.count("[masked: ") == 3
    assert "[masked: " in run.system_message
    for section in run.prompt_sections:
        text = {"system": run.system_message, "user": run.user_message}[section["message"]]
        assert text.encode()[section["start"] : section["start"] + section["size"]].decode().strip()


def test_every_column_that_is_sealed_is_shown_by_no_page_of_the_admin_site() -> None:
    from django.contrib import admin

    from issues.sealing import SealedField

    sealed = [
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, SealedField)
    ]
    assert sealed
    for model, name in sealed:
        assert name in admin.site._registry[model].hidden  # type: ignore[attr-defined]
