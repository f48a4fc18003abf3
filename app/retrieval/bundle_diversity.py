"""Which tellings come first when several belong together. Pure."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Sequence


def pick(
    costs: Sequence[float], keys: Sequence[Sequence[Hashable]], penalty: float, limit: int
) -> list[tuple[int, float]]:
    """(place, cost with penalties), cheapest first, at most `limit`: each pick makes all others that share a key with
    it dearer by `penalty`. Ties by place.
    """
    picked: list[tuple[int, float]] = []
    seen: Counter[Hashable] = Counter()
    queue = [(cost, place) for place, cost in enumerate(costs)]
    heapq.heapify(queue)
    while queue and len(picked) < limit:
        cost, place = heapq.heappop(queue)
        # Penalties only grow: what is still cheapest after its own is counted anew is cheapest.
        due = costs[place] + penalty * max((seen[key] for key in keys[place]), default=0)
        if due > cost:
            heapq.heappush(queue, (due, place))
            continue
        picked.append((place, cost))
        seen.update(keys[place])
    return picked
