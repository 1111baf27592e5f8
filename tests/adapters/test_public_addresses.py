"""Addresses that a company has set lead to the public internet and nowhere else."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable

import httpx2
import pytest

from agents.adapters import calling
from agents.adapters.base import AdapterError, Completion, Endpoint, ErrorKind
from agents.adapters.openai import OpenAIProvider
from agents.adapters.public_addresses import Address, NotPublicError, PublicTransport, is_public, resolve
from agents.adapters.registry import load_providers
from tests.adapters.servers import redirect, serving, whole
from tests.adapters.wire import SDKS, answer, ask, provider

LIMITS = httpx2.Limits()


def ip(text: str) -> Address:
    return ipaddress.ip_address(text)


@pytest.mark.parametrize("text", ["1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "2002:101:101::"])
def test_what_everybody_can_reach_is_public(text: str) -> None:
    assert is_public(ip(text))


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::a00:1",
    ],
)
def test_what_only_this_network_can_reach_is_not(text: str) -> None:
    assert not is_public(ip(text))


def sent(answers: list[list[str]], *, failing: Callable[[str], bool] = lambda host: False) -> list[httpx2.Request]:
    """The requests that leave when the name resolves to these addresses, in turn; those that fail to connect too."""
    left: list[httpx2.Request] = []
    turns = iter(answers)

    async def look_up(_host: str, _port: int) -> list[Address]:
        return [ip(text) for text in next(turns)]

    def handle(request: httpx2.Request) -> httpx2.Response:
        left.append(request)
        if failing(request.url.host):
            raise httpx2.ConnectError("refused")
        return httpx2.Response(200)

    async def call() -> None:
        transport = PublicTransport(LIMITS, resolve=look_up, behind=httpx2.MockTransport(handle))
        async with httpx2.AsyncClient(transport=transport) as client:
            for _ in answers:
                await client.post("https://models.example.org/v1", json={"hello": 1})

    asyncio.run(call())
    return left


def test_a_request_goes_to_the_address_that_was_looked_at_under_the_hosts_name() -> None:
    (request,) = sent([["1.1.1.1"]])
    assert str(request.url) == "https://1.1.1.1/v1"
    assert request.headers["host"] == "models.example.org"
    assert request.extensions["sni_hostname"] == "models.example.org"
    assert request.read() == b'{"hello":1}'


def test_a_name_that_leads_elsewhere_the_next_time_is_looked_at_the_next_time() -> None:
    with pytest.raises(NotPublicError):
        sent([["1.1.1.1"], ["127.0.0.1"]])


@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["1.1.1.1", "10.0.0.1"], ["::1", "1.1.1.1"], []])
def test_a_name_with_any_private_address_is_not_called_at_all(addresses: list[str]) -> None:
    with pytest.raises(NotPublicError):
        sent([addresses])


def test_an_address_that_does_not_answer_gives_way_to_the_next() -> None:
    requests = sent([["1.1.1.1", "2606:4700::1111"]], failing=lambda host: host == "1.1.1.1")
    assert [request.url.host for request in requests] == ["1.1.1.1", "2606:4700::1111"]


def test_when_none_of_them_does_that_is_a_failed_connection() -> None:
    with pytest.raises(httpx2.ConnectError, match="refused"):
        sent([["1.1.1.1", "1.0.0.1"]], failing=lambda host: True)


def test_the_systems_own_names_are_resolved() -> None:
    assert all(not is_public(address) for address in asyncio.run(resolve("localhost", 80)))


def answer_of(endpoint: Endpoint) -> Completion:
    async def call() -> Completion:
        provider = load_providers()[endpoint.provider].make(endpoint)
        try:
            return await provider.complete(ask())
        finally:
            await provider.close()

    return asyncio.run(call())


@pytest.mark.parametrize("sdk", SDKS)
def test_a_server_of_this_machine_is_reached_only_where_that_is_allowed(sdk: str) -> None:
    with serving(whole(sdk)) as server:
        assert answer_of(Endpoint(sdk, base_url=server.url)).text == "Hello."
        with pytest.raises(AdapterError) as refused:
            answer_of(Endpoint(sdk, base_url=server.url, only_public=True))
        assert refused.value.kind is ErrorKind.BAD_REQUEST
        assert "network of this server" in refused.value.message
        assert server.connections == 1


@pytest.mark.parametrize("sdk", SDKS)
def test_a_redirect_is_followed_nowhere(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not to where an address may lead: the key would go along."""
    with serving(whole(sdk)) as home, serving(redirect(home.url)) as public:

        async def look_up(_host: str, _port: int) -> list[Address]:
            return [ip("1.1.1.1")]

        class Rerouted(PublicTransport):
            """What is sent to the public address arrives at the server here."""

            def __init__(self, limits: httpx2.Limits) -> None:
                super().__init__(limits, resolve=look_up, behind=_To(public.url))

        monkeypatch.setattr(calling, "PublicTransport", Rerouted)
        with pytest.raises(AdapterError):
            answer_of(Endpoint(sdk, base_url="http://models.example.org", only_public=True))
        assert (public.connections, home.connections) == (1, 0)


class _To(httpx2.AsyncBaseTransport):
    def __init__(self, url: str) -> None:
        self._url = httpx2.URL(url)
        self._behind = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url.copy_with(host=self._url.host, port=self._url.port)
        moved = httpx2.Request(request.method, url, headers=request.headers, stream=request.stream)
        return await self._behind.handle_async_request(moved)

    async def aclose(self) -> None:
        await self._behind.aclose()


@pytest.mark.parametrize("key", ["sk-of-the-company-0123456789", ""])
@pytest.mark.parametrize("sdk", SDKS)
def test_nothing_of_the_operators_environment_goes_to_where_a_company_says(
    sdk: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendor = sdk.upper()
    monkeypatch.setenv(f"{vendor}_CUSTOM_HEADERS", "x-gateway: operators-own")
    for name in ("API_KEY", "AUTH_TOKEN", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"{vendor}_{name}", f"operators-own-{name}")
    sent: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return answer(sdk)

    for is_companys in (True, False):
        asyncio.run(provider(sdk, handle, api_key=key, set_by_company=is_companys).complete(ask()))
    companys, operators = sent
    assert "operators-own" not in str(companys.headers.raw)
    assert operators.headers["x-gateway"] == "operators-own"


def test_no_proxy_resolves_the_name_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    provider = OpenAIProvider(Endpoint("openai", base_url="http://models.example.org", only_public=True))
    assert not provider._client._client._mounts
