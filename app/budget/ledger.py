"""The account of a prompt: what went in, what was cut and why, per bucket, in tokens. Plain data for the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from app.budget.allocate import Bucket

# What the limit had no room for · cut at a sentence end · the real text counted for more than its parts · said in a
# source that is in the prompt anyway.
Reason = Literal["does_not_fit", "shortened", "recount", "in_sources"]


@dataclass(slots=True)
class Ledger:
    """`total_tokens` of the prompt as it is sent; the buckets' add up to it. `window_tokens`: what the model's window
    or the budget leaves to the prompt, `margin_tokens` of it are kept free. `calls_tokens` were kept free for calls of
    tools and their results; `rounds` are the sizes of the prompts of all rounds, the first of which is the total.
    """

    total_tokens: int = 0
    window_tokens: int = 0
    context_tokens: int = 0
    reserve_tokens: int = 0
    tools_tokens: int = 0
    margin_tokens: int = 0
    calls_tokens: int = 0
    rounds: list[int] = field(default_factory=list)
    buckets: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def opened(cls, window_tokens: int, limits: Mapping[Bucket, int], shares: Mapping[Bucket, float]) -> Ledger:
        """All seven buckets, nothing in them."""
        buckets = {
            str(bucket): {
                "share": shares[bucket],
                "limit": limits.get(bucket, 0),
                "used": 0,
                "tokens": 0,
                "packed": [],
                "cut": [],
            }
            for bucket in Bucket
        }
        return cls(window_tokens=window_tokens, buckets=buckets)

    def packed(self, bucket: Bucket, tokens: int, item: str) -> None:
        row = self.buckets[bucket]
        row["tokens"] += tokens
        row["used"] = row["tokens"]
        row["packed"].append({"item": item, "tokens": tokens})

    def cut(self, bucket: Bucket, item: str, tokens: int, reason: Reason) -> None:
        self.buckets[bucket]["cut"].append({"item": item, "tokens": tokens, "reason": reason})

    def close(self, total_tokens: int) -> None:
        """Whatever is no item (tags, blank lines, what a chat format adds) belongs to the instructions."""
        rest = total_tokens - sum(row["tokens"] for row in self.buckets.values())
        self.packed(Bucket.query_instructions, rest, "frame")
        self.total_tokens = total_tokens
