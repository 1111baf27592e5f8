"""Connecting to the public internet and nowhere else: for addresses that a company has set.

The name is resolved here, each address is looked at, and the connection goes to an address that was looked at. A name
that leads elsewhere a moment later (DNS rebinding) gains nothing. Redirects are followed by nobody.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

import httpx2

from trimus.networks import Address, is_public

Resolve = Callable[[str, int], Awaitable[list[Address]]]


class NotPublicError(httpx2.ConnectError):
    """The name leads into a private network."""


async def resolve(host: str, port: int) -> list[Address]:
    """The addresses of a name, as the system has them. Raises OSError if there are none."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(str(place[0]).partition("%")[0]) for *_, place in found]


class PublicTransport(httpx2.AsyncBaseTransport):
    """Sends each request to a checked address of its host. A proxy from the environment is not used: it would resolve
    the name once more."""

    def __init__(
        self, limits: httpx2.Limits, *, resolve: Resolve = resolve, behind: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self._resolve = resolve
        self._behind = behind or httpx2.AsyncHTTPTransport(limits=limits, trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        addresses = await self._public_addresses(
            host, request.url.port or (443 if request.url.scheme == "https" else 80)
        )
        for number, address in enumerate(addresses, start=1):
            try:
                return await self._behind.handle_async_request(_sent_to(address, request, host))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise AssertionError("unreachable")

    async def aclose(self) -> None:
        await self._behind.aclose()

    async def _public_addresses(self, host: str, port: int) -> list[Address]:
        try:
            found = await self._resolve(host, port)
        except OSError as error:
            raise httpx2.ConnectError(f"{host} has no address: {error.strerror}") from error
        # One private address among public ones is refused whole: which one is taken would be a matter of chance.
        if not found or not all(is_public(address) for address in found):
            raise NotPublicError(host)
        return list(dict.fromkeys(found))


def _sent_to(address: Address, request: httpx2.Request, host: str) -> httpx2.Request:
    """The same request, to that address. Its header and its certificate are still the host's."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=str(address)),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )
