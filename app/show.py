"""How the command line prints what was found. Knows nothing of how it was found."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.tree import Tree

from app.chat.answer import Answer
from app.doctor.examine import Report
from app.retrieval.types import Evidence

_LABEL_CHARS: Final = 150


def evidence(out: Console, found: Evidence) -> None:
    """Hits with the passage that made them hits."""
    route = found.route
    spent = found.timings_ms.get("total", 0.0)
    out.print(f"[dim]level {route.level.name} ({route.reason}), {spent:.0f} ms[/dim]")
    for flag in found.degraded:
        out.print(f"[yellow]degraded[/yellow]: {flag}")
    if not found.hits:
        out.print("Nothing found.")
    if found.reports:
        out.print(reports(found), highlight=False)
    for hit in found.hits:
        legs = " ".join(f"{leg} {rank}" for leg, rank in hit.ranks.items() if rank is not None)
        out.print(f"[bold]{hit.rank}. {escape(hit.card.title)}[/bold]  [dim]{hit.score:.3f}  {legs}[/dim]")
        if hit.paths:
            out.print(Padding(paths(hit.paths), (0, 0, 0, 3)), highlight=False)
        else:
            out.print(f"   {escape(hit.snippet)}", highlight=False)
    if found.hits and found.nothing_relevant:
        out.print("[yellow]Nothing here seems to answer that.[/yellow]")


def reports(found: Evidence) -> Tree:
    """Reports with what they say to the question, and the cards that they say it of."""
    titles = {str(hit.card.id): hit.card.title for hit in found.hits}
    root = Tree("[dim]reports[/dim]", guide_style="dim")
    for report in found.reports:
        stale = " [yellow]written before the latest changes[/yellow]" if report["is_stale"] else ""
        about = f"[dim]rating {report['rating']:g}, {report['size']} names, score {report['score']:.2f}[/dim]"
        branch = root.add(f"[bold]{escape(report['title'])}[/bold]  {about}{stale}")
        for point in report["points"]:
            leaf = branch.add(escape(_short(point["text"])))
            for card_id in point["card_ids"]:
                if card_id in titles:
                    leaf.add(f"[dim]card[/dim] {escape(titles[card_id])}")
    return root


def paths(found: Sequence[Mapping[str, Any]]) -> Tree:
    """The ways on which a card was found, as a tree: what they have in common stands once. The card itself is left
    out, and costs are shown where a way branches off.
    """
    root = Tree("", guide_style="dim", hide_root=True)
    grown: dict[tuple[str, ...], Tree] = {(): root}
    for path in found:
        steps = list(path["steps"][:-1])
        if steps and steps[0]["node"]["kind"] == "point":
            # From the tip of the cone to its base; a person reads it from its base.
            steps.reverse()
        at: tuple[str, ...] = ()
        for number, step in enumerate(steps):
            parent, at = at, (*at, str(step["node"]["id"]))
            if at not in grown:
                grown[at] = grown[parent].add(_step(step, steps[number - 1]["edge"] if number else None))
    return root


def _step(step: Mapping[str, Any], by: Mapping[str, Any] | None) -> str:
    """What was reached, what it costs, and the sentence that led `by` here."""
    node, edge = step["node"], step["edge"]
    told = f"[cyan]{node['kind']}[/cyan] {escape(_short(str(node['label'])))} [dim]{edge['cost']:+.2f}[/dim]"
    if by and by["kind"] in ("relation", "claim", "finding"):
        told += f"\n[dim]because “{escape(_short(str(by['text'])))}”[/dim]"
    return told


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LABEL_CHARS else line[: _LABEL_CHARS - 1].rstrip() + "…"


def sources(out: Console, answer: Answer) -> None:
    """What the answer's markers point to, the path that found it, and what it cost."""
    titles = {hit.card.id: hit for hit in answer.evidence.hits}
    named = {uuid.UUID(report["id"]): report["title"] for report in answer.evidence.reports}
    shown: set[uuid.UUID] = set()
    for citation in answer.citations:
        hit = titles.get(citation.id)
        place = "" if citation.start is None else f" {citation.start}-{citation.end}"
        title = escape(hit.card.title if hit else named.get(citation.id) or f"“{_short(citation.quote)}”")
        if citation.kind == "report":
            title = f"[dim]report[/dim] {title}"
        out.print(f"  [cyan]\\[{citation.marker}][/cyan] {title}[dim]{place}[/dim]")
        if hit and hit.card.id in shown:
            continue
        shown.add(citation.id)
        if hit and hit.paths:
            out.print(Padding(paths(hit.paths[:1]), (0, 0, 0, 6)), highlight=False)
        elif hit and citation.kind == "card":
            legs = ", ".join(f"{leg} rank {rank}" for leg, rank in hit.ranks.items() if rank is not None)
            out.print(f"      [dim]path: question → {legs} → card (score {hit.score:.3f})[/dim]", highlight=False)
    route, usage = answer.evidence.route, answer.usage
    for flag in answer.evidence.degraded:
        out.print(f"  [yellow]degraded[/yellow]: {flag}")
    out.print(
        f"  [dim]level {route.level.name} ({route.reason}) · {answer.provider}/{answer.model} · "
        f"{answer.ledger.total_tokens} prompt tokens of {answer.ledger.window_tokens} · "
        f"{usage.output_tokens} answer tokens · {answer.timings_ms['total']:.0f} ms[/dim]\n",
        highlight=False,
    )


def report(out: Console, found: Report) -> None:
    """The examination as a table; what is wrong stands out."""
    server = found.checks["server"]
    out.print(
        f"PostgreSQL {server['postgres']}, pgvector {server['pgvector']}, "
        f"schema {found.checks['schema']['current']}, "
        f"{server['connections']} of {server['max_connections']} connections, "
        f"{server['jobs_queued']} jobs queued, {server['jobs_failed']} failed",
        highlight=False,
    )
    table = Table("invariant", "count")
    for name, count in found.invariants.items():
        table.add_row(name, f"[red]{count}[/red]" if count else "0")
    out.print(table)
    for name, value in found.checks.get("problems", {}).items():
        out.print(f"[red]problem[/red] {name}: {escape(str(value))}")
    out.print("[green]healthy[/green]" if found.ok else "[red]not healthy[/red]")
