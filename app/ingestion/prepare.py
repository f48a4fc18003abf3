"""From a card's text to the rows that search reads. Pure, and the CPU-heavy part: call it in a thread."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from app.core.ids import new_id
from app.index.rows import CardRows, ChunkRow, WindowRow, text_hash
from app.index.terms import gram_hash, single_hash, word_hash
from app.ingestion.chunk import Chunk, chunk
from app.ingestion.windows import body_start, windows
from app.text.segment import Segmenter, Terms

# A title says what the text is about: its words count twice, as the word stream was measured with.
TITLE_WORDS, TITLE_GRAMS = 2, 1


def prepare(
    card_id: uuid.UUID,
    text_version: int,
    title: str,
    content: str,
    segmenter: Segmenter,
    count_tokens: Callable[[str], int],
    target_tokens: int,
    max_tokens: int,
) -> CardRows:
    """Chunks with their terms and windows, none of them longer than `max_tokens`."""
    # Most texts are counted more than once: when they are cut, and as they are.
    count_tokens = cache(count_tokens)
    head = shortened(title, count_tokens, max_tokens // 4)
    # Every window opens with the title, and a chunk may be a single window.
    room = max_tokens - count_tokens(head)
    parts = chunk(content, count_tokens, min(target_tokens, room), room) or [Chunk(0, 0, "", "")]
    title_terms = segmenter.terms(title)
    seen: set[uuid.UUID] = set()
    rows = []
    for ordinal, part in enumerate(parts):
        body = part.text[body_start(title, part.text) :] if ordinal == 0 else part.text
        counted = count_terms(title_terms, segmenter.terms(body))
        rows.append(
            ChunkRow(
                id=new_id(),
                ordinal=ordinal,
                start=part.start,
                end=part.end,
                text=part.text,
                heading=part.heading,
                tokens=count_tokens(part.text),
                terms=segmenter.tsvector(body, title),
                words=counted.words,
                grams=counted.grams,
                word_terms=counted.word_terms,
                gram_terms=counted.gram_terms,
                windows=window_rows(head, part, seen),
            )
        )
    return CardRows(card_id, text_version, rows)


def shortened(title: str, count_tokens: Callable[[str], int], most: int) -> str:
    """As much of a title as `most` tokens hold."""
    while (tokens := count_tokens(title)) > most:
        title = title[: min(len(title) * most // tokens, len(title) - 1)]
    return title


@dataclass(frozen=True, slots=True)
class Counted:
    """Term hash to frequency and length of the two streams of one document."""

    word_terms: dict[int, int]
    words: int
    gram_terms: dict[int, int]
    grams: int


def count_terms(title: Terms, body: Terms) -> Counted:
    """What the postings say of a document. Documents without Han have no gram stream."""
    words = _weighted(body.words, title.words, TITLE_WORDS)
    grams = _weighted(body.grams, title.grams, TITLE_GRAMS)
    singles = _weighted(body.singles, title.singles, 1)
    gram_terms = {gram_hash(gram): count for gram, count in grams.items()}
    gram_terms.update((single_hash(single), count) for single, count in singles.items())
    return Counted(
        {word_hash(word): count for word, count in words.items()}, sum(words.values()), gram_terms, sum(grams.values())
    )


def _weighted(body: list[str], title: list[str], weight: int) -> dict[str, int]:
    """Most lists are as short as a sentence: making a Counter would cost more than counting."""
    counts: dict[str, int] = {}
    for term in body:
        counts[term] = counts.get(term, 0) + 1
    for term in title:
        counts[term] = counts.get(term, 0) + weight
    return counts


def window_rows(title: str, part: Chunk, seen: set[uuid.UUID]) -> list[WindowRow]:
    """The windows of one chunk; a text that the card already has (`seen`, which grows) is left out, except the
    chunk's only one.
    """
    rows = []
    for window in windows(title, part.text):
        key = text_hash(window.text)
        if key in seen:
            continue
        seen.add(key)
        rows.append(WindowRow(part.start + window.start, part.start + window.end, window.text, key))
    if not rows:
        text = f"{title}\n{part.text}".strip()
        rows.append(WindowRow(part.start, part.end, text, text_hash(text)))
    return rows
