"""Where connections may go, from the sorting of addresses to the socket that is never opened."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address
from typing import Any

import pytest

from app.providers.fake import FakeProvider
from app.providers.outgoing import ANYWHERE, PUBLIC, AddressRefused, Reach, check, is_this_machine, whose
from app.providers.ports import ProviderDown, ProviderRefused
from app.providers.transport import HttpTransport, origin_of

MACHINE = Reach(loopback=True)
PRIVATE = Reach(private=True)

WHOSE = {
    "public": ("1.1.1.1", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "198.18.0.7"),
    "loopback": ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "::7f00:1", "2002:7f00:1::"),
    "private": (
        "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd12::1",
        "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1",
    ),
    "nobody": (
        "169.254.169.254", "169.254.0.1", "fe80::1", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200",
        "168.63.129.16", "192.0.0.192", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1",
        "192.0.2.1", "2001:db8::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "::a9fe:a9fe", "0.1.2.3",
        "2002:a9fe:a9fe::",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "address"), [(kind, one) for kind, some in WHOSE.items() for one in some])
def test_whose_an_address_is(kind: str, address: str) -> None:
    assert whose(ip_address(address)) == kind


def test_names_of_this_machine() -> None:
    for host in ("localhost", "LOCALHOST.", "app.localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"):
        assert is_this_machine(host), host
    for host in ("localhost.example.com", "10.0.0.1", "notlocalhost", "127.0.0.1.example.com", "0.0.0.0", ""):
        assert not is_this_machine(host), host


@pytest.mark.parametrize(
    ("address", "reach", "encrypted", "allowed"),
    [
        ("1.1.1.1", PUBLIC, True, True),
        ("1.1.1.1", PUBLIC, False, False),
        ("1.1.1.1", ANYWHERE, False, True),
        ("127.0.0.1", PUBLIC, True, False),
        ("127.0.0.1", MACHINE, False, True),
        ("127.0.0.1", PRIVATE, False, True),
        ("10.0.0.1", PUBLIC, True, False),
        ("10.0.0.1", MACHINE, True, False),
        ("10.0.0.1", PRIVATE, False, True),
        ("169.254.169.254", ANYWHERE, True, False),
        ("::ffff:169.254.169.254", ANYWHERE, True, False),
        ("not an address", ANYWHERE, True, False),
    ],
)
def test_reach(address: str, reach: Reach, encrypted: bool, allowed: bool) -> None:
    """L5"""
    if allowed:
        check([address], reach, encrypted=encrypted)
        return
    with pytest.raises(AddressRefused) as caught:
        check(["1.1.1.1", address] if encrypted else [address], reach, encrypted=encrypted)
    assert address not in caught.value.detail


@pytest.mark.parametrize(
    ("base", "origin"),
    [
        ("https://API.example.com/v1", "https://api.example.com:443"),
        ("https://api.example.com:443", "https://api.example.com:443"),
        ("https://api.example.com.", "https://api.example.com:443"),
        ("https://api.example.com:8443/x", "https://api.example.com:8443"),
        ("http://api.example.com", "http://api.example.com:80"),
        ("http://[::1]:8000/v1", "http://[::1]:8000"),
        ("https://b\u00fccher.example", "https://xn--bcher-kva.example:443"),
    ],
)
def test_origins(base: str, origin: str) -> None:
    assert origin_of(base) == origin


# ------------------------------------------------------------------------------- over real sockets


def transport(url: str, reach: Reach) -> HttpTransport:
    return HttpTransport(
        url,
        headers={"authorization": "Bearer sk-secret"},
        connect_seconds=2,
        first_byte_seconds=2,
        idle_seconds=2,
        max_connections=4,
        reach=reach,
    )


async def post(url: str, reach: Reach) -> bytes:
    opened = transport(url, reach)
    await opened.open()
    try:
        async with opened.post({"model": "x", "messages": []}, accept="application/json") as reply:
            return await reply.read(1 << 20)
    finally:
        await opened.close()


class Names:
    """A name server whose answers change: each call gives the next list, the last one stays."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def getaddrinfo(self, host: str, port: int, **_: Any) -> list[Any]:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answer]


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(*answers: list[str]) -> Names:
        names = Names(*answers)
        loop = asyncio.get_running_loop()
        plain = loop.getaddrinfo

        async def ours(host: Any, port: Any, **rest: Any) -> Any:
            asked = host.decode() if isinstance(host, bytes) else host
            return await (names.getaddrinfo if asked.endswith(".test") else plain)(host, port, **rest)

        monkeypatch.setattr(loop, "getaddrinfo", ours)
        return names

    return use


