"""What became one entity under different names: a sample of merges with both sides in their cards' words, to be read.

    python -m bench.merges DIR [--n 100] [--seed 1] [--chars 60] [--all]   # DIR: MINDCONE_DATA_DIR of an import
    python -m bench.merges DIR --top 30                                   # entities with most neighbours instead

A merge is an entity and another name of it, which differ by more than case, width, spaces and marks. A title without
its author ("活着-余华", "活着") is none, either: it could not be wrong. Where a name stands in no
card by itself (a link's target, a front matter's alias), the card that teaches it is found by its letters.
"""

from __future__ import annotations

import argparse
import random
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg

from app.core import loop
from app.db.lease import lease

_PLACES: Final = 2

_PAIRS: Final = """
    WITH roots AS (
        SELECT workspace_id, id, coalesce(merged_into, id) AS root FROM entities
    ), named AS (
        SELECT r.workspace_id, r.root, n.key, min(n.name) AS name, min(n.origin) AS origin, false AS merged
        FROM entity_names n JOIN roots r ON r.workspace_id = n.workspace_id AND r.id = n.entity_id
        GROUP BY 1, 2, 3
        UNION ALL
        SELECT workspace_id, merged_into, key, name, 'entity', true FROM entities WHERE merged_into IS NOT NULL
    )
    SELECT DISTINCT ON (n.root, n.key) n.workspace_id, n.root, e.name AS one, e.type, n.name AS other, n.merged
    FROM named n JOIN entities e ON e.workspace_id = n.workspace_id AND e.id = n.root
    ORDER BY n.root, n.key, n.merged DESC
"""
_WRITTEN: Final = """
    SELECT c.title, c.content, m.start, m."end"
    FROM mentions m JOIN entities e ON e.workspace_id = m.workspace_id AND e.id = m.entity_id
    JOIN cards c ON c.workspace_id = m.workspace_id AND c.id = m.card_id
    WHERE m.workspace_id = $1 AND coalesce(e.merged_into, e.id) = $2 AND lower(m.name) = lower($3)
    ORDER BY m.start IS NULL, c.title, m.start LIMIT $4
"""
_LETTERS: Final = """
    SELECT DISTINCT c.title, c.content, strpos(lower(c.content), lower($3)) - 1 AS start,
        strpos(lower(c.content), lower($3)) - 1 + length($3) AS "end"
    FROM mentions m JOIN entities e ON e.workspace_id = m.workspace_id AND e.id = m.entity_id
    JOIN cards c ON c.workspace_id = m.workspace_id AND c.id = m.card_id
    WHERE m.workspace_id = $1 AND coalesce(e.merged_into, e.id) = $2 AND strpos(lower(c.content), lower($3)) > 0
    ORDER BY 1 LIMIT $4
"""
_TOP: Final = """
    WITH joined AS (
        SELECT coalesce(s.merged_into, s.id) AS one, coalesce(t.merged_into, t.id) AS two
        FROM relations r JOIN entities s ON s.workspace_id = r.workspace_id AND s.id = r.source_id
        JOIN entities t ON t.workspace_id = r.workspace_id AND t.id = r.target_id
    ), both_ways AS (SELECT one, two FROM joined UNION SELECT two, one FROM joined)
    SELECT e.name, e.type, count(*) AS degree,
        (SELECT count(DISTINCT m.card_id) FROM mentions m JOIN entities k ON k.workspace_id = m.workspace_id
         AND k.id = m.entity_id WHERE coalesce(k.merged_into, k.id) = e.id) AS cards
    FROM both_ways b JOIN entities e ON e.id = b.one WHERE b.one <> b.two
    GROUP BY e.id, e.name, e.type ORDER BY degree DESC, e.name LIMIT $1
"""


@dataclass(frozen=True, slots=True)
class Merge:
    workspace_id: Any
    root: Any
    one: str
    type: str
    other: str
    by_linker: bool


async def merges(connection: asyncpg.Connection) -> list[Merge]:
    rows = await connection.fetch(_PAIRS)
    found = [one for row in rows if not _is_shorter((one := Merge(*row.values())).one, one.other)]
    return sorted(found, key=lambda one: (one.one, one.other, str(one.type)))


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def _is_shorter(one: str, other: str) -> bool:
    """The same letters, or a title without its author or edition: nothing that could be wrong."""
    left, right = sorted((_letters(one), _letters(other)), key=len)
    longer = max((one, other), key=len)
    return left == right or (right.startswith(left) and bool(re.search("[-－—(（]", longer[len(left) - 1 :])))


async def contexts(connection: asyncpg.Connection, merge: Merge, name: str, chars: int) -> list[str]:
    rows = await connection.fetch(_WRITTEN, merge.workspace_id, merge.root, name, _PLACES)
    rows = rows or await connection.fetch(_LETTERS, merge.workspace_id, merge.root, name, _PLACES)
    told = []
    for row in rows:
        if row["start"] is None:
            told.append(f"<{row['title']}> (in the title)")
            continue
        before = row["content"][max(row["start"] - chars, 0) : row["start"]]
        after = row["content"][row["end"] : row["end"] + chars]
        middle = row["content"][row["start"] : row["end"]]
        told.append(f"<{row['title']}> …{' '.join(before.split())} ⟦{middle}⟧ {' '.join(after.split())}…")
    return told


async def show(dsn: str, n: int, seed: int, chars: int, whole: bool) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        known = await merges(connection)
        drawn = known if whole else sorted(random.Random(seed).sample(known, min(n, len(known))), key=known.index)
        print(f"{len(known)} merges, {sum(one.by_linker for one in known)} of them of two entities; {len(drawn)} drawn")
        for number, merge in enumerate(drawn, 1):
            how = "entities" if merge.by_linker else "name"
            print(f"\n{number}. {merge.one} [{merge.type}] = {merge.other} ({how})")
            for name in (merge.one, merge.other):
                for line in await contexts(connection, merge, name, chars) or ["(nowhere as it stands)"]:
                    print(f"   {'A' if name == merge.one else 'B'} {line}")
    finally:
        await connection.close()


async def top(dsn: str, n: int) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        for row in await connection.fetch(_TOP, n):
            print(f"{row['degree']:5} {row['cards']:5} {row['type']:14} {row['name']}")
    finally:
        await connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--chars", type=int, default=60, help="Of context on each side")
    parser.add_argument("--all", action="store_true", help="Every merge")
    parser.add_argument("--top", type=int, help="So many entities with most neighbours")
    chosen = parser.parse_args()
    with lease(chosen.data_dir) as dsn:
        if chosen.top:
            loop.run(top(dsn, chosen.top))
        else:
            loop.run(show(dsn, chosen.n, chosen.seed, chosen.chars, chosen.all))


if __name__ == "__main__":
    main()
