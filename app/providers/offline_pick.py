"""Which sentences answer a question, or stand for a text: term overlap weighted by rarity.

Pure and deterministic. The numbers were chosen by looking at answers from Chinese and English notes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from app.providers.offline_text import Sentence, Splitter, has_marker, is_link, quotable
from app.providers.ports import Source


class TermsLike(Protocol):
    """What `text.segment.Terms` has: folded, stemmed Latin words and Han words; Han bigrams."""

    @property
    def words(self) -> Sequence[str]: ...

    @property
    def grams(self) -> Sequence[str]: ...


Terms = Callable[[str], TermsLike]

MAX_SENTENCES: Final = 5
_MIN_SENTENCES: Final = 2
_MAX_CHARS: Final = 900
_GOOD_SHARE: Final = 0.4  # of the best sentence's score, for the third and later ones
_FAIR_SHARE: Final = 0.15  # for the second
_GRAM_SHARE: Final = 0.3  # what a bigram counts beside a word
_TITLE_SHARE: Final = 0.45  # what a term in title or heading counts beside one in the sentence
_REPEATED_SHARE: Final = 0.7  # what a term counts once a picked sentence has it
_FOCUS_SHARE: Final = 0.2  # what the best source's focus counts, in words of the whole question
_RANK_DECAY: Final = 0.2  # of a source's standing, per rank
_RIGHT_YEAR: Final = 1.1  # the question's year in title or heading
_WRONG_YEAR: Final = 0.6
_COVERED: Final = 0.45  # of the question's weight: less is no answer

# What is asked with says nothing of what is asked for.
_ASKING = re.compile(
    r"""什么时候|什么|哪一?[些个年月日天位家种]|哪里|哪|多少|怎么样|怎么|怎样|如何|为什么|为何|谁|几[个位次种项家台条岁]|请问|请|告诉我?
    |帮我|介绍一?下?|查询|我想|想知道|知道|分别|是否|有没有|有哪些|以及|能否|可以|吗|呢|吧
    |\b(?:please|tell|show|me|us|find|explain|describe|give|list|did|does|do|can|could|would|will|should|shall|may|might
    |many|much|go|goes|going|there|any|some|about|kind|type|name|called)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = re.compile(
    rf"""\b(?:1[4-9]|20)\d\d\b|(?<!\w){_MONTHS}\.?\s+\d|\d\s+{_MONTHS}\b|\bin\s+{_MONTHS}\b|\d{{1,2}}[:：]\d\d
    |\d\s*[年月日号]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b
    |\b(?:yesterday|today|tomorrow|tonight|ago|last|next)\b|\b(?:days?|weeks?|months?|years?)\b
    |昨天|今天|明天|前天|后天|去年|今年|明年|上周|本周|下周|周[一二三四五六日]|星期|上个?月|世纪|年代""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(
    r"""\d|百分之|[一二两三四五六七八九十百千万]+[个位种项家次台条岁倍]
    |\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|half|twice|once)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]+|由|作者|创始人|创立|发明|导演|先生|女士|教授|博士|董事|总裁|主席")
