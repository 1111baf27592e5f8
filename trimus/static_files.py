"""Static files of the one-command start: gathered, hashed and compressed, when they changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command


def collect_if_changed() -> bool:
    """Gather static files into STATIC_ROOT unless the same were gathered last; whether it did."""
    stamp = settings.DATA_DIR / "static.stamp"
    state = _state_of_sources()
    if settings.STATIC_ROOT.exists() and stamp.exists() and stamp.read_text() == state:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(state)
    return True


def _state_of_sources() -> str:
    """A digest of every source's path, size and time of change: enough to notice an edit or an upgrade."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            about = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{storage.path(name)}\0{about.st_size}\0{about.st_mtime_ns}\n".encode())
    return digest.hexdigest()
