"""A provider that misbehaves on request: a small HTTP server that speaks all three dialects.

Which one, the path says: `…/chat/completions`, `…/messages`, `…/models/<model>:streamGenerateContent`.
Tests run against it, and users try their set-up with `mindcone fake-provider`. It counts what it is asked,
notices when a client goes away, and plays the scripts of `fake_script`. Raw asyncio, because no web framework
can break its protocol on purpose.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Literal, Self
from urllib.parse import parse_qs, unquote, urlsplit

from app.providers.fake_anthropic import AnthropicFake
from app.providers.fake_gemini import GeminiFake
from app.providers.fake_openai import OpenAIFake
from app.providers.fake_script import FAULTS, FakeDialect, Fault, Pause, Said, Script, as_json, refused, script
from app.providers.ports import Message
from app.providers.specs import Dialect

_MAX_HEAD_BYTES: Final = 1 << 16
_MAX_BODY_BYTES: Final = 64 << 20

Outcome = Literal["open", "sent", "cut", "client_gone"]
Answer = Callable[[Mapping[str, Any]], str | Said | None]

DIALECTS: Final[Mapping[Dialect, FakeDialect]] = {
    "openai": OpenAIFake(),
    "anthropic": AnthropicFake(),
    "gemini": GeminiFake(),
}


@dataclass(slots=True, eq=False)
class Exchange:
    """One request and what became of its reply. `ended` is set when nothing more will be sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    raw: bytes = b""
    outcome: Outcome = "open"
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def dialect(self) -> Dialect | None:
        """None for what is no request for an answer."""
        if self.method != "POST":
            return None
        if self.path.endswith("/chat/completions"):
            return "openai"
        if self.path.endswith("/messages"):
            return "anthropic"
        is_gemini = self.path.endswith((":streamGenerateContent", ":generateContent"))
        return "gemini" if is_gemini else None

    @property
    def model(self) -> str:
        if self.dialect == "gemini":
            return unquote(self.path.rpartition(":")[0].rpartition("/")[2])
        return str(self.body.get("model", ""))

    @property
    def wants_stream(self) -> bool:
        if self.dialect == "gemini":
            return self.path.endswith(":streamGenerateContent")
        return bool(self.body.get("stream"))

    @property
    def messages(self) -> list[Message]:
        """What was asked, as the port has it."""
        return DIALECTS[self.dialect].heard(self.body) if self.dialect else []


class _ClientGone(Exception):
    pass


def echo(body: Mapping[str, Any]) -> str:
    """The answer where none was given: the last thing the user said."""
    said = [message.content for message in heard(body) if message.role == "user"]
    return f"You said: {said[-1] if said else 'nothing'}"


def heard(body: Mapping[str, Any]) -> list[Message]:
    """The conversation in the body of any dialect, for answers that depend on it."""
    is_anthropic = "system" in body or any(_has_blocks(said) for said in body.get("messages") or ())
    return DIALECTS["gemini" if "contents" in body else "anthropic" if is_anthropic else "openai"].heard(body)


def _has_blocks(said: Any) -> bool:
    content = said.get("content") if isinstance(said, dict) else None
    return isinstance(content, list) and said.get("role") != "tool"


