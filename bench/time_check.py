"""Compares what we read as time with another system's answers: `python -m bench.time_check [--all]`.

The file holds question → range or nothing at six reference times, in many languages; it is no gold. Only questions in
Chinese or English are compared. Ends are days, the last one included. Without `--all` every difference is shown once,
at the first reference where it appears.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from app.text.when import OPEN_START, TimeFound, find_times

_GOLDEN = Path(__file__).parents[2] / "shared/data/time_expressions/query_analyzer_golden.json"
_FOREIGN = re.compile(
    r"[\u0400-\u04ff\u3040-\u30ff\uac00-\ud7af]|[àâäåèéêëìîïñòóôöùûüçß]"
    r"|\b(?:ayer|hier|ieri|heute|gestern|hoy|oggi|mes|mois|mese|monat|jahr|woche|semana|settimana|anno"
    r"|tagen|jours|giorni|dias|hace"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janvier|mars|avril|mai|juin"
    r"|juillet|aout|septembre|octobre|novembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre"
    r"|januar|februar|juni|juli|oktober|dezember"
    r"|wochenende|fine settimana|semaine|week-end dernier|weekend dernier|aujourd)\b",
    re.I,
)


def main(show_all: bool) -> None:
    if not _GOLDEN.exists():
        sys.exit(f"{_GOLDEN} is absent: nothing to compare with")
    answers: dict[str, list[str] | None] = json.loads(_GOLDEN.read_text())
    counts: Counter[str] = Counter()
    shown: set[str] = set()
    for key, theirs in answers.items():
        said, text = key.split("\x1f", 1)
        if _FOREIGN.search(text):
            counts["left out: other languages"] += 1
            continue
        said_at = datetime.fromisoformat(said)
        found = find_times(text, said_at, asking=True)
        kind = _compare(found, theirs)
        counts[kind] += 1
        if kind.startswith("same") or (text in shown and not show_all):
            continue
        shown.add(text)
        ours = " ".join(f"{_days(one)} {one.kind}" for one in found) or "nothing"
        print(f"{kind:22} {said[:10]}  {text[:60]!r}: they {_theirs(theirs)}, we {ours}")
    compared = sum(count for kind, count in counts.items() if not kind.startswith("left out"))
    same = sum(count for kind, count in counts.items() if kind.startswith("same"))
    print(f"\nagreement {same / compared:.3f} ({same} of {compared})")
    for kind, count in counts.most_common():
        print(f"{count:6} {kind}")


def _compare(found: list[TimeFound], theirs: list[str] | None) -> str:
    if theirs is None:
        return "only we" if found else "same: nothing"
    if not found:
        return "only they"
    first, last = (datetime.fromisoformat(moment).date() for moment in theirs)
    for one in found:
        if one.start.date() == first and (one.end - timedelta(days=1)).date() == last:
            return "same: range"
    if any(one.start.date() <= first and last < one.end.date() for one in found):
        return "we wider"
    if any(first <= one.start.date() and one.end.date() <= last + timedelta(days=1) for one in found):
        return "we narrower"
    return "other days"


def _days(one: TimeFound) -> str:
    start = "…" if one.start == OPEN_START else one.start.date().isoformat()
    return f"{start}..{(one.end - timedelta(days=1)).date()}"


def _theirs(theirs: list[str] | None) -> str:
    return f"{theirs[0][:10]}..{theirs[1][:10]}" if theirs else "nothing"


if __name__ == "__main__":
    main("--all" in sys.argv[1:])
