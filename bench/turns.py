"""What a turn costs besides the model: from the question to the stored end, less the time that the model had.

    python -m bench.turns --data-dir DIR --texts FOLDER… [--workspace large] [--level search] [--turns 200]

DIR is a database that `bench.scale` has filled (or any other). The questions are those of the folders. The model is the
fake provider, which answers at once; its time is from the request's arrival to the last byte, and is taken off. Turns
go into conversations of ten turns each, with tools offered and memories recalled, one after the other. The first tenth
is not counted.
"""

from __future__ import annotations

import argparse
import json
import time
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from app.chat import queries
from app.chat.answer import Answer, Ask
from app.core import log, loop
from app.people import queries as people
from app.providers.fake import FakeProvider
from app.providers.ports import ChatEvent, ChatProvider, ChatRequest
from app.retrieval.types import Level
from app.settings import Settings
from app.wiring import Services, database_url, open_services
from bench.corpora import read_questions

TURNS_OF_ONE = 10


class Timed:
    """A provider, and how long it had the word."""

    def __init__(self, inner: ChatProvider) -> None:
        self._inner = inner
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatEvent]:
        waiting = time.perf_counter()
        async with aclosing(self._inner.stream(request)) as events:
            async for event in events:
                self.seconds += time.perf_counter() - waiting
                yield event
                waiting = time.perf_counter()


async def take(services: Services, workspace_id: uuid.UUID, conversation: uuid.UUID, ask: Ask) -> tuple[float, Answer]:
    """Seconds of the whole turn, and its answer."""
    started = time.perf_counter()
    run = await services.conversations.take_turn(workspace_id, conversation, None, ask, may_write=True)
    async with aclosing(run.follow()) as events:
        async for event in events:
            last = event
    seconds = time.perf_counter() - started
    assert isinstance(last, Answer), last
    return seconds, last


async def measure(services: Services, slug: str, questions: Sequence[str], level: Level) -> dict[str, Any]:
    provider = Timed(services.providers.get_provider("custom"))
    services.answering._providers = _Only(services.providers, provider)  # type: ignore[assignment]
    async with services.database.read() as session:
        workspace = await people.find_workspace(session, slug)
    workspace_id = workspace.id if workspace else services.default_workspace
    conversation: uuid.UUID | None = None
    took: list[float] = []
    retrieval: list[float] = []
    for n, question in enumerate(questions):
        if n % TURNS_OF_ONE == 0:
            async with services.database.unit() as session:
                conversation = (await queries.insert_conversation(session, workspace_id, None)).id
        assert conversation is not None
        provider.seconds = 0.0
        seconds, answer = await take(services, workspace_id, conversation, Ask(question, level))
        took.append((seconds - provider.seconds) * 1000)
        retrieval.append(answer.evidence.timings_ms.get("total", 0.0))
    counted, found = np.array(took[len(took) // 10 :]), np.array(retrieval[len(retrieval) // 10 :])
    return {
        "workspace": slug,
        "level": level.name,
        "turns": len(counted),
        "overhead_ms": {f"p{p}": round(float(np.percentile(counted, p)), 1) for p in (50, 95, 99)},
        "of_it_retrieval_ms": {f"p{p}": round(float(np.percentile(found, p)), 1) for p in (50, 95)},
        "beside_retrieval_ms": {f"p{p}": round(float(np.percentile(counted - found, p)), 1) for p in (50, 95)},
    }


class _Only:
    """The providers, with one of them timed."""

    def __init__(self, inner: Any, timed: Timed) -> None:
        self._inner = inner
        self._timed = timed

    def get_provider(self, name: str | None = None) -> Any:
        return self._timed if name in (None, "custom") else self._inner.get_provider(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def run(arguments: argparse.Namespace) -> dict[str, Any]:
    asked = read_questions(arguments.texts, arguments.turns, 7)
    questions = list(islice(cycle(asked), arguments.turns))
    async with FakeProvider(answer=lambda body: "It says so [1].") as fake:
        settings = Settings(
            data_dir=arguments.data_dir, sample="off", chat_provider="custom", chat_base_url=fake.base_url
        )
        with database_url(settings) as dsn:
            async with open_services(settings, dsn) as services:
                return await measure(services, arguments.workspace, questions, Level[arguments.level])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--texts", type=Path, nargs="+", required=True)
    parser.add_argument("--workspace", default="large")
    parser.add_argument("--level", default="search")
    parser.add_argument("--turns", type=int, default=200)
    arguments = parser.parse_args()
    log.configure("WARNING")
    print(json.dumps(loop.run(run(arguments)), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