class FakeProvider:
    """`async with FakeProvider() as fake:` serves `fake.base_url` until the block is left.

    `answer` makes the answer from the request's body, with a fault of its own if it likes (the request's goes first);
    with `api_key` set, others get 401. `faults` are played one per request, in their order, where the request asks for
    none; `ok` is none.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        answer: Answer = echo,
        api_key: str | None = None,
        faults: Sequence[str] = (),
    ) -> None:
        self._host = host
        self._port = port
        self.answer = answer
        self._api_key = api_key
        self._planned = [Fault() if fault == "ok" else Fault.parse(fault) for fault in faults]
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self._fault_counts: Counter[str] = Counter()
        self.exchanges: list[Exchange] = []
        self._arrived = asyncio.Condition()
        self.connections = 0

    @property
    def base_url(self) -> str:
        if self._server is None:
            raise RuntimeError("the server is not running")
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}/v1"

    @property
    def root_url(self) -> str:
        """The same without `/v1`, as base URLs of the other dialects have it."""
        return self.base_url.removesuffix("/v1")

    def asked(self, model: str | None = None) -> int:
        """How many completions were asked for, of `model` or of all."""
        return sum(1 for e in self.exchanges if e.method == "POST" and model in (None, e.model))

    async def wait_for_request(self, number: int = 1) -> Exchange:
        """The request of that number, counted from 1, as soon as it is there."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.exchanges) >= number)
        return self.exchanges[number - 1]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self._host, self._port, limit=_MAX_HEAD_BYTES)
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        self._server = None

    async def serve_forever(self) -> None:
        if self._server is not None:
            await self._server.serve_forever()

    # ------------------------------------------------------------------------------ connection

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)
        self.connections += 1
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        except asyncio.CancelledError:  # only `__aexit__` does that
            pass
        finally:
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request. False when the connection is of no use any more."""
        exchange, query = await _read_request(reader)
        self.exchanges.append(exchange)
        async with self._arrived:
            self._arrived.notify_all()
        try:
            await self._play(self._script(exchange, query), exchange, reader, writer)
        except (_ClientGone, ConnectionError):
            exchange.outcome = "client_gone"
        finally:
            exchange.ended.set()
        return exchange.outcome == "sent"

    def _script(self, exchange: Exchange, query: Mapping[str, Sequence[str]]) -> Script:
        plain = {"content-type": "application/json"}
        if exchange.method == "GET" and exchange.path.endswith("/models"):
            models = [{"id": f"fault:{name}", "object": "model", "description": what} for name, what in FAULTS.items()]
            return Script(
                200, plain, [as_json({"object": "list", "data": [{"id": "fake", "object": "model"}, *models]})]
            )
        if exchange.method == "GET" and exchange.path.endswith("/requests"):
            seen = [
                {"path": e.path, "dialect": e.dialect, "model": e.model, "outcome": e.outcome} for e in self.exchanges
            ]
            return Script(200, plain, [as_json(seen)])
        if exchange.dialect is None:
            return refused(DIALECTS["openai"], 404, "There is no such address.")
        dialect = DIALECTS[exchange.dialect]
        if self._api_key and dialect.key(exchange.headers) != self._api_key:
            return refused(dialect, 401, "Wrong key.")
        problem = dialect.problem(exchange.body, exchange.headers)
        if problem is not None:
            return refused(dialect, 400, problem)
        said = self.answer(exchange.body)
        if not isinstance(said, Said):
            said = Said(said)
        fault = self._fault(exchange, query)
        if not fault.kind and said.fault:
            fault = Fault.parse(said.fault)
        return script(dialect, fault, exchange.body, said, model=exchange.model, stream=exchange.wants_stream)

    def _fault(self, exchange: Exchange, query: Mapping[str, Sequence[str]]) -> Fault:
        asked = exchange.headers.get("x-fault") or "".join(query.get("fault", ()))
        if exchange.model.startswith("fault:"):
            asked = exchange.model.removeprefix("fault:")
        if not asked:
            return self._planned.pop(0) if self._planned else Fault()
        try:
            fault = Fault.parse(asked)
        except ValueError:
            return Fault("404")
        self._fault_counts[asked] += 1
        return fault if self._fault_counts[asked] <= fault.number("times", float("inf")) else Fault()

    # ------------------------------------------------------------------------------------ play

    async def _play(
        self, played: Script, exchange: Exchange, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        # While we speak a client has nothing to say: the first thing heard is that it went away.
        gone = asyncio.ensure_future(reader.read(1))
        try:
            if played.before_headers:
                await _pause(played.before_headers.seconds, gone)
            head = f"HTTP/1.1 {played.status} Fake\r\ntransfer-encoding: chunked\r\n"
            head += "".join(f"{name}: {value}\r\n" for name, value in played.headers.items())
            writer.write(head.encode() + b"\r\n")
            for step in played.steps:
                if isinstance(step, bytes):
                    writer.write(b"%x\r\n%b\r\n" % (len(step), step))
                    await writer.drain()
                    await _pause(0, gone)
                elif isinstance(step, Pause):
                    await _pause(step.seconds, gone)
                else:
                    _cut(step, writer)
                    exchange.outcome = "cut"
                    return
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await gone
        exchange.outcome = "sent"
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _pause(seconds: float, gone: asyncio.Future[bytes]) -> None:
    await asyncio.wait({gone}, timeout=seconds)
    if gone.done():
        raise _ClientGone


def _cut(how: Literal["close", "reset"], writer: asyncio.StreamWriter) -> None:
    if how == "reset":
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
    else:
        writer.close()


async def _read_request(reader: asyncio.StreamReader) -> tuple[Exchange, Mapping[str, Sequence[str]]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    request_line, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = request_line.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    size_bytes = int(headers.get("content-length", "0"))
    if size_bytes > _MAX_BODY_BYTES:
        raise ValueError("too large for a fake")
    raw = await reader.readexactly(size_bytes)
    url = urlsplit(target)
    body = json.loads(raw) if raw else {}
    return Exchange(method, url.path, headers, body if isinstance(body, dict) else {}, raw), parse_qs(url.query)
