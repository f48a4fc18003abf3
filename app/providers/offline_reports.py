"""How the offline provider tells what reports say: topic by topic, each with its markers. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from app.providers.offline_text import without_markers
from app.providers.ports import Source

Language = Literal["zh", "en"]
Fits = Callable[[str], bool]
"""Whether a text is short enough."""

MAX_POINTS: Final = 12
"""Of an answer about something; an overview goes through all its topics."""

_WORDS: Final[dict[Language, dict[str, str]]] = {
    "zh": {
        "themes": "你的笔记主要讲这些（离线摘录，未使用大模型）：",
        "points": "综合相关笔记（离线摘录，未使用大模型）：",
        "more": "此外还有",
        "colon": "：",
        "comma": "；",
        "stop": "。",
    },
    "en": {
        "themes": "What your notes are mainly about (extractive, no language model):",
        "points": "What your notes say on this, taken together (extractive, no language model):",
        "more": "Also",
        "colon": ": ",
        "comma": "; ",
        "stop": ".",
    },
}


def tell(reports: Sequence[Source], language: Language, fits: Fits = lambda _: True) -> str:
    """An overview goes through the themes; else the points, by topic. As much as `fits`, and nothing by half: themes at
    the end are told by name alone, points at the end not at all.
    """
    words = _WORDS[language]
    if all(report.is_theme for report in reports):
        return longest((_overview(reports, words, in_full) for in_full in range(len(reports), -1, -1)), fits)
    some = reports[:MAX_POINTS]
    return longest((_points(some[:number], words) for number in range(len(some), 0, -1)), fits)


def longest(versions: Iterable[str], fits: Fits) -> str:
    """The first that fits, or the last."""
    said = ""
    for said in versions:
        if fits(said):
            break
    return said


def _overview(reports: Sequence[Source], words: dict[str, str], in_full: int) -> str:
    lines = [words["themes"], ""]
    named = []
    for place, report in enumerate(reports):
        text = without_markers(report.text).strip()
        if place >= in_full or text == report.title.strip():
            named.append(f"{_plain(report.title)} {_markers(report)}")
        else:
            lines.append(f"- **{_plain(report.title)}**{words['colon']}{text} {_markers(report)}")
    if named:
        lines.append(f"- {words['more']}{words['colon']}{words['comma'].join(named)}{words['stop']}")
    return "\n".join(lines)


def _points(reports: Sequence[Source], words: dict[str, str]) -> str:
    by_title: dict[str, list[Source]] = {}
    for report in reports:
        by_title.setdefault(report.title, []).append(report)
    lines = [words["points"]]
    for title, told in by_title.items():
        lines += ["", f"**{_plain(title)}**"]
        lines += [f"- {without_markers(report.text).strip()} {_markers(report)}" for report in told]
    return "\n".join(lines)


def _markers(report: Source) -> str:
    return f"[{', '.join((report.marker, *report.rests_on))}]"


def _plain(title: str) -> str:
    return without_markers(title).replace("*", "").strip()
