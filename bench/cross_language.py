"""The corpora of `bench/sets/cross_language`, out of the notes that its questions are about.

    python -m bench.cross_language ../shared/data OUT
    for part in zh_on_en en_on_zh mixed; do
        mindcone eval OUT/$part --level explore --level context --level search --level dense --level bm25 --vs search
    done

`zh_on_en`: Chinese questions, all notes of evolving_events. `en_on_zh`: English questions, all notes of the folders of
vault_zh where the gold lies (title, text without front matter; ids are paths in the vault). `mixed`: both sets of
questions over both sets of notes, where every question meets notes in its own language that do not answer it.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

SET = Path(__file__).parent / "sets" / "cross_language"
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)

Row = dict[str, str]


def english(data: Path) -> Iterator[Row]:
    with (data / "evolving_events" / "corpus.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield {"_id": row["_id"], "title": row["title"], "text": row["text"]}


def chinese(data: Path) -> Iterator[Row]:
    notes = data / "vault_zh" / "notes"
    for folder in sorted({Path(path).parent for path in gold("en_on_zh")}):
        for note in sorted((notes / folder).glob("*.md")):
            text = _FRONT_MATTER.sub("", note.read_text(encoding="utf-8", errors="replace")).replace("\0", "")
            yield {"_id": note.relative_to(notes).as_posix(), "title": note.stem, "text": text}


def gold(part: str) -> set[str]:
    return {line.split("\t")[1] for line in (SET / part / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]}


def write(out: Path, parts: list[str], rows: list[Row]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    known = {row["_id"] for row in rows}
    missing = set().union(*map(gold, parts)) - known
    assert not missing, f"not among the notes: {sorted(missing)[:3]}"
    with (out / "corpus.jsonl").open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with (out / "queries.jsonl").open("wb") as queries, (out / "qrels.tsv").open("w", encoding="utf-8") as qrels:
        qrels.write("query-id\tcorpus-id\tscore\n")
        for part in parts:
            with (SET / part / "queries.jsonl").open("rb") as some:
                shutil.copyfileobj(some, queries)
            qrels.writelines((SET / part / "qrels.tsv").read_text(encoding="utf-8").splitlines(keepends=True)[1:])
    print(f"{out.name}: {len(rows)} notes")


def main(data: Path, out: Path) -> None:
    english_notes, chinese_notes = list(english(data)), list(chinese(data))
    write(out / "zh_on_en", ["zh_on_en"], english_notes)
    write(out / "en_on_zh", ["en_on_zh"], chinese_notes)
    write(out / "mixed", ["zh_on_en", "en_on_zh"], english_notes + chinese_notes)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
