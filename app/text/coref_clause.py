"""Words of an English sentence and what they are in it, guessed without a parser from the closed word classes.

A name counts as one token. Roles: subject, object, behind a preposition, possessor, apposition; a possessive pronoun
has the role of the phrase that it opens, marked `p-`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from app.text.coref_shapes import Gender
from app.text.coref_words import (
    AFTER_OBJECT,
    AUXILIARIES,
    CONJUNCTIONS,
    DETERMINERS,
    PAST_VERBS,
    PERSON_NOUNS,
    PREPOSITIONS,
    SUBORDINATORS,
    words_of,
)

SUBJECT: Final = "subj"
OBJECT: Final = "obj"
PREP: Final = "prep"
POSS: Final = "poss"
APPOS: Final = "appos"
OTHER: Final = "other"

PRONOUNS: Final[dict[str, tuple[Gender, str]]] = {
    "he": ("male", "subj"),
    "him": ("male", "obj"),
    "his": ("male", "poss"),
    "himself": ("male", "self"),
    "she": ("female", "subj"),
    "her": ("female", "her"),
    "hers": ("female", "own"),
    "herself": ("female", "self"),
}
NOMINATIVE: Final = frozenset(("he", "she", "they", "it", "we", "i", "you"))
BRACKETS: Final = frozenset("()[]")
OPEN_QUOTES: Final = frozenset(("“", "``", "„", "«"))
CLOSE_QUOTES: Final = frozenset(("”", "''", "»"))
_CLAUSE: Final = frozenset(',;:()-"')
_TOKEN = re.compile(
    r"[^\W\d_][\w*]*(?:-[\w*]+)*(?:['’](?!(?:s|d|ll|re|ve)\b)\w+)?|['’](?:s|d|ll|re|ve)?(?!\w)|\d[\d.,]*|``|''|[^\w\s]"
)
_APOSTROPHES = frozenset(("'s", "’s", "'", "’"))
_ADVERBS = words_of("""
    also then later never soon again still now once first both 'd ’d 'll ’ll 's ’s not""")
_OPENING = (
    frozenset(("``", '"', "“", "(", "-", "*", "then", "later", "when", "after", "however")) | CONJUNCTIONS | DETERMINERS
)
_RELATIVE = frozenset(("who", "whose", "whom", "where"))
_AND = frozenset(("and", "&", "or"))
_FAR: Final = 60
"""Tokens that are looked at from a pronoun: a text without full stops must not cost its square."""


@dataclass(slots=True)
class Token:
    start: int
    end: int
    word: str
    """In small letters; empty for a name."""
    entity: int = -1
    """Whom the name names; -1: no name."""


def tokenise(text: str, start: int, end: int, named: Iterable[tuple[int, int, int]]) -> list[Token]:
    """Tokens of text[start:end]; `named` are (start, end, entity) of the names in it, in order."""
    tokens: list[Token] = []
    at = start
    for first, last, entity in named:
        if first >= at:
            _add_words(tokens, text, at, first)
            tokens.append(Token(first, last, "", entity))
            at = last
    _add_words(tokens, text, at, end)
    return tokens


def _add_words(tokens: list[Token], text: str, start: int, end: int) -> None:
    if start < end:
        tokens.extend(Token(m.start(), m.end(), m.group().lower()) for m in _TOKEN.finditer(text, start, end))


def verbs_of(tokens: Sequence[Token]) -> list[bool]:
    """Which tokens are verbs: known ones, what ends in -ed, and what ends in -s behind its subject."""
    out = [False] * len(tokens)
    for i, token in enumerate(tokens):
        word = token.word
        if word in AUXILIARIES or word in PAST_VERBS or (len(word) > 3 and word.endswith("ed")):
            out[i] = True
        elif i and word.endswith("s") and not word.endswith("ss") and word.isalpha():
            before = tokens[i - 2] if i > 1 and tokens[i - 1].word.endswith("ly") else tokens[i - 1]
            out[i] = before.entity >= 0 or before.word in NOMINATIVE or before.word in ("who", "which", "that")
    return out


