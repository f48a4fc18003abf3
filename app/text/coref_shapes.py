"""What coreference takes and gives: places of names and of pronouns in a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NameType = Literal["person", "place", "organization", "event", "work", "product", "concept", "other"]
Gender = Literal["male", "female"]


@dataclass(frozen=True, slots=True)
class NameSpan:
    """`text[start:end]` names `name`. Type "other" means: not known. Without a gender, it is guessed from the text."""

    start: int
    end: int
    name: str
    type: NameType = "other"
    gender: Gender | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """The pronoun `text[start:end]` stands for `name`; `possessive`: for what belongs to it."""

    start: int
    end: int
    pronoun: str
    name: str
    possessive: bool = False
