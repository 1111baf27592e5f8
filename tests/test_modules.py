"""What holds of every module by itself."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

MOST_LINES = 500
PACKAGES = ("trimus", "issues", "agents", "engine", "benchmarks", "tests")


def test_no_module_is_longer_than_one_subject_takes() -> None:
    """Migrations are written by Django."""
    modules = [module for package in PACKAGES for module in Path(settings.BASE_DIR, package).rglob("*.py")]
    lengths = {
        module: len(module.read_text("utf-8").splitlines()) for module in modules if "migrations" not in module.parts
    }
    assert len(lengths) > 400
    assert {str(module): length for module, length in lengths.items() if length > MOST_LINES} == {}
