"""The description of the API and the page that shows it."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

import agents.api.urls
import issues.api.urls
from tests.api.contract import description


def test_the_description_is_made_without_a_warning() -> None:
    with GENERATOR_STATS.silence():
        GENERATOR_STATS.reset()
        schema = SchemaGenerator().get_schema(request=None, public=True)
    assert not GENERATOR_STATS, (GENERATOR_STATS._error_cache, GENERATOR_STATS._warn_cache)
    validate_schema(schema)


def test_every_address_is_described() -> None:
    described = {path.removeprefix("/api/") for path in description()["paths"]}
    patterns = [*issues.api.urls.urlpatterns, *agents.api.urls.urlpatterns]
    addresses = {_template(str(pattern.pattern)) for pattern in patterns if hasattr(pattern.callback, "cls")}
    assert addresses == described


def test_every_operation_has_a_summary_and_a_name_of_its_own() -> None:
    operations = [operation for path in description()["paths"].values() for operation in path.values()]
    assert all(operation["summary"] for operation in operations)
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("path", ["/api/schema", "/api/schema/"])
def test_the_description_is_served_without_a_key(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 200
    assert json.loads(answer.content)["paths"].keys() == description()["paths"].keys()


def test_the_page_loads_nothing_from_elsewhere_and_runs_nothing_inline() -> None:
    answer = Client().get("/api/docs/")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert "http://" not in page
    assert "https://" not in page
    assert "<script>" not in page
    assert "style=" not in page


def _template(address: str) -> str:
    for kind in ("issue", "id", "slug"):
        address = address.replace(f"<{kind}:", "{")
    return address.replace(">", "}")


def test_every_operation_stands_under_a_known_heading() -> None:
    known = {tag["name"] for tag in description()["tags"]}
    used = {tag for path in description()["paths"].values() for operation in path.values() for tag in operation["tags"]}
    assert used == known
