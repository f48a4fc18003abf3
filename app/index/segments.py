"""Segments of the lexical index: terms of docs into postings by term, segments into larger ones. Pure numpy.

Knows the layout of `postings` and nothing of SQL.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from app.index.postings import I8, POSTING, TERM, U2_MAX, U4, Records


@dataclass(frozen=True, slots=True)
class Blocks:
    """Postings grouped by term: `postings[starts[i]:starts[i + 1]]` belong to `terms[i]` (ascending)."""

    terms: I8
    starts: I8
    postings: Records

    def packed(self) -> Iterator[tuple[int, bytes]]:
        """(term, its POSTING records)."""
        octets = self.postings.tobytes()
        edges = (self.starts * POSTING.itemsize).tolist()
        for term, start, end in zip(self.terms.tolist(), edges, edges[1:], strict=False):
            yield term, octets[start:end]


def group_recent(docs: U4, lengths: I8, packed: Sequence[bytes]) -> Blocks:
    """The postings of one stream of many recent docs; `packed[i]` are the terms of `docs[i]`."""
    counts = np.fromiter((len(p) // TERM.itemsize for p in packed), np.int64, len(packed))
    terms = np.frombuffer(b"".join(packed), TERM)
    order = np.argsort(terms["hash"], kind="stable")
    postings = np.empty(len(terms), POSTING)
    postings["doc"] = np.repeat(docs, counts)[order]
    postings["len"] = np.repeat(np.minimum(lengths, U2_MAX), counts)[order]
    postings["tf"] = terms["tf"][order]
    return _grouped(terms["hash"][order], postings)


def merge_blocks(terms: Sequence[int], packed: Sequence[bytes], dead: U4) -> Blocks:
    """Blocks of several segments as those of one, without the postings of `dead`; `terms` ascending."""
    postings = np.frombuffer(b"".join(packed), POSTING)
    counts = np.fromiter((len(p) // POSTING.itemsize for p in packed), np.int64, len(packed))
    owners = np.repeat(np.asarray(terms, np.int64), counts)
    if len(dead):
        alive = np.isin(postings["doc"], dead, invert=True)
        postings, owners = postings[alive], owners[alive]
    return _grouped(owners, postings)


def _grouped(owners: I8, postings: Records) -> Blocks:
    edges = np.flatnonzero(owners[1:] != owners[:-1]) + 1
    starts = np.concatenate(([0] if len(owners) else [], edges)).astype(np.int64)
    return Blocks(owners[starts], np.append(starts, len(owners)), postings)


@dataclass(frozen=True, slots=True)
class Segment:
    """How large a segment is: docs ever folded into it, and how many of them are dead."""

    seg: int
    members: int
    dead: int

    @property
    def living(self) -> int:
        return self.members - self.dead


def plan_merge(segments: Sequence[Segment], unit: int, fan_in: int, dead_share: float, largest: int) -> list[int]:
    """Which segments to merge into one; none when all is well.

    Sizes fall in tiers of unit·fan_in^k; the lowest tier with `fan_in` segments is merged, so a posting is
    rewritten once per tier; no merge makes more than `largest` docs, which bounds its transaction. Failing
    that, the segment with most dead docs, above `dead_share`, is rewritten alone.
    """
    tiers: dict[int, list[Segment]] = defaultdict(list)
    for segment in sorted(segments, key=lambda s: (s.living, s.seg)):
        tiers[int(math.log(max(segment.members / unit, 1), fan_in) + 1e-9)].append(segment)
    for _, tier in sorted(tiers.items()):
        fitting = [s.seg for s, size in zip(tier, accumulate(s.living for s in tier), strict=True) if size <= largest]
        if len(tier) >= fan_in and len(fitting) > 1:
            return sorted(fitting)
    worst = max(segments, key=lambda s: s.dead / max(s.members, 1), default=None)
    if worst and worst.dead > dead_share * worst.members:
        return [worst.seg]
    return []
