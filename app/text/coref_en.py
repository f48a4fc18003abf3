"""He, she and their forms in English text.

Reads left to right and keeps what each person was last mentioned as; a pronoun that was resolved counts as a mention.
Every candidate gets a score, linear in features of distance, role and sex, and "nobody who is named" is a candidate
too. A pronoun is resolved when one person has nearly all of the probability. The weights are fitted, see `bench.coref`.
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.text import coref_clause as clause
from app.text.coref_cast import Cast, Mention, Person
from app.text.coref_clause import OBJECT, PREP, PRONOUNS, SUBJECT, Token
from app.text.coref_shapes import Gender, NameSpan, Resolution
from app.text.coref_weights import WEIGHTS
from app.text.coref_words import FEMALE_NOUNS, MALE_NOUNS, PERSON_NOUNS

GENDERED = re.compile(r"\b(?:[Hh](?:e|is|im|ers?|imself|erself)|[Ss]he|HE|SHE|HIS|HER|HIM)\b")
THRESHOLD: Final = 0.87
"""Probability from which a pronoun is resolved: precision .90 on GAP, by cross-validation."""
_LONE: Final = 0.4
"""The same where nobody else is there: GAP's snippets begin amid a text, where anybody may be meant."""
_CHAIN: Final = 0.6
"""Probability from which a pronoun counts as a mention of its candidate for the pronouns behind it."""
_TEACHES: Final = 0.9
"""Probability from which a pronoun tells the sex of its person."""
_WINDOW: Final = 3
_MAX_CANDIDATES: Final = 12
_PARALLEL = {
    "subj": SUBJECT,
    "obj": OBJECT,
    "prep": PREP,
    "self": OBJECT,
    "p-subj": SUBJECT,
    "p-obj": OBJECT,
    "p-prep": PREP,
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One pronoun with its candidates: names (None: nobody who is named), features and probabilities of each."""

    start: int
    end: int
    pronoun: str
    possessive: bool
    names: tuple[str | None, ...]
    features: tuple[tuple[str, ...], ...]
    probabilities: tuple[float, ...]
    lone: bool = False
    """Nobody else is there whom the pronoun might stand for."""
    rival: bool = False
    """Somebody without a name may be meant."""

    @property
    def best(self) -> int:
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__)

    @property
    def resolved(self) -> str | None:
        best = self.best
        plain = self.probabilities[best] >= (_LONE if self.lone else THRESHOLD)
        return self.names[best] if plain and not self.rival else None


@dataclass(frozen=True, slots=True)
class _Noun:
    """Somebody without a name."""

    sentence: int
    start: int
    word: str
    role: str


def resolve_persons(
    text: str, spans: Sequence[tuple[int, int]], names: Sequence[NameSpan], title: str = ""
) -> list[Resolution]:
    found: list[Resolution] = []
    for choice in choices(text, spans, names, title):
        name = choice.resolved
        if name is not None:
            found.append(Resolution(choice.start, choice.end, choice.pronoun, name, choice.possessive))
    return found


def choices(
    text: str,
    spans: Sequence[tuple[int, int]],
    names: Sequence[NameSpan],
    title: str = "",
    weights: Mapping[str, float] = WEIGHTS,
) -> list[Choice]:
    """Every pronoun of a person in order, with what speaks for each candidate."""
    if GENDERED.search(text) is None:
        return []
    return list(_Reader(text, spans, names, title, weights).read())


class _Reader:
    def __init__(
        self,
        text: str,
        spans: Sequence[tuple[int, int]],
        names: Sequence[NameSpan],
        title: str,
        weights: Mapping[str, float],
    ) -> None:
        self.text = text
        self.spans = spans
        self.weights = weights
        self.names = sorted((n for n in names if n.type in ("person", "other")), key=lambda n: (n.start, -n.end))
        self.starts = [n.start for n in self.names]
        self.cast = Cast(text, self.names, title)
        self.persons = self.cast.persons
        self.topic = self.cast.topic
        self.titled = bool(title)
        # By last mention, the latest at the end.
        self.recent: dict[int, None] = {}
        self.unresolved: dict[Gender, list[Mention]] = {"male": [], "female": []}
        self.nouns: list[_Noun] = []
        self.quoted = False
        self.tokens: list[Token] = []
        self.verbs: list[bool] = []
        if self.topic >= 0:
            self._mention(self.topic, Mention(-1, -1, -1, SUBJECT))

    # ------------------------------------------------------------------ reading

    def read(self) -> Iterator[Choice]:
        for number, (start, end) in enumerate(self.spans):
            if number and "\n" in self.text[self.spans[number - 1][1] : start]:
                self.quoted = False
            first = bisect.bisect_left(self.starts, start)
            last = bisect.bisect_left(self.starts, end)
            named = ((self.names[i].start, self.names[i].end, self.cast.entity_of[i]) for i in range(first, last))
            self.tokens = clause.tokenise(self.text, start, end, named)
            self.verbs = clause.verbs_of(self.tokens)
            yield from self._sentence(number)

    def _sentence(self, number: int) -> Iterator[Choice]:
        tokens, verbs = self.tokens, self.verbs
        bracketed = False
        first = True
        for i, token in enumerate(tokens):
            word = token.word
            if token.entity >= 0:
                mention = self._named(number, i, bracketed)
                mention.is_first, first = first, False
                self._mention(token.entity, mention)
            elif word in PRONOUNS:
                here = Mention(number, i, token.start, clause.pronoun_role(tokens, i), is_pronoun=True)
                here.opens, here.quoted, here.bracketed = clause.opens(tokens, i), self.quoted, bracketed
                yield self._choose(here, token)
            elif word in PERSON_NOUNS:
                if not clause.describes_name(tokens, i):
                    self.nouns.append(_Noun(number, token.start, word, clause.role_of(tokens, verbs, i)))
            elif word in clause.BRACKETS:
                bracketed = word in "(["
            elif word in clause.OPEN_QUOTES or (word == '"' and not self.quoted):
                self.quoted = True
            elif word in clause.CLOSE_QUOTES or word == '"':
                self.quoted = False

    def _named(self, number: int, i: int, bracketed: bool) -> Mention:
        tokens = self.tokens
        return Mention(
            number,
            i,
            tokens[i].start,
            clause.role_of(tokens, self.verbs, i),
            opens=clause.opens(tokens, i),
            quoted=self.quoted,
            bracketed=bracketed,
            conjoined=clause.is_conjoined(tokens, i),
            relative=clause.is_relative(tokens, i),
            main=clause.is_main(tokens, i),
            says=clause.says(tokens, i),
        )

    def _mention(self, entity: int, mention: Mention) -> None:
        self.persons[entity].mentions.append(mention)
        self.recent.pop(entity, None)
        self.recent[entity] = None

    # ---------------------------------------------------------------- one pronoun

    def _choose(self, here: Mention, token: Token) -> Choice:
        gender = PRONOUNS[token.word][0]
        candidates = self._candidates(here, gender)
        front = clause.subject_behind(self.tokens, self.verbs, here.token)
        if front >= 0 and self.persons[front].gender not in (None, gender):
            front = -1
        rows = [tuple(self._nobody(here, gender, candidates, front))]
        rows += [tuple(self._somebody(here, gender, entity, candidates, front)) for entity in candidates]
        probabilities = _softmax([sum(self.weights.get(name, 0.0) for name in row) for row in rows])
        choice = Choice(
            token.start,
            token.end,
            self.text[token.start : token.end],
            here.role.startswith("p-"),
            (None, *(self.persons[entity].name for entity in candidates)),
            tuple(rows),
            probabilities,
            self._is_lone(here, gender, candidates, front),
            self._has_rival(here, gender, candidates),
        )
        best = choice.best
        if best and probabilities[best] >= (_LONE if choice.lone else _CHAIN):
            here.is_sure = choice.lone or probabilities[best] >= THRESHOLD
            person = self.persons[candidates[best - 1]]
            if probabilities[best] >= _TEACHES:
                person.gender = person.gender or gender
            self._mention(candidates[best - 1], here)
        else:
            self.unresolved[gender].append(here)
        return choice

    def _candidates(self, here: Mention, gender: Gender) -> list[int]:
        """Persons mentioned not long ago, and whom the title names; the latest first."""
        found: list[int] = []
        for entity in reversed(self.recent):
            person = self.persons[entity]
            last = person.mentions[-1]
            if here.sentence - last.sentence >= _WINDOW or len(found) == _MAX_CANDIDATES:
                break
            if self._fits(here, gender, entity):
                found.append(entity)
        if self.topic >= 0 and self.topic not in found and self._fits(here, gender, self.topic):
            found.append(self.topic)
        return found

    def _fits(self, here: Mention, gender: Gender, entity: int) -> bool:
        person = self.persons[entity]
        last = person.mentions[-1]
        subject_at = last.token if last.sentence == here.sentence and last.role == SUBJECT else -1
        return person.gender in (None, gender) and not clause.is_bound(
            self.tokens, here.token, here.role, entity, subject_at
        )

    def _is_lone(self, here: Mention, gender: Gender, candidates: Sequence[int], front: int) -> bool:
        """Whether the text so far knows one person only whom the pronoun may stand for, named or not."""
        if len(candidates) != 1 or self.unresolved[gender] or front not in (-1, candidates[0]):
            return False
        person = self.persons[candidates[0]]
        last = person.mentions[-1]
        if not person.sure or last.conjoined or (here.quoted and not last.quoted):
            return False
        if any(self.persons[e].gender is None for e in self.recent if e != candidates[0]):
            return False
        other = FEMALE_NOUNS if gender == "male" else MALE_NOUNS
        return all(n.word in other or here.sentence - n.sentence >= _WINDOW for n in self.nouns[-8:])

    def _has_rival(self, here: Mention, gender: Gender, candidates: Sequence[int]) -> bool:
        """Whether somebody without a name was spoken of since: "Ann's mother is away. She …"."""
        other = FEMALE_NOUNS if gender == "male" else MALE_NOUNS
        last = max((self.persons[c].mentions[-1].start for c in candidates), default=0)
        return any(
            n.start > last and n.word not in other and n.role == SUBJECT and here.sentence - n.sentence < 2
            for n in self.nouns[-4:]
        )

    def _nobody(self, here: Mention, gender: Gender, candidates: Sequence[int], front: int) -> Iterator[str]:
        """What speaks for somebody who is not named."""
        yield "null"
        yield f"null:n{min(len(candidates), 3)}"
        if self.titled:
            yield "null:title" if self.topic >= 0 else "null:title-other"
        if here.sentence == 0:
            yield "null:first"
        if self.unresolved[gender]:
            before = self.unresolved[gender][-1]
            gap = min(here.sentence - before.sentence, 2)
            yield f"null:hidden{gap}"
            yield f"null:hidden{gap}:{before.role}"
        if front >= 0:
            yield f"null:front:{'old' if front in candidates else 'new'}"
            yield f"null:front:{here.role}"
        other, same = (FEMALE_NOUNS, MALE_NOUNS) if gender == "male" else (MALE_NOUNS, FEMALE_NOUNS)
        for noun in reversed(self.nouns[-2:]):
            if here.sentence - noun.sentence <= 1 and noun.word not in other:
                yield f"null:noun{here.sentence - noun.sentence}:{noun.role}"
                yield f"null:noun:{'sexed' if noun.word in same else 'any'}"

    def _somebody(
        self, here: Mention, gender: Gender, entity: int, candidates: Sequence[int], front: int
    ) -> Iterator[str]:
        """What speaks for and against one person."""
        person = self.persons[entity]
        rivals = [self.persons[c] for c in candidates if c != entity]
        yield from self._by_last_mention(here, person)
        yield from self._by_person(here, gender, entity, person)
        yield from self._by_rivals(here, person, rivals)
        yield from self._by_sentence(here, entity, person)
        if front >= 0:
            yield f"front:{'same' if front == entity else 'other'}:gap{_gap(here, person)}"
        other = FEMALE_NOUNS if gender == "male" else MALE_NOUNS
        for noun in reversed(self.nouns[-6:]):
            if noun.start < person.mentions[-1].start or here.sentence - noun.sentence > 1:
                break
            if noun.word not in other:
                yield f"noun-between:{noun.role}"
                break

    def _by_last_mention(self, here: Mention, person: Person) -> Iterator[str]:
        last = person.mentions[-1]
        gap, role = _gap(here, person), _brief(last)
        yield f"gap{gap}"
        yield f"gap{gap}:{last.role}"
        yield f"{here.role}:gap{gap}:{role}"
        yield f"{'opens' if here.opens else 'inside'}:{here.role}:gap{gap}:{'first' if last.is_first else 'later'}"
        if last.is_pronoun:
            yield f"chain{gap}"
            yield f"chain:{last.role}:{here.role}"
            if last.is_sure:
                yield f"chain-sure{gap}"
        else:
            yield f"{'main' if last.main else 'under'}{gap}:{last.role}"
        if last.is_first:
            yield f"first{gap}"
        if last.opens:
            yield f"opens{gap}"
            if here.opens:
                yield f"opens-both{gap}"
        if role == _PARALLEL[here.role]:
            yield f"parallel{gap}"
        if last.conjoined:
            yield f"conjoined{gap}"
        if last.relative:
            yield f"relative{gap}:{role}"
        if last.bracketed and not (here.bracketed and gap == 0):
            yield "bracket"
        if last.quoted != here.quoted:
            yield f"quote-{'in' if here.quoted else 'out'}:gap{gap}"
            if here.quoted:
                yield f"quote-in{gap}:{last.role}"
                if last.says and last.role == SUBJECT and gap <= 1:
                    yield f"speaker{gap}"

    def _by_person(self, here: Mention, gender: Gender, entity: int, person: Person) -> Iterator[str]:
        first, last = person.mentions[0], person.mentions[-1]
        yield f"count{min(len(person.mentions), 4)}"
        yield "sex" if person.gender else "sex?"
        if not person.sure:
            yield "unsure"
        if person.years:
            yield "years"
        if len(person.words) > 1:
            yield "full"
        if first.sentence == 0 and first.is_first:
            yield "topic"
        if entity == self.topic:
            yield "title"
            yield f"title:gap{_gap(here, person)}"
            yield f"title:{here.role}"
            if last.token < 0:
                yield "title:unnamed"
        elif self.topic >= 0:
            yield "not-title"
            if self.persons[self.topic].gender not in (None, gender):
                yield "not-title:sex"
        hidden = self.unresolved[gender]
        if hidden and hidden[0].start < first.start:
            yield "after-hidden"
        if hidden and hidden[-1].start > last.start:
            yield f"hidden-between{min(here.sentence - hidden[-1].sentence, 1)}"
        lately = person.mentions[-4:]
        yield f"lately{sum(1 for m in lately if m.sentence >= here.sentence - 1)}"
        if any(m.sentence == here.sentence - 1 and _is_subject(m) for m in lately):
            yield "subject-before"
        if any(m.sentence == here.sentence and _is_subject(m) for m in lately):
            yield "subject-here"

    def _by_rivals(self, here: Mention, person: Person, rivals: Sequence[Person]) -> Iterator[str]:
        last, gap = person.mentions[-1], _gap(here, person)
        yield f"rivals{min(len(rivals), 4)}"
        others = [rival.mentions[-1] for rival in rivals]
        yield f"between{min(sum(1 for m in others if m.start > last.start), 3)}"
        yield f"here{min(sum(1 for m in others if m.sentence == here.sentence), 3)}:gap{gap}"
        if here.opens and gap == 1:
            yield f"opens:of{min(1 + sum(1 for m in others if m.sentence == last.sentence), 3)}"
        if not rivals:
            yield "alone"
            return
        if _is_subject(last) and not any(_is_subject(m) and m.sentence >= last.sentence for m in others):
            yield f"only-subject{gap}"
        if gap and not any(m.sentence == last.sentence for m in others):
            yield f"alone-there{gap}:{_brief(last)}"
        if all(len(rival.mentions) < len(person.mentions) for rival in rivals):
            yield "most"
        if person.gender is None and any(rival.gender for rival in rivals):
            yield "sex-other"

    def _by_sentence(self, here: Mention, entity: int, person: Person) -> Iterator[str]:
        later = clause.named_later(self.tokens, here.token, entity)
        if later is not None:
            yield "named-later"
            yield f"named-later:{here.role}:{later}"
        last = person.mentions[-1]
        if last.sentence != here.sentence:
            return
        yield from self._between(last, here)
        if last.relative and here.token - last.token < 15:
            yield f"relative:{here.role}"
        for mention in reversed(person.mentions[-4:-1]):
            if mention.sentence == here.sentence and _is_subject(mention):
                yield from ("subject:" + name for name in self._between(mention, here))
                break

    def _between(self, mention: Mention, here: Mention) -> list[str]:
        return clause.between(self.tokens, self.verbs, mention.token, here.token, _brief(mention), here.role)


def _gap(here: Mention, person: Person) -> int:
    return min(here.sentence - person.mentions[-1].sentence, 2)


def _brief(mention: Mention) -> str:
    return mention.role.removeprefix("p-")


def _is_subject(mention: Mention) -> bool:
    return mention.role in (SUBJECT, "p-subj")


def _softmax(scores: Sequence[float]) -> tuple[float, ...]:
    top = max(scores)
    raised = [math.exp(score - top) for score in scores]
    total = sum(raised)
    return tuple(value / total for value in raised)
