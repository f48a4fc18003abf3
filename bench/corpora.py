"""Texts and questions for the benchmarks, from BEIR-style folders. Seeded: the same arguments give the same texts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.evaluation.folder import Document, read_folder
from app.text.sentences import sentences


def read_documents(folders: Sequence[Path]) -> list[list[Document]]:
    """Documents of each folder; a file stands for a corpus that lies beside another one's questions."""
    return [
        list(read_folder(given.parent, corpus=given).documents if given.is_file() else read_folder(given).documents)
        for given in folders
    ]


def read_questions(folders: Sequence[Path], each: int, seed: int) -> list[str]:
    """Up to `each` distinct questions of every folder, mixed."""
    rng = random.Random(seed)
    asked: list[str] = []
    for given in folders:
        found = sorted({query.text for query in read_folder(given.parent if given.is_file() else given).queries})
        asked += rng.sample(found, min(each, len(found)))
    rng.shuffle(asked)
    return asked


def endless(corpora: Sequence[Sequence[Document]], seed: int) -> Iterator[Document]:
    """All documents in mixed order, and then the same again and again with their sentences exchanged: each
    keeps its title and its number of sentences, which are drawn from all documents of its corpus.
    """
    rng = random.Random(seed)
    pools = [[document.text[a:b] for document in corpus for a, b in sentences(document.text)] for corpus in corpora]
    for turn in itertools.count():
        drawn = [(number, document) for number, corpus in enumerate(corpora) for document in corpus]
        rng.shuffle(drawn)
        for number, document in drawn:
            if turn == 0:
                yield document
                continue
            lines = rng.choices(pools[number], k=len(sentences(document.text)))
            yield Document(f"{document.id}/{turn}", document.title, " ".join(lines), document.metadata)
