"""One request that is answered within this process, and what is answered to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from trimus.buffering import Message


@dataclass(slots=True)
class Exchange:
    """What an ASGI application is called with in place of a connection. `headers` have names in small letters."""

    content: bytes = b""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    parts: list[bytes] = field(default_factory=list)

    async def receive(self) -> Message:
        return {"type": "http.request", "body": self.content, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            named = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in message["headers"]]
            self.headers = dict(named)
        else:
            self.parts.append(message.get("body", b""))

    @property
    def body(self) -> bytes:
        return b"".join(self.parts)
