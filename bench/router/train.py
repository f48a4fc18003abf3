"""Trains the router's classifier: `python -m bench.router.train [--folds family|text]`.

Multinomial logistic regression with L2, full-batch Nesterov, in numpy; the same seed gives the same file. Trained on
the training families alone; held-out families are only looked at by `bench.router.report`. With `--folds` nothing is
written: five folds over the training templates say what a change is worth.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.retrieval.route import wanted
from app.retrieval.route_classifier import FILE, Classifier
from app.retrieval.route_cues import cues
from app.retrieval.route_features import ROWS, features, masked
from app.retrieval.types import Level
from bench.router.labels import Labelled, Template, questions, read_templates
from bench.router.scores import confusion, macro_f1

TARGET = Path(__file__).parents[2] / "app" / "retrieval" / FILE
SEED = 11
EACH = 5
ROUNDS = 200
L2 = 1e-4
CUE_DROP = 0.12
RATE = 4.0


def train(labelled: list[Labelled]) -> Classifier:
    """The classifier, its weights as bytes. Levels weigh the same, whatever their numbers of questions."""
    rng = random.Random(SEED)
    texts = [masked(one.text) for one in labelled]
    rows, values = zip(*(features(text, _some(cues(text), rng)) for text in texts), strict=True)
    lengths = np.array([len(row) for row in rows])
    columns = np.concatenate(rows)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    value = np.concatenate(values)
    seen, columns = np.unique(columns, return_inverse=True)
    levels = np.array([int(one.level) for one in labelled])
    gold = np.eye(len(Level), dtype=np.float32)[levels]
    share = (1 / np.bincount(levels, minlength=len(Level)) / len(Level))[levels, None].astype(np.float32)

    weights = np.zeros((len(seen), len(Level)), np.float32)
    bias = np.zeros(len(Level), np.float32)
    ahead, ahead_bias = weights.copy(), bias.copy()
    for number in range(ROUNDS):
        logits = np.add.reduceat(ahead[columns] * value[:, None], starts, axis=0) + ahead_bias
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        error = (raised / raised.sum(axis=1, keepdims=True) - gold) * share
        spread = np.repeat(error, lengths, axis=0) * value[:, None]
        slope = np.stack([np.bincount(columns, spread[:, level], len(seen)) for level in range(len(Level))], axis=1)
        stepped = ahead - RATE * (slope.astype(np.float32) + L2 * ahead)
        stepped_bias = ahead_bias - 0.1 * RATE * error.sum(axis=0)
        momentum = number / (number + 3)
        ahead, weights = stepped + momentum * (stepped - weights), stepped
        ahead_bias, bias = stepped_bias + momentum * (stepped_bias - bias), stepped_bias
    return _quantised(seen, weights, bias)


def _some(seen: list[int], rng: random.Random) -> list[int]:
    """The lists of cues were written with the training templates in view: other questions show fewer."""
    return [cue for cue in seen if rng.random() >= CUE_DROP]


def _quantised(
    seen: npt.NDArray[np.int64], weights: npt.NDArray[np.float32], bias: npt.NDArray[np.float32]
) -> Classifier:
    scale = float(np.quantile(np.abs(weights), 0.9995)) / 127
    whole = np.zeros((ROWS, len(Level)), np.int8)
    whole[seen] = np.clip(np.rint(weights / scale), -127, 127).astype(np.int8)
    return Classifier(whole, bias, scale)


def folds(templates: list[Template], by: str, count: int = 5) -> None:
    """What cross-validation over the training templates says of the whole router. By family no other wording
    of a question is known from training, by text it may be.
    """
    groups = sorted({getattr(template, by) for template in templates})
    random.Random(SEED).shuffle(groups)
    place = {group: number % count for number, group in enumerate(groups)}
    gold: list[Level] = []
    told: list[Level] = []
    for fold in range(count):
        inside = [template for template in templates if place[getattr(template, by)] != fold]
        outside = [template for template in templates if place[getattr(template, by)] == fold]
        found = train(list(questions(inside, held_out=False, each=EACH, seed=SEED)))
        for one in questions(outside, held_out=True, each=2, seed=SEED):
            route = wanted(one.text, found)
            gold.append(one.level)
            told.append(route.level)
            if route.level is not one.level:
                print(f"{one.level.name:8} as {route.level.name:8} {route.confidence:.2f} {route.reason}  {one.text}")
    print(confusion(gold, told))
    print(f"{count} folds over training templates by {by}: macro-F1 {macro_f1(gold, told):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", choices=["family", "text"], help="cross-validate, write nothing")
    templates = [template for template in read_templates() if template.split == "train"]
    if by := parser.parse_args().folds:
        return folds(templates, by)
    started = time.perf_counter()
    labelled = list(questions(templates, held_out=False, each=EACH, seed=SEED))
    found = train(labelled)
    np.savez_compressed(TARGET, weights=found.weights, bias=found.bias, scale=np.float64(found.scale))
    print(f"{len(templates)} templates, {len(labelled)} questions, {time.perf_counter() - started:.1f} s")
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")
    return None


if __name__ == "__main__":
    main()
