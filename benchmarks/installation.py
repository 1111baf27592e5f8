"""An installation to measure: its own data directory, its own port, its own processes, gone afterwards."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 120
STOP_SECONDS = 20


class Installation:
    """Serves from a temporary folder while it is entered; `start` and `stop` count from and to a whole one."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="trimus-bench-"))
        self.port = _free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Installation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def environment(self) -> dict[str, str]:
        """What this installation's processes, and commands beside them, find in the environment."""
        return os.environ | {
            "TRIMUS_DATA_DIR": str(self.folder),
            "TRIMUS_PORT": str(self.port),
            "TRIMUS_API_CALLS_PER_SECOND": "0",
            "DJANGO_SETTINGS_MODULE": "trimus.settings",
        }

    def start(self) -> float:
        """Start web, worker and beat as people do; seconds until the API answers."""
        began = time.perf_counter()
        with (self.folder / "up.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--no-browser"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        while not self._answers():
            if self.process.poll() is not None or time.perf_counter() - began > START_SECONDS:
                raise RuntimeError(f"The server did not start:\n{(self.folder / 'up.log').read_text()}")
            time.sleep(0.02)
        return time.perf_counter() - began

    def stop(self) -> None:
        """End the processes as a person would."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def megabytes(self) -> float | None:
        """Memory of all its processes, each shared page counted once (PSS); None where the system does not tell."""
        if self.process is None:
            return None
        try:
            return sum(map(pss, _family(self.process.pid))) / 1024
        except OSError:
            return None

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/api/health")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _family(pid: int) -> list[int]:
    """A process and all its descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(member for child in children for member in _family(int(child)))]


def cpu_seconds(pid: int) -> float:
    """What a process has computed since it began, in all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pss(pid: int) -> int:
    """Kilobytes."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0
