"""The command that shows what the router decides."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, BinaryIO

import typer

from app.commands.common import JsonOption, out, quiet_settings, services, workspace_id_of
from app.core import loop
from app.retrieval.route import route
from app.retrieval.types import Question, Route

app = typer.Typer()
Deciding = Callable[[str], Awaitable[Route]]


@app.command("route")
def show_route(
    question: Annotated[str, typer.Argument(help="A question, or - for one per line of standard input")] = "-",
    workspace: Annotated[
        str | None, typer.Option("--workspace", help="Slug: with the gates of this workspace; none without it")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say at which level a question would be answered, and why. Needs no database, unless a workspace is named."""
    asked = _lines(sys.stdin.buffer) if question == "-" else iter([question])

    def tell(query: str, decision: Route) -> None:
        if as_json or question == "-":
            print(json.dumps(told(query, decision), ensure_ascii=False), flush=True)
        else:
            _show(decision)

    if workspace is None:
        for query in asked:
            tell(query, route(query, None))
        return

    async def work() -> None:
        async with _deciding(workspace) as decide:
            for query in asked:
                tell(query, await decide(query))

    loop.run(work())


def told(query: str, decision: Route) -> dict[str, Any]:
    return {
        "query": query,
        "level": decision.level.name,
        "reason": decision.reason,
        "confidence": decision.confidence,
        "gates": list(decision.gates),
        "escalated_from": None if decision.escalated_from is None else decision.escalated_from.name,
    }


def _lines(stream: BinaryIO) -> Iterator[str]:
    """Lines end with a line feed and nothing else, so that one question is one object."""
    for line in stream:
        yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")


@asynccontextmanager
async def _deciding(workspace: str) -> AsyncIterator[Deciding]:
    with quiet_settings() as (settings, dsn):
        async with services(settings, dsn) as opened:
            workspace_id = await workspace_id_of(opened.database, workspace)

            async def decide(query: str) -> Route:
                return await opened.retriever.route(workspace_id, Question(query))

            yield decide


def _show(decision: Route) -> None:
    gates = f", gates: {', '.join(decision.gates)}" if decision.gates else ""
    out.print(
        f"{decision.level.name}  ({decision.reason}, confidence {decision.confidence:.2f}{gates})", highlight=False
    )
