"""Our own labelled questions: templates with slots, written for the router, and what is made of them.

A *family* holds templates that say the same thing in other words. Families are split into training and held-out ones
(`split` in the files), and so are the fillers of slots, so that no held-out question shares its words with training.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.retrieval.types import Level

DATA = Path(__file__).parent / "data"
_SLOT = re.compile(r"\{([a-z]+)(\d?)\}")
_POLITE = {
    "zh": ("请问", "帮我看看，", "麻烦问一下，", "嗨，", "我想知道", "你能告诉我吗：", "急，"),
    "en": ("please tell me: ", "can you tell me ", "hey, ", "I'd like to know: ", "quick question: ", "so, "),
}


@dataclass(frozen=True, slots=True)
class Template:
    family: str
    split: str
    lang: str
    level: Level
    text: str


@dataclass(frozen=True, slots=True)
class Labelled:
    text: str
    level: Level
    lang: str
    family: str


def read_templates() -> list[Template]:
    found = []
    for level in Level:
        for line in (DATA / f"{level.name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            found.append(Template(row["family"], row["split"], row["lang"], Level[row["level"]], row["template"]))
    return found


def questions(templates: list[Template], *, held_out: bool, each: int, seed: int) -> Iterator[Labelled]:
    """Each template `each` times, with fillers of its side of the split; training questions vary in form, too."""
    slots = json.loads((DATA / "slots.json").read_text(encoding="utf-8"))
    for template in templates:
        # A generator per template: more templates elsewhere change nothing here.
        rng = random.Random(f"{seed} {template.family} {template.text}")
        for number in range(each):
            text = _filled(template, slots[template.lang], rng, held_out)
            yield Labelled(_varied(text, template, rng, number), template.level, template.lang, template.family)


def _filled(template: Template, slots: dict[str, list[str]], rng: random.Random, held_out: bool) -> str:
    used: set[str] = set()

    def one(match: re.Match[str]) -> str:
        side = [filler for filler in slots[match[1]][int(held_out) :: 2] if filler not in used]
        used.add(filler := rng.choice(side))
        return filler

    return _SLOT.sub(one, template.text)


def _varied(text: str, template: Template, rng: random.Random, number: int) -> str:
    """The way people type: with and without capitals, marks and polite words. The first is as written."""
    latin = template.lang == "en"
    if number and rng.random() < 0.25:
        text = rng.choice(_POLITE["en" if latin else "zh"]) + text
    if latin and rng.random() < 0.5:
        text = text[:1].upper() + text[1:]
    if latin and number and rng.random() < 0.25:
        text = text.lower()
    if rng.random() < 0.6:
        text += rng.choice(("?", ".", "", "!") if latin else ("？", "。", "", "?"))
    return text
