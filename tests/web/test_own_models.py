"""A faulty `models.yaml` is told where owners look for models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.test import Client

from issues.actors import Person
from issues.models import Company
from tests import build
from tests.web.test_pages import text_of


def test_the_models_page_says_what_is_wrong_with_the_operators_file_to_owners_alone(
    page: Client, company: Company, browse: Callable[[Person], Client], settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    assert "cannot be used" not in text_of(page.get("/acme/settings/models/").content)
    (tmp_path / "models.yaml").write_text("llama: {context_window: many}", "utf-8")
    said = text_of(page.get("/acme/settings/models/").content)
    assert f"{tmp_path}/models.yaml cannot be used: llama cannot be read" in said
    others = browse(build.member(company)).get("/acme/settings/models/").content
    assert "cannot be used" not in text_of(others)  # it names a place on the host
    (tmp_path / "models.yaml").unlink()
    assert "cannot be used" not in text_of(page.get("/acme/settings/models/").content)
