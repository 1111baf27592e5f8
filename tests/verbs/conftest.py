"""The stage of the verbs' tests."""

from __future__ import annotations

import pytest

from tests.verbs.stage import Stage


@pytest.fixture
def stage(db: None) -> Stage:
    return Stage()
