"""How the offline provider tells what reports say: topic by topic, each with its markers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from app.providers.offline_text import without_markers
from app.providers.ports import Source

Language = Literal["zh", "en"]

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


def tell(reports: Sequence[Source], language: Language) -> str:
    """An overview goes through the themes; else the points, by topic."""
    if all(report.is_theme for report in reports):
        return _overview(reports, _WORDS[language])
    return _points(reports[:MAX_POINTS], _WORDS[language])


def _overview(reports: Sequence[Source], words: dict[str, str]) -> str:
    lines = [words["themes"], ""]
    named = []
    for report in reports:
        text = without_markers(report.text).strip()
        if text == report.title.strip():
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
