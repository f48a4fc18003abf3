"""The router's linear classifier: multinomial logistic regression over hashed n-grams, in numpy.

Pure but for reading its own file, once. Trained by `python -m bench.router.train`; knows nothing of rules and gates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from app.retrieval.route_features import ROWS, features
from app.retrieval.types import Level

FILE = "router_weights.npz"


@dataclass(frozen=True, slots=True)
class Classifier:
    """`weights` has a row per feature and a column per level; times `scale` they are logits."""

    weights: npt.NDArray[np.int8]
    bias: npt.NDArray[np.float32]
    scale: float

    def probabilities(self, text: str, seen: list[int]) -> npt.NDArray[np.float64]:
        """Of each level, in the order of `Level`, for a masked question and its cues. They sum to 1."""
        rows, values = features(text, seen)
        logits = values @ self.weights[rows] * self.scale + self.bias
        raised = np.exp(logits - logits.max())
        return np.asarray(raised / raised.sum(), np.float64)


@cache
def classifier() -> Classifier:
    """The one that ships with the product."""
    with (resources.files("app.retrieval") / FILE).open("rb") as file, np.load(file, allow_pickle=False) as stored:
        found = Classifier(stored["weights"], stored["bias"], float(stored["scale"]))
    if found.weights.shape != (ROWS, len(Level)):
        raise RuntimeError(f"{FILE} does not fit the features of this version")
    return found
