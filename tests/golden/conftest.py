"""The option that renews the pinned prompts."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write the prompts as they are now over the pinned ones")
