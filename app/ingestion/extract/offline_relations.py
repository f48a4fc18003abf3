"""Relations of a card by rules: sentences that join two entities. The sentence is the edge, its verb the predicate.

Works on sentences whose pronouns are resolved already. Deterministic; no model, no network.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from app.ingestion.extract.offline_names import bare_name
from app.ingestion.extract.types import EntityDraft, RelationDraft, Source
from app.text.names_match import NameMatcher
from app.text.names_verbs import HAN_BEHIND_VERB, HAN_TURNS, LIGHT, PREPOSITIONS, is_verb
from app.text.normalise import HAN, name_key
from app.text.segment import Segmenter

MAX_PER_SENTENCE: Final = 8
MAX_PER_PAIR: Final = 3
MAX_PER_CARD: Final = 250
MAX_EDGE_CHARS: Final = 600
MAX_PREDICATE_WORDS: Final = 6
MAX_HAN_PREDICATE: Final = 10
_MAX_GAP: Final = 300

VERB: Final = 0.8
"""Confidence where a verb stands between the two; less where it reaches over a third name."""
VERB_AFAR: Final = 0.65
PREPOSITION: Final = 0.5
LINKED: Final = 0.5
TOGETHER: Final = 0.3

_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_BRACKETS = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]?")
_SEPARATOR = re.compile(r"[\s,，、;；/&]*(?:and|or|as well as|和|与|及|以及|或|跟)?[\s,，、]*$")
_LIST_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,3}[.)、])[ \t]+")
_LABEL = re.compile(f'(?:^|[\\s>*+-])([\\w{HAN}]{{1,12}}(?: [\\w{HAN}]{{1,12}})?)(?:[:：]|::)[\\s*_《\\[“"]*$')
_DEFINES = re.compile(
    r"\W*(?:(?:It|He|She|This|They)\s+)?(?:is|are|was|were)\s+(?:an?|the)\b|\W*(?:An?|The) [a-z]"
    r"|\W*(?:它|他|她|这)?(?:是|指)"
)


@dataclass(frozen=True, slots=True)
class NameAt:
    """`name` is an entity's; it stands at text[start:end] of its sentence."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SentenceView:
    """content[start:end] as it reads with its pronouns resolved, and the entities that it names, in order."""

    start: int
    end: int
    text: str
    names: tuple[NameAt, ...] = ()


def view_sentences(
    source: Source, sentences: Iterable[tuple[int, int, str]], entities: Sequence[EntityDraft]
) -> list[SentenceView]:
    """The names in each sentence (start, end, text): its mentions where it reads as it is written, else sought."""
    matcher = NameMatcher((written, e.name) for e in entities for written in (e.name, *e.aliases))
    placed = sorted((s.start, s.end, e.name) for e in entities for s in e.mentions)
    views: list[SentenceView] = []
    at = 0
    for start, end, text in sentences:
        while at < len(placed) and placed[at][0] < start:
            at += 1
        names: list[NameAt] = []
        if text == source.content[start:end]:
            i = at
            while i < len(placed) and placed[i][0] < end:
                if placed[i][1] <= end:
                    names.append(NameAt(placed[i][2], placed[i][0] - start, placed[i][1] - start))
                i += 1
        else:
            names = [NameAt(*found) for found in matcher.find(text)]
        views.append(SentenceView(start, end, text, tuple(names)))
    return views


def find_relations(
    source: Source, sentences: Sequence[SentenceView], entities: Sequence[EntityDraft], segmenter: Segmenter
) -> list[RelationDraft]:
    """In the order of the text; bounded per sentence, per pair and per card."""
    present = {entity.name for entity in entities}
    title = _title_of(source, entities)
    found: list[RelationDraft] = []
    per_pair: Counter[frozenset[str]] = Counter()
    opening = True
    for view in sentences:
        names = _distinct(name for name in view.names if name.name in present)
        drafts: list[RelationDraft] = []
        if len(names) > 1:
            drafts = _joined(view, names, segmenter)
        if title is not None and names and all(n.name != title for n in names):
            drafts += _of_title(source, view, names, title, opening)
        if view.text.strip() and not view.text.lstrip().startswith("#"):
            opening = False
        for draft in drafts[:MAX_PER_SENTENCE]:
            pair = frozenset((draft.source, draft.target))
            # What stands together or is linked again is said already.
            if per_pair[pair] < (MAX_PER_PAIR if draft.confidence > LINKED else 1):
                per_pair[pair] += 1
                found.append(draft)
    if len(found) > MAX_PER_CARD:
        best = sorted(range(len(found)), key=lambda i: (-found[i].confidence, i))[:MAX_PER_CARD]
        found = [found[i] for i in sorted(best)]
    return found