def role_of(tokens: Sequence[Token], verbs: Sequence[bool], i: int) -> str:
    """What the name or noun at `i` is in its clause."""
    if i + 1 < len(tokens) and tokens[i + 1].word in _APOSTROPHES:
        return POSS
    for j in range(i - 1, max(i - 8, -1), -1):
        word = tokens[j].word
        if word in PREPOSITIONS:
            return PREP
        if verbs[j]:
            return OBJECT
        if word in SUBORDINATORS:
            return SUBJECT
        if word in CONJUNCTIONS:
            if j and tokens[j - 1].entity >= 0:
                return role_of(tokens, verbs, j - 1) if i - j < 3 else SUBJECT
            return SUBJECT if acts(tokens, verbs, i) else OTHER
        if word in _CLAUSE or word in OPEN_QUOTES or word in CLOSE_QUOTES:
            return SUBJECT if acts(tokens, verbs, i) else APPOS
        if tokens[j].entity >= 0 or word in NOMINATIVE:
            return SUBJECT if acts(tokens, verbs, i) else OTHER
    return SUBJECT if i < 8 or acts(tokens, verbs, i) else OTHER


def acts(tokens: Sequence[Token], verbs: Sequence[bool], i: int) -> bool:
    """Whether a verb follows the name at `i`, right away or behind an adverb, a bracket or an apposition."""
    j = i + 1
    if j < len(tokens) and tokens[j].word in ("(", ","):
        close = ")" if tokens[j].word == "(" else ","
        j = next((k + 1 for k in range(j + 1, min(j + 15, len(tokens))) if tokens[k].word == close), j)
    if j + 1 < len(tokens) and tokens[j].word in CONJUNCTIONS and tokens[j + 1].entity >= 0:
        j += 2
    for k in range(j, min(j + 3, len(tokens))):
        if verbs[k] or tokens[k].word == "who":
            return True
        if not (tokens[k].word.endswith("ly") or tokens[k].word in _ADVERBS):
            return False
    return False


def pronoun_role(tokens: Sequence[Token], i: int) -> str:
    kind = PRONOUNS[tokens[i].word][1]
    before = tokens[i - 1].word if i else ""
    if kind in ("subj", "self"):
        return kind
    if kind in ("obj", "own") or (kind == "her" and _is_object(tokens, i)):
        return PREP if before in PREPOSITIONS else OBJECT
    if before in PREPOSITIONS:
        return "p-prep"
    if i == 0 or before in SUBORDINATORS or (before and not before[-1].isalnum()):
        return "p-subj"
    return "p-obj"


def _is_object(tokens: Sequence[Token], i: int) -> bool:
    """Whether the "her" at `i` is a person, not "her book"."""
    if i + 1 == len(tokens):
        return True
    after = tokens[i + 1]
    if after.entity >= 0 or after.word in ('"', "“", "``", "own"):
        return False
    return after.word in AFTER_OBJECT or not after.word[0].isalnum()


def is_conjoined(tokens: Sequence[Token], i: int) -> bool:
    """Whether the name at `i` is one of several: "Ann and Bob"."""
    if i > 1 and tokens[i - 1].word in _AND and (tokens[i - 2].entity >= 0 or tokens[i - 2].word == ","):
        return True
    return i + 2 < len(tokens) and tokens[i + 1].word in _AND and tokens[i + 2].entity >= 0


def is_relative(tokens: Sequence[Token], i: int) -> bool:
    """Whether a relative clause tells more of the name at `i`."""
    return any(t.word in _RELATIVE for t in tokens[i + 1 : i + 3])


def is_main(tokens: Sequence[Token], i: int) -> bool:
    """Whether the name at `i` stands in no subordinate clause."""
    for k in range(i - 1, max(i - _FAR, -1), -1):
        word = tokens[k].word
        if word == ";" or (word == "," and tokens[0].word in SUBORDINATORS):
            return True
        if word in SUBORDINATORS:
            return False
    return True


def opens(tokens: Sequence[Token], i: int) -> bool:
    return i == 0 or (i <= 2 and tokens[0].word in _OPENING)


def describes_name(tokens: Sequence[Token], i: int) -> bool:
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


def subject_behind(tokens: Sequence[Token], verbs: Sequence[bool], i: int) -> int:
    """The entity that the sentence is about where the word at `i` stands in a phrase before it: "In her youth, Ann …".

    -1: none.
    """
    head = tokens[0].word
    if i > _FAR or not (i <= 1 or head in SUBORDINATORS or head in PREPOSITIONS or head.endswith(("ing", "ed"))):
        return -1
    for k in range(2, i):
        begins = tokens[k - 1].word == "," and (tokens[k].entity >= 0 or tokens[k].word in NOMINATIVE)
        if begins and acts(tokens, verbs, k):
            return -1
    for k in range(i + 1, min(len(tokens), i + 40)):
        if tokens[k].word in (",", ")", "''", '"'):
            for n in range(k + 1, min(k + 5, len(tokens))):
                if tokens[n].entity >= 0:
                    if acts(tokens, verbs, n):
                        return tokens[n].entity
                    break
                if verbs[n] or tokens[n].word in PREPOSITIONS or tokens[n].word in CONJUNCTIONS:
                    break
    return -1


