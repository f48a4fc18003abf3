"""Third-person pronouns of English text: he, she and their forms; it, its, they, the company only where it is plain.

Reads left to right and keeps what each person was last mentioned as: a pronoun that was resolved counts as a mention.
Every candidate gets a score, linear in features of distance, role and gender; "nobody named here" is a candidate too.
A pronoun is resolved when one candidate has nearly all of the probability. Where sentences have no parse, roles are
guessed from the closed word classes around a name.
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.text.coref_names import gender_of, name_words, person_names
from app.text.coref_shapes import Gender, NameSpan, Resolution
from app.text.coref_weights import CHAIN, THRESHOLD, WEIGHTS
from app.text.coref_words import (
    AFTER_OBJECT,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    FEMALE_NOUNS,
    MALE_NOUNS,
    PAST_VERBS,
    PERSON_NOUNS,
    PREPOSITIONS,
    SUBORDINATORS,
)

GENDERED = re.compile(r"(?<![\w'’*])(?:he|she|him|her|his|hers|himself|herself)(?![\w*])", re.IGNORECASE)
_TOKEN = re.compile(r"['’](?:s|d|ll|re|ve)?(?!\w)|[^\W\d_][\w*]*(?:['’-][^\W\d_]+)*?(?=['’]s?(?!\w)|[^\w'’-]|['’-]|$)|\d[\d.,]*|``|''|[^\w\s]")
_BIO = re.compile(r" \((?:born|b\.|[^)\n]{0,60}\d{4})")
_WINDOW: Final = 3
"""How many sentences back an antecedent may be."""
_CLAUSE: Final = frozenset(",;:()-\"")

SUBJECT, OBJECT, PREP, POSS, APPOS, OTHER = "subj", "obj", "prep", "poss", "appos", "other"


@dataclass(slots=True)
class _Token:
    start: int
    end: int
    word: str
    entity: int = -1
    """Index of the entity that a name mentions; -1: a word."""


@dataclass(slots=True)
class _Mention:
    sentence: int
    token: int
    start: int
    role: str
    pronoun: str = ""
    first: bool = False
    """First person of its sentence."""
    quoted: bool = False
    bracketed: bool = False
    conjoined: bool = False
    opens: bool = False
    relative: bool = False
    says: bool = False
    sure: bool = True


@dataclass(slots=True)
class _Person:
    name: str
    words: tuple[str, ...]
    gender: Gender | None
    sure: bool
    mentions: list[_Mention] = field(default_factory=list)
    bio: bool = False
    """Introduced with years of life behind the name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One pronoun with its candidates: names, their features, and the place of the best; None stands for nobody."""

    start: int
    end: int
    pronoun: str
    possessive: bool
    names: tuple[str | None, ...]
    features: tuple[tuple[str, ...], ...]
    probabilities: tuple[float, ...]

    @property
    def best(self) -> int:
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__)


def resolve_persons(
    text: str,
    spans: Sequence[tuple[int, int]],
    names: Sequence[NameSpan],
    topic: str = "",
    weights: Mapping[str, float] = WEIGHTS,
    threshold: float = THRESHOLD,
) -> list[Resolution]:
    found: list[Resolution] = []
    for choice in choices(text, spans, names, topic, weights):
        name = choice.names[choice.best]
        if name is not None and choice.probabilities[choice.best] >= threshold:
            found.append(Resolution(choice.start, choice.end, choice.pronoun, name, choice.possessive))
    return found


def choices(
    text: str,
    spans: Sequence[tuple[int, int]],
    names: Sequence[NameSpan],
    topic: str = "",
    weights: Mapping[str, float] = WEIGHTS,
) -> list[Choice]:
    """Every gendered pronoun in order, with what speaks for each candidate."""
    if not GENDERED.search(text):
        return []
    return _Reader(text, spans, names, topic, weights).read()


class _Reader:
    def __init__(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        names: Sequence[NameSpan],
        topic: str,
        weights: Mapping[str, float],
    ) -> None:
        self.text = text
        self.spans = spans
        self.weights = weights
        self.persons: list[_Person] = []
        self.quoted = False
        self.names = sorted((n for n in names if n.type in ("person", "other")), key=lambda n: (n.start, -n.end))
        self.starts = [n.start for n in self.names]
        self.others = sorted((n.start, n.end) for n in names if n.type not in ("person", "other"))
        self.by_name: dict[str, int] = {}
        self.by_word: dict[str, list[int]] = {}
        self.topic = -1
        self.topic = self._topic(topic)
        self.entity_of = [self._entity(n) for n in self.names]
        self.recent: list[int] = []
        if self.topic == 0:
            self.persons[0].mentions.append(_Mention(-1, -1, -1, SUBJECT))
            self.recent.append(0)
        self.titled = bool(topic)
        self.hidden: dict[str, list[_Mention]] = {"male": [], "female": []}
        self.nouns: list[tuple[int, int, str, str]] = []

    # ---------------------------------------------------------------- who is who

    def _entity(self, span: NameSpan) -> int:
        """The person whom a span names; a part of a longer name is the same person, whose fullest name is kept."""
        words = name_words(span.name) or (span.name.lower(),)
        gender = span.gender or gender_of(self.text, span.start, span.end)
        at = self.by_name.get(span.name, -1)
        if at < 0:
            # By one word only: rather whom the text is about, else the last one.
            matches = self.by_word.get(words[-1], []) + self.by_word.get(words[0], [])
            for i in sorted(set(matches), key=lambda i: (i != self.topic, -i)):
                person = self.persons[i]
                if gender and person.gender and gender != person.gender:
                    continue
                if _same(words, person.words):
                    at = i
                    break
        if at < 0:
            at = len(self.persons)
            self.persons.append(_Person(span.name, words, gender, span.type == "person"))
        person = self.persons[at]
        person.gender = person.gender or gender
        person.sure = person.sure or span.type == "person"
        if self.text.startswith(" (", span.end) and _BIO.match(self.text, span.end):
            person.bio = True
        if len(words) > len(person.words):
            person.name, person.words = span.name, words
        self.by_name[span.name] = at
        for word in {words[0], words[-1]}:
            known = self.by_word.setdefault(word, [])
            if at not in known:
                known.append(at)
        return at

    def _topic(self, topic: str) -> int:
        """The person of the text's title, named in the text or not; -1: the title is no person's name."""
        if not topic:
            return -1
        words = name_words(topic)
        known = any(n.type == "person" and len(w) >= 1 and (w == words or (len(w) < len(words) and _same(w, words))) for n, w in ((n, name_words(n.name)) for n in self.names))
        if not words or not (known or (len(words) > 1 and any(n.start == 0 and n.end == len(topic) for n in person_names(topic)))):
            return -1
        self.persons.append(_Person(topic, words, gender_of(topic, 0, len(topic)), True))
        for word in {words[0], words[-1]}:
            self.by_word[word] = [0]
        return 0

    # ------------------------------------------------------------------ reading

    def read(self) -> list[Choice]:
        found: list[Choice] = []
        for number, (start, end) in enumerate(self.spans):
            if not GENDERED.search(self.text, start, end) and not self._has_name(start, end):
                self._note_nouns(number, self._tokens(start, end))
                continue
            self._sentence(number, self._tokens(start, end), found)
        return found

    def _has_name(self, start: int, end: int) -> bool:
        at = bisect.bisect_left(self.starts, start)
        return at < len(self.starts) and self.starts[at] < end

    def _tokens(self, start: int, end: int) -> list[_Token]:
        tokens: list[_Token] = []
        at = start
        i = bisect.bisect_left(self.starts, start)
        while i < len(self.names) and self.names[i].start < end:
            name = self.names[i]
            if name.start >= at:
                self._words(tokens, at, name.start)
                tokens.append(_Token(name.start, name.end, "", self.entity_of[i]))
                at = name.end
            i += 1
        self._words(tokens, at, end)
        return tokens

    def _words(self, tokens: list[_Token], start: int, end: int) -> None:
        if start < end:
            for match in _TOKEN.finditer(self.text, start, end):
                tokens.append(_Token(match.start(), match.end(), match.group().lower()))

    def _note_nouns(self, number: int, tokens: Sequence[_Token]) -> None:
        for i, token in enumerate(tokens):
            if token.word in PERSON_NOUNS and not _describes_name(tokens, i):
                self.nouns.append((number, token.start, token.word, _role(tokens, i)))

    def _sentence(self, number: int, tokens: list[_Token], found: list[Choice]) -> None:
        verbs = _verbs(tokens)
        self.said_by = -1
        bracketed = False
        quoted = self.quoted if number and "\n" not in self.text[self.spans[number - 1][1] : self.spans[number][0]] else False
        first = True
        for i, token in enumerate(tokens):
            word = token.word
            if word in ('"', "“", "”", "``", "''", "„", "«", "»"):
                quoted = word in ("“", "``", "„", "«") or (word == '"' and not quoted)
            elif word in ("(", "["):
                bracketed = True
            elif word in (")", "]"):
                bracketed = False
            elif token.entity >= 0:
                mention = _Mention(number, i, token.start, _role(tokens, i, verbs), "", first, quoted, bracketed)
                mention.conjoined = _conjoined(tokens, i)
                mention.opens = _opens(tokens, i)
                mention.says = any(t.word in _SAYING for t in tokens[i + 1 : i + 4])
                mention.relative = _relative(tokens, i)
                self._mention(token.entity, mention)
                first = False
            elif word in _PRONOUNS:
                mention = _Mention(number, i, token.start, _pronoun_role(tokens, i, verbs), word, False, quoted, bracketed)
                mention.opens = _opens(tokens, i)
                self._pronoun(tokens, verbs, mention, token, found)
            elif word in PERSON_NOUNS and not _describes_name(tokens, i):
                self.nouns.append((number, token.start, word, _role(tokens, i, verbs)))

        self.quoted = quoted

    def _mention(self, entity: int, mention: _Mention) -> None:
        self.persons[entity].mentions.append(mention)
        if entity in self.recent:
            self.recent.remove(entity)
        self.recent.append(entity)

    # ---------------------------------------------------------------- one pronoun

    def _pronoun(
        self, tokens: list[_Token], verbs: Sequence[bool], here: _Mention, token: _Token, found: list[Choice]
    ) -> None:
        gender, possessive = _PRONOUNS[token.word][0], here.role.startswith("p-")
        candidates: list[int] = []
        for entity in reversed(self.recent):
            person = self.persons[entity]
            if here.sentence - person.mentions[-1].sentence >= _WINDOW and entity != self.topic:
                continue
            if (person.gender is None or person.gender == gender) and not self._bound(tokens, verbs, here, entity):
                candidates.append(entity)
        rows = [("null", *self._null_features(tokens, verbs, here, gender, candidates))]
        for entity in candidates:
            rows.append(tuple(self._features(tokens, verbs, here, gender, entity, candidates)))
        scores = [sum(self.weights.get(f, 0.0) for f in row) for row in rows]
        top = max(scores)
        weighed = [math.exp(s - top) for s in scores]
        total = sum(weighed)
        probabilities = [w / total for w in weighed]
        found.append(
            Choice(
                token.start,
                token.end,
                self.text[token.start : token.end],
                possessive,
                (None, *(self.persons[e].name for e in candidates)),
                tuple(rows),
                tuple(probabilities),
            )
        )
        best = max(range(len(rows)), key=probabilities.__getitem__)
        if best and probabilities[best] >= CHAIN:
            person = self.persons[candidates[best - 1]]
            here.sure = probabilities[best] >= THRESHOLD
            self._mention(candidates[best - 1], here)
            if probabilities[best] >= 0.9:
                person.gender = person.gender or gender
        else:
            self.hidden[gender].append(here)

    def _null_features(self, tokens: Sequence[_Token], verbs: Sequence[bool], here: _Mention, gender: Gender, candidates: Sequence[int]) -> list[str]:
        out = [f"null:n{min(len(candidates), 3)}"]
        if self.titled:
            out.append("null:title" if self.topic >= 0 else "null:title-other")
        hidden = self.hidden[gender]
        if hidden:
            out.append(f"null:hidden{min(here.sentence - hidden[-1].sentence, 2)}")
            out.append(f"null:hidden{min(here.sentence - hidden[-1].sentence, 2)}:{hidden[-1].role}")
        if here.sentence == 0:
            out.append("null:first")
        if not any(verbs[: here.token]) or tokens[0].word in SUBORDINATORS or tokens[0].word in PREPOSITIONS or here.token < 5:
            for i in range(here.token + 1, len(tokens)):
                e = tokens[i].entity
                if e >= 0 and (self.persons[e].gender in (None, gender)):
                    kind = "new" if e not in candidates else "old"
                    if any(t.word == "," for t in tokens[here.token:i]) and not any(t.word=="," for t in tokens[:here.token]):
                        out.append(f"null:fronted:{kind}:{_role(tokens, i, verbs)}")
                    break
        nouns = 0
        for sentence, start, word, role in reversed(self.nouns):
            if here.sentence - sentence > 1:
                break
            if word in (FEMALE_NOUNS if gender == "male" else MALE_NOUNS):
                continue
            sexed = word in (MALE_NOUNS if gender == "male" else FEMALE_NOUNS)
            nouns += 1
            if nouns <= 2:
                out.append(f"null:noun{here.sentence - sentence}:{role}")
                out.append(f"null:noun:{'sexed' if sexed else 'any'}")
        return out

    def _features(
        self,
        tokens: Sequence[_Token],
        verbs: Sequence[bool],
        here: _Mention,
        gender: Gender,
        entity: int,
        candidates: Sequence[int],
    ) -> list[str]:
        person = self.persons[entity]
        last, first = person.mentions[-1], person.mentions[0]
        gap = min(here.sentence - last.sentence, 2)
        role = _PRONOUN_ROLE[here.role]
        out = [f"gap{gap}", f"gap{gap}:{last.role}", f"{here.role}:gap{gap}:{_brief(last.role)}"]
        if last.pronoun:
            out.append(f"chain{gap}")
            if last.sure:
                out.append(f"chain-sure{gap}")
            out.append(f"chain:{last.role}:{here.role}")
        if last.first:
            out.append(f"first{gap}")
        if last.opens:
            out.append(f"opens{gap}")
            if here.opens:
                out.append(f"opens-both{gap}")
        if here.quoted and not last.quoted and last.token >= 0 and gap <= 1 and last.role == SUBJECT and here.start - last.start < 200 and last.says:
            out.append(f"speaker{gap}")
        if last.quoted != here.quoted:
            out.append(f"quote{'in' if here.quoted else 'out'}:gap{gap}")
        if last.bracketed and not (here.bracketed and gap == 0):
            out.append("bracket")
        if last.conjoined:
            out.append(f"conjoined{gap}")
        out.append(f"count{min(len(person.mentions), 4)}")
        if _brief(last.role) == role:
            out.append(f"parallel{gap}")
        out.append("sex" if person.gender else "sex?")
        if not person.gender and any(self.persons[c].gender for c in candidates):
            out.append("sex-other")
        if not person.sure:
            out.append("unsure")
        if entity == self.topic:
            out += ["title", f"title:gap{gap}", f"title:{here.role}"]
            if not first.token >= 0: out.append("title:unnamed")
        elif self.topic >= 0:
            out.append("not-title")
            tg=self.persons[self.topic].gender
            if tg and tg != gender: out.append("not-title:sex")
            if not self.persons[self.topic].mentions: out.append("not-title:unnamed")
        if len(person.words) > 1:
            out.append("full")
        if first.sentence == 0 and first.first:
            out.append("topic")
        hidden = self.hidden[gender]
        if hidden and hidden[0].start < first.start:
            out.append("after-hidden")
        between = sum(1 for c in candidates if c != entity and self.persons[c].mentions[-1].start > last.start)
        out.append(f"between{min(between, 3)}")
        rivals = [self.persons[c].mentions[-1] for c in candidates if c != entity]
        if not rivals:
            out.append("alone")
        elif _brief(last.role) == SUBJECT and not any(
            _brief(r.role) == SUBJECT and r.sentence >= last.sentence for r in rivals
        ):
            out.append(f"only-subject{gap}")
        if any(m.sentence == here.sentence - 1 and _brief(m.role) == SUBJECT for m in person.mentions[-4:]):
            out.append("subject-before")
        if any(m.sentence == here.sentence and _brief(m.role) == SUBJECT for m in person.mentions[-4:]):
            out.append("subject-here")
        for sentence, start, word, noun_role in reversed(self.nouns[-6:]):
            if start < last.start or here.sentence - sentence > 1:
                break
            if word not in (FEMALE_NOUNS if gender == "male" else MALE_NOUNS):
                out.append(f"noun-between:{_brief(noun_role)}")
                break
        if gap == 0:
            out += _same_sentence(tokens, verbs, last, here)
            if last.relative and here.token - last.token < 15:
                out.append(f"relative:{here.role}")
        out += self._later(tokens, entity, here, verbs)
        where = "opens" if here.opens else "inside"
        out.append(f"{where}:{here.role}:gap{gap}:{'first' if last.first else 'later'}")
        if here.opens and gap == 1:
            n = sum(1 for c in candidates if self.persons[c].mentions[-1].sentence == last.sentence)
            out.append(f"opens:of{min(n, 3)}")
        if person.bio:
            out.append("bio")
        out.append(f"rivals{min(len(rivals), 4)}")
        if hidden and hidden[-1].start > last.start:
            out.append(f"hidden-between{min(here.sentence - hidden[-1].sentence, 1)}")
        for m in reversed(person.mentions):
            if m.sentence != here.sentence:
                break
            if _brief(m.role) == SUBJECT and m is not last:
                out += ["sub0:" + f for f in _same_sentence(tokens, verbs, m, here)]
                break
        return out

    def _bound(self, tokens: Sequence[_Token], verbs: Sequence[bool], here: _Mention, entity: int) -> bool:
        """Whether grammar keeps them apart: "Ann saw her", "he met Bob"."""
        last = self.persons[entity].mentions[-1]
        if here.role == OBJECT and last.sentence == here.sentence and last.role == SUBJECT:
            between = tokens[last.token + 1 : here.token]
            clear = not any(
                t.word in SUBORDINATORS or t.word in _CLAUSE or t.entity >= 0 or t.word in _NOMINATIVE or t.word in PERSON_NOUNS or t.word in ("to","and", "but") for t in between
            )
            if clear:
                return True
        if here.role in (SUBJECT, OBJECT):
            for t in tokens[here.token + 1 :]:
                if t.word in SUBORDINATORS or t.word in _CLAUSE or t.word in CONJUNCTIONS:
                    break
                if t.entity == entity:
                    return True
        return False

    def _later(self, tokens: Sequence[_Token], entity: int, here: _Mention, verbs: Sequence[bool]) -> list[str]:
        """A name that follows its pronoun within the clause does not go with it."""
        for i in range(here.token + 1, len(tokens)):
            if tokens[i].entity == entity:
                marks = sum(1 for t in tokens[here.token + 1 : i] if t.word in SUBORDINATORS or t.word in (",", ";"))
                return [f"named-later:{here.role}:{'clause' if not marks else 'sentence'}", "named-later"]
        return []


def _same_sentence(tokens: Sequence[_Token], verbs: Sequence[bool], last: _Mention, here: _Mention) -> list[str]:
    """What lies between a mention and a pronoun of one sentence."""
    marks = commas = subjects = verbs_between = conjunctions = 0
    for i in range(last.token + 1, here.token):
        word = tokens[i].word
        if word in SUBORDINATORS:
            marks += 1
        elif word in (",", ";", ":"):
            commas += 1
        elif word in CONJUNCTIONS:
            conjunctions += 1
        elif verbs[i]:
            verbs_between += 1
        elif word in _PRONOUNS or word in ("they", "it", "we", "i", "you") or tokens[i].entity >= 0:
            subjects += _role(tokens, i, verbs) == SUBJECT if tokens[i].entity >= 0 else word in _NOMINATIVE
    out = [f"near:{min(here.token - last.token, 12) // 3}"]
    brief = _brief(last.role)
    one_clause = not marks and not subjects and not conjunctions
    if one_clause and verbs_between:
        out.append(f"clause:{brief}:{here.role}")
    if one_clause and not verbs_between:
        out.append(f"phrase:{brief}:{here.role}")
    if marks and not subjects:
        out.append(f"under:{brief}:{here.role}")
    if subjects:
        out.append(f"over:{brief}:{here.role}")
    if conjunctions and not subjects:
        out.append(f"joined:{brief}:{here.role}")
    if commas:
        out.append("commas")
    for i in range(here.token - 1, last.token, -1):
        if tokens[i].word in SUBORDINATORS:
            out.append(f"sub:{tokens[i].word}:{brief}:{here.role}")
            break
        if tokens[i].word in (",", ";") and not tokens[i+1].word in CONJUNCTIONS:
            out.append(f"comma:{brief}:{here.role}")
            break
    if tokens[0].word in SUBORDINATORS or tokens[0].word in PREPOSITIONS:
        if commas == 1:
            out.append(f"fronted:{brief}:{here.role}")
    before = tokens[here.token - 1].word
    if here.token - 1 > last.token and (before in _SAYING or (before == "that" and tokens[here.token - 2].word in _SAYING)):
        out.append(f"said:{brief}:{here.role}:{'sole' if not subjects else 'other'}")
    if here.token - last.token == 2 and tokens[here.token - 1].word == "and":
        out.append(f"and:{here.role}")
    return out


# -------------------------------------------------------------------------------- roles

_PRONOUNS: Final[dict[str, tuple[Gender, str]]] = {
    "he": ("male", "subj"),
    "him": ("male", "obj"),
    "his": ("male", "poss"),
    "himself": ("male", "self"),
    "she": ("female", "subj"),
    "her": ("female", "her"),
    "hers": ("female", "own"),
    "herself": ("female", "self"),
}
_SAYING = frozenset("""said says say saying told tells claimed claims thought thinks believed believes stated states felt feels knew
    knows realized realizes realised announced reported reports admitted admits discovered discovers revealed reveals
    learned learns decided explained explains argued argues wrote writes noted notes added adds hoped feared
    denied denies suggested suggests confirmed""".split())
_NOMINATIVE = frozenset("he she they it we i you".split())
_PRONOUN_ROLE = {"subj": SUBJECT, "obj": OBJECT, "prep": PREP, "self": OBJECT, "p-subj": SUBJECT, "p-obj": OBJECT, "p-prep": PREP}


def _same(words: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if words == other:
        return True
    short, long = sorted((words, other), key=len)
    if len(short) == 1:
        return len(long) > 1 and short[0] in (long[0], long[-1])
    return short[0] == long[0] and short[-1] == long[-1]


def _brief(role: str) -> str:
    return role.removeprefix("p-") if role.startswith("p-") else role


def _verbs(tokens: Sequence[_Token]) -> list[bool]:
    out = [False] * len(tokens)
    for i, token in enumerate(tokens):
        word = token.word
        if not word.isalpha():
            continue
        if word in AUXILIARIES or word in PAST_VERBS:
            out[i] = True
        elif len(word) > 3 and word.endswith("ed"):
            out[i] = True
        elif i and word.endswith("s") and not word.endswith("ss"):
            before = tokens[i - 1]
            if before.word.endswith("ly") and i > 1:
                before = tokens[i - 2]
            out[i] = before.entity >= 0 or before.word in _NOMINATIVE or before.word in ("who", "which", "that")
    return out


def _role(tokens: Sequence[_Token], i: int, verbs: Sequence[bool] | None = None) -> str:
    """What the name or noun at `i` is in its clause, guessed from the words before and behind it."""
    after = tokens[i + 1].word if i + 1 < len(tokens) else ""
    if after in ("'s", "’s", "'", "’"):
        return POSS
    verbs = verbs if verbs is not None else [t.word in AUXILIARIES or t.word in PAST_VERBS for t in tokens]
    j = i - 1
    steps = 0
    while j >= 0 and steps < 7:
        token = tokens[j]
        word = token.word
        if word in PREPOSITIONS:
            return PREP
        if verbs[j]:
            return OBJECT
        if word in SUBORDINATORS:
            return SUBJECT
        if word in CONJUNCTIONS:
            if j and tokens[j - 1].entity >= 0:
                return _role(tokens, j - 1, verbs) if i - j < 3 else SUBJECT
            return SUBJECT if _acts(tokens, i, verbs) else OTHER
        if word in _CLAUSE or word in ("``", "''", "“", "”"):
            return SUBJECT if _acts(tokens, i, verbs) else APPOS
        if token.entity >= 0 or word in _NOMINATIVE:
            return SUBJECT if _acts(tokens, i, verbs) else OTHER
        j -= 1
        steps += 1
    return SUBJECT if _acts(tokens, i, verbs) or j < 0 else OTHER


def _acts(tokens: Sequence[_Token], i: int, verbs: Sequence[bool]) -> bool:
    """Whether a verb follows the name at `i`, right away or behind an adverb, a bracket or an apposition."""
    j = i + 1
    if j < len(tokens) and tokens[j].word in ("(", ","):
        close = ")" if tokens[j].word == "(" else ","
        k = j + 1
        while k < len(tokens) and k - j < 14 and tokens[k].word != close:
            k += 1
        if k < len(tokens) and tokens[k].word == close:
            j = k + 1
    if j + 1 < len(tokens) and tokens[j].word in CONJUNCTIONS and tokens[j + 1].entity >= 0:
        j += 2
    for k in range(j, min(j + 3, len(tokens))):
        if verbs[k] or tokens[k].word == "who":
            return True
        if not (tokens[k].word.endswith("ly") or tokens[k].word in _ADVERBS):
            return False
    return False


_ADVERBS = frozenset("also then later never soon again still now once first both to'd 'd 'll 's not".split())


def _pronoun_role(tokens: Sequence[_Token], i: int, verbs: Sequence[bool]) -> str:
    word = tokens[i].word
    kind = _PRONOUNS[word][1]
    before = tokens[i - 1].word if i else ""
    if kind == "subj":
        return SUBJECT
    if kind == "self":
        return "self"
    if kind == "her":
        after = tokens[i + 1] if i + 1 < len(tokens) else None
        bare = after is None or (after.entity < 0 and (after.word in AFTER_OBJECT or not after.word[0].isalnum()))
        if after is not None and after.word in ("``", '"', "“", "own"):
            bare = False
        kind = "obj" if bare and not (after is not None and after.word == "``") else "poss"
    if kind in ("obj", "own"):
        return PREP if before in PREPOSITIONS else OBJECT
    if before in PREPOSITIONS:
        return "p-prep"
    if i == 0 or before in SUBORDINATORS or (not before.isalnum() and before not in ("'s",)):
        return "p-subj"
    return "p-obj"


def _conjoined(tokens: Sequence[_Token], i: int) -> bool:
    before = tokens[i - 1].word if i else ""
    after = tokens[i + 1].word if i + 1 < len(tokens) else ""
    return (before in ("and", "&", "or") and i > 1 and (tokens[i - 2].entity >= 0 or tokens[i - 2].word == ",")) or (
        after in ("and", "&", "or") and i + 2 < len(tokens) and tokens[i + 2].entity >= 0
    )


def _relative(tokens: Sequence[_Token], i: int) -> bool:
    for k in (i + 1, i + 2):
        if k < len(tokens) and tokens[k].word in ("who", "whose", "whom", "where"):
            return True
    return False


def _opens(tokens: Sequence[_Token], i: int) -> bool:
    return i == 0 or (i <= 2 and tokens[0].word in (*_OPENING_MARKS, *CONJUNCTIONS, *DETERMINERS))


_OPENING_MARKS = ("``", '"', "“", "(", "-", "*", "then", "later", "when", "after", "however")


def _describes_name(tokens: Sequence[_Token], i: int) -> bool:
    """Whether the noun at `i` only says what a name next to it is: "the actress Jane", "Jane, an actress"."""
    for k in (i + 1, i + 2):
        if k < len(tokens) and tokens[k].entity >= 0:
            return True
        if k >= len(tokens) or tokens[k].word not in (",", "of"):
            break
    for k in range(i - 1, max(i - 6, -1), -1):
        if tokens[k].entity >= 0:
            return tokens[k + 1].word in (",", "is", "was", "became")
        if tokens[k].word in PREPOSITIONS:
            return False
    return False
