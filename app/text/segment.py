"""From text to terms: what the lexical index stores and what a question looks for.

The only file that knows jieba. Latin words are folded and stemmed, Han runs are cut into words and
also into character bigrams and single characters, so that infixes and one-character questions match.
Gives PostgreSQL literals too (`tsvector`, `tsquery`), but speaks no SQL.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import re
import sys
import threading
import unicodedata
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from app.text.normalise import HAN, fold
from app.text.stopwords import ENGLISH, HAN_WORDS

MAX_TERM_CHARS: Final = 128
MAX_POSITION: Final = 16_383
MAX_POSITIONS_PER_LEXEME: Final = 256
MAX_VECTOR_BYTES: Final = 900_000
"""A tsvector holds 1 MB; its literal is always the longer of the two."""

_CACHED_WORDS: Final = 200_000
_CACHED_RUNS: Final = 4096
_CACHED_CHARS: Final = 40
# jieba's Viterbi is quadratic in the length of a run of unknown characters.
_MAX_HAN_RUN: Final = 256

# Scripts written without spaces that jieba does not know; they are cut into bigrams.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
_MARKS: Final = "\u0300-\u036f\u0591-\u05c7\u0610-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_W: Final = f"(?:[^\\W{HAN}{_UNSPACED}]|[{_MARKS}])"
# Each alternative consumes what it looks at, so the scan is linear.


def _token(letter: str) -> str:
    """Letters and digits, joined by single marks inside: foo-bar, 3.11, don't, a.b+c@d.org, AT&T, 1,000; C++ and C#."""
    return (
        f"(?:(?<![\\w.])\\.(?=[A-Za-z]))?{letter}+(?:(?:[-._'’@&+]|(?<=\\d),(?=\\d{{3}}(?!\\d))){letter}+)*"
        f"(?:\\+\\+(?:{letter}+)?|\\#(?!\\w))?"
    )


_TOKEN = re.compile(f"[{HAN}]+|[{_UNSPACED}]+|{_token(_W)}")
# The same for texts of ASCII alone, in half the time.
_ASCII_TOKEN = re.compile(_token("[A-Za-z0-9_]"), re.ASCII)
_HAN_RUN = re.compile(f"[{HAN}]")
_HAN_RUNS = re.compile(f"[{HAN}]+")
_NOT_LATIN = re.compile(f"[{HAN}{_UNSPACED}]")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "＇": "'", "`": "'"})
_CONTRACTION = re.compile(r"(?:n't|'(?:s|ll|re|ve|m|d))$|'$")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?$")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[a-z][a-z0-9]*)?$")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]$")
_PARTS = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_STEMMABLE = re.compile(r"[a-z]{3,}$")


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one text, in its order, repetitions kept.

    `words`: folded, stemmed Latin words and jieba's words. `grams`: Han bigrams (a lone character as
    itself) and unstemmed Latin words; empty where there is no Han. `singles`: each Han character.
    """

    words: list[str] = field(default_factory=list)
    grams: list[str] = field(default_factory=list)
    singles: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Latin:
    """What one written word contributes: its terms, the same unstemmed, and whether it is a stop word.

    The first term stands for the word as written, the others for its parts.
    """

    terms: tuple[str, ...]
    plain: tuple[str, ...]
    stop: bool = False


@functools.lru_cache(maxsize=262_144)
def term_hash(term: str) -> int:
    """Signed 64-bit hash of a term, the same on every machine and in every release (BLAKE2b)."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "big", signed=True)