async def test_what_is_out_of_reach_is_never_connected_to() -> None:
    """L5: blocked at connect time, not one byte is sent."""
    async with FakeProvider() as server:
        url = f"{server.base_url}/chat/completions"
        with pytest.raises(AddressRefused):
            await post(url, PUBLIC)
        assert server.connections == 0
        assert b"You said" in await post(url, MACHINE)


async def test_a_name_is_checked_by_what_it_resolves_to(named: Any) -> None:
    """L5: DNS rebinding. A name that looks public leads to this machine, to a network, to a cloud's metadata."""
    async with FakeProvider() as server:
        port = server.base_url.rpartition(":")[2].removesuffix("/v1")
        for answer in (["127.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["::ffff:7f00:1"]):
            named(answer)
            with pytest.raises(AddressRefused):
                await post(f"http://innocent.test:{port}/v1/chat/completions", Reach(plain=True))
        assert server.connections == 0


async def test_a_connection_goes_to_the_address_that_was_checked(named: Any) -> None:
    """L5: the name is asked once for each connection; what it would say the second time reaches nobody."""
    async with FakeProvider() as server:
        port = server.base_url.rpartition(":")[2].removesuffix("/v1")
        names = named(["127.0.0.1"], ["169.254.169.254"])
        opened = transport(f"http://changing.test:{port}/v1/chat/completions", MACHINE)
        await opened.open()
        try:
            async with opened.post({"model": "x"}, accept="application/json") as reply:
                assert b"You said" in await reply.read(1 << 20)
            assert names.asked == 1
            assert server.exchanges[0].headers["host"] == f"changing.test:{port}"
            await opened.close()
            await opened.open()
            with pytest.raises(AddressRefused):
                async with opened.post({"model": "x"}, accept="application/json"):
                    pass
            assert names.asked == 2
        finally:
            await opened.close()
        assert server.connections == 1


async def test_the_next_address_is_tried_when_one_does_not_answer(named: Any) -> None:
    async with FakeProvider() as server:
        port = server.base_url.rpartition(":")[2].removesuffix("/v1")
        named(["127.0.0.9", "127.0.0.1"])  # nobody listens on the first
        assert b"You said" in await post(f"http://two.test:{port}/v1/chat/completions", MACHINE)


async def test_a_name_that_does_not_resolve_is_a_provider_that_is_down() -> None:
    with pytest.raises(ProviderDown):
        await post("http://nowhere.invalid/v1/chat/completions", ANYWHERE)


async def test_redirects_are_refused() -> None:
    """L5: whoever is redirected would take the key along."""
    async with FakeProvider() as server:
        with pytest.raises(ProviderRefused, match="307"):
            await post(f"{server.base_url}/chat/completions?fault=redirect", MACHINE)
        assert server.asked() == 1


async def test_a_proxy_of_the_environment_is_used_for_the_outside_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written as a number is looked at all the same."""
    async with FakeProvider() as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        assert b"You said" in await post("http://far.test/v1/chat/completions", ANYWHERE)
        assert proxy.asked() == 1
        for host in ("169.254.169.254", "2852039166", "[fe80::1]"):
            with pytest.raises(AddressRefused):
                await post(f"http://{host}/v1/chat/completions", ANYWHERE)
        assert proxy.asked() == 1
