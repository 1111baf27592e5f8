"""A plain client of the API, as a script outside would be: a key in a header, JSON in and out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.test import Client

from agents.models import Agent
from issues.actors import Person
from issues.services.keys import create_agent_key, create_user_key
from tests import build
from tests.api.contract import check_answer

PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Answer:
    """An answer with its JSON read."""

    status: int
    body: Any
    headers: Any

    def __getitem__(self, key: str) -> Any:
        return self.body[key]

    @property
    def rows(self) -> list[Any]:
        return self.body["results"]


class Api:
    """Calls as the owner of a key; without one as nobody. Every answer is held against the description."""

    def __init__(self, key: str = "") -> None:
        self.key = key
        self.client = Client(headers={"Authorization": f"Bearer {key}"} if key else {})

    def get(self, path: str, **query: Any) -> Answer:
        return self._read(self.client.get(self._address(path), query))

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self._send("POST", path, body, headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self._send("PATCH", path, body, headers)

    def delete(self, path: str) -> Answer:
        return self._send("DELETE", path, None, {})

    def raw(self, method: str, path: str, data: bytes, content_type: str = "application/json") -> Answer:
        return self._read(self.client.generic(method, self._address(path), data, content_type=content_type))

    def walk(self, path: str, **query: Any) -> list[Any]:
        """All rows of a list, page after page."""
        answer = self.get(path, **query)
        rows = list(answer.rows)
        while answer["next"]:
            answer = self._read(self.client.get(answer["next"].removeprefix("http://testserver")))
            rows += answer.rows
        return rows

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Answer:
        data = b"" if body is None else json.dumps(body).encode()
        return self._read(
            self.client.generic(method, self._address(path), data, content_type="application/json", headers=headers)
        )

    @staticmethod
    def _address(path: str) -> str:
        return path if path.startswith("/api") else f"/api/{path}"

    @staticmethod
    def _read(response: HttpResponse) -> Answer:
        kind = response.headers.get("Content-Type", "")
        body = json.loads(response.content) if response.content and "json" in kind else None
        body = response.content.decode() if kind == "text/event-stream" else body
        request = response.wsgi_request
        check_answer(request.method, request.path, response.status_code, kind, body)
        if response.status_code >= 400:
            assert kind == PROBLEM
            assert body["status"] == response.status_code
        return Answer(response.status_code, body, response.headers)


def as_person(person: Person) -> Api:
    _, text = create_user_key(actor=person, user=person.user)
    return Api(text)


def as_agent(agent: Agent) -> Api:
    _, text = create_agent_key(actor=build.owner_of(agent.company), agent=agent)
    return Api(text)
