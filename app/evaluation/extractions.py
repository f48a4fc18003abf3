"""Ready extractions for a labelled set: episodes as `POST /episodes` takes them, or triples. Knows no pipeline."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.evaluation.folder import BadFolder, Document
from app.ingestion.posting import CardRef, EpisodePost
from app.text.when import find_date

Extractions = Mapping[str, Sequence[EpisodePost]]
"""By the id of the document, which is its card's external id."""


def read_episodes(path: Path) -> Extractions:
    """Items of `POST /episodes`, one a line; `card.external_id` (or else the item's own) is the document's id.

    Raises BadFolder.
    """
    found: dict[str, list[EpisodePost]] = defaultdict(list)
    for number, item in _rows(path):
        card = (item.get("card") or {}).get("external_id") or item.get("external_id")
        if not isinstance(card, str) or not item.get("title"):
            raise BadFolder(f"{path.name}, line {number}: a title and card.external_id are expected.")
        body = {name: item[name] for name in ("title", "summary", "facets", "entities", "relations") if item.get(name)}
        occurred = find_date(item["occurred_at"]) if isinstance(item.get("occurred_at"), str) else None
        if occurred is not None:
            body["occurred_at"] = occurred.isoformat()
        found[card].append(
            EpisodePost(CardRef(external_id=card), item.get("external_id"), bool(item.get("complete")), body)
        )
    return found


def read_triples(path: Path, documents: Sequence[Document]) -> Extractions:
    """Lines `{pid, s, p, o}`: the relations of the document `pid`. Raises BadFolder."""
    relations: dict[str, list[dict[str, str]]] = defaultdict(list)
    for number, row in _rows(path):
        parts = [row.get(name) for name in ("pid", "s", "p", "o")]
        if not all(isinstance(part, str) for part in parts):
            raise BadFolder(f"{path.name}, line {number}: pid, s, p and o are expected.")
        pid, source, predicate, target = map(str, parts)
        if source.strip() and target.strip():
            relations[pid].append({"source": source.strip(), "predicate": predicate.strip(), "target": target.strip()})
    titles = {document.id: document.title or document.text[:100] for document in documents}
    return {
        pid: [EpisodePost(CardRef(external_id=pid), None, False, {"title": titles[pid], "relations": told})]
        for pid, told in relations.items()
        if pid in titles
    }


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise BadFolder(f"{path.name}, line {number}: an object is expected.")
                    yield number, row
    except FileNotFoundError as error:
        raise BadFolder(f"{path} does not exist.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadFolder(f"{path.name} is not JSON lines in UTF-8.") from error
