"""Names in text written with capitals: spans, acronyms, identifiers, and noun compounds that a text repeats.

A capital proves a name inside a sentence, not where one begins: there the word must be no common one, or be a name
elsewhere in the text. Works on blanked text (`names_marks`); knows no Markdown and no Chinese.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Set
from dataclasses import dataclass
from typing import Final, Literal

from app.text.names_verbs import is_verb
from app.text.names_words import (
    ABBREVIATED,
    AFTER_I,
    AFTER_OF,
    BEFORE_LANGUAGES,
    BEFORE_NOUNS,
    CLOSED,
    COUNTED,
    DEMONYMS,
    EPITHETS,
    EVENT_HEADS,
    FUNCTION,
    GIVEN_NAMES,
    HONORIFICS,
    JOINERS,
    MONTHS,
    NOT_ACRONYMS,
    NOT_IN_COMPOUNDS,
    OFFICES,
    ORGANIZATION_HEADS,
    PERSON_SUFFIXES,
    PLACE_HEADS,
    PLACES,
    PRODUCT_HEADS,
    RULERS,
    TAKES_FOR,
    WEEKDAYS,
    WORK_HEADS,
    is_ordinary,
)
from app.text.normalise import HAN

NameType = Literal["person", "place", "organization", "event", "work", "product", "concept", "other"]

MAX_WORDS: Final = 10
_W = f"[^\\W_{HAN}]"
_TOKEN = re.compile(
    f"(?:[A-Z]\\.){{2,}}|{_W}+(?:(?:[-\u2010\u2011'’_+]|\\.(?=[a-z0-9])|&(?=[A-Z])){_W}+)*(?:\\+\\+|\\#(?!\\w))?(?:['’](?=\\s))?"
)
_POSSESSIVE = re.compile(r"(?:['’]s|['’])$")
_FIRST_PERSON = frozenset({"i", "i'm", "i've", "i'll", "i'd", "i’m", "i’ve", "i’ll", "i’d"})
_BRAND = re.compile(r"[a-z]{1,3}[A-Z][A-Za-z0-9]+$")
_HUMP = re.compile(r"[a-z0-9][A-Z]")
_LETTER_DIGIT = re.compile(r"[A-Za-z]{1,12}\d[\w.]{0,10}$")
_NOT_IDENTIFIER = re.compile(r"(?:v|h|p|q|w|r|s|ep|fig|no|step|day|week|t|e)\d+(?:\.\d+)*$", re.I)
_ATTRIBUTE = re.compile(
    r"[\w-]+\.(?:com|org|net|io|cn|dev|edu|gov|md|html?|png|jpe?g|pdf|txt|json|ya?ml|xml|csv|zip)$", re.I
)
_NUMBER = re.compile(r"\d{1,4}(?:\.\d{1,4}){0,3}$")
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d$")
_OPENERS = "\"'“‘(（[【{*_~#>-–—+=|•·\t \u00a0\ufffc「『《"
_ENDERS = ".!?…:;。！？：；\n\r"
_LEAD_CLEAN = re.compile(r"[\w+#]")
# How common words end that no short list has: "Merchants", "Authentication".
_DERIVED = re.compile(
    r"(?:[^aiousx]s|[aeiou]tion|sion|ment|ness|ity|ance|ence|ism|able|ible|ous|ful|less|ing|[^aeiou]ed|ically|ally|ware|ship)$"
)
# "Nooo", "How're", "No.1".
_NOT_NAME = re.compile(r"([a-z])\1\1|['’](?:re|ve|ll|d|m|t)$|^no\.\d")
_MORE_OFFICES = frozenset({"premier", "head", "vice", "prime", "deputy", "chairman", "speaker"})
_NEVER_FIRST = frozenset({"the", "a", "an", "if", "or", "and", "but"})
_NOT_HEAD = re.compile(r"(?:ly|ed|est)$")


@dataclass(frozen=True, slots=True)
class Spot:
    """text[start:end] is a name. `sure`: its type was told by the words themselves."""

    start: int
    end: int
    type: NameType = "other"


_Token = tuple[int, int, str]


def find_capitalised(text: str, known: Set[str] = frozenset(), headings: Set[int] = frozenset()) -> list[Spot]:
    """Names in order, without overlaps. `known`: names in lower case; `headings`: where lines begin that are headings,
    in which every word may have a capital."""
    tokens = [_without_tail(m.start(), m.group()) for m in _TOKEN.finditer(text)]
    spans = _Spans(text, tokens, known)
    spans.gather(headings)
    return spans.settle()


def _without_tail(start: int, word: str) -> _Token:
    """ "MIT-licensed" names MIT."""
    if "-" in word and word[0].isupper():
        head, _, tail = word.rpartition("-")
        if tail.islower() and len(tail) > 2 and is_ordinary(tail) and (head.isupper() or not is_ordinary(head.lower())):
            word = head
    return start, start + len(word), word


class _Spans:
    def __init__(self, text: str, tokens: list[_Token], known: Set[str]) -> None:
        self.text = text
        self.tokens = tokens
        self.known = known
        self.sure: list[Spot] = []
        # (first token, last token, person): proven by position only; settled when all is read.
        self.doubtful: list[tuple[int, int, bool]] = []
        self.proven: set[str] = set()
        self.lower: set[str] = {word for _, _, word in tokens if word.islower()}

    # -------------------------------------------------------------------------- gathering

    def gather(self, headings: Set[int]) -> None:
        tokens, i, count = self.tokens, 0, len(self.tokens)
        titles = self._title_lines(headings) if headings else set()
        while i < count:
            word = tokens[i][2]
            if not word[0].isupper() and not _BRAND.match(word):
                if not word.islower() or word[-1].isdigit() or "_" in word:
                    self._identifier(i)
                i += 1
                continue
            if not self._caplike(i):
                i += 1
                continue
            j = self._extend(i)
            if i in titles:
                self._pieces(i, j)
            else:
                self._take(i, j)
            i = j + 1

    def _title_lines(self, headings: Set[int]) -> set[int]:
        """Tokens of headings in which every long word has a capital, so that capitals prove nothing."""
        found: set[int] = set()
        line: list[int] = []
        text = self.text
        marks = sorted(headings)
        at = 0
        for i, (start, _, _) in enumerate(self.tokens):
            while at < len(marks) and marks[at] <= start:
                self._close(line, found)
                line = []
                end = text.find("\n", marks[at])
                limit = len(text) if end < 0 else end
                at += 1
            if at and start < limit:
                line.append(i)
        self._close(line, found)
        return found

    def _close(self, line: list[int], found: set[int]) -> None:
        long = [i for i in line if self.tokens[i][1] - self.tokens[i][0] > 3]
        if len(long) > 1 and sum(self.tokens[i][2][0].isupper() for i in long) * 3 >= len(long) * 2:
            found.update(line)

    def _caplike(self, i: int) -> bool:
        word = self.tokens[i][2]
        low = word.lower()
        if low in _FIRST_PERSON:
            if i + 1 >= len(self.tokens) or self._gap(i) != " " or self._initial(i):
                return False
            following = self.tokens[i + 1][2]
            return following[0].isupper() and following.lower() not in _FIRST_PERSON
        return low not in WEEKDAYS and low not in MONTHS

    def _gap(self, i: int) -> str:
        return self.text[self.tokens[i][1] : self.tokens[i + 1][0]]

    def _extend(self, i: int) -> int:
        """The last token of the span that begins at token i."""
        tokens, j = self.tokens, i
        while j + 1 < len(tokens) and j - i < MAX_WORDS:
            gap, (_, _, word) = self._gap(j), tokens[j + 1]
            low = word.lower()
            if gap == ", ":
                if low in ("jr", "sr", "inc", "ltd", "llc") and word[0].isupper():
                    j += 1
                    continue
                break
            if gap == ". ":
                previous = tokens[j][2]
                if not (
                    ((len(previous) == 1 and previous.isalpha()) or previous.lower() in ABBREVIATED)
                    and word[0].isupper()
                ):
                    break
            elif gap not in (" ", " & ", "\u00a0"):
                break
            if tokens[j][2].endswith(("'s", "’s", "'", "’")) and self._splits(i, j):
                break
            if word[0].isupper():
                before = tokens[j][2].lower()
                if (low in MONTHS and before not in GIVEN_NAMES) or (
                    # "Black Friday", but not "Caroline Friday".
                    low in WEEKDAYS and (before in FUNCTION or not is_ordinary(before))
                ):
                    break
                if low in _FIRST_PERSON and not (word == "I" and self._regnal(j + 1)):
                    break
                j += 1
            elif _NUMBER.match(word):
                if not self._numbered(j + 1):
                    break
                j += 1
            else:
                k = self._over_joiner(i, j)
                if k == j:
                    break
                j = k
        return j

    def _over_joiner(self, i: int, j: int) -> int:
        """The capitalised token behind the small word that follows token j, where that word joins names; else j."""
        tokens, k = self.tokens, j + 2
        before, low = tokens[j][2].lower(), tokens[j + 1][2]
        if low == "of":
            if k < len(tokens) and tokens[k][2] in AFTER_OF and self._gap(k - 1) == " ":
                k += 1
            # "Republic of the Congo", "Haymo of Faversham"; not "Jane Doe of the University of Rome".
            proper = not is_ordinary(before) and before not in PERSON_SUFFIXES
            ruler = tokens[i][2].lower() in RULERS
            if proper and (k > j + 2 or (j > i and not ruler)) and before not in PLACE_HEADS | ORGANIZATION_HEADS:
                return j
        elif low == "the":
            if k >= len(tokens) or tokens[k][2] not in EPITHETS:
                return j
        elif low == "for":
            if before not in TAKES_FOR:
                return j
        elif low == "at":
            if not any(tokens[n][2] in ("University", "College", "School") for n in range(i, j)):
                return j
        elif low not in JOINERS:
            return j
        if k >= len(tokens) or any(self._gap(n) != " " for n in range(j + 1, k)):
            return j
        following = tokens[k][2]
        if not following[0].isupper() or following.lower() in MONTHS | WEEKDAYS | _FIRST_PERSON:
            return j
        return k

    def _splits(self, i: int, j: int) -> bool:
        """Whether the possessive at token j is an owner's ("Google's Gemini") and not a name's ("Schindler's List")."""
        if j > i and self.tokens[j - 1][2] in ("St", "St."):
            return False
        base = _POSSESSIVE.sub("", self.tokens[j][2]).lower()
        following = self.tokens[j + 1][2].lower()
        owner = base in GIVEN_NAMES or base in PLACES or base in self.known or base in FUNCTION
        return owner or not is_ordinary(following)

    def _regnal(self, k: int) -> bool:
        return k + 1 >= len(self.tokens) or self.tokens[k + 1][2].lower() not in AFTER_I or self._gap(k) != " "

    def _numbered(self, k: int) -> bool:
        """Whether the number at token k belongs to the name before it: "Apollo 11 was", not "in Paris 20 people"."""
        number = self.tokens[k][2]
        if _YEAR.match(number):
            return False
        if "." in number or k + 1 >= len(self.tokens) or self._gap(k) != " ":
            return True
        following = self.tokens[k + 1][2]
        if following[0].isupper():
            return _HUMP.search(self.tokens[k - 1][2]) is not None
        return following in FUNCTION or following.endswith("ed")

    def _initial(self, i: int) -> bool:
        """Whether a sentence, a line, a list item or a quotation begins with token i."""
        text, at = self.text, self.tokens[i][0] - 1
        spaced = False
        while at >= 0 and text[at] in _OPENERS:
            if text[at] in '"“‘(（「『《[【':
                return True
            spaced = True
            at -= 1
        if at < 0:
            return True
        sign = text[at]
        if sign == ")" and spaced and i and self.tokens[i - 1][2].isdigit() and self._initial(i - 1):
            return True
        if sign not in _ENDERS:
            return False
        if sign != "." or not spaced:
            return spaced or sign in "\n\r。！？：；"
        if i == 0:
            return True
        previous = self.tokens[i - 1]
        if previous[1] not in (at, at + 1):
            return True
        return not (len(previous[2]) == 1 and previous[2].isupper()) and previous[2].lower() not in ABBREVIATED

    # ----------------------------------------------------------------------------- judging

    def _take(self, a: int, b: int) -> None:
        tokens = self.tokens
        initial, person, stripped, title = self._initial(a), False, False, False
        while a <= b:
            low = tokens[a][2].lower()
            if (low in HONORIFICS and a < b) or (
                low in OFFICES and b - a >= 2 and tokens[a + 1][2][0].isupper() and tokens[b][2][0].isupper()
            ):
                person, initial = True, False
            elif low in CLOSED or low in _FIRST_PERSON or (initial and low in FUNCTION):
                if low in GIVEN_NAMES and not initial and not stripped:
                    break
                if not initial and not stripped and b - a >= 2 and low not in _NEVER_FIRST:
                    title = True
                    break
                stripped = True
                initial = False
            elif tokens[a][2] in JOINERS:
                pass
            else:
                break
            a += 1
        while b >= a and not title:
            low = tokens[b][2].lower()
            if tokens[b][2] in JOINERS or (low in FUNCTION and low not in MONTHS and (b == a or tokens[b][2] != "I")):
                b -= 1
            else:
                break
        a = self._behind_office(a, b)
        if a > b or (not title and self._nothing(a, b)):
            return
        words = [tokens[i][2] for i in range(a, b + 1)]
        if a == b:
            self._single(a, initial, person)
            return
        if initial and is_ordinary(words[0].lower()) and words[0].lower() not in GIVEN_NAMES:
            self.doubtful.append((a, b, person))
            return
        if all(is_ordinary(w.lower()) for w in words) and self._whole_line(a, b):
            self.doubtful.append((a, b, person))
            return
        if all(is_ordinary(w.lower()) for w in words) and self._amid_capitals(a, b):
            return
        self._add(a, b, person)

    def _amid_capitals(self, a: int, b: int) -> bool:
        """Whether the words around have capitals too, as in a long title: then those of common words mean nothing."""
        near = range(max(0, a - 8), min(len(self.tokens), b + 9))
        long = [self.tokens[i][2] for i in near if not a <= i <= b and len(self.tokens[i][2]) > 3]
        return len(long) > 5 and sum(word[0].isupper() for word in long) * 5 >= len(long) * 4

    def _behind_office(self, a: int, b: int) -> int:
        """ "President of Israel" names Israel; "Bank of Israel" does not."""
        words = [self.tokens[i][2].lower() for i in range(a, b + 1)]
        if "of" not in words[1:-1] or not (words[0] in OFFICES or words[0] in _MORE_OFFICES):
            return a
        at = words.index("of") + 1
        at += words[at] in AFTER_OF
        if " ".join(words[at:]) in PLACES or not all(is_ordinary(word) for word in words[at:]):
            return a + at
        return a

    def _nothing(self, a: int, b: int) -> bool:
        words = [self.tokens[i][2] for i in range(a, b + 1)]
        lows = [_POSSESSIVE.sub("", word.lower()) for word in words]
        if lows[0] in COUNTED and (a == b or _NUMBER.match(words[1]) or (words[1].isupper() and len(words[1]) == 1)):
            # "Chapter 3", "Table A". A lone "Book" or "Page" may yet be proven by another place.
            return a != b or is_ordinary(lows[0])
        if _NOT_NAME.search(lows[0]) and a == b:
            return True
        if all(w in DEMONYMS or w in MONTHS or w in WEEKDAYS or w in FUNCTION for w in lows):
            return not (a == b and lows[0] in DEMONYMS and self._is_language(b))
        letters = sum(len(w) for w in words)
        if letters < 2 or letters > 80:
            return True
        if all(w.isupper() for w in words) and len(words) > 2:
            return all(is_ordinary(w) for w in lows)
        return False

    def _is_language(self, i: int) -> bool:
        """ "translated into Latin.": not an adjective, for no noun follows."""
        if self.tokens[i][2][-1:] in "'’s":
            return False
        before = self.tokens[i - 1][2].lower() if i else ""
        if i + 1 >= len(self.tokens):
            return before in BEFORE_LANGUAGES
        following, gap = self.tokens[i + 1][2].lower(), self._gap(i)
        return before in BEFORE_LANGUAGES and (gap != " " or following in FUNCTION)

    def _single(self, i: int, initial: bool, person: bool) -> None:
        bare = _POSSESSIVE.sub("", self.tokens[i][2])
        low = bare.lower()
        if len(bare) < 2 or _ATTRIBUTE.match(bare) or low in NOT_ACRONYMS or _NOT_NAME.search(low):
            return
        if bare.isupper() and len(bare) > 3 and is_ordinary(low):
            return
        if person or low in self.known or not initial:
            if not initial and not person and low in self.lower and is_ordinary(low) and not bare.isupper():
                # "We met at the Office", "the office": a capital that the text itself does not keep to.
                self.doubtful.append((i, i, person))
                return
            self._add(i, i, person)
        elif _HUMP.search(bare) or bare.isupper() or "-" in bare:
            if "-" in bare and is_ordinary(low):
                return
            self._add(i, i, person)
        elif not is_ordinary(low) and low not in self.lower and (low in PLACES or not _DERIVED.search(low)):
            self._add(i, i, person)
        else:
            self.doubtful.append((i, i, person))

    def _whole_line(self, a: int, b: int) -> bool:
        start, end = self.tokens[a][0], self.tokens[b][1]
        before = self.text[max(0, start - 12) : start].rpartition("\n")[2]
        after = self.text[end : end + 2]
        if _LEAD_CLEAN.search(before.strip("#*-> \t0123456789.")):
            return False
        return not after.strip() or after[0] in "\n\r*:："

    def _pieces(self, a: int, b: int) -> None:
        """A heading "Setting Up Postgres On Mac" proves only the words that are no common ones."""
        run: list[int] = []
        for i in range(a, b + 1):
            low = _POSSESSIVE.sub("", self.tokens[i][2].lower())
            if is_ordinary(low) or low in DEMONYMS or low in NOT_ACRONYMS or not self.tokens[i][2][0].isupper():
                self._flush(run)
                run = []
            else:
                run.append(i)
        self._flush(run)

    def _flush(self, run: list[int]) -> None:
        if run and not self._nothing(run[0], run[-1]):
            self._add(run[0], run[-1], False)

    def _identifier(self, i: int) -> None:
        """iPhone, pgVector, max_tokens, gpt4o."""
        start, _, word = self.tokens[i]
        bare = _POSSESSIVE.sub("", word)
        if not 3 <= len(bare) <= 40 or not bare[0].isalpha() or _ATTRIBUTE.match(bare) or bare.lower() in NOT_ACRONYMS:
            return
        hump = _HUMP.search(bare) is not None
        digits = _LETTER_DIGIT.match(bare) is not None and not _NOT_IDENTIFIER.match(bare)
        snake = "_" in bare.strip("_") and bare.isascii()
        if (hump or digits or snake) and "'" not in bare and "’" not in bare:
            if hump and bare[0].islower() and "-" in bare and is_ordinary(bare.split("-")[0]):
                return
            self.sure.append(Spot(start, start + len(bare), "product"))

    def _add(self, a: int, b: int, person: bool) -> None:
        start, end = self.tokens[a][0], self.tokens[b][1]
        end -= len(self.tokens[b][2]) - len(_POSSESSIVE.sub("", self.tokens[b][2]))
        words = [self.tokens[i][2] for i in range(a, b + 1)]
        words[-1] = _POSSESSIVE.sub("", words[-1])
        self.sure.append(Spot(start, end, "person" if person else type_of(words)))
        self.proven.add(" ".join(words).lower())

    def settle(self) -> list[Spot]:
        for a, b, person in self.doubtful:
            words = [_POSSESSIVE.sub("", self.tokens[i][2].lower()) for i in range(a, b + 1)]
            if a == b:
                if words[0] in self.proven or words[0] in self.known:
                    self._add(a, b, person)
                continue
            rest = " ".join(words[1:])
            if self.tokens[a + 1][2][0].isupper() and (
                rest in self.proven or rest in PLACES or rest in self.known or (b == a + 1 and rest in GIVEN_NAMES)
            ):
                if " ".join(words) not in self.known:
                    self._add(a + 1, b, person)
                continue
            if all(is_ordinary(w) for w in words) and self._whole_line(a, b) and " ".join(words) not in self.proven:
                continue
            self._add(a, b, person)
        self.sure.sort(key=lambda spot: spot.start)
        return self.sure