class Segmenter:
    """Cuts text into terms. Safe to share between threads.

    The dictionary is read on the first Han run (about 0.5 s, 100 MB), never from or into a cache file.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jieba: Any = None
        self._stemmer: Any = None
        self._words: dict[str, _Latin] = {}
        self._runs: dict[str, list[tuple[str, int, int]]] = {}
        self._tags: dict[str, str] = {}

    def load(self) -> None:
        """Read dictionary and stemmer now rather than at first use."""
        self.terms("词典 dictionary")

    def terms(self, text: str) -> Terms:
        """Terms of `text` without stop words; a text of nothing but stop words keeps them."""
        tokens = _tokens(text)
        return self._terms(tokens, False) or self._terms(tokens, True) or Terms()

    def tsvector(self, body: str, title: str = "") -> str:
        """Text literal to cast to `tsvector`: words, bigrams, single Han characters; `title` first, with weight A.

        Every written word and every Han character takes one position, so that phrases can be asked for.
        """
        lexemes: dict[str, dict[int, str]] = {}
        room = MAX_VECTOR_BYTES
        position = 1
        known = self._words
        for text, weight in ((title, "A"), (body, "")):
            tokens = _tokens(text)
            keep_stops = self._all_stops(tokens)
            for token in tokens:
                latin = known.get(token) or self._latin_or_none(token)
                if latin is None:
                    placed, width = self._placed(token), len(token)
                elif keep_stops or not latin.stop:
                    placed, width = [(0, term) for term in latin.terms], 1
                else:
                    placed, width = [], 1
                for offset, term in placed:
                    places = lexemes.get(term)
                    if places is None:
                        room -= len(term.encode()) + 6
                        if room <= 0:
                            return _vector_literal(lexemes)
                        places = lexemes[term] = {}
                    if len(places) < MAX_POSITIONS_PER_LEXEME:
                        room -= 7
                        places.setdefault(min(position + offset, MAX_POSITION), weight)
                position += width
        return _vector_literal(lexemes)

    def tsquery(self, text: str) -> str | None:
        """Text literal to cast to `tsquery`: any term of `text`. None where it has none."""
        terms = self.terms(text)
        any_of = dict.fromkeys([*terms.words, *(g for g in terms.grams if not g.isascii())])
        return " | ".join(map(_quote, any_of)) or None

    def tsquery_all(self, text: str) -> str | None:
        """As `tsquery`, but all words of `text`, and each Han run as the exact sequence that it is."""
        tokens = _tokens(text)
        keep_stops = self._all_stops(tokens)
        all_of: dict[str, None] = {}
        for token in tokens:
            latin = self._latin_or_none(token)
            if latin is None:
                all_of["(" + " <-> ".join(map(_quote, _bigrams(token))) + ")"] = None
            elif latin.terms and (keep_stops or not latin.stop):
                all_of[_compound(latin.terms)] = None
        return " & ".join(all_of) or None

    def tagged(self, text: str) -> list[list[tuple[str, str, int, int]]]:
        """Each Han run of `text` cut into whole words: (word, part of speech, start, end), offsets into `text`.

        Parts of speech are those of jieba's dictionary ("nr", "ns", "n", "v", …), "" where it does not know the
        word. They do not depend on the context: its own tagger costs twenty times as much.
        """
        found: list[list[tuple[str, str, int, int]]] = []
        for run in _HAN_RUNS.finditer(text):
            at = run.start()
            words: list[tuple[str, str, int, int]] = []
            left: int | None = None
            # A long word follows its own parts: from the end, what overlaps the word behind it is such a part.
            for word, start, end in reversed(self._cut(run.group())):
                if left is None or end <= left:
                    words.append((word, self._tags.get(word, ""), at + start, at + end))
                    left = start
            words.reverse()
            found.append(words)
        return found

    # ------------------------------------------------------------------------------ one token

    def _terms(self, tokens: list[str], keep_stops: bool) -> Terms | None:
        """None when nothing but stop words was there and they are not kept."""
        words: list[str] = []
        plain: list[str] = []
        singles: list[str] = []
        known = self._words
        for token in tokens:
            latin = known.get(token) or self._latin_or_none(token)
            if latin is None:
                grams = _bigrams(token)
                plain += grams
                if _is_han(token):
                    singles += token
                    words += [w for w, _, _ in self._cut(token) if keep_stops or w not in HAN_WORDS]
                else:
                    words += grams
            elif keep_stops or not latin.stop:
                words += latin.terms
                plain += latin.plain
        if not words and not keep_stops:
            return None
        return Terms(words, plain if singles else [], singles)

    def _all_stops(self, tokens: list[str]) -> bool:
        """Whether there is nothing but stop words."""
        for token in tokens:
            latin = self._latin_or_none(token)
            if latin is None:
                if not _is_han(token) or any(word not in HAN_WORDS for word, _, _ in self._cut(token)):
                    return False
            elif latin.terms and not latin.stop:
                return False
        return True

    def _placed(self, run: str) -> list[tuple[int, str]]:
        """(offset from the run's position, term) of a run that is not Latin."""
        placed = list(enumerate(_bigrams(run)))
        if _is_han(run):
            placed += enumerate(run)
            placed += [(start, word) for word, start, _ in self._cut(run)]
        return placed

    def _cut(self, run: str) -> list[tuple[str, int, int]]:
        """Words of a Han run with their places; kept for a while, for a text is cut for its terms and its tsvector."""
        words = self._runs.get(run)
        if words is None:
            cutter = self._jieba or self._load_jieba()
            words = [
                (word, start + i, end + i)
                for i in range(0, len(run), _MAX_HAN_RUN)
                for word, start, end in cutter.tokenize(run[i : i + _MAX_HAN_RUN], mode="search")
            ]
            if len(self._runs) >= _CACHED_RUNS:
                self._runs.clear()
            self._runs[run] = words
        return words

    def _latin_or_none(self, token: str) -> _Latin | None:
        """None for runs of other scripts."""
        latin = self._words.get(token)
        if latin is None and _is_latin(token):
            latin = self._analyse(token)
            if len(token) <= _CACHED_CHARS:
                if len(self._words) >= _CACHED_WORDS:
                    self._words.clear()
                self._words[token] = latin
        return latin

    def _analyse(self, token: str) -> _Latin:
        token = token.translate(_APOSTROPHES).strip("_")
        folded = _CONTRACTION.sub("", fold(token))
        if folded in ENGLISH:
            return _Latin((folded,), (folded,), stop=True)
        whole, parts = _split(folded, token)
        parts = [p for p in parts if p not in ENGLISH and (len(p) > 1 or p.isdigit())]
        plain = [term[:MAX_TERM_CHARS] for term in dict.fromkeys([*whole, *parts]) if term]
        return _Latin(tuple(map(self._stem, plain)), tuple(plain))

    def _stem(self, word: str) -> str:
        if not _STEMMABLE.match(word):
            return word
        with self._lock:
            if self._stemmer is None:
                import Stemmer

                self._stemmer = Stemmer.Stemmer("english", 0)  # without its cache: ours is in front
            stemmed: str = self._stemmer.stemWord(word)
        return stemmed

    def _load_jieba(self) -> Any:
        with self._lock:
            if self._jieba is None:
                with warnings.catch_warnings():
                    # It asks for pkg_resources and writes its patterns as plain strings.
                    warnings.simplefilter("ignore")
                    import jieba

                jieba.setLogLevel(logging.WARNING)
                cutter = jieba.Tokenizer()
                # What `initialize` does, without its cache file at a guessable path in a shared /tmp.
                with cutter.get_dict_file() as file:
                    cutter.FREQ, cutter.total, self._tags = _dictionary(file)
                cutter.initialized = True
                self._jieba = cutter
        return self._jieba


# ---------------------------------------------------------------------------------- pure parts


def _dictionary(lines: Iterable[bytes]) -> tuple[dict[str, int], int, dict[str, str]]:
    """(frequency of each word, 0 for a mere beginning of one; their sum; part of speech of each word)."""
    frequencies: dict[str, int] = {}
    tags: dict[str, str] = {}
    total = 0
    for line in lines:
        word, written, tag = line.decode().split()
        frequency = int(written)
        total += frequency
        frequencies[word] = frequency
        tags[word] = sys.intern(tag)
        for end in range(1, len(word)):
            frequencies.setdefault(word[:end], 0)
    return frequencies, total, tags


def _tokens(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    return _TOKEN.findall(unicodedata.normalize("NFKC", text))


def _is_han(token: str) -> bool:
    return _HAN_RUN.match(token) is not None


def _is_latin(token: str) -> bool:
    return _NOT_LATIN.match(token) is None


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _split(folded: str, written: str) -> tuple[list[str], list[str]]:
    """(the word as a whole in its spellings, its parts), both folded and unstemmed."""
    if _THOUSANDS.match(folded):
        return [folded.replace(",", "")], []
    if _VERSION.match(folded):
        bare = folded.removeprefix("v")
        levels = bare.split(".")
        return list(dict.fromkeys([folded, bare])), [".".join(levels[:n]) for n in range(2, len(levels))]
    if _DOTTED.match(folded):
        return [folded.replace(".", "")], []
    name = folded.rstrip("+#")
    if name != folded or "++" in folded:
        sign = folded[len(name) :] or "++"
        stem = name.split("+")[0]
        return [folded], [stem + sign] + ([stem] if len(stem) > 2 else [])
    parts = _PARTS.findall(folded)
    humps = [fold(h) for part in _PARTS.findall(written) for h in _humps(part)]
    whole = folded.replace("'", "")
    return [whole], [*(parts if len(parts) > 1 else ()), *humps]


def _humps(part: str) -> list[str]:
    """camelCase and HTTPServer in pieces; nothing for a word of one piece."""
    if part.islower() or part.isupper() or part.istitle() or not part.isascii():
        return []
    found = _HUMPS.findall(part)
    return found if len(found) > 1 else []


def _compound(terms: tuple[str, ...]) -> str:
    """The word as written, or else all of its parts."""
    whole, *parts = map(_quote, terms)
    return f"({whole} | {' & '.join(parts)})" if parts else whole


def _quote(term: str) -> str:
    if "'" in term or "\\" in term:
        term = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{term}'"


def _vector_literal(lexemes: dict[str, dict[int, str]]) -> str:
    return " ".join(
        _quote(term) + ":" + ",".join(f"{position}{weight}" for position, weight in places.items())
        for term, places in lexemes.items()
    )
