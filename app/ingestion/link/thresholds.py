"""From which cosine on two entities' vectors say something, per embedding space.

The specification's numbers (0.85 merges, 0.70 asks) are BGE-M3's. Another space gets the cosines with the same
rate of false merges on the labelled pairs of `tests/data/linking.jsonl`; `python -m bench.linking` measures them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NEVER: Final = 2.0


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of "name (aliases): description". From `merge` on two entities are one where no guard objects, from `ask`
    on the pair is worth a question; `ask_across` is the same for names in two scripts.
    """

    merge: float
    ask: float
    ask_across: float

    @property
    def floor(self) -> float:
        """Cosines below it mean nothing."""
        return min(self.merge, self.ask, self.ask_across)

    @property
    def only_asks(self) -> bool:
        """Vectors of this space propose, and only where both are described: the vector of a bare name says no more
        than the name.
        """
        return self.merge >= NEVER


BGE_M3: Final = Thresholds(0.85, 0.70, 0.70)
# In e5-small texts that have nothing to do with each other reach .85, and .98 says nothing about two versions of
# one product: no cosine short of 1 merges as rarely wrong as BGE-M3's .85 does.
E5_SMALL: Final = Thresholds(NEVER, 0.945, 0.92)
UNKNOWN: Final = Thresholds(NEVER, 0.90, 0.85)
"""Until a space is measured, its vectors only propose."""

_BY_MODEL: Final = {"bge-m3": BGE_M3, "multilingual-e5-small": E5_SMALL}


def thresholds_for(space_key: str) -> Thresholds:
    """`space_key` as `EmbeddingSpace.key`: provider/model/dimension."""
    key = space_key.lower()
    return next((found for model, found in _BY_MODEL.items() if model in key), UNKNOWN)
