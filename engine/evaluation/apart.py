"""A place of its own for an evaluation: an empty installation in a folder that is thrown away."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings

from agents.own_models import FILE

INSIDE = "--inside"
"""The option that says that this is that place."""


def run_apart(arguments: Sequence[str]) -> int:
    """`manage.py` with these arguments in an empty installation; its exit code. The models configured in the
    environment and the operator's own entries are those of this one."""
    with tempfile.TemporaryDirectory(prefix="trimus-eval-") as folder:
        own = Path(settings.DATA_DIR) / FILE
        if own.exists():
            shutil.copy(own, folder)
        # An empty variable is an unset one, whatever a file of settings says.
        there = {"TRIMUS_DATA_DIR": folder, "DATABASE_URL": "", "CELERY_BROKER_URL": ""}
        command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), *arguments, INSIDE]
        return subprocess.run(command, env=os.environ | there, check=False).returncode
