"""The one file that imports httpx: a pooled client per endpoint, its timeouts, and what went wrong in our words.

Every wire dialect posts through it. Knows nothing of chat, vectors or any provider's bodies.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.request import getproxies, proxy_bypass

import httpx

from app.core import clock
from app.core.errors import ConfigurationError
from app.providers.outgoing import ANYWHERE, Reach, check, is_this_machine
from app.providers.pinned import addresses_of, pool
from app.providers.ports import (
    ProviderBusy,
    ProviderDown,
    ProviderError,
    ProviderGarbled,
    ProviderRefused,
    ProviderTimeout,
)

_MAX_ERROR_BYTES: Final = 1 << 16
_RETRY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"([0-9.]{1,12})s"')
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
# Far more than any answer: what keeps talking for minutes is no answer.
_MAX_REPLY_BYTES: Final = 64 << 20
_KEEPALIVE_SECONDS: Final = 30.0


def endpoint_url(base_url: str, path: str) -> str:
    """`base_url` + `path`, where the base may already end with the beginning of the path.

    Raises ConfigurationError unless it is a plain http(s) address without credentials or query.
    """
    base = base_url.strip().rstrip("/")
    try:
        url = httpx.URL(base)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise ConfigurationError("A provider's base URL is not a plain http(s) address.")
    cuts = [n for n in range(len(path) + 1) if path[n : n + 1] in ("/", "")]
    return base + path[max(n for n in cuts if url.path.endswith(path[:n])) :]


def origin_of(base_url: str) -> str:
    """Scheme, host and port of an address, one way to write it for each: what a key is bound to.

    Raises ConfigurationError as `endpoint_url`.
    """
    url = httpx.URL(endpoint_url(base_url, ""))
    default_port = 443 if url.scheme == "https" else 80
    host = url.raw_host.decode("ascii").lower().rstrip(".")
    return f"{url.scheme}://{f'[{host}]' if ':' in host else host}:{url.port or default_port}"


async def check_reach(base_url: str, reach: Reach, seconds: float) -> None:
    """Look at an address before it is stored; one that does not resolve now is looked at when it is asked. Raises
    AddressRefused, ConfigurationError.
    """
    url = httpx.URL(endpoint_url(base_url, ""))
    encrypted = url.scheme == "https"
    if _proxy_for(url) is None:
        with suppress(OSError, UnicodeError, TimeoutError):
            check(await addresses_of(url.raw_host.decode("ascii"), seconds), reach, encrypted=encrypted)
    elif _is_number(url.host):
        check([url.host], reach, encrypted=encrypted)


class PinnedTransport(httpx.AsyncHTTPTransport):
    """httpx's own, on a pool whose connections go to checked addresses only."""

    def __init__(self, tls: Any, limits: httpx.Limits, reach: Reach, *, encrypted: bool) -> None:
        super().__init__(verify=tls, trust_env=False)
        self._pool = pool(
            reach,
            encrypted=encrypted,
            tls=tls,
            max_connections=limits.max_connections or 1,
            keepalive_expiry=_KEEPALIVE_SECONDS,
        )


