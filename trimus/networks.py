"""Which addresses anybody on the internet could reach, and which lead into the network that this server stands in."""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_INTO_IPV4 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
"""Addresses that a gateway turns into IPv4 (RFC 6052, RFC 8215): what stands behind them cannot be told."""


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could reach it. An IPv4 address inside of an IPv6 one counts for it."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is not None:
            return is_public(inner)
        if any(address in network for network in _INTO_IPV4):
            return False
    return address.is_global and not address.is_multicast


def may_be_public(host: str) -> bool:
    """Whether a host could be reached from the internet, by what can be seen of it: names are resolved when they are
    called, for they may change where they lead."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return False
    try:
        return is_public(ipaddress.ip_address(host))
    except ValueError:
        return True
