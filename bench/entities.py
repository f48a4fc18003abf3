"""What the rules find: names that question and passage share, the subjects of a vault, and what it costs.

    python -m bench.entities recall FOLDER…        names in questions against names in their gold passages
    python -m bench.entities top FOLDER [--n 30]   the entities that most cards of a vault (or a corpus.jsonl) name
    python -m bench.entities speed FOLDER…         CPU per card, per KB
    python -m bench.entities show FOLDER [--n 5] [--seed 1]   what single cards gave, to be read

Recall counts every capitalised name (plain regular expression, the first word of a question left out) that stands both
in a question and in one of its gold passages: it is reached when an entity of the passage covers it and the question,
searched for the passage's names or by its own names, gives the same entity.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from app.evaluation.folder import read_folder
from app.ingestion.extract.offline_entities import find_entities
from app.ingestion.extract.offline_relations import find_relations, view_sentences
from app.ingestion.extract.types import EntityDraft, RelationDraft, Source
from app.text.names import find_names
from app.text.names_match import NameMatcher
from app.text.names_words import DEMONYMS
from app.text.normalise import name_key
from app.text.segment import Segmenter
from app.text.sentences import sentences
from app.transfer.vault import open_vault

_NAME = re.compile(
    r"(?<![\w'’])[A-ZÀ-Þ][\w.'’-]*(?:(?: (?:of|de|the|van|von|la|del|for|and|&))* [A-ZÀ-Þ0-9][\w.'’-]*)*"
)
_TIDY = re.compile(r"(?:['’]s|[.'’?,])+$")
_FIRST = re.compile(
    r"^(?:\W*[A-Z][\w'’]*(?: (?=[a-z])|$))"
    r"|^\W*(?:Who|What|Which|When|Where|Why|How|Did|Does|Do|Is|Are|Was|Were|In|On|At|For|The|Has|Have|Can|Of|To|From|If"
    r"|Between|After) "
)
_NOT_NAMES = re.compile(
    r"(?:Film|What|January|February|March|April|May|June|July|August|September|October|November|December|I)\b.*$"
)


def names_of(question: str) -> list[str]:
    """Capitalised names by a regular expression that knows nothing of the rules under test."""
    rest = _FIRST.sub(lambda m: " " * len(m.group()), question, count=1)
    found = (_TIDY.sub("", m.group()) for m in _NAME.finditer(rest))
    return [name for name in found if len(name) > 2 and not _NOT_NAMES.match(name) and name.lower() not in DEMONYMS]


def as_source(title: str, text: str, tags: Sequence[str] = ()) -> Source:
    return Source(uuid.UUID(int=0), title, text, datetime(2024, 1, 1, tzinfo=UTC), tags=tuple(tags))


def cards(folder: Path) -> Iterator[Source]:
    """The notes of a vault, or the documents of a BEIR-style folder or file."""
    if folder.is_file() or (folder / "corpus.jsonl").exists():
        lines = (folder if folder.is_file() else folder / "corpus.jsonl").read_text("utf-8").splitlines()
        for row in map(json.loads, lines):
            yield as_source(row.get("title") or "", row["text"])
        return
    with open_vault(folder) as vault:
        for result in vault:
            if result.note is not None:
                yield as_source(result.note.title, result.note.content, result.note.tags)


def keys(entity: EntityDraft) -> set[str]:
    return {name_key(name) for name in (entity.name, *entity.aliases)}


def recall(folder: Path, segmenter: Segmenter) -> dict[str, object]:
    labelled = read_folder(folder)
    documents = {document.id: document for document in labelled.documents}
    found: dict[str, list[EntityDraft]] = {}
    asked = in_passage = in_question = own = gazetteer = 0
    missed: list[str] = []
    for query in labelled.queries:
        of_question = {
            name_key(query.text[s.start : s.end]): (s.start, s.end) for s in find_names(query.text, segmenter)
        }
        for name in names_of(query.text):
            at = query.text.find(name)
            span = (at, at + len(name))
            touched = {k for k, (a, b) in of_question.items() if a < span[1] and span[0] < b}
            for gold in sorted(labelled.gold[query.id]):
                document = documents[gold]
                whole = f"{document.title}\n{document.text}"
                if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", whole):
                    continue
                if gold not in found:
                    found[gold] = find_entities(as_source(document.title, document.text), segmenter)
                entities = found[gold]
                names = {k for e in entities for k in keys(e)}
                matched = NameMatcher((n, e.name) for e in entities for n in (e.name, *e.aliases)).find(query.text)
                asked += 1
                covered = any(
                    name_key(name) == k or (len(k) > 3 and k in name_key(name)) or name_key(name) in k for k in names
                )
                in_passage += covered
                in_question += bool(touched)
                own += bool(touched & names)
                reached = bool(touched & names) or any(a < span[1] and span[0] < b for _, a, b in matched)
                gazetteer += reached
                if not touched & names:
                    missed.append(
                        f"{name!r} · {query.text[:90]} · q={sorted(touched)} · p={[e.name for e in entities][:12]}"
                    )

    def share(n: int) -> float | None:
        return round(n / asked, 3) if asked else None

    return {
        "set": folder.name,
        "names": asked,
        "in passage": share(in_passage),
        "in question": share(in_question),
        "same by own names": share(own),
        "same by passage's names": share(gazetteer),
        "missed": missed,
    }


def top(folder: Path, segmenter: Segmenter, n: int) -> None:
    counts: Counter[str] = Counter()
    shown: dict[str, Counter[str]] = defaultdict(Counter)
    types: dict[str, Counter[str]] = defaultdict(Counter)
    total = number = 0
    for source in cards(folder):
        number += 1
        for entity in find_entities(source, segmenter):
            key = name_key(entity.name)
            counts[key] += 1
            total += 1
            shown[key][entity.name] += 1
            types[key][entity.type] += 1
    shared = sum(count > 1 for count in counts.values())
    print(f"{folder}: {number} cards, {total} entities of cards, {len(counts)} names, {shared} in two or more")
    for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:n]:
        print(f"{count:5d}  {shown[key].most_common(1)[0][0]}  ({types[key].most_common(1)[0][0]})")


def speed(folder: Path, segmenter: Segmenter, limit: int = 400) -> None:
    sample = list(cards(folder))
    random.Random(3).shuffle(sample)
    sample = sample[:limit]
    for source in sample[:20]:
        find_entities(source, segmenter)
    characters = sum(len(s.content) for s in sample)
    started = time.process_time()
    found = [find_entities(source, segmenter) for source in sample]
    spent = time.process_time() - started
    started = time.process_time()
    joined = sum(len(relations_of(*pair, segmenter)) for pair in zip(sample, found, strict=True))
    also = time.process_time() - started
    entities = sum(map(len, found))
    print(
        f"{folder.name}: {len(sample)} cards, {characters / len(sample):.0f} characters, "
        f"{entities / len(sample):.1f} entities, "
        f"{spent / len(sample) * 1e3:.2f} ms a card, {spent / characters * 1e9:.0f} µs per 1000 characters; "
        f"{joined / len(sample):.1f} relations, {also / len(sample) * 1e3:.2f} ms"
    )


def relations_of(source: Source, entities: Sequence[EntityDraft], segmenter: Segmenter) -> list[RelationDraft]:
    spans = ((start, end, source.content[start:end]) for start, end in sentences(source.content))
    return find_relations(source, view_sentences(source, spans, entities), entities, segmenter)


def show(folder: Path, segmenter: Segmenter, n: int, seed: int) -> None:
    sample = list(cards(folder))
    random.Random(seed).shuffle(sample)
    for source in sample[:n]:
        print("=" * 100, "\n", source.title, "\n", source.content[:1500])
        entities = find_entities(source, segmenter)
        for r in relations_of(source, entities, segmenter):
            print(f"   {r.source} —[{r.predicate} {r.confidence}]→ {r.target} :: {r.text[:60]!r}")
        for e in entities:
            print(f"   {e.name} | {e.type} | {', '.join(e.aliases)} | {len(e.mentions)} | {e.description[:100]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("recall", "top", "speed", "show"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--n", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--missed", type=int, default=0)
    given = parser.parse_args()
    segmenter = Segmenter()
    segmenter.load()
    for folder in given.folders:
        if given.what == "recall":
            report = recall(folder, segmenter)
            missed = report.pop("missed")
            print(json.dumps(report, ensure_ascii=False))
            assert isinstance(missed, list)
            print("\n".join(missed[: given.missed]))
        elif given.what == "top":
            top(folder, segmenter, given.n)
        elif given.what == "speed":
            speed(folder, segmenter)
        else:
            show(folder, segmenter, given.n, given.seed)


if __name__ == "__main__":
    main()
