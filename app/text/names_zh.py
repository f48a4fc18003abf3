"""Names in Chinese text: people, places, organisations, works, terms.

From words and their parts of speech as the dictionary has them, what names end in, and what the text repeats. Works
on blanked text (`names_marks`); knows no Markdown.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from typing import Final

from app.text.names_en import NameType, Spot
from app.text.names_words import COMMON_LATIN, is_ordinary
from app.text.names_zh_words import (
    AFTER_PLACES,
    BEFORE_PLACES,
    CLEAR_SURNAMES,
    COMPOUND_SURNAMES,
    CONCEPT_ENDINGS,
    EVENT_ENDINGS,
    FAIR_SURNAMES,
    FAMOUS_ORGANIZATIONS,
    FAMOUS_PRODUCTS,
    GENERIC,
    GIVEN_CHARACTERS,
    GRAMMAR,
    LAW_ENDINGS,
    NOT_PERSONS,
    NOT_PLACE_ENDINGS,
    NOT_PLACES,
    ORGANIZATION_ENDINGS,
    PERSON_TITLES_AFTER,
    PERSON_VERBS,
    PERSON_WORDS_BEFORE,
    PLACE_ENDINGS,
    PLACE_NOUN_ENDINGS,
    PLACES,
    PRODUCT_ENDINGS,
    SURNAMES,
    TERM_HEADS,
    TRANSLITERATION,
)
from app.text.normalise import HAN

Word = tuple[str, str, int, int]
"""(word, part of speech, start, end)."""

_WORK = re.compile(r"《([^《》\n]{1,60})》")
_DOT = re.compile("[·•・‧]")
_DOTTED = re.compile(f"[{HAN}]{{1,12}}(?:[·•・‧](?:[{HAN}]{{1,12}}|[A-Z]\\.?))+")
_PART = re.compile(f"[{HAN}]+|[A-Z]")
_LATIN = re.compile(r"(?<![A-Za-z0-9_./@:-])[a-z][a-z0-9]{2,20}(?![A-Za-z0-9_./@:-])")
_MAX_NAME: Final = 20
_MAX_PART: Final = 7
_NOUNISH = ("n", "j", "vn", "b", "x", "an", "nz")
_PROPER = frozenset(("nr", "ns", "nt", "nz", "nrt", "nrfg", "j", ""))


def find_han(text: str, runs: list[list[Word]], known: Set[str] = frozenset()) -> list[Spot]:
    """Names, in order, without overlaps. `runs`: the words of each Han run; `known`: names that need no proof."""
    spots: list[Spot] = []
    taken: set[int] = set()

    def add(start: int, end: int, kind: NameType) -> None:
        if not any(i in taken for i in (start, end - 1)):
            taken.update(range(start, end))
            spots.append(Spot(start, end, kind))

    for match in _WORK.finditer(text):
        start, end = match.span(1)
        # What stands inside a title is part of it.
        if not text[start:end].isspace():
            add(start, end, "work")
    for start, end in _foreign(text, runs):
        add(start, end, "person")
    found = _Words(runs, known)
    for start, end, kind in found.names():
        add(start, end, kind)
    for start, end in found.terms():
        kind = type_of_han(text[start:end])
        add(start, end, "concept" if kind == "other" else kind)
    if runs:
        for start, end in _repeated_latin(text, known):
            add(start, end, "product")
    spots.sort(key=lambda spot: spot.start)
    return spots


def _foreign(text: str, runs: list[list[Word]]) -> Iterator[tuple[int, int]]:
    """Foreign names in full: 史蒂芬·平克, 弗朗西斯·S·蒙哥马利. Where they begin and end the dots do not say."""
    if not _DOT.search(text):
        return
    begins = {word[3]: word[2] for run in runs for word in run}
    ends = {word[2]: word[3] for run in runs for word in run}
    for match in _DOTTED.finditer(text):
        start = -1
        parts = [m.span() for m in _PART.finditer(text, *match.span())]
        for (left, stop), (right, limit) in itertools.pairwise(parts):
            if start < 0:
                size = _transliterated(text[left:stop][::-1])
                if size < 2:
                    size = max(size, stop - max(left, begins.get(stop, stop)))
                start = stop - min(size, _MAX_PART)
            if limit == match.end() or not _all_foreign(text[right:limit]):
                size = _transliterated(text[right:limit])
                if size < 2:
                    size = max(size, min(ends.get(right, right), limit) - right)
                end = right + min(size, _MAX_PART)
                if start < stop and not text[right:end].isascii() and _sounds_foreign(text[start:end]):
                    yield start, end
                start = -1


def _all_foreign(part: str) -> bool:
    return part.isascii() or _transliterated(part) == len(part)


def _sounds_foreign(name: str) -> bool:
    parts: list[str] = _PART.findall(name)
    if len(parts) < 2 or (len(parts[-1]) == 1 and parts[-1] not in TRANSLITERATION):
        return False
    signs = [c for part in parts for c in part]
    foreign = [c for c in signs if c in TRANSLITERATION or c.isascii()]
    return len(foreign) * 5 >= len(signs) * 3


def _transliterated(text: str) -> int:
    """How many characters at the beginning of `text` are used for foreign names."""
    for i, character in enumerate(text):
        if character not in TRANSLITERATION:
            return i
    return len(text)


def _repeated_latin(text: str, known: Set[str]) -> list[tuple[int, int]]:
    """Lower-case Latin words in Chinese text that are no English ones: flomo, obsidian."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for match in _LATIN.finditer(text):
        found[match.group()].append(match.span())
    kept: list[tuple[int, int]] = []
    for word, places in found.items():
        if word in known or (len(places) > 1 and word not in COMMON_LATIN and not is_ordinary(word)):
            kept += places
    return kept


