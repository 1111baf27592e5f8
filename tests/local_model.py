"""A real, very small language model on this machine, for tests of the whole way to a model and back.

Its server is a tool that stands outside of the repository: at TRIMUS_TEST_LLM_SERVER, else beside the
repository under shared/tools. Where it is missing or not installed, tests that need it are left out with that
reason. The model answers nonsense: such tests look at the form of an answer, never at what it says.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MODEL = "smollm2"
CONTEXT_WINDOW = 8_192
_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "tools" / "local_llm_server.py"
_INSTALLED = Path.home() / ".cache" / "local-llm"
_START_SECONDS = 60


def _tool() -> Path:
    return Path(os.environ.get("TRIMUS_TEST_LLM_SERVER", _BESIDE))


def lack() -> str | None:
    """Why the local model cannot be had on this machine, None if it can."""
    if not _tool().is_file():
        return "no local model: its server is not there (set TRIMUS_TEST_LLM_SERVER)"
    if not (_INSTALLED / f"{MODEL}.gguf").is_file() or not (_INSTALLED / "venv" / "bin" / "python").is_file():
        return f"no local model: install it with `python3 {_tool()} install`"
    return None


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """The model on a free port of loopback. Gives its address without a path."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, str(_tool()), "serve", "--port", str(port), "--ctx", str(CONTEXT_WINDOW)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_healthy(server, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


def _wait_until_healthy(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"the local model's server ended with {server.returncode}")
        with contextlib.suppress(OSError, http.client.HTTPException):
            if _status(port) == http.client.OK:
                return
        time.sleep(0.1)
    raise RuntimeError("the local model's server did not come up")


def _status(port: int) -> int:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=2)) as connection:
        connection.request("GET", "/health")
        return connection.getresponse().status


@pytest.fixture(scope="session")
def local_model() -> Iterator[str]:
    """The address of the local model; one server for all tests of a process."""
    if reason := lack():
        pytest.skip(reason)
    with serving() as url:
        yield url