def type_of(words: list[str]) -> NameType:
    """What the words of a capitalised name say of the thing."""
    lows = [word.lower().rstrip(".") for word in words]
    whole = " ".join(lows)
    last = lows[-1]
    if whole in PLACES:
        return "place"
    if len(words) == 1:
        if last in GIVEN_NAMES and not is_ordinary(last):
            return "person"
        return "product" if _HUMP.search(words[0]) or (words[0][-1].isdigit() and not words[0].isdigit()) else "other"
    head = lows[lows.index("of") - 1] if "of" in lows[1:] else last
    if _NUMBER.match(last):
        return "product"
    if "war" in lows[1:]:
        return "event"
    if head in ORGANIZATION_HEADS or lows[0] in ("university", "institute", "ministry", "department", "bank"):
        return "organization"
    if head in EVENT_HEADS:
        return "event"
    if head in WORK_HEADS:
        return "work"
    if head in PLACE_HEADS or lows[0] in ("lake", "mount", "mt", "river", "cape", "fort", "isle"):
        return "place"
    if head in PRODUCT_HEADS:
        return "product"
    if "&" in whole:
        return "organization"
    if 1 < len(words) <= 5:
        initials = any(len(low) == 1 for low in lows[:-1])
        if lows[0] in RULERS and "of" not in lows:
            return "person"
        if last in PERSON_SUFFIXES and len(words) > 1:
            return "person"
        if lows[0] in GIVEN_NAMES or (initials and not is_ordinary(last)):
            return "person"
    return "other"


