"""Pronouns: precision and coverage on GAP, speed, and the fit of the weights.

    python -m bench.coref --gap DIR            figures on development and validation, cross-validated
    python -m bench.coref --gap DIR --test     the same weights on the test set
    python -m bench.coref --gap DIR --fit      prints `app/text/coref_weights.py`

A resolution of the labelled pronoun is right when its name contains or equals a candidate that is labelled true. One to
another candidate is wrong, and so is one to any other name where one of the two candidates is the antecedent. Names are
found by `person_names`. "With title": the page's title is given, as a card's title is at ingestion.
"""

from __future__ import annotations

import argparse
import csv
import re
import time
import urllib.parse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.text.coref import NameSpan, person_names, resolve
from app.text.coref_en import Choice, choices
from app.text.coref_names import name_words
from app.text.coref_weights import WEIGHTS
from app.text.sentences import sentences

FOLDS = 4
ROUNDS = 3
PENALTY = 6.0
MIN_COUNT = 40
STEPS = 400


@dataclass(frozen=True, slots=True)
class Snippet:
    text: str
    at: int
    candidates: tuple[tuple[str, bool], ...]
    title: str
    spans: list[tuple[int, int]]
    names: list[NameSpan]


def read_gap(path: Path) -> list[Snippet]:
    found = []
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            text = row["Text"]
            page = urllib.parse.unquote(row["URL"].rsplit("/", 1)[1]).replace("_", " ")
            candidates = ((row["A"], row["A-coref"] == "TRUE"), (row["B"], row["B-coref"] == "TRUE"))
            title = re.sub(r"\s*\(.*", "", page)
            found.append(
                Snippet(text, int(row["Pronoun-offset"]), candidates, title, sentences(text), person_names(text))
            )
    return found


# ------------------------------------------------------------------------------ judging


def is_right(name: str, snippet: Snippet) -> bool | None:
    """None: neither right nor wrong, for nobody knows whom the pronoun stands for."""
    for candidate, true in snippet.candidates:
        if candidate == name:
            return true
    for candidate, true in snippet.candidates:
        if candidate in name or set(name_words(candidate)) <= set(name_words(name)):
            return true
    return False if any(true for _, true in snippet.candidates) else None


def chosen(snippet: Snippet, titled: bool, weights: Mapping[str, float]) -> Choice | None:
    found = choices(snippet.text, snippet.spans, snippet.names, snippet.title if titled else "", weights)
    return next((choice for choice in found if choice.start == snippet.at), None)


def judged(snippets: Sequence[Snippet], titled: bool, weights: Mapping[str, float]) -> list[tuple[float, bool, bool]]:
    """(probability, right, resolved) of every snippet whose pronoun has a best candidate."""
    out = []
    for snippet in snippets:
        choice = chosen(snippet, titled, weights)
        name = choice.names[choice.best] if choice is not None else None
        right = is_right(name, snippet) if name is not None else None
        if choice is not None and right is not None:
            out.append((choice.probabilities[choice.best], right, choice.resolved is not None))
    return out


def line(label: str, points: Sequence[tuple[float, bool, bool]], total: int) -> str:
    kept = [right for _, right, resolved in points if resolved]
    ranked = [right for _, right, _ in sorted(points, reverse=True)]
    precise = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    enough = np.flatnonzero(precise >= 0.90)
    third = int(0.35 * total)
    return (
        f"{label:34} precision {np.mean(kept):.3f}  coverage {len(kept) / total:.3f}   "
        f"coverage at .90: {(enough[-1] + 1) / total if len(enough) else 0:.3f}   "
        f"precision at coverage .35: {precise[third] if third < len(precise) else 0:.3f}"
    )


# -------------------------------------------------------------------------------- fitting


def fit(snippets: Sequence[Snippet]) -> dict[str, float]:
    """Weights of largest likelihood with a Gaussian prior. Several rounds: earlier pronouns depend on the weights."""
    weights: dict[str, float] = {}
    for _ in range(ROUNDS):
        weights = _fit_once(snippets, weights)
    return weights


