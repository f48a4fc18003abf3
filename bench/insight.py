"""What level insight says of a whole collection, without a model: answers to global questions, and what they touch.

    python -m bench.insight novella ../shared/data/graphrag_carol/text_units.csv NOTES   # the novella as notes
    mindcone import NOTES                                                               # (MINDCONE_DATA_DIR=DIR)
    python -m bench.insight ask DIR [--questions zh|en|novella] [--full]

`ask` prints the answers for whoever wants to judge them, and measures the coverage of "main themes": the share of the
20 largest communities that the answer cites, or a part of which it does.
"""

from __future__ import annotations

import argparse
import csv
import re
import uuid
from contextlib import aclosing
from pathlib import Path
from typing import Final

from sqlalchemy import text

from app.chat.answer import Answer, Ask
from app.core import log, loop
from app.retrieval.types import Level
from app.settings import Settings
from app.wiring import Services, database_url, open_services

TOP: Final = 20
QUESTIONS: Final = {
    "zh": [
        "这些笔记主要讲什么？",
        "我的笔记里关于减脂的主要观点是什么？",
        "关于笔记方法，我反复提到哪些人和工具？",
        "作者如何看待 Obsidian 和 logseq？",
        "我写过哪些关于时间管理和效率的看法？",
    ],
    "en": [
        "What are the main themes of these notes?",
        "What do the notes say about plugins overall?",
        "What do the notes say about queries?",
        "Which people are mentioned across all notes, and for what?",
        "How do the notes describe sync and encryption?",
    ],
    "novella": [
        "What is this story mainly about?",
        "Who are the main characters and how are they connected?",
        "What do the notes say about Scrooge's change?",
        "What role do the spirits play across the whole book?",
        "What is said about the Cratchit family?",
    ],
}
NOTHING: Final = {"zh": "关于深海钻探的主要观点有哪些？", "en": "What do my notes say about volcanoes?"}
_WORDS_PER_NOTE: Final = 900
_STAVE = re.compile(r"^\s*STAVE (ONE|TWO|THREE|FOUR|FIVE)\b.*$", re.MULTILINE)


def novella(source: Path, folder: Path) -> None:
    """The text units put together again, one note per few pages."""
    csv.field_size_limit(1 << 30)
    with source.open(encoding="utf-8", newline="") as lines:
        rows = sorted(csv.DictReader(lines), key=lambda row: int(row["human_readable_id"]))
    whole = ""
    for row in rows:
        piece = row["text"].split("\n", 1)[1] if row["text"].startswith("title:") else row["text"]
        overlap = next((n for n in range(min(len(whole), len(piece)), 0, -1) if whole.endswith(piece[:n])), 0)
        whole += piece[overlap:]
    start, end = whole.find("*** START"), whole.find("*** END")
    whole = whole[start if start > 0 else 0 : end if end > 0 else len(whole)].replace("\r", "")
    folder.mkdir(parents=True, exist_ok=True)
    staves = list(_STAVE.finditer(whole))
    # The table of contents names them, too: the last five are the chapters.
    staves = staves[-5:]
    for place, stave in enumerate(staves):
        until = staves[place + 1].start() if place + 1 < len(staves) else len(whole)
        paragraphs = [" ".join(one.split()) for one in re.split(r"\n\s*\n", whole[stave.end() : until]) if one.strip()]
        notes: list[list[str]] = [[]]
        for paragraph in paragraphs:
            if sum(len(one.split()) for one in notes[-1]) > _WORDS_PER_NOTE:
                notes.append([])
            notes[-1].append(paragraph)
        for number, note in enumerate(notes, 1):
            name = f"Stave {place + 1}, part {number:02}"
            (folder / f"{name}.md").write_text("\n\n".join(note) + "\n", encoding="utf-8")
    print(f"{len(list(folder.glob('*.md')))} notes of {len(whole.split())} words in {folder}")


async def ask(settings: Settings, dsn: str, which: str, full: bool) -> None:
    async with open_services(settings, dsn) as services:
        workspace_id = services.default_workspace
        for query in [*QUESTIONS[which], NOTHING["zh" if which == "zh" else "en"]]:
            answer = await answered(services, workspace_id, query)
            trace = answer.evidence.insight.trace if answer.evidence.insight else {}
            print(f"\n## {query}\n")
            print(answer.text if full else "\n".join(line[:300] for line in answer.text.splitlines()))
            kinds = [one.kind for one in answer.citations]
            print(
                f"\n({kinds.count('report')} reports, {kinds.count('card')} cards cited; "
                f"{trace.get('reports_read')} of {trace.get('reports_considered')} reports read; "
                f"{answer.timings_ms['total']:.0f} ms)"
            )
        overview = await answered(services, workspace_id, QUESTIONS[which][0])
        await coverage(services, workspace_id, overview)


async def answered(services: Services, workspace_id: uuid.UUID, query: str) -> Answer:
    asked = Ask(query, Level.insight, provider="offline")
    async with aclosing(services.answering.stream(workspace_id, asked)) as events:
        async for event in events:
            if isinstance(event, Answer):
                return event
    raise RuntimeError("no answer")


async def coverage(services: Services, workspace_id: uuid.UUID, answer: Answer) -> None:
    """Of the largest communities of the top level: cited, or a part of theirs is."""
    async with services.database.read() as session:
        rows = await session.execute(
            text("SELECT id, parent_id, level, size FROM communities WHERE workspace_id = :w"), {"w": workspace_id}
        )
        communities = {row[0]: row for row in rows}
    if not communities:
        print("no communities")
        return
    touched: set[uuid.UUID] = set()
    for citation in answer.citations:
        at: uuid.UUID | None = citation.id if citation.kind == "report" else None
        while at is not None and at in communities:
            touched.add(at)
            at = communities[at][1]
    top = sorted((one for one in communities.values() if one[2] == 0), key=lambda one: (-one[3], one[0]))
    largest = sorted(communities.values(), key=lambda one: (-one[3], one[0]))[:TOP]
    entities = sum(one[3] for one in top)
    said = sum(one[3] for one in top if one[0] in touched)
    found = sum(one[0] in touched for one in top[:TOP])
    at_all = sum(one[0] in touched or one[1] in touched for one in largest)
    print(
        f"\ncoverage: {found} of the {min(TOP, len(top))} largest top-level communities "
        f"({found / min(TOP, len(top)):.2f}); {at_all} of the {len(largest)} largest of all levels, itself or what it "
        f"is part of; {said / entities:.2f} of the {entities} entities are in what is told; "
        f"{len(top)} communities on top, {len(communities)} in all"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    notes = commands.add_parser("novella")
    notes.add_argument("source", type=Path)
    notes.add_argument("folder", type=Path)
    asking = commands.add_parser("ask")
    asking.add_argument("data_dir", type=Path)
    asking.add_argument("--questions", choices=sorted(QUESTIONS), default="zh")
    asking.add_argument("--full", action="store_true", help="Answers uncut")
    chosen = parser.parse_args()
    if chosen.command == "novella":
        novella(chosen.source, chosen.folder)
        return
    log.configure("WARNING")
    settings = Settings(data_dir=chosen.data_dir, sample="off")
    with database_url(settings) as dsn:
        loop.run(ask(settings, dsn, chosen.questions, chosen.full))


if __name__ == "__main__":
    main()