class _Words:
    def __init__(self, runs: list[list[Word]], known: Set[str]) -> None:
        self.runs = runs
        self.known = known
        self.counts = Counter(word for run in runs for word, _, _, _ in run if len(word) > 1)

    def names(self) -> list[tuple[int, int, NameType]]:
        found: list[tuple[int, int, NameType]] = []
        for run in self.runs:
            i = 0
            while i < len(run):
                length, kind = self._ended(run, i)
                if not length:
                    length, kind = self._name(run, i)
                if length:
                    found.append((run[i][2], run[i + length - 1][3], kind))
                i += length or 1
        return found

    # ------------------------------------------------------------------------- single words

    def _name(self, run: list[Word], i: int) -> tuple[int, NameType]:
        """How many words from word i on are a name, and of what; 0: none."""
        word, tag, _, _ = run[i]
        if word in self.known and len(word) > 1 and word not in GENERIC:
            return 1, _known_type(word, tag)
        if word in PLACES:
            return 1, "place"
        if word in FAMOUS_ORGANIZATIONS:
            return 1, "organization"
        if word in FAMOUS_PRODUCTS:
            return 1, "product"
        if word in GENERIC:
            return 0, "other"
        if tag in ("nr", "nrt", "nrfg") or not tag:
            if self._is_foreign(word, tag):
                # The dictionary tells foreign people from foreign places badly.
                place = word.endswith(("斯坦", "尼亚", "维亚", "利亚", "比亚", "兰卡"))
                return 1, "place" if place else "person" if self._cued(run, i, i) else "other"
            length = self._person(run, i)
            if length:
                return length, "person"
        if tag == "ns" and len(word) > 2 and word not in NOT_PLACES:
            known_ending = word[-1] in PLACE_ENDINGS or all(c in TRANSLITERATION for c in word)
            return (1, "place") if known_ending or word[-1] not in NOT_PLACE_ENDINGS else (0, "other")
        if tag == "ns" and len(word) == 2 and word not in NOT_PLACES and self._beside_place(run, i):
            return 1, "place"
        if tag == "nt" and len(word) > 3:
            return 1, "organization"
        if tag == "nz" and len(word) > 2 and word[-1] not in "性化型式人语族线等次学品":
            return 1, "other"
        if len(word) == 1 and word in SURNAMES and i + 1 < len(run):
            length = self._apart(run, i)
            if length:
                return length, "person"
        return 0, "other"

    def _is_foreign(self, word: str, tag: str) -> bool:
        if word in NOT_PERSONS or _transliterated(word) < len(word):
            return False
        if tag in ("nrt", "nr"):
            return len(word) > 2 or (tag == "nrt" and word not in NOT_PERSONS and self.counts[word] > 1)
        return not tag and len(word) > 2 and not any(c in GRAMMAR for c in word)

    def _beside_place(self, run: list[Word], i: int) -> bool:
        before = run[i - 1][0] if i else ""
        after = run[i + 1][0] if i + 1 < len(run) else ""
        return before in BEFORE_PLACES or after in AFTER_PLACES

    def _person(self, run: list[Word], i: int) -> int:
        word, tag, _, _ = run[i]
        size = len(word)
        if word in NOT_PERSONS or size < 2 or size > 7:
            return 0
        compound = word[:2] in COMPOUND_SURNAMES and size > 2
        if not compound and (word[0] not in SURNAMES or size > 3):
            return 0
        if self._cued(run, i, i):
            return 1
        if tag:
            usual = all(c in GIVEN_CHARACTERS for c in word[1:])
            fair = size == 3 and (usual or (word[0] in FAIR_SURNAMES and _given(word[1:])))
            return 1 if compound or fair or word[0] in CLEAR_SURNAMES else 0
        # Words that only the statistics of characters made: believed when repeated.
        if word[0] not in CLEAR_SURNAMES and word[0] not in FAIR_SURNAMES:
            return 0
        usual = size == 3 and all(c in GIVEN_CHARACTERS for c in word[1:])
        return 1 if usual or (self.counts[word] > 1 and _given(word[1:])) else 0

    def _apart(self, run: list[Word], i: int) -> int:
        """A surname, and the given name as another word: needs a title or a verb of speech beside it."""
        given = run[i + 1][0]
        if run[i + 1][2] != run[i][3] or len(given) > 2 or not _given(given) or given in GENERIC:
            return 0
        if run[i][0] not in CLEAR_SURNAMES or run[i + 1][1] in ("v", "d", "p", "c", "uj", "r", "m", "q", "f", "n"):
            return 0
        return 2 if self._cued(run, i, i + 1) else 0

    def _cued(self, run: list[Word], i: int, j: int) -> bool:
        after = run[j + 1][0] if j + 1 < len(run) else ""
        before = run[i - 1][0] if i else ""
        return after in PERSON_TITLES_AFTER or after in PERSON_VERBS or before in PERSON_WORDS_BEFORE

    # ------------------------------------------------------------- names known by their ending

    def _ended(self, run: list[Word], i: int) -> tuple[int, NameType]:
        """A name of several words that ends in what such names end in: 斯坦福 + 大学, 收藏家 + 谬误."""
        word, tag, start, _ = run[i]
        if not _begins_term(word, tag) and word not in self.known:
            return 0, "other"
        best = 0
        kind: NameType = "other"
        proper = tag in _PROPER and (len(word) > 1) and word not in GENERIC
        verbal = False
        for j in range(i + 1, min(i + 7, len(run))):
            last, last_tag, _, end = run[j]
            if end - start > _MAX_NAME:
                break
            ending = _ending_type(last, proper, j == i + 1, tag, end - start)
            if verbal and ending != "organization":
                ending = None
            if ending is not None and not (ending == "concept" and word in GENERIC):
                best, kind = j - i + 1, ending
            if not _inside_term(last, last_tag) and not (tag == "ns" and last_tag in ("v", "a") and len(last) == 2):
                break
            # "中国联合网络通信集团": in the name of a company there may be a verb.
            verbal = verbal or last_tag in ("v", "a")
            proper = proper or (last_tag in _PROPER and len(last) > 1 and last not in GENERIC)
        return best, kind

    # ------------------------------------------------------------------- what a text repeats

    def terms(self) -> list[tuple[int, int]]:
        """Compounds and long nouns that the text repeats, and unknown words that it repeats three times."""
        places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for run in self.runs:
            for i, (word, tag, start, end) in enumerate(run):
                if self._is_term(word, tag):
                    places[word].append((start, end))
                if not _begins_term(word, tag) or word in GENERIC:
                    continue
                text = word
                for j in range(i + 1, min(i + 3, len(run))):
                    last, last_tag, _, last_end = run[j]
                    if not _inside_term(last, last_tag) or last_end - start > 8:
                        break
                    text += last
                    if (last not in GENERIC or last in TERM_HEADS) and last_tag != "b" and len(text) > 3:
                        places[text].append((start, last_end))
        kept = {
            text: spans
            for text, spans in places.items()
            if text in self.known or len(spans) >= (3 if len(text) < 4 else 2)
        }
        for text in sorted(kept, key=len, reverse=True):
            # A part that never stands without the whole is no term of its own.
            for start in range(len(text)):
                for end in range(start + 2, len(text) + (start > 0)):
                    part = text[start:end]
                    if part in kept and part not in self.known and len(kept[part]) <= len(kept.get(text, ())):
                        del kept[part]
        return [span for text in sorted(kept, key=lambda t: (-len(t), t)) for span in kept[text]]

    def _is_term(self, word: str, tag: str) -> bool:
        if word in GENERIC or len(word) < 2:
            return False
        if word in self.known:
            return True
        if not tag:
            return 2 <= len(word) <= 4 and not any(c in GRAMMAR for c in word)
        return tag in ("n", "nz") and len(word) > 3


