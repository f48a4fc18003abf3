"""How well the texts of reports fit a question, from 0 to 1: by calibrated distance, and by its words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.index.collections import TextKind
from app.retrieval.calibration import Calibration
from app.retrieval.insight_reports import OWN, Report, fitted
from app.retrieval.pseudo_questions import Script
from app.retrieval.settings import RetrievalSettings
from app.text.normalise import fold

_FAR_Z: Final = -2.8
"""Of the texts of many reports the nearest one is this near to a question that they say nothing of (`bench.insight`);
a workspace's own calibration, made from fewer texts, may say less.
"""
_SPAN_Z: Final = 3.0
"""So many deviations nearer than that is as near as it gets."""
_NEAR: Final = 0.3
"""Of what just passes."""
_WORDS_ENOUGH: Final = 0.6


@dataclass(frozen=True, slots=True)
class Asked:
    """The question: its script, and its words with what each tells (idf)."""

    script: Script
    words: Mapping[str, float]

    def share(self, text: str) -> float:
        """How much of its words a text has, 0…1."""
        whole = sum(self.words.values())
        if not whole:
            return 0.0
        folded = fold(text)
        return sum(weight for word, weight in self.words.items() if word in folded) / whole


def fit(
    report: Report,
    asked: Asked,
    distances: Mapping[int, float],
    calibration: Calibration | None,
    knobs: RetrievalSettings,
) -> Report:
    """The report with how well each of its findings fits, and it as a whole. `distances` by role of the text."""
    script: Script = "han" if report.language == "zh" else "latin"

    def near(role: int) -> float:
        distance = distances.get(role)
        if distance is None or calibration is None:
            return 0.0
        kind = TextKind.episode if role == OWN else TextKind.relation
        usual = calibration.background(kind, asked.script, script)
        far = calibration.stranger(kind, asked.script, float(knobs.context_strangers))
        far = _FAR_Z if far is None else min(far, _FAR_Z)
        z = (distance - usual.mu) / usual.sigma
        return 0.0 if z > far else min(_NEAR + (1 - _NEAR) * (far - z) / _SPAN_Z, 1.0)

    def both(role: int, text: str) -> float:
        vector, words = near(role), asked.share(text)
        if vector <= 0 and words < _WORDS_ENOUGH:
            return 0.0
        return min((1 - knobs.insight_words) * vector + knobs.insight_words * words, 1.0)

    own = both(OWN, f"{report.title}\n{report.summary}")
    findings = {finding.number: both(finding.number, finding.text) for finding in report.findings}
    return fitted(report, own, findings, knobs.insight_summary)


def weighed(words: Sequence[str], texts: Sequence[str]) -> dict[str, float]:
    """The question's words, the rarer among these texts the heavier."""
    folded = [fold(text) for text in texts]
    count = len(folded)
    return {word: 1.0 / (1.0 + sum(word in text for text in folded) / (1 + count)) for word in dict.fromkeys(words)}
