"""Which items go into a limit: best first, whole, and what does not fit stops nobody behind it. Pure, integers only.

Knows neither texts nor buckets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Shorten = Callable[[int, bool], int]


@dataclass(frozen=True, slots=True)
class Item:
    """Something that wants to be in a prompt.

    `shorter(room, alone)` says how many tokens a shortened version takes that fits `room`; 0 where there is none.
    More room never gives fewer tokens. `alone`: nothing else fits, so that a poor cut is better than none.
    `breaks` says that there is a good place to cut it at all.
    """

    tokens: int
    score: float = 0.0
    shorter: Shorten | None = None
    breaks: bool = False


@dataclass(frozen=True, slots=True)
class Packed:
    """Indices of the items that are in. `cut` is (index, room) of the one that must be shortened to that room.

    `tokens` includes what is set aside. The outcome is the same for every limit between `tokens` and the one it is for.
    """

    whole: tuple[int, ...] = ()
    cut: tuple[int, int] | None = None
    tokens: int = 0

    @property
    def chosen(self) -> tuple[int, ...]:
        return tuple(sorted((*self.whole, *(() if self.cut is None else self.cut[:1]))))


def best_first(items: Sequence[Item]) -> list[int]:
    """Indices by score; at a tie the one that was given first."""
    return sorted(range(len(items)), key=lambda index: -items[index].score)


def pack(items: Sequence[Item], order: Sequence[int], limit: int) -> Packed:
    """Whole items in `order`, skipping what does not fit; then the best one that is left out and can be cut is cut to
    the rest. One token more of `limit` never packs fewer: an item that newly fits fills the limit to the last token.
    """
    whole: list[int] = []
    left = max(limit, 0)
    for index in order:
        if items[index].tokens <= left:
            whole.append(index)
            left -= items[index].tokens
    used = max(limit, 0) - left
    index, tokens = _cut(items, order, whole, left)
    return Packed(tuple(sorted(whole)), (index, left) if tokens else None, used + tokens)


def pack_run(items: Sequence[Item], limit: int, aside: int = 0) -> Packed:
    """Items in their order until the first that does not fit. Where not all do, `aside` tokens are kept free for what
    stands in for the rest.
    """
    everything = sum(item.tokens for item in items)
    if everything <= limit:
        return Packed(tuple(range(len(items))), None, everything)
    aside = min(aside, max(limit, 0))
    used, count = aside, 0
    for item in items:
        if used + item.tokens > limit:
            break
        used += item.tokens
        count += 1
    return Packed(tuple(range(count)), None, used)


def normalised(scores: Sequence[float]) -> list[float]:
    """From 0 (the worst) to 1 (the best), so that scores of different kinds can meet; 1 where all are the same."""
    if not scores:
        return []
    low, high = min(scores), max(scores)
    if high <= low:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def _cut(items: Sequence[Item], order: Sequence[int], whole: Sequence[int], room: int) -> tuple[int, int]:
    """(index, tokens); no tokens where nothing is cut. The choice does not depend on the room."""
    inside = set(whole)
    for index in order:
        shorter = items[index].shorter
        if index not in inside and shorter is not None and (items[index].breaks or not whole):
            return index, shorter(room, not whole)
    return -1, 0