def _ending_type(last: str, proper: bool, second: bool, first_tag: str, size: int) -> NameType | None:
    """What a term of `size` characters is that ends in the word `last`; `proper`: a name is in front of it."""
    if proper and last in ORGANIZATION_ENDINGS:
        return "organization"
    if proper and second and last in PLACE_NOUN_ENDINGS and first_tag in ("ns", "nr", "nrt", ""):
        return "place"
    if proper and last in EVENT_ENDINGS:
        return "event"
    if proper and last in PRODUCT_ENDINGS:
        return "product"
    if proper and last in LAW_ENDINGS and size > 2 and (last != "法" or first_tag in ("nz", "ns", "")):
        return "concept"
    return "concept" if last in CONCEPT_ENDINGS and size >= 4 else None


def _given(name: str) -> bool:
    return not any(c in GRAMMAR for c in name)


def _begins_term(word: str, tag: str) -> bool:
    if len(word) < 2:
        return False
    return (tag.startswith(_NOUNISH) if tag else not any(c in GRAMMAR for c in word)) and word[-1] not in "的了着过们"


def _inside_term(word: str, tag: str) -> bool:
    return _begins_term(word, tag) and tag not in ("nr", "nrfg")


def _known_type(word: str, tag: str) -> NameType:
    if word in PLACES or tag == "ns":
        return "place" if word not in NOT_PLACES else "other"
    return "organization" if tag == "nt" else "other"


def type_of_han(name: str) -> NameType:
    """What the ending of a Chinese name says of the thing."""
    if name in PLACES:
        return "place"
    for endings, kind in _ENDINGS:
        for size in (4, 3, 2):
            if len(name) > size + 1 and name[-size:] in endings:
                return kind
    return "other"


_ENDINGS: Final[tuple[tuple[frozenset[str], NameType], ...]] = (
    (ORGANIZATION_ENDINGS, "organization"),
    (CONCEPT_ENDINGS, "concept"),
    (EVENT_ENDINGS, "event"),
    (PRODUCT_ENDINGS, "product"),
    (LAW_ENDINGS, "concept"),
    (PLACE_NOUN_ENDINGS, "place"),
)