def _title_of(source: Source, entities: Sequence[EntityDraft]) -> str | None:
    key = name_key(bare_name(source.title))
    for entity in entities[:1]:
        if key and key in (name_key(entity.name), *map(name_key, entity.aliases)):
            return entity.name
    return None


def _distinct(names: Iterable[NameAt]) -> list[NameAt]:
    """Each entity where the sentence first names it."""
    first: dict[str, NameAt] = {}
    for name in sorted(names, key=lambda n: n.start):
        first.setdefault(name.name, name)
    return list(first.values())


def _edge(view: SentenceView, source: str, target: str, predicate: str, confidence: float) -> RelationDraft:
    text = view.text.strip()
    return RelationDraft(source, target, predicate, text[:MAX_EDGE_CHARS], confidence, view.start, view.end)


# ------------------------------------------------------------------------- two names in a sentence


def _joined(view: SentenceView, names: Sequence[NameAt], segmenter: Segmenter) -> list[RelationDraft]:
    """The first name with each later one, and neighbours that a verb or a preposition joins."""
    text, subject = view.text, names[0]
    drafts: list[RelationDraft] = []
    carried: tuple[str, float] | None = None
    for left, right in itertools.pairwise(names):
        between = text[left.end : right.start]
        listed = _SEPARATOR.match(between) is not None
        told = None if listed or len(between) > _MAX_GAP else _predicate(text, left, right, segmenter)
        if left is subject:
            carried = told
            if told is not None:
                drafts.append(_edge(view, subject.name, right.name, *told))
            elif len(names) == 2:
                drafts.append(_edge(view, subject.name, right.name, _together(text), TOGETHER))
            continue
        if told is not None:
            drafts.append(_edge(view, left.name, right.name, *told))
            if carried is not None and told[1] < VERB:
                afar = f"{carried[0]} … {told[0]}" if not _HAN.search(carried[0]) else carried[0]
                drafts.append(_edge(view, subject.name, right.name, afar, min(carried[1], VERB_AFAR)))
        elif carried is not None:
            # "starred A, B and C": what is said of the first of a list is said of all.
            drafts.append(_edge(view, subject.name, right.name, carried[0], min(carried[1], VERB_AFAR)))
        else:
            drafts.append(_edge(view, subject.name, right.name, _together(text), TOGETHER))
    drafts.sort(key=lambda draft: -draft.confidence)
    return drafts


def _together(text: str) -> str:
    return "相关" if _HAN.search(text) else "related to"


def _predicate(text: str, left: NameAt, right: NameAt, segmenter: Segmenter) -> tuple[str, float] | None:
    """(what is said between the two, confidence); None where it is nothing of meaning."""
    between = _BRACKETS.sub(" ", text[left.end : right.start])
    if _HAN.search(between):
        return _han_predicate(between, text[right.end : right.end + 12], segmenter)
    return _latin_predicate(between)


def _latin_predicate(between: str) -> tuple[str, float] | None:
    words = [m.group() for m in _WORD.finditer(between)]
    lows = [word.lower() for word in words]
    verbs = [i for i, low in enumerate(lows) if is_verb(low)]
    if verbs:
        # The verb nearest to the object, with what belongs to it: "was founded in 1990 by" → "was founded in 1990 by".
        first = verbs[-1]
        while first - 1 in verbs or (first and lows[first - 1] in LIGHT):
            first -= 1
        kept = words[first:]
        while kept and kept[-1].lower() in _TRAILING:
            kept.pop()
        if len(kept) > MAX_PREDICATE_WORDS:
            last = kept[-1] if kept[-1].lower() in PREPOSITIONS else ""
            kept = kept[: MAX_PREDICATE_WORDS - 2]
            while kept and kept[-1].lower() in _TRAILING:
                kept.pop()
            kept += ["…", last] if last else []
        return (" ".join(kept), VERB) if kept else None
    for i in range(len(lows) - 1, -1, -1):
        if lows[i] in PREPOSITIONS:
            kept = words[max(0, i - 2) : i + 1]
            while kept and kept[0].lower() in _TRAILING:
                kept.pop(0)
            return " ".join(kept), PREPOSITION
    return None


