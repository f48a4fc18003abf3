"""In which script a text counts as, for a question in one. Pure."""

from __future__ import annotations

from typing import Final

HAN_SOME: Final = 4
HAN_MOST: Final = 30


def han_from(asked_in_han: bool) -> int:
    """From how many percent of Han on a text counts as in Han: a question in Han is near to any that has some."""
    return HAN_SOME if asked_in_han else HAN_MOST


def bytes_from(asked_in_han: bool) -> float:
    """The same as bytes beyond one per character: a Han character has three."""
    return 2 * han_from(asked_in_han) / 100
