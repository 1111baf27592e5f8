"""The command, from its arguments to its table."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django.fixtures import Settings

from trimus.language_models import LanguageModels

ROOT = Path(settings.BASE_DIR)
TWO = ["small_file", "nothing_to_do"]


def ran(**options: Any) -> str:
    out = io.StringIO()
    call_command("eval", stdout=out, stderr=io.StringIO(), **{"scenario": TWO} | options)
    return out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_a_player_is_tried_and_told_as_table_and_json(tmp_path: Path) -> None:
    file = tmp_path / "lazy.json"
    table = ran(persona="lazy", repeat=2, json=str(file))
    assert "player: scripted, lazy" in table
    assert [line.split()[1] for line in table.splitlines()[2:4]] == ["0/2", "2/2"]
    kept = json.loads(file.read_text())
    assert kept["in_all"]["succeeded"] == 2
    assert kept["in_all"]["input_tokens"] > 1_000
    words = ran(compare=[str(file), "scripted:perfect"])
    assert "better in 1: small_file" in words
    assert "sign test p = 1.000" in words


@pytest.mark.django_db(transaction=True)
def test_one_that_must_pass_and_does_not_is_a_failure() -> None:
    with pytest.raises(CommandError, match="Not all"):
        ran(persona="lazy", require_all=True)


@pytest.mark.django_db(transaction=True)
def test_a_provider_that_is_not_configured_is_said_so(settings: Settings) -> None:
    settings.LLM = LanguageModels()
    with pytest.raises(CommandError, match="ANTHROPIC_API_KEY"):
        ran(provider="anthropic")


def test_what_cannot_be_compared_is_said_so() -> None:
    with pytest.raises(CommandError, match="neither"):
        ran(compare=["scripted:nobody", "scripted:lazy"])


@pytest.mark.slow
def test_on_the_command_line_the_installation_is_not_touched(tmp_path: Path) -> None:
    """Not even its database, which here does not exist."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "trimus.settings", "TRIMUS_DATA_DIR": str(tmp_path)}
    environment |= {"DATABASE_URL": "sqlite:////nowhere/at/all.sqlite3"}
    command = [sys.executable, "manage.py", "eval", "--provider", "scripted", "--require-all", "--json", "-"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2_000:]
    assert json.loads(ended.stdout)["in_all"]["succeeded"] == 24
    assert {path.name for path in tmp_path.iterdir()} <= {"secret_key"}
