"""The link that the one-command start prints, where people come from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from engine.management.commands import up
from trimus.supervisor import Plan


@pytest.mark.django_db
def test_where_people_come_by_a_name_the_link_is_under_that_name(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plans: list[Plan] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIMUS_PORT", "8000")
    monkeypatch.setattr(up, "ADDRESS_FILE", tmp_path / "address")
    monkeypatch.setattr(Plan, "become_supervisor", lambda plan: plans.append(plan))
    for step in ("_require_free_port", "_prepare", "_offer_demo"):
        monkeypatch.setattr(up.Command, step, lambda *_: None)
    settings.LOCAL_MODE, settings.HTTPS, settings.ALLOWED_HOSTS = False, True, ["trimus.example.org"]
    call_command("up", "--no-browser")
    assert plans[0].welcome.startswith("Trimus is ready: https://trimus.example.org/login/")