def named_later(tokens: Sequence[Token], i: int, entity: int) -> str | None:
    """Where the entity is named behind the pronoun at `i`: "clause", "sentence" or None."""
    clause = True
    for token in tokens[i + 1 : i + _FAR]:
        if token.entity == entity:
            return "clause" if clause else "sentence"
        clause = clause and token.word not in SUBORDINATORS and token.word not in (",", ";")
    return None


def is_bound(tokens: Sequence[Token], i: int, role: str, entity: int, subject_at: int) -> bool:
    """Whether grammar keeps the pronoun at `i` and the entity apart: "Ann saw her", "he met Bob".

    `subject_at` is where the entity is subject of the same sentence before the pronoun, else -1.
    """
    if role == OBJECT and 0 <= i - subject_at < _FAR and subject_at >= 0:
        between = tokens[subject_at + 1 : i]
        if not any(_breaks(token) for token in between):
            return True
    if role in (SUBJECT, OBJECT):
        for token in tokens[i + 1 : i + _FAR]:
            if token.word in SUBORDINATORS or token.word in _CLAUSE or token.word in CONJUNCTIONS:
                return False
            if token.entity == entity:
                return True
    return False


def _breaks(token: Token) -> bool:
    """Whether another subject or clause may begin here."""
    word = token.word
    return (
        token.entity >= 0
        or word in SUBORDINATORS
        or word in _CLAUSE
        or word in NOMINATIVE
        or word in PERSON_NOUNS
        or word in ("to", "and", "but")
    )


_SAYING_LIST = """
    asked asks said says say saying told tells claimed claims thought thinks believed believes stated states
    felt feels knew knows realized realizes realised announced reported reports admitted admits discovered
    discovers revealed reveals learned learns decided explained explains argued argues wrote writes noted notes
    added adds hoped feared denied denies suggested suggests confirmed"""
_SAYING: Final = words_of(_SAYING_LIST)


def says(tokens: Sequence[Token], i: int) -> bool:
    """Whether the name at `i` is followed by a verb of saying."""
    return any(t.word in _SAYING for t in tokens[i + 1 : i + 4])


def between(tokens: Sequence[Token], verbs: Sequence[bool], a: int, b: int, role: str, pronoun: str) -> list[str]:
    """Features of what lies between a mention at `a` in `role` and the pronoun at `b` of the same sentence."""
    pair = f"{role}:{pronoun}"
    out = [f"near:{min(b - a, 12) // 3}"]
    if b - a >= _FAR:
        return out
    marks = commas = subjects = acting = joined = 0
    for i in range(a + 1, b):
        token = tokens[i]
        if token.word in SUBORDINATORS:
            marks += 1
        elif token.word in (",", ";", ":"):
            commas += 1
        elif token.word in CONJUNCTIONS:
            joined += 1
        elif verbs[i]:
            acting += 1
        elif token.word in NOMINATIVE or (token.entity >= 0 and role_of(tokens, verbs, i) == SUBJECT):
            subjects += 1
    if subjects:
        out.append(f"over:{pair}")
    else:
        if not marks and not joined:
            out.append(f"{'clause' if acting else 'phrase'}:{pair}")
        if marks:
            out.append(f"under:{pair}")
        if joined:
            out.append(f"joined:{pair}")
    if commas:
        out.append("commas")
        if commas == 1 and (tokens[0].word in SUBORDINATORS or tokens[0].word in PREPOSITIONS):
            out.append(f"fronted:{pair}")
    if role == OBJECT and tokens[a + 1].word == "to":
        out.append(f"control:{pronoun}")
    before = tokens[b - 1].word
    if before in PREPOSITIONS or before in CONJUNCTIONS:
        out.append(f"before:{before}:{pair}")
    for i in range(b - 1, a, -1):
        if tokens[i].word in SUBORDINATORS:
            out.append(f"mark:{tokens[i].word}:{pair}")
            break
        if tokens[i].word in (",", ";") and tokens[i + 1].word not in CONJUNCTIONS:
            out.append(f"comma:{pair}")
            break
    if b - 1 > a and (before in _SAYING or (before == "that" and tokens[b - 2].word in _SAYING)):
        out.append(f"said:{pair}:{'other' if subjects else 'sole'}")
    if b - a == 2 and before == "and":
        out.append(f"and:{pronoun}")
    return out