def _fit_once(snippets: Sequence[Snippet], weights: Mapping[str, float]) -> dict[str, float]:
    seen = [
        (choice, snippet)
        for titled in (False, True)
        for snippet in snippets
        if (choice := chosen(snippet, titled, weights)) is not None
    ]
    counts = Counter(name for choice, _ in seen for row in choice.features for name in row)
    places = {name: i for i, name in enumerate(n for n, count in counts.items() if count >= MIN_COUNT)}
    rows, columns, good, edges = [], [], [], [0]
    for choice, snippet in seen:
        verdicts = [is_right(name, snippet) if name is not None else None for name in choice.names]
        for features, verdict in zip(choice.features, verdicts, strict=True):
            for name in features:
                if name in places:
                    rows.append(len(good))
                    columns.append(places[name])
            good.append(verdict is True if True in verdicts else verdict is None)
        edges.append(len(good))
    found = _ascend(np.array(rows), np.array(columns), np.array(good), np.array(edges), len(places))
    return {name: round(float(found[i]), 2) for name, i in places.items() if abs(found[i]) >= 0.03}


def _ascend(rows: np.ndarray, columns: np.ndarray, good: np.ndarray, edges: np.ndarray, width: int) -> np.ndarray:
    """Full-batch Adam on the likelihood that one of the good candidates of each group is chosen."""
    height, sizes = len(good), np.diff(edges)
    weights, first, second = np.zeros(width), np.zeros(width), np.zeros(width)
    for step in range(1, STEPS + 1):
        scores = np.bincount(rows, weights[columns], height)
        raised = np.exp(scores - np.repeat(np.maximum.reduceat(scores, edges[:-1]), sizes))
        right = np.where(good, raised, 0.0)
        given = raised / np.repeat(np.add.reduceat(raised, edges[:-1]), sizes)
        wanted = right / np.repeat(np.add.reduceat(right, edges[:-1]) + 1e-12, sizes)
        slope = np.bincount(columns, (given - wanted)[rows], width) + PENALTY * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        rate = 0.05 * min(1.0, 2 * (1 - step / (STEPS + 1)))
        weights -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def cross_validated(snippets: Sequence[Snippet]) -> Iterator[str]:
    points: dict[bool, list[tuple[float, bool, bool]]] = {False: [], True: []}
    for fold in range(FOLDS):
        weights = fit([s for i, s in enumerate(snippets) if i % FOLDS != fold])
        for titled, found in points.items():
            found += judged([s for i, s in enumerate(snippets) if i % FOLDS == fold], titled, weights)
    for titled, found in points.items():
        yield line(f"held out{', with title' if titled else ''}", found, len(snippets))


def module(weights: Mapping[str, float]) -> str:
    head = (
        '"""Weights of the features of `coref_en`, fitted on GAP development and validation: '
        '`python -m bench.coref --fit`."""\n\n'
        "from __future__ import annotations\n\nfrom typing import Final\n\nWEIGHTS: Final[dict[str, float]] = {\n"
    )
    return head + "".join(f'    "{name}": {weights[name]},\n' for name in sorted(weights)) + "}"


def speed(snippets: Sequence[Snippet]) -> str:
    size = sum(len(s.text.encode()) for s in snippets) / 1024
    begun = time.process_time()
    for s in snippets:
        resolve(s.text, s.names, s.spans, s.title)
    whole = time.process_time() - begun
    plain = [re.sub(r"(?i)\b(?:he|she|him|her|his|hers|himself|herself|its?)\b", "X", s.text) for s in snippets]
    begun = time.process_time()
    for s, text in zip(snippets, plain, strict=True):
        resolve(text, s.names, s.spans)
    return f"{whole * 1e6 / size:.0f} µs per KB, without pronouns {(time.process_time() - begun) * 1e6 / size:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gap", type=Path, required=True)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--test", action="store_true")
    given = parser.parse_args()
    development = read_gap(given.gap / "gap-development.tsv")
    validation = read_gap(given.gap / "gap-validation.tsv")
    if given.fit:
        print(module(fit(development + validation)))
        return
    for titled in (False, True):
        for name, snippets in (("development", development), ("validation", validation)):
            label = f"{name}, fitted on it{', with title' if titled else ''}"
            print(line(label, judged(snippets, titled, WEIGHTS), len(snippets)))
    for text in cross_validated(development + validation):
        print(text)
    if given.test:
        test = read_gap(given.gap / "gap-test.tsv")
        for titled in (False, True):
            print(line(f"test{', with title' if titled else ''}", judged(test, titled, WEIGHTS), len(test)))
    print(speed(development))


if __name__ == "__main__":
    main()