_WHEN = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time)|how long"
    r"|什么时候|何时|哪一?[年月日天]|几[月号点]|多久|何年|日期",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    r"how (?:many|much|old|far|tall|large|big|fast)|percent|number of|what (?:number|amount|rate|price|share)"
    r"|多少|几[个位次种项家台条岁倍]|比例|占比|增长率|增速|速度|数量|总数|多大|多高|多长",
    re.IGNORECASE,
)
_WHY = re.compile(r"\bwhy\b|\breasons?\b|为什么|为何|原因", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:because|since|due to|caused|reason|so that|led to)\b|因为|由于|因此|原因|所致|导致|为了", re.IGNORECASE
)
_WHO = re.compile(r"\bwho(?:m|se)?\b|谁|何人|哪位|哪些人|什么人", re.IGNORECASE)
_EXPECTED: Final = ((_WHEN, _DATE, 1.5), (_HOW_MANY, _NUMBER, 1.4), (_WHO, _NAME, 1.25), (_WHY, _CAUSE, 1.25))
_YEAR = re.compile(r"(?<!\d)(?:1[4-9]|20)\d\d(?!\d)")
_CLOSED = re.compile(r"[.!?。！？；;…:：][\"”’」』)）*_]*$")
_CONTENTS_LINE = re.compile(r"(?:\s|\.{3,}|…{2,})\d{1,3}$")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_HAN_RUN = re.compile(_HAN.pattern + "+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A picked sentence and the source it stands in."""

    sentence: Sentence
    source: Source


@dataclass(frozen=True, slots=True)
class Picked:
    """Sentences in reading order: by source, the best one's first. `is_answer` is False when they only come
    nearest to a question of which the sources say little.
    """

    quotes: Sequence[Quote]
    is_answer: bool


@dataclass(frozen=True, slots=True)
class _Candidate:
    """`terms` and `context` (of title and heading) are of the question, or in a digest of the text itself. `focus` in
    0…1: how much speaks for the sentence that it stands where its source matched the question.
    """

    sentence: Sentence
    source: Source
    terms: frozenset[str]
    context: frozenset[str]
    prior: float
    focus: float = 0.0


def asks_when(question: str) -> bool:
    return _WHEN.search(question) is not None


def has_date(text: str) -> bool:
    return _DATE.search(text) is not None


def answer(question: str, sources: Sequence[Source], split: Splitter, terms: Terms) -> Picked:
    """2–5 sentences of the sources that answer the question best, fewer if no more have a word of it."""
    words, grams = _asked(question, terms)
    candidates = _candidates(sources, split, _Matcher([*words, *grams], terms))
    rarity = _rarities([*words, *grams], candidates)
    weights = {term: rarity[term] * (1.0 if term in words else _GRAM_SHARE) for term in rarity}
    bonuses = [(pattern, factor) for asking, pattern, factor in _EXPECTED if asking.search(question)]
    years = frozenset(_YEAR.findall(question))
    whole = math.fsum(weights.values())

    def score(candidate: _Candidate, worth: Mapping[str, float]) -> float:
        own = _sum(worth, candidate.terms)
        context = _sum(worth, candidate.context - candidate.terms)
        text = candidate.sentence.text
        expected = math.prod(factor for pattern, factor in bonuses if pattern.search(text))
        if years and not years.isdisjoint(_YEAR.findall(candidate.source.title + candidate.sentence.heading)):
            expected *= _RIGHT_YEAR
        elif years and (said := _YEAR.findall(text)) and years.isdisjoint(said):
            expected *= _WRONG_YEAR
        # Meaning, too, speaks for a sentence: vectors found its place, in whatever words and language.
        meant = _FOCUS_SHARE * whole * candidate.focus
        return (own + _TITLE_SHARE * (context if own else context / 3) + meant) * expected * candidate.prior

    chosen = _greedy(candidates, weights, score)
    said = frozenset().union(*(c.terms | c.context for c in chosen)) if chosen else frozenset()
    # A word that no source has weighs most: what the notes do not speak of, they do not answer.
    known = {word: rarity[word] for word in words}
    covered = _sum(known, said) / (math.fsum(known.values()) or 1.0)
    if not any(c.terms or c.focus for c in chosen):
        chosen = sorted(candidates, key=lambda c: -c.prior)[:_MIN_SENTENCES]
    return Picked(_in_reading_order(chosen), covered >= _COVERED)


def digest(sources: Sequence[Source], split: Splitter, terms: Terms, max_sentences: int) -> list[Quote]:
    """The sentences that say most of what the sources say, in the sources' own order."""
    candidates = _candidates(sources, split, _Matcher(None, terms))
    spread = Counter(term for c in candidates for term in c.terms)
    weights = {term: math.log(count) for term, count in spread.items() if count > 1}

    def score(candidate: _Candidate, worth: Mapping[str, float]) -> float:
        return _sum(worth, candidate.terms) / math.sqrt(len(candidate.terms) or 1) * candidate.prior

    chosen = _greedy(candidates, weights, score, max_sentences=max_sentences, good_share=0.0)
    kept = set(map(id, chosen)) or set(map(id, candidates[:max_sentences]))
    return [Quote(c.sentence, c.source) for c in candidates if id(c) in kept]


# ------------------------------------------------------------------------------------- details


class _Matcher:
    """Finds terms in sentences: those of a question, or without one all that there are. Han terms are looked up as
    they stand, because cutting every sentence into words takes ten times as long.
    """

    def __init__(self, asked: Sequence[str] | None, terms: Terms) -> None:
        self._han = None if asked is None else [term for term in asked if _HAN.match(term)]
        self._latin = None if asked is None else frozenset(asked)
        self._terms = terms

    def __call__(self, text: str) -> frozenset[str]:
        latin = frozenset(self._terms(_HAN_RUN.sub(" ", text)).words)
        if self._han is None or self._latin is None:
            return latin.union(*map(_bigrams, _HAN_RUN.findall(text)))
        return (latin & self._latin).union(term for term in self._han if term in text)


def _bigrams(run: str) -> list[str]:
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]