class HttpTransport:
    """Posts JSON to one address. `headers` may hold the key, so they go to that origin only: redirects are refused.

    Every connection goes to an address within `reach`, looked at after its name was resolved. Where the environment
    names a proxy the proxy resolves it, and only addresses that are written as numbers can be looked at.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        connect_seconds: float,
        first_byte_seconds: float,
        idle_seconds: float,
        max_connections: int,
        reach: Reach = ANYWHERE,
    ) -> None:
        self._url = httpx.URL(url)
        self._reach = reach
        self._headers = {"user-agent": "mindcone", "accept-encoding": "identity", **headers}
        self._first_byte_seconds = first_byte_seconds
        self._idle_seconds = idle_seconds
        # Reading is timed by `Reply`, which tells the first byte from the others.
        self._timeout = httpx.Timeout(first_byte_seconds, connect=connect_seconds, read=None)
        self._limits = httpx.Limits(max_connections=max_connections, keepalive_expiry=_KEEPALIVE_SECONDS)
        self._client: httpx.AsyncClient | None = None
        self._proxied = False

    async def open(self) -> None:
        encrypted = self._url.scheme == "https"
        # Reading the certificate store takes tens of milliseconds.
        tls = await asyncio.to_thread(httpx.create_ssl_context) if encrypted else False
        self._proxied = (proxy := _proxy_for(self._url)) is not None
        transport: httpx.AsyncHTTPTransport
        if proxy is None:
            transport = PinnedTransport(tls, self._limits, self._reach, encrypted=encrypted)
        else:
            transport = httpx.AsyncHTTPTransport(verify=tls, limits=self._limits, proxy=proxy)
        self._client = httpx.AsyncClient(
            transport=transport,
            headers=self._headers,
            timeout=self._timeout,
            follow_redirects=False,
            trust_env=False,  # no .netrc: what identifies us is given here
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    @asynccontextmanager
    async def post(self, body: Mapping[str, Any], *, accept: str, url: str | None = None) -> AsyncIterator[Reply]:
        """The reply, once its status is good. Leaving the block closes the connection unless it was read to its end.
        `url` is another address of the same origin.

        Raises ProviderError: by status (Busy, Down, Refused), Timeout, or Down when there is no connection.
        """
        if self._client is None:
            raise RuntimeError("open() comes first")
        if self._proxied and _is_number(self._url.host):
            check([self._url.host], self._reach, encrypted=self._url.scheme == "https")
        address = self._url if url is None else httpx.URL(url)
        if address.host != self._url.host or address.port != self._url.port or address.scheme != self._url.scheme:
            raise ConfigurationError("A key goes to its own origin only.")
        deadline = time.monotonic() + self._first_byte_seconds
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        request = self._client.build_request(
            "POST", address, content=content, headers={"content-type": "application/json", "accept": accept}
        )
        with _in_our_words():
            async with asyncio.timeout(self._first_byte_seconds):
                response = await self._client.send(request, stream=True)
        try:
            reply = Reply(response, deadline, self._idle_seconds)
            if not response.is_success:
                raise await _refusal(response, reply)
            yield reply
        finally:
            await response.aclose()


def _proxy_for(url: httpx.URL) -> str | None:
    """The proxy that the environment names for this address; it is for the outside world."""
    if is_this_machine(url.host) or proxy_bypass(url.host):
        return None
    proxies = getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


def _is_number(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()


class Reply:
    """A reply that is still arriving. The first byte of its body has until `deadline` (of `time.monotonic`)."""

    def __init__(self, response: httpx.Response, deadline: float, idle_seconds: float) -> None:
        self._response = response
        self._deadline = deadline
        self._idle_seconds = idle_seconds
        self._body = response.aiter_bytes()

    @property
    def media_type(self) -> str:
        content_type: str = self._response.headers.get("content-type", "")
        return content_type.partition(";")[0].strip().lower()

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The body as it comes. Raises ProviderTimeout when it stalls, ProviderDown when it is cut, ProviderGarbled
        when it does not end.
        """
        left_bytes = _MAX_REPLY_BYTES
        allowance_seconds = self._deadline - time.monotonic()
        while True:
            with _in_our_words():
                async with asyncio.timeout(allowance_seconds):
                    chunk = await anext(self._body, None)
            if chunk is None:
                return
            left_bytes -= len(chunk)
            if left_bytes < 0:
                raise ProviderGarbled("The provider's answer is too large.", limit_bytes=_MAX_REPLY_BYTES)
            yield chunk
            allowance_seconds = self._idle_seconds

    async def read(self, max_bytes: int) -> bytes:
        """The whole body. Raises ProviderGarbled when it is larger."""
        body = bytearray()
        async with aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) > max_bytes:
                    raise ProviderGarbled("The provider's answer is too large.", limit_bytes=max_bytes)
        return bytes(body)

    async def drain(self, seconds: float) -> None:
        """Read the rest when it comes at once, so that the connection goes back to the pool."""
        with suppress(ProviderError, TimeoutError):
            async with asyncio.timeout(seconds), aclosing(self.chunks()) as chunks:
                async for _ in chunks:
                    pass


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Turns httpx's exceptions and a passed deadline into ours, without hosts or addresses in the message."""
    try:
        yield
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ProviderTimeout from error
    except httpx.DecodingError as error:
        raise ProviderGarbled from error
    except httpx.TransportError as error:
        raise ProviderDown from error


async def _refusal(response: httpx.Response, reply: Reply) -> ProviderError:
    try:
        body = await reply.read(_MAX_ERROR_BYTES)
    except ProviderError:  # the status says enough
        body = b""
    wait = {} if "retry-after" in response.headers else _delay_in(body)
    return status_error(response.status_code, {**response.headers, **wait}, upstream_code(body))


def _delay_in(body: bytes) -> dict[str, str]:
    """Gemini says in the body how long to wait: `"retryDelay": "34s"`."""
    found = _RETRY_DELAY.search(body)
    return {"retry-after": found[1].decode()} if found else {}


def upstream_code(body: bytes) -> str | None:
    """The provider's own short code for an error. Its message is left out: it may quote the prompt or the key."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict) and isinstance(found.get("error"), dict):
        found = found["error"]
    values = (found.get("code"), found.get("type"), found.get("status")) if isinstance(found, dict) else ()
    return next((v for v in values if isinstance(v, str) and _IDENTIFIER.fullmatch(v)), None)


def status_error(status: int, headers: Mapping[str, str], upstream: str | None = None) -> ProviderError:
    """The error for an HTTP status, in spec/conversation.md's retry set or not."""
    said = f"HTTP {status}, {upstream}" if upstream else f"HTTP {status}"
    extra: dict[str, Any] = {"upstream_status": status, "upstream_code": upstream}
    wait_seconds = retry_after_seconds(headers)
    if status in (409, 429, 529) or (status >= 500 and wait_seconds is not None):
        return ProviderBusy(
            f"The provider asks to come back later ({said}).", retry_after_seconds=wait_seconds, **extra
        )
    if status in (408, 504):
        return ProviderTimeout(f"The provider did not answer in time ({said}).", **extra)
    if status >= 500:
        return ProviderDown(f"The provider fails ({said}).", **extra)
    return ProviderRefused(f"The provider refused the request ({said}).", **extra)


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """`retry-after-ms`, else `retry-after` in seconds or as a date; None when neither makes sense."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=clock.now().tzinfo)
    return max(0.0, (at - clock.now()).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