_TRAILING = frozenset(
    [
        "a",
        "an",
        "the",
        "his",
        "her",
        "its",
        "their",
        "our",
        "my",
        "your",
        "this",
        "that",
        "these",
        "those",
        "and",
        "or",
        "s",
        "’s",
        "'s",
    ]
)


def _han_predicate(between: str, behind: str, segmenter: Segmenter) -> tuple[str, float] | None:
    # "经过西木区、回声公园、": the verb is in front of the list.
    between = between.partition("、")[0]
    words = [(word, tag) for run in segmenter.tagged(between) for word, tag, _, _ in run]
    turn = next((word for word, _ in reversed(words) if word in HAN_TURNS), None)
    if turn is not None:
        after = next(
            (word for run in segmenter.tagged(behind)[:1] for word, tag, _, _ in run if tag.startswith("v")), None
        )
        if after is not None:
            return f"{turn}…{after}"[:MAX_HAN_PREDICATE], VERB
    for i in range(len(words) - 1, -1, -1):
        word, tag = words[i]
        if tag in ("v", "vi", "vq") or word in ("是", "为", "即"):
            verb = word
            if i and words[i - 1][1] in ("v", "vn", "d") and len(words[i - 1][0]) > 1 and len(word) < 3:
                verb = words[i - 1][0] + word
            if i + 1 < len(words) and words[i + 1][0] in HAN_BEHIND_VERB:
                verb += words[i + 1][0]
            return verb[:MAX_HAN_PREDICATE], VERB
    for i in range(len(words) - 1, 0, -1):
        # "毕业于", for whose first half the dictionary knows no verb.
        if words[i][0] in ("于", "自") and len(words[i - 1][0]) == 2:
            return words[i - 1][0] + words[i][0], VERB
    nouns = [word for word, tag in words if tag.startswith("n") and len(word) > 1]
    if words and words[0][0] == "的" and nouns:
        return "的" + nouns[-1], PREPOSITION
    place = next((word for word, tag in words if tag == "p"), None)
    return (place, PREPOSITION) if place else None


# ----------------------------------------------------------------------- what is said of the card's subject


def _of_title(
    source: Source, view: SentenceView, names: Sequence[NameAt], title: str, opening: bool
) -> list[RelationDraft]:
    """A sentence that does not name the card's subject, but is about it: the definition, an item of a list."""
    text = view.text
    han = _HAN.search(text) is not None or (_HAN.search(title) is not None and not _WORD.search(text))
    line = source.content[source.content.rfind("\n", 0, view.start) + 1 : view.start + 4]
    drafts: list[RelationDraft] = []
    if opening and _DEFINES.match(text):
        said = "是" if han else "is"
        drafts += [_edge(view, title, name.name, said, VERB_AFAR) for name in names[:3]]
    elif _LIST_ITEM.match(line) or _LIST_ITEM.match(text):
        for name in names[:3]:
            label = _LABEL.search(text[: name.start])
            if label is not None:
                drafts.append(_edge(view, title, name.name, label[1].strip(), VERB_AFAR))
                continue
            linked = source.content[max(0, view.start + name.start - 2) : view.start + name.start] == "[["
            said = ("链接到" if han else "links to") if linked else ("提到" if han else "mentions")
            drafts.append(_edge(view, title, name.name, said, LINKED if linked else TOGETHER))
    else:
        for name in names[:3]:
            label = _LABEL.search(text[: name.start])
            if label is not None and len(text) < 120 and not text[: label.start()].strip(" >*-_"):
                drafts.append(_edge(view, title, name.name, label[1].strip(), VERB_AFAR))
                continue
            place = view.start + name.start
            if "[[" in source.content[max(0, place - 60) : place].rpartition("]]")[2]:
                drafts.append(_edge(view, title, name.name, "链接到" if han else "links to", LINKED))
    return drafts
