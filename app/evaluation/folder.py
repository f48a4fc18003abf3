"""Reads a BEIR-style folder: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv`. Knows nothing of retrieval."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from app.core.errors import Invalid
from app.text.when import find_date

Split = Literal["all", "tune", "report"]


class BadFolder(Invalid):
    """This folder is not a labelled set."""

    code = "bad_folder"


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str
    metadata: Mapping[str, Any]

    @property
    def date(self) -> datetime | None:
        """When the text speaks from, as its metadata says."""
        for key in ("created_at", "date", "date_time"):
            if isinstance(written := self.metadata.get(key), str):
                return find_date(written)
        return None


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    id: str
    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """`gold`: query id to the ids of relevant documents; `groups`: document to what it counts as."""

    documents: Sequence[Document]
    queries: Sequence[LabelledQuery]
    gold: Mapping[str, frozenset[str]]
    groups: Mapping[str, str]


def read_folder(
    folder: Path,
    corpus: Path | None = None,
    queries: Path | None = None,
    qrels: Path | None = None,
    groups: Path | None = None,
    split: Split = "all",
) -> LabelledSet:
    """The set in `folder`; single files may lie elsewhere. Only queries that have gold are kept.

    `split` takes half of the queries, by a hash of their ids: `tune` and `report` never overlap.
    Raises BadFolder.
    """
    documents = [
        Document(str(row["_id"]), str(row.get("title") or ""), str(row.get("text") or ""), row.get("metadata") or {})
        for row in _rows(corpus or folder / "corpus.jsonl")
    ]
    gold = _gold(qrels or folder / "qrels.tsv")
    asked = [
        LabelledQuery(str(row["_id"]), str(row["text"]), row.get("metadata") or {})
        for row in _rows(queries or folder / "queries.jsonl")
        if str(row["_id"]) in gold and (split == "all" or half(str(row["_id"])) == split)
    ]
    kept = {query.id for query in asked}
    return LabelledSet(
        documents,
        asked,
        {query: docs for query, docs in gold.items() if query in kept},
        _pairs(groups) if groups else {},
    )


def half(query_id: str) -> Split:
    """Which half of the questions this one belongs to."""
    return "tune" if hashlib.blake2b(query_id.encode(), digest_size=1).digest()[0] % 2 else "report"


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict) or "_id" not in row:
                        raise BadFolder(f"{path.name}, line {number}: an object with `_id` is expected.")
                    yield row
    except FileNotFoundError as error:
        raise BadFolder(f"{path} does not exist.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadFolder(f"{path.name} is not JSON lines in UTF-8.") from error


def _gold(path: Path) -> dict[str, frozenset[str]]:
    gold: dict[str, set[str]] = defaultdict(set)
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            next(rows, None)
            for row in rows:
                if len(row) >= 3 and float(row[2]) > 0:
                    gold[row[0]].add(row[1])
    except FileNotFoundError as error:
        raise BadFolder(f"{path} does not exist.") from error
    except ValueError as error:
        raise BadFolder(f"{path.name}: the third column must be a number.") from error
    return {query: frozenset(docs) for query, docs in gold.items()}


def _pairs(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return {row[0]: row[1] for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if len(row) >= 2}
