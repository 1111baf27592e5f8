"""Bytes on disk, each stored once under its SHA-256 in the data directory."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from django.conf import settings

from issues.models import Blob


def store(content: bytes) -> Blob:
    """Keep the bytes and answer their row.

    The file is complete and under its final name before the row is written, so a row never points at half a file;
    a rolled-back transaction leaves at most an unreferenced file.
    """
    digest = hashlib.sha256(content).hexdigest()
    path = path_of(digest)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_aside_and_rename(path, content)
    return Blob.objects.get_or_create(sha256=digest, defaults={"size": len(content)})[0]


def read(blob: Blob) -> bytes:
    return path_of(blob.sha256).read_bytes()


def path_of(digest: str) -> Path:
    return Path(settings.DATA_DIR) / "blobs" / digest[:2] / digest


def _write_aside_and_rename(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".incoming-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
