"""The package bm25s beside MindCone: English stop words, no stemming, its defaults. No vectors at all."""

from __future__ import annotations

from collections.abc import Sequence

from bench.peers.talk import DEPTH, Document, Embedder, Question, serve


class Bm25s:
    def __init__(self, embedder: Embedder) -> None:
        import bm25s

        self._retriever = bm25s.BM25()
        self._ids: list[str] = []

    async def index(self, documents: Sequence[Document]) -> None:
        import bm25s

        self._ids = [one["id"] for one in documents]
        texts = [f"{one['title']}\n{one['text']}" for one in documents]
        self._retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    async def ask(self, mode: str, question: Question) -> Sequence[str]:
        import bm25s

        tokens = bm25s.tokenize([question["text"]], stopwords="en", show_progress=False)
        found, _ = self._retriever.retrieve(tokens, k=min(DEPTH, len(self._ids)), show_progress=False)
        return [self._ids[int(number)] for number in found[0]]


if __name__ == "__main__":
    serve(Bm25s)
