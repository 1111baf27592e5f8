"""The real server in this process, called over real connections."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import uvicorn
from django.conf import settings

from agents.models import Agent
from engine.mcp.door import Door
from issues import events
from issues.models import Company, Issue
from tests import build
from tests.left_open import close_in_threads
from tests.outside.callers import Rpc
from tests.servers import wait_until
from trimus import asgi


class Server:
    """Trimus as uvicorn serves it, on a port of its own."""

    def __init__(self) -> None:
        self.door = asgi.tools = Door(asgi._threads)  # of this server's event loop, as the feed is
        events._feed = events.Feed()
        config = uvicorn.Config(
            asgi.application, port=0, log_config=None, access_log=False, timeout_graceful_shutdown=1
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        wait_until(lambda: self.server.started, lambda: "the server")
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)
        close_in_threads(events._database, 1)
        close_in_threads(asgi._threads.executor, settings.WEB_THREADS)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture
def ada(company: Company) -> Agent:
    return build.agent(company, "Ada", adapter="external", instructions="You write plainly.")


@pytest.fixture
def issue(company: Company, ada: Agent) -> Issue:
    """ACME-1, Ada's."""
    return build.issue(company, "Water the herbs", description="Each morning.", assignee=ada)


@pytest.fixture
def rpc(server: Server, ada: Agent) -> Rpc:
    """Calls of tools as Ada."""
    return Rpc.of_agent(server.url, ada)
