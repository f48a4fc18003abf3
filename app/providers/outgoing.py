"""Where a connection may go: addresses sorted by whose they are, and how far an address book entry reaches.

Pure. `pinned` asks after every resolution of a name, just before it connects. Knows nothing of HTTP nor of providers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Literal

from app.providers.ports import ProviderRefused

Address = IPv4Address | IPv6Address
Whose = Literal["public", "private", "loopback", "nobody"]


class AddressRefused(ProviderRefused):
    """This address may not be connected to."""

    code = "address_refused"


@dataclass(frozen=True, slots=True)
class Reach:
    """What an endpoint may be: this machine, a private network, a public address without encryption. Nothing reaches
    addresses of nobody: link-local ones, where clouds keep the secrets of their machines, multicast, reserved ones.
    """

    loopback: bool = False
    private: bool = False
    plain: bool = False


PUBLIC: Final = Reach()
ANYWHERE: Final = Reach(loopback=True, private=True, plain=True)
"""For addresses that whoever runs the process gave in its settings."""

# Where clouds answer their machines, outside of the link-local ranges.
_METADATA: Final = frozenset(
    map(ip_address, ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"))
)
_PRIVATE: Final = tuple(map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")))
# Proxies that catch all traffic of a machine let names resolve to these; nobody routes them.
_TUNNEL: Final = IPv4Network("198.18.0.0/15")
_NAT64: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE: Final = IPv6Network("::/96")


def whose(address: Address) -> Whose:
    """Whose an address is; of one that carries another one inside, whose that is."""
    if address.is_loopback:
        return "loopback"
    inner = _inner(address)
    if inner is not None:
        return whose(inner)
    if address in _METADATA:
        return "nobody"
    if any(address.version == network.version and address in network for network in _PRIVATE):
        return "private"
    if address.version == 4 and address in _TUNNEL:
        return "public"
    if address.is_multicast or address.is_link_local or address.is_reserved or not address.is_global:
        return "nobody"
    return "public"


def _inner(address: Address) -> IPv4Address | None:
    if isinstance(address, IPv4Address) or address.is_unspecified:
        return None
    if address.ipv4_mapped or address.sixtofour:
        return address.ipv4_mapped or address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if address in _COMPATIBLE or any(address in network for network in _NAT64):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def is_this_machine(host: str) -> bool:
    """Whether a host is written as this machine itself. A name that merely resolves to it is not."""
    bare = host.strip("[]").rstrip(".").lower()
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    address = _literal(bare)
    return address is not None and whose(address) == "loopback"


def check(addresses: Sequence[str], reach: Reach, *, encrypted: bool) -> None:
    """Raises AddressRefused when one of the addresses that a host has is out of reach. What it says names none."""
    for text in addresses:
        address = _literal(text)
        kind = whose(address) if address is not None else "nobody"
        if kind == "nobody":
            raise AddressRefused("The address belongs to no server that may be asked.")
        if kind == "loopback" and not (reach.loopback or reach.private):
            raise AddressRefused("The address is this machine itself, which was not allowed.", reason="loopback")
        if kind == "private" and not reach.private:
            raise AddressRefused("The address is in a private network, which was not allowed.", reason="private")
        if kind == "public" and not (encrypted or reach.plain):
            raise AddressRefused("A public address is asked over https only.", reason="plain")


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None
