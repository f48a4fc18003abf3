"""What is known of an embedding space before a workspace was measured in it. Data only.

Made by `python -m bench.calibration defaults` from the sample notes that come with the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from app.retrieval.bundle_scripts import Line
from app.retrieval.calibration import SHARES, Background, Pair, Reading, Readings
from app.retrieval.pseudo_questions import Script

_Row = tuple[
    str, Script, Script, float, float, float | None, Sequence[float], Sequence[float], tuple[float, float] | None
]
"""Kind, script of question and text, mu, sigma, baseline, best z by `SHARES` (foreign, stranger), alpha and beta."""

# fmt: off
_E5_SMALL: Final[Sequence[_Row]] = (
    ("chunk", "han", "han", 0.1694, 0.0156, 0.249, (-4.88, -3.47, -3.01), (-3.26, -2.71, -2.52), None),
    ("chunk", "han", "latin", 0.228, 0.0296, None, (), (), None),
    ("chunk", "latin", "han", 0.2651, 0.021, None, (), (), None),
    ("chunk", "latin", "latin", 0.2387, 0.0214, 0.341, (-4.35, -3.17, -2.64), (-3.03, -2.25, -1.91), None),
    ("entity", "han", "han", 0.1763, 0.0138, 0.304, (-7.06, -4.21, -3.56), (-4.04, -3.55, -2.89), None),
    ("entity", "han", "latin", 0.2251, 0.0204, None, (), (), None),
    ("entity", "latin", "han", 0.2776, 0.0223, None, (), (), None),
    ("entity", "latin", "latin", 0.244, 0.0193, 0.379, (-6.15, -3.71, -2.73), (-3.58, -2.59, -1.95), None),
    ("episode", "han", "han", 0.1709, 0.0179, 0.298, (-3.1, -2.36, -2.22), (-2.22, -1.88, -1.59), (-0.053, 0.1053)),
    ("episode", "han", "latin", 0.2234, 0.0333, None, (), (), None),
    ("episode", "latin", "han", 0.2698, 0.0222, None, (), (), None),
    ("episode", "latin", "latin", 0.2339, 0.0223, 0.423, (-2.73, -2.3, -1.61), (-1.81, -1.03, -0.57),
        (-0.0893, 0.1449)),
    ("facet", "han", "han", 0.1698, 0.0154, None, (), (), (-0.0921, 0.1065)),
    ("facet", "latin", "latin", 0.2397, 0.0225, None, (), (), (-0.0686, 0.1049)),
    ("facet_description", "han", "han", 0.1664, 0.0155, 0.249, (-4.22, -2.99, -2.63), (-2.89, -2.41, -2.05), None),
    ("facet_description", "han", "latin", 0.2265, 0.03, None, (), (), None),
    ("facet_description", "latin", "han", 0.2634, 0.0209, None, (), (), None),
    ("facet_description", "latin", "latin", 0.2299, 0.0213, 0.377, (-2.89, -2.56, -1.9), (-2.85, -1.78, -1.17), None),
    ("facet_edge", "han", "han", 0.1725, 0.0176, 0.26, (-3.85, -2.83, -2.69), (-2.69, -2.32, -2.03), None),
    ("facet_edge", "han", "latin", 0.2317, 0.0311, None, (), (), None),
    ("facet_edge", "latin", "han", 0.2673, 0.0219, None, (), (), None),
    ("facet_edge", "latin", "latin", 0.2374, 0.0215, 0.401, (-3.83, -2.67, -1.85), (-3.16, -1.82, -1.03), None),
    ("facet_title", "han", "han", 0.1682, 0.0154, 0.285, (-3.28, -2.64, -2.28), (-2.18, -2.0, -1.85), None),
    ("facet_title", "han", "latin", 0.2265, 0.0385, None, (), (), None),
    ("facet_title", "latin", "han", 0.2538, 0.0211, None, (), (), None),
    ("facet_title", "latin", "latin", 0.246, 0.0231, 0.448, (-3.47, -2.55, -1.65), (-2.59, -1.67, -0.99), None),
    ("point", "han", "han", 0.1698, 0.0154, 0.255, (-6.05, -4.56, -4.2), (-4.28, -3.59, -3.39), (-0.0675, 0.0716)),
    ("point", "han", "latin", 0.2429, 0.0252, None, (), (), None),
    ("point", "latin", "han", 0.2668, 0.0211, None, (), (), None),
    ("point", "latin", "latin", 0.2397, 0.0225, 0.388, (-4.44, -3.4, -2.73), (-3.24, -2.61, -2.02), (-0.033, 0.0491)),
    ("point_edge", "han", "han", 0.1721, 0.0171, 0.259, (-5.1, -4.6, -4.27), (-4.32, -3.69, -3.39), None),
    ("point_edge", "han", "latin", 0.2448, 0.0247, None, (), (), None),
    ("point_edge", "latin", "han", 0.2665, 0.022, None, (), (), None),
    ("point_edge", "latin", "latin", 0.2453, 0.0225, 0.395, (-4.23, -2.94, -2.18), (-3.04, -2.12, -1.33), None),
    ("relation", "han", "han", 0.1691, 0.0151, 0.256, (-4.99, -3.14, -2.54), (-2.4, -2.06, -1.97), None),
    ("relation", "han", "latin", 0.2179, 0.0333, None, (), (), None),
    ("relation", "latin", "han", 0.2631, 0.0213, None, (), (), None),
    ("relation", "latin", "latin", 0.2332, 0.0217, 0.366, (-3.66, -3.38, -2.39), (-2.73, -2.1, -1.78), None),
    ("role", "han", "han", 0.172, 0.0151, 0.251, (-5.32, -2.93, -2.74), (-2.78, -2.33, -2.02), None),
    ("role", "han", "latin", 0.2271, 0.0347, None, (), (), None),
    ("role", "latin", "han", 0.2676, 0.0219, None, (), (), None),
    ("role", "latin", "latin", 0.2419, 0.0215, 0.385, (-3.77, -3.1, -2.37), (-2.97, -2.2, -1.73), None),
)
# fmt: on

_SPACES: Final = {"embedded/multilingual-e5-small/384": _E5_SMALL}


@cache
def readings_of(space_key: str) -> Readings:
    """Nothing for a space that was never measured."""
    return dict(_read(row) for row in _SPACES.get(space_key, ()))


def _read(row: _Row) -> tuple[tuple[str, Pair], Reading]:
    kind, asked, script, mu, sigma, baseline, foreign, stranger, line = row
    reading = Reading(
        Background(mu, sigma),
        baseline,
        dict(zip(SHARES, foreign, strict=False)),
        dict(zip(SHARES, stranger, strict=False)),
        None if line is None else Line(*line),
    )
    return (kind, (asked, script)), reading
