"""The corpus of `bench/sets/zh_multihop`, out of the vault that its questions are about.

    python -m bench.zh_multihop ../shared/data/vault_zh/notes OUT
    mindcone eval OUT --level explore --level context --level search --level dense --level bm25 --vs search

OUT gets the questions, their gold, and as documents all notes of the folders where the gold lies: title, text without
front matter. Ids are paths in the vault.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

SET = Path(__file__).parent / "sets" / "zh_multihop"
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


def main(notes: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    gold = [line.split("\t")[1] for line in (SET / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    folders = sorted({Path(path).parent for path in gold})
    found = sorted({note for folder in folders for note in (notes / folder).glob("*.md")})
    missing = {path for path in gold if not (notes / path).is_file()}
    assert not missing, f"not in the vault: {sorted(missing)[:3]}"
    with (out / "corpus.jsonl").open("w", encoding="utf-8") as lines:
        for note in found:
            text = _FRONT_MATTER.sub("", note.read_text(encoding="utf-8", errors="replace"))
            row = {"_id": note.relative_to(notes).as_posix(), "title": note.stem, "text": text.replace("\0", "")}
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
    for name in ("queries.jsonl", "qrels.tsv"):
        shutil.copy(SET / name, out / name)
    print(f"{len(found)} notes of {len(folders)} folders")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