def find_compounds(text: str, known: Set[str] = frozenset()) -> dict[str, list[tuple[int, int]]]:
    """Lower-case noun compounds ("vector database") that the text repeats or that are `known`, with their places."""
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    whole: Counter[str] = Counter()
    opened: Counter[str] = Counter()
    run: list[_Token] = []
    before = last_word = ""
    last_end = previous_end = -2

    def close() -> None:
        for size in (2, 3):
            for i in range(len(run) - size + 1):
                if _NOT_HEAD.search(run[i + size - 1][2]):
                    continue
                phrase = " ".join(word for _, _, word in run[i : i + size])
                places[phrase].append((run[i][0], run[i + size - 1][1]))
                if i == 0 and (size == len(run) or is_verb(run[size][2])):
                    whole[phrase] += 1
                    opened[phrase] += before in BEFORE_NOUNS

    for match in _TOKEN.finditer(text):
        start, end = match.span()
        word = match.group()
        clean = word.islower() and end - start > 2 and word.isalpha() and word not in NOT_IN_COMPOUNDS
        if run and (not clean or start != previous_end + 1 or text[previous_end] != " "):
            if len(run) > 1:
                close()
            run = []
        if clean:
            if not run:
                before = last_word if start - last_end <= 2 else ""
            run.append((start, end, word))
        previous_end = end
        last_word, last_end = word.lower(), end
    if len(run) > 1:
        close()
    repeated = {p: s for p, s in places.items() if p in known or (whole[p] > 1 and opened[p])}
    # "open source license" makes "source license" no phrase of its own where it never stands alone.
    longer = [p for p in repeated if p.count(" ") == 2]
    for phrase in longer:
        first, second, third = phrase.split()
        for part in (f"{first} {second}", f"{second} {third}"):
            if part in repeated and part not in known and len(repeated[part]) == len(repeated[phrase]):
                del repeated[part]
    return repeated