def _asked(question: str, terms: Terms) -> tuple[list[str], list[str]]:
    """(words, Han bigrams that are no words) of the question, without what it asks with."""
    found = terms(_ASKING.sub(" ", question))
    if not found.words:
        found = terms(question)
    words = list(dict.fromkeys(found.words))
    return words, [gram for gram in dict.fromkeys(found.grams) if gram not in words and _HAN.match(gram)]


def _candidates(sources: Sequence[Source], split: Splitter, match: _Matcher) -> list[_Candidate]:
    """All sentences, each once however often the sources repeat it. One that differs in a number is another."""
    found: list[_Candidate] = []
    seen: set[str] = set()
    by_score = sorted(range(len(sources)), key=lambda place: -sources[place].score)
    ranks = {place: rank for rank, place in enumerate(by_score)}
    for place, source in enumerate(sources):
        sentences = quotable(source.text, split)
        title_terms = match(source.title)
        heading_terms = {heading: match(heading) for heading in dict.fromkeys(s.heading for s in sentences)}
        # By rank, because the scores of retrieval lie close together.
        standing = 1.0 / (1.0 + _RANK_DECAY * ranks[place])
        focus = _letters(source.text[slice(*source.focus)]) if source.focus else ""
        for sentence in sentences:
            key = _letters(sentence.text)
            if key in seen:
                continue
            seen.add(key)
            context = title_terms | heading_terms[sentence.heading]
            prior = (0.6 + 0.4 * standing) * _prior(sentence, len(sentences))
            in_focus = standing if key and key in focus else 0.0
            found.append(_Candidate(sentence, source, match(sentence.text), context, prior, in_focus))
    return found


def _letters(text: str) -> str:
    """What a text says without its marks, for telling whether two stretches are the same."""
    return "".join(filter(str.isalnum, text.casefold()))


def _prior(sentence: Sentence, count: int) -> float:
    """How well a sentence is suited to be quoted, whatever is asked."""
    text = sentence.text
    factor = 1.1 - 0.1 * sentence.position / count
    factor *= {"prose": 1.0, "table": 0.9, "code": 0.6, "heading": 0.8}[sentence.kind]
    if text.rstrip('"”’*_ ').endswith(("?", "？")):
        factor *= 0.4
    elif sentence.kind == "prose" and not _CLOSED.search(text):
        factor *= 0.3 if _CONTENTS_LINE.search(text) else 0.85
    if text.endswith((":", "：")):  # the answer is what it announces
        factor *= 0.6
    if has_marker(text) or is_link(text):
        factor *= 0.3
    if len(text) < 8 or (text.isascii() and text.count(" ") < 3):
        factor *= 0.4
    return factor / (0.85 + 0.15 * min(len(text) / (60 if _HAN.search(text) else 120), 4.0))


def _rarities(asked: Sequence[str], candidates: Sequence[_Candidate]) -> dict[str, float]:
    """How much each term tells one sentence from another."""
    spread = Counter(term for c in candidates for term in c.terms)
    return {term: math.log(1.0 + (len(candidates) + 1.0) / (spread[term] + 0.5)) for term in asked}


def _sum(worth: Mapping[str, float], terms: frozenset[str]) -> float:
    """`fsum` rounds once, so the order of a set, which differs from run to run, changes nothing."""
    return math.fsum(worth[term] for term in terms if term in worth)


def _greedy(
    candidates: Sequence[_Candidate],
    weights: Mapping[str, float],
    score: Callable[[_Candidate, Mapping[str, float]], float],
    *,
    max_sentences: int = MAX_SENTENCES,
    good_share: float | None = None,
) -> list[_Candidate]:
    """Best first; what is said already counts less."""
    worth = dict(weights)
    left = list(candidates)
    chosen: list[_Candidate] = []
    best = 0.0
    while left and len(chosen) < max_sentences:
        scores = [score(candidate, worth) for candidate in left]
        top = max(scores)
        candidate = left.pop(scores.index(top))
        best = best or top
        wanted = _GOOD_SHARE if good_share is None else good_share
        if top <= 0 or (chosen and top < best * (min(wanted, _FAIR_SHARE) if len(chosen) < _MIN_SENTENCES else wanted)):
            break
        if len(chosen) >= _MIN_SENTENCES and sum(len(c.sentence.text) for c in chosen) > _MAX_CHARS:
            break
        chosen.append(candidate)
        for term in candidate.terms & worth.keys():
            worth[term] *= _REPEATED_SHARE
    return chosen


def _in_reading_order(chosen: Sequence[_Candidate]) -> list[Quote]:
    order = {source: n for n, source in enumerate(dict.fromkeys(id(c.source) for c in chosen))}
    by_place = sorted(chosen, key=lambda c: (order[id(c.source)], c.sentence.position))
    return [Quote(c.sentence, c.source) for c in by_place]
