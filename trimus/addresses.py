"""Where people reach this installation."""

from __future__ import annotations

from django.conf import settings

# The one-command start notes here where it serves, for commands that print links.
ADDRESS_FILE = settings.DATA_DIR / "address"


def connectable(host: str) -> str:
    """The address at which this machine reaches a server bound to `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104


def local_address(port: int) -> str:
    """The start of every link on this machine, without a slash at its end."""
    host = connectable(settings.HOST)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def address() -> str:
    """The start of every link: as the one-command start serves it, or as people open it elsewhere."""
    if not settings.LOCAL_MODE:
        return f"{'https' if settings.HTTPS else 'http'}://{settings.ALLOWED_HOSTS[0]}"
    if ADDRESS_FILE.exists():
        return ADDRESS_FILE.read_text().strip()
    return local_address(settings.PORT)
