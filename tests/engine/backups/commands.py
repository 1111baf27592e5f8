"""The two commands, as tests call them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

from django.core.management import call_command
from django.db import connection

from engine.backups.manifest import NAME


def run(name: str, *arguments: str, **options: object) -> str:
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, stderr=out, **options)
    return out.getvalue()


def drop_former() -> None:
    """The databases that were put aside."""
    with connection._nodb_cursor() as cursor:
        name = connection.settings_dict["NAME"]
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{name}\\_%"])
        for (former,) in cursor.fetchall():
            cursor.execute(f"DROP DATABASE {connection.ops.quote_name(former)}")


def rewritten(backup: Path, **changes: object) -> Path:
    """The same archive with another manifest."""
    target = backup.with_name("other.zip")
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            content = source.read(name)
            if name == NAME:
                content = json.dumps(json.loads(content) | changes).encode()
            copy.writestr(name, content)
    return target
