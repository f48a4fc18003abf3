"""How much of what a text states is found in its cone: the share of anchors that appear in a point or a description.

    python -m bench.coverage --folder ../shared/data/evolving_events --folder …

Reads BEIR-style folders (`corpus.jsonl`). `--guard off` measures the builder alone; chunks hold the whole text, so what
is in none of the points is still found through them. Prints the misses by kind, with their surroundings.
"""

from __future__ import annotations

import argparse
import json
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from app.ingestion.chunk import chunk
from app.ingestion.cone.build import build_episodes
from app.ingestion.cone.cover import cover, texts_of, uncovered
from app.ingestion.cone.look import look
from app.ingestion.cone.phrases import width
from app.ingestion.extract.types import EpisodeDraft, Source
from app.text.anchors import anchors


def told(episodes: Sequence[EpisodeDraft]) -> list[str]:
    """Points and descriptions."""
    facets = [facet for episode in episodes for facet in episode.facets]
    return [text for facet in facets for text in (facet.description, *(point.text for point in facet.points))]


def read(folder: Path) -> Iterator[tuple[str, str]]:
    """Title and text of every document; turns of one conversation's session are one document."""
    groups: dict[str, tuple[str, list[str]]] = {}
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            about = row.get("metadata") or {}
            spoken = "speaker" in about
            key = f"{about.get('conv')}/{about.get('session')}" if spoken else str(number)
            _, texts = groups.setdefault(key, (row["title"], []))
            texts.append(f"{about['speaker']}: {row['text']}" if spoken else row["text"])
    for title, texts in groups.values():
        yield title, "\n".join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, action="append", required=True)
    parser.add_argument("--guard", choices=("on", "off"), default="on")
    parser.add_argument("--misses", type=int, default=20, help="how many misses to print")
    asked = parser.parse_args()
    for folder in asked.folder:
        measure(folder, asked.guard == "on", asked.misses)


def measure(folder: Path, guarded: bool, misses: int) -> None:
    total: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    nowhere = untitled = 0
    added: Counter[str] = Counter()
    shown: list[str] = []
    points = cards = 0
    words = seconds = 0.0
    for title, text in read(folder):
        source = Source(uuid.uuid4(), title, text, datetime.now(UTC))
        view = look(source)
        began = time.process_time()
        episodes = build_episodes(source, view)
        if guarded:
            episodes = cover(source, episodes, view, added)
        seconds += time.process_time() - began
        cards += 1
        words += width(text)
        points += sum(len(facet.points) for episode in episodes for facet in episode.facets)
        found = anchors(text)
        total.update(anchor.kind for anchor in found)
        missing = uncovered(text, texts_of(episodes))
        untitled += len(uncovered(text, told(episodes)))
        lost.update(anchor.kind for anchor in missing)
        chunks = [part.text for part in chunk(text, len, 1200, 2000)]
        nowhere += len(uncovered(text, [*texts_of(episodes), *chunks]))
        for anchor in missing:
            around = text[max(0, anchor.start - 60) : anchor.end + 40].replace("\n", "⏎")
            shown.append(f"  {anchor.kind:10} {anchor.text!r} … {around}")
    all_, missed = sum(total.values()), sum(lost.values())
    pace = 1000 * seconds / (words / 200)
    strictly, cone, cone_or_chunk = (1 - lacking / max(1, all_) for lacking in (untitled, missed, nowhere))
    print(f"{folder.name}: {cards} cards, {all_} anchors, {points} points, {pace:.2f} ms per 200 words")
    print(f"  in points or descriptions {strictly:.2%}, with titles {cone:.2%}, with chunks {cone_or_chunk:.2%}")
    print(f"  by kind: {dict(total)}; missed: {dict(lost)}; brought back: {dict(added)}")
    print("\n".join(shown[:misses]))


if __name__ == "__main__":
    main()
