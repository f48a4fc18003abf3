"""Who gets how many tokens of a prompt: seven buckets, one of them elastic, one of them hard. Pure, integers only.

Instructions and question are never cut. Every other bucket packs within its share of the whole; the elastic one takes
all that is left, so it absorbs what others leave and pays first when the hard one overruns its share.

More tokens never pack fewer. Where a larger budget would (a share grows, one more path fits, and pushes out a card
larger than itself), the plan of the nearest smaller budget that packs most is taken as it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from app.budget.pack import Item, Packed, best_first, pack, pack_run
from app.core.errors import Invalid


class Bucket(StrEnum):
    """In the order in which they are served and stand in a ledger."""

    query_instructions = "query_instructions"
    current_dialog = "current_dialog"
    retrieved_cards = "retrieved_cards"
    graph_paths = "graph_paths"
    memory = "memory"
    branch_insights = "branch_insights"
    topology = "topology"


SHARES: Final[Mapping[Bucket, float]] = {
    Bucket.query_instructions: 0.10,
    Bucket.current_dialog: 0.30,
    Bucket.retrieved_cards: 0.25,
    Bucket.graph_paths: 0.15,
    Bucket.memory: 0.10,
    Bucket.branch_insights: 0.05,
    Bucket.topology: 0.05,
}


class QuestionTooLong(Invalid):
    """The question does not fit into the model's window."""

    code = "question_too_long"


@dataclass(frozen=True, slots=True)
class Wants:
    """What wants to be in. Turns of the dialog come newest first and are taken without gaps; the others by score.

    `aside_tokens` of the dialog's limit are kept free when not all turns fit.
    """

    hard_tokens: int
    items: Mapping[Bucket, Sequence[Item]] = field(default_factory=dict)
    elastic: Bucket = Bucket.retrieved_cards
    aside_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """`limits`: what each bucket could use at most; the elastic one's is what the others leave."""

    limits: Mapping[Bucket, int]
    packed: Mapping[Bucket, Packed]
    tokens: int


def allocate(total_tokens: int, wants: Wants, shares: Mapping[Bucket, float] = SHARES) -> Plan:
    """The plan that fits `total_tokens`, the hard ones included. Raises QuestionTooLong."""
    if wants.hard_tokens > total_tokens:
        raise QuestionTooLong(needed_tokens=wants.hard_tokens, window_tokens=total_tokens)
    orders = {bucket: best_first(items) for bucket, items in wants.items.items()}
    plan = _plan(total_tokens, wants, shares, orders)
    best = other = plan
    if not _is_settled(total_tokens, plan, wants, shares):
        # Between two changes of what the others pack, the largest budget is the best one.
        while (size := _next_smaller(other, wants, shares)) > best.tokens:
            other = _plan(size, wants, shares, orders)
            best = max(best, other, key=lambda one: one.tokens)
    if best is plan:
        return plan
    others = sum(one.tokens for bucket, one in best.packed.items() if bucket is not wants.elastic)
    limits = {**plan.limits, wants.elastic: total_tokens - wants.hard_tokens - others}
    return Plan(limits, best.packed, best.tokens)


def limit_of(share: float, total_tokens: int) -> int:
    """Whole tokens of a share; .3 of 10 is 3 also where floats say 2.999…"""
    return math.floor(share * total_tokens + 1e-6)


def _plan(total: int, wants: Wants, shares: Mapping[Bucket, float], orders: Mapping[Bucket, Sequence[int]]) -> Plan:
    limits = {Bucket.query_instructions: limit_of(shares[Bucket.query_instructions], total)}
    packed: dict[Bucket, Packed] = {}
    left = total - wants.hard_tokens
    for bucket in _served(wants.elastic):
        limit = left if bucket is wants.elastic else min(limit_of(shares[bucket], total), left)
        items = wants.items.get(bucket, ())
        if bucket is Bucket.current_dialog:
            one = pack_run(items, limit, wants.aside_tokens)
        else:
            one = pack(items, orders.get(bucket, ()), limit)
        limits[bucket], packed[bucket] = limit, one
        left -= one.tokens
    return Plan(limits, packed, total - left)


def _served(elastic: Bucket) -> list[Bucket]:
    return [bucket for bucket in Bucket if bucket not in (Bucket.query_instructions, elastic)] + [elastic]


def _is_settled(total: int, plan: Plan, wants: Wants, shares: Mapping[Bucket, float]) -> bool:
    """Whether no smaller budget can pack more: all of the elastic bucket is in, and nobody had less than a share."""
    if len(plan.packed[wants.elastic].whole) < len(wants.items.get(wants.elastic, ())):
        return plan.tokens == total
    return all(
        limit == limit_of(shares[bucket], total) for bucket, limit in plan.limits.items() if bucket is not wants.elastic
    )


def _next_smaller(plan: Plan, wants: Wants, shares: Mapping[Bucket, float]) -> int:
    """The largest budget at which some bucket's share no longer holds what the plan has in it; 0: there is none."""
    sizes = [0]
    for bucket, one in plan.packed.items():
        if bucket is wants.elastic or one.tokens == 0 or shares[bucket] <= 0:
            continue
        size = math.ceil(one.tokens / shares[bucket])
        while limit_of(shares[bucket], size) >= one.tokens:
            size -= 1
        sizes.append(size)
    return max(sizes)
