"""A worker whose one task leaves a file: `python -m tests.echo` starts it, on the broker of the environment."""

from __future__ import annotations

from pathlib import Path

from trimus.celery import app

app.conf.imports = ()


@app.task(name="tests.echo.echo")
def echo(path: str) -> None:
    """Touch the file."""
    Path(path).touch()


if __name__ == "__main__":
    app.worker_main(["--quiet", "worker", "--without-gossip", "--without-mingle", "--without-heartbeat"])
