"""Communities with reports on real cards, put straight into the tables: what level insight reads, whoever wrote it."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import text

from app.db.session import Database, raw
from app.graph.vector_tables import ReportVector
from app.graph.vectors import VectorEntry, insert_vectors
from app.index.collections import Collection
from app.index.lexical import insert_recent
from app.index.postings import LexicalRow
from app.index.terms import gram_hash, single_hash, word_hash
from app.ingestion.communities.report import Finding, Place, Report
from app.providers.ports import Embedder
from app.retrieval import queries
from app.text.normalise import han_share
from app.text.segment import Segmenter


@dataclass(frozen=True)
class Topic:
    """`findings` are sentences, each of the card whose content has it."""

    title: str
    summary: str
    findings: Sequence[str]
    size: int = 5
    rating: float = 5.0
    parent: str | None = None
    is_stale: bool = False


async def put_reports(
    database: Database,
    embedder: Embedder,
    segmenter: Segmenter,
    workspace_id: uuid.UUID,
    topics: Sequence[Topic],
) -> Mapping[str, uuid.UUID]:
    """Ids by title; the graph counts as unchanged since."""
    async with database.read() as session:
        rows = await session.execute(
            text("SELECT id, card_id, text, start FROM chunks WHERE workspace_id = :w"), {"w": workspace_id}
        )
        chunks = [tuple(row) for row in rows]
        scope = await queries.get_scope(session, workspace_id)
    assert scope.space is not None
    ids = {topic.title: uuid.uuid4() for topic in topics}
    reports = {topic.title: _report(topic, chunks) for topic in topics}
    vectors = []
    for title, report in reports.items():
        embedded = await embedder.passages(report.texts())
        vectors += [VectorEntry(ids[title], role, uuid.uuid4(), vector) for role, vector in enumerate(embedded.dense)]
    async with database.unit() as session:
        connection = await raw(session)
        lexical = []
        for topic in topics:
            report, id_ = reports[topic.title], ids[topic.title]
            parent = None if topic.parent is None else ids[topic.parent]
            await connection.execute(
                "INSERT INTO communities (workspace_id, id, parent_id, level, size, weight, fingerprint) "
                "VALUES ($1, $2, $3, $4, $5, 1, $2)",
                workspace_id, id_, parent, 0 if parent is None else 1, topic.size,
            )  # fmt: skip
            terms = segmenter.terms(report.words())
            doc = await connection.fetchval(
                "INSERT INTO reports (workspace_id, id, title, summary, rating, rating_reason, findings, language, "
                "generated_by, fingerprint, is_stale, words, grams) "
                "VALUES ($1, $2, $3, $4, $5, '', $6, $7, 'offline', $2, $8, $9, $10) RETURNING doc",
                workspace_id, id_, report.title, report.summary, report.rating,
                json.dumps([finding.as_json() for finding in report.findings]), report.language, topic.is_stale,
                len(terms.words), len(terms.grams),
            )  # fmt: skip
            grams = {**Counter(map(single_hash, terms.singles)), **Counter(map(gram_hash, terms.grams))}
            words = dict(Counter(map(word_hash, terms.words)))
            lexical.append(LexicalRow(doc, len(terms.words), len(terms.grams), words, grams))
        await insert_recent(session, workspace_id, lexical, Collection.report)
        await insert_vectors(session, workspace_id, scope.space.id, ReportVector, vectors)
        await connection.execute("DELETE FROM community_changes WHERE workspace_id = $1", workspace_id)
    return ids


def _report(topic: Topic, chunks: Sequence[tuple[uuid.UUID, uuid.UUID, str, int]]) -> Report:
    findings = []
    for sentence in topic.findings:
        (chunk_id, card_id, body, start), *_ = [chunk for chunk in chunks if sentence in chunk[2]]
        at = start + body.index(sentence)
        place = Place(card_id, chunk_id, at, at + len(sentence))
        findings.append(Finding(sentence, (), (), (card_id,), (place,)))
    language = "zh" if han_share("".join(topic.findings)) > 0.3 else "en"
    return Report(topic.title, topic.summary, topic.rating, "", tuple(findings), language)
