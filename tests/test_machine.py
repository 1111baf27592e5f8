"""What a machine lacks is said, and is a failure where it was required."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests import machine
from tests.servers import ROOT


def run_a_test_that_needs_redis(**environment: str) -> subprocess.CompletedProcess[str]:
    """Where there is no Redis."""
    command = [sys.executable, "-m", "pytest", "-q", "tests/test_celery.py", "-k", "publishes and redis"]
    nowhere = {"TRIMUS_TEST_REDIS_URL": "redis://127.0.0.1:1/0", "TRIMUS_REQUIRE": ""}
    return subprocess.run(
        command, env=os.environ | nowhere | environment, cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_what_is_left_out_is_listed_with_what_would_mend_it() -> None:
    result = run_a_test_that_needs_redis()
    assert result.returncode == 0
    assert "1 test: no Redis: start one, or set TRIMUS_TEST_REDIS_URL" in result.stdout


def test_leaving_out_what_was_required_is_a_failure() -> None:
    result = run_a_test_that_needs_redis(TRIMUS_REQUIRE="redis, browser")
    assert result.returncode == 1
    assert "TRIMUS_REQUIRE names redis, but there is no Redis" in result.stdout


def test_a_required_name_that_nobody_knows_is_refused() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "tests"],
        env=os.environ | {"TRIMUS_REQUIRE": "postgress"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "postgress" in result.stdout


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("postgres:////var/run/postgresql/trimus", "host=/var/run/postgresql dbname=trimus"),
        ("postgres://user@127.0.0.1:5432/trimus", "postgres://user@127.0.0.1:5432/trimus"),
    ],
)
def test_an_address_is_told_as_psycopg_takes_it(url: str, address: str) -> None:
    assert machine.libpq(url) == address
