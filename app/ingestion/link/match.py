"""Layer 2 for the newcomers of a group: whom of those that are there, and of each other, they are. Pure.

A newcomer is compared only with those it shares a block or an alias with, and with its nearest neighbours.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.graph.entity_queries import Decision, PairWrite, Side, StoredEntity
from app.ingestion.link.blocks import blocks
from app.ingestion.link.decide import Named, Outcome, Verdict, decide
from app.ingestion.link.plan import Changed, Known, Newcomer, Plan
from app.ingestion.link.thresholds import Thresholds
from app.providers.ports import Vector

NEIGHBOURS = 5
MOST_PAIRS = 2
"""Questions that one newcomer may raise."""
SAID = "said before"
_SURE_FIRST = {"alias": 0, "exact": 1, "name": 2, "vector": 3}


@dataclass(slots=True)
class Merge:
    """`moved`: those that stood for it already, and now stand for `into` with it."""

    one: Side
    into: uuid.UUID
    moved: list[uuid.UUID]


@dataclass(slots=True)
class Matched:
    """`roots`: newcomer → the entity it stands for. `merges` are of entities that were there before."""

    roots: dict[uuid.UUID, uuid.UUID] = field(default_factory=dict)
    merges: list[Merge] = field(default_factory=list)
    pairs: list[PairWrite] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)


@dataclass(slots=True)
class Member:
    """Somebody that a newcomer may be: an entity that is there, or a newcomer before it."""

    side: Side
    named: Named
    root: uuid.UUID
    is_edited: bool = False


class Matcher:
    """`partners`: entities that share a block with some newcomer, or are near one; `near`: per newcomer its
    neighbours with their cosines; `groups`: who stands for whom among the partners.
    """

    def __init__(
        self,
        plan: Plan,
        known: Known,
        partners: Iterable[StoredEntity],
        near: Mapping[uuid.UUID, Sequence[tuple[uuid.UUID, float]]],
        groups: Mapping[uuid.UUID, Sequence[Side]],
        thresholds: Thresholds,
    ) -> None:
        self.plan = plan
        self.known = known
        self.near = near
        self.thresholds = thresholds
        self.out = Matched()
        self.members: dict[uuid.UUID, Member] = {}
        self.groups: dict[uuid.UUID, list[Side]] = defaultdict(list)
        for root, sides in groups.items():
            self.groups[root] = list(sides)
        self.by_block: dict[str, list[uuid.UUID]] = defaultdict(list)
        self.by_key: dict[str, list[uuid.UUID]] = defaultdict(list)
        for entity in {e.id: e for e in (*known.entities, *partners)}.values():
            named = Named(entity.name, entity.type, entity.description, entity.aliases)
            side = Side(entity.id, entity.key, entity.kind, entity.name)
            self._add(Member(side, named, entity.root, entity.is_edited), (row.key for row in entity.names))

    def run(self) -> Matched:
        for new in self.plan.newcomers:
            self._place(new)
        for changed in self.plan.changed:
            if changed.after.names != changed.before.names:
                self._stated(changed)
        return self.out

    # ------------------------------------------------------------------------------- newcomers

    def _place(self, new: Newcomer) -> None:
        named = new.named
        me = Member(Side(new.id, new.key, new.kind, new.name), named, new.id)
        verdicts: list[tuple[Verdict, Member]] = []
        for other_id, cosine in self._candidates(new, named):
            other = self.members.get(other_id)
            if other is None or other.side.id == new.id:
                continue
            said = self.known.said((new.key, new.kind), (other.side.key, other.side.kind))
            if said == "apart":
                continue
            verdict = decide(named, other.named, cosine, self.thresholds)
            if said == "merged":
                verdict = Verdict(Outcome.merge, "exact", SAID, 1.0)
            elif other_id in new.homonyms:
                self._log(me, other, Verdict(Outcome.apart, "guard", "context", verdict.score))
                verdict = Verdict(Outcome.ask, "homonym", "context", verdict.score)
            elif other_id in new.rivals and verdict.outcome is not Outcome.apart:
                verdict = Verdict(Outcome.ask, "alias", "ambiguous", verdict.score)
            verdicts.append((verdict, other))
        self._add(me, (row.key for row in new.names))
        self.groups[new.id].append(me.side)
        self._settle(me, verdicts)

    def _settle(self, me: Member, verdicts: Sequence[tuple[Verdict, Member]]) -> None:
        sure = sorted(
            ((verdict, other) for verdict, other in verdicts if verdict.outcome is Outcome.merge),
            key=lambda found: (found[0].reason != SAID, _SURE_FIRST.get(found[0].layer, 9), -found[0].score),
        )
        allowed = [(verdict, other) for verdict, other in sure if self._may_join(me, other)]
        # Whoever could be two that are known to be two is asked about, unless a text or a person says which.
        told = {other.root for verdict, other in allowed if verdict.layer in ("alias", "exact")}
        roots = told or {other.root for _, other in allowed}
        asked = [(verdict, other) for verdict, other in verdicts if verdict.outcome is Outcome.ask]
        if len(roots) == 1 or any(verdict.reason == SAID for verdict, _ in allowed):
            verdict, other = next((v, o) for v, o in allowed if o.root in roots)
            if verdict.reason == SAID and self.known.is_survivor(me.side.key, other.side.key):
                self._merge(other, me, verdict)
            else:
                self._merge(me, other, verdict)
        else:
            asked = [*allowed, *asked]
        for verdict, other in sorted(asked, key=lambda found: -found[0].score)[: MOST_PAIRS + len(allowed)]:
            if me.root != other.root and self._may_join(me, other):
                self._ask(me, other, verdict)

    def _candidates(self, new: Newcomer, named: Named) -> Iterable[tuple[uuid.UUID, float | None]]:
        near = dict(self.near.get(new.id, ()))
        found: dict[uuid.UUID, float | None] = {}
        for block in blocks(new.name, new.kind):
            found.update((other, near.get(other)) for other in self.by_block.get(block, ()))
        for key in {row.key for row in new.names} | named.keys | {named.shape.plain}:
            found.update((other, near.get(other)) for other in self.by_key.get(key, ()))
        found.update((other, near.get(other)) for other in (*new.rivals, *new.homonyms))
        found.update(near)
        for word in self.known.words:
            if word.outcome == "merged" and new.key in (word.left_key, word.right_key):
                key = word.right_key if word.left_key == new.key else word.left_key
                found.update((other, near.get(other)) for other in self.by_key.get(key, ()))
        return found.items()

    # --------------------------------------------------------------------- entities that were there

    def _stated(self, changed: Changed) -> None:
        """A text gives an entity a name under which there is another one."""
        me = self.members[changed.before.id]
        after = changed.after
        had = {row.key for row in changed.before.names}
        named = Named(after.name, after.type, after.description, after.aliases)
        for key, row in ((row.key, row) for row in after.names if row.key not in had):
            others = [self.members[other] for other in self.by_key.get(key, ()) if other != me.side.id]
            owners = [other for other in others if other.side.key == key and other.root != me.root]
            for other in owners:
                verdict = decide(named, other.named, None, self.thresholds)
                if verdict.outcome is Outcome.merge and len(owners) == 1 and self._may_join(me, other):
                    self._merge(other, me, verdict)
                elif verdict.outcome is not Outcome.apart:
                    self._ask(me, other, verdict)
            if not owners and not any(other.root == me.root for other in others):
                alias = Side(me.side.id, key, me.side.kind, row.name)
                self.out.decisions.append(
                    Decision(alias, me.side, "alias", 1.0, "merged", "rule", {"reason": "stated"})
                )

    # --------------------------------------------------------------------------------- outcomes

    def _may_join(self, one: Member, other: Member) -> bool:
        """Whether nobody has set apart any two that would become one."""
        return one.root == other.root or not any(
            self.known.said((a.key, a.kind), (b.key, b.kind)) == "apart"
            for a in self.groups.get(one.root) or [one.side]
            for b in self.groups.get(other.root) or [other.side]
        )

    def _merge(self, one: Member, into: Member, verdict: Verdict) -> None:
        """One, and all that stand for it, stand for the other's root from now on."""
        gone, root = one.root, into.root
        if gone == root:
            return
        sides = self.groups.pop(gone, [one.side])
        goes = next((side for side in sides if side.id == gone), one.side)
        moved = [side.id for side in sides if side.id != gone]
        new = {newcomer.id for newcomer in self.plan.newcomers}
        for side in sides:
            self.groups[root].append(side)
            if side.id in self.members:
                self.members[side.id].root = root
            if side.id in new:
                self.out.roots[side.id] = root
        if gone not in new or any(side not in new for side in moved):
            self.out.merges.append(Merge(goes, root, moved))
        more: dict[str, Any] = {"moved": [str(side) for side in moved]} if moved else {}
        if goes.id != one.side.id:
            more["name"] = one.side.name
        self._log(replace(one, side=goes), into, verdict, more)

    def _ask(self, one: Member, other: Member, verdict: Verdict) -> None:
        self.out.pairs.append(PairWrite(one.side.id, other.side.id, verdict.reason, verdict.score))
        self._log(one, other, Verdict(Outcome.ask, verdict.layer, verdict.reason, verdict.score))

    def _log(self, one: Member, other: Member, verdict: Verdict, more: Mapping[str, Any] | None = None) -> None:
        detail = {"reason": verdict.reason, **(more or {})}
        score = verdict.score or None
        self.out.decisions.append(
            Decision(one.side, other.side, verdict.layer, score, str(verdict.outcome), "rule", detail)
        )

    def _add(self, member: Member, keys: Iterable[str]) -> None:
        self.members[member.side.id] = member
        for block in blocks(member.side.name, member.side.kind):
            self.by_block[block].append(member.side.id)
        for key in keys:
            self.by_key[key].append(member.side.id)


def near_each_other(
    ids: Sequence[uuid.UUID], vectors: Sequence[Vector], thresholds: Thresholds
) -> dict[uuid.UUID, list[tuple[uuid.UUID, float]]]:
    """Neighbours inside the group, as `entity_queries.list_nearest` gives them."""
    if not ids:
        return {}
    matrix = np.stack(vectors)
    cosines = matrix @ matrix.T
    np.fill_diagonal(cosines, -1.0)
    found: dict[uuid.UUID, list[tuple[uuid.UUID, float]]] = {}
    for at, row in enumerate(cosines):
        for other in np.argsort(row)[::-1][:NEIGHBOURS]:
            if row[other] >= thresholds.floor:
                found.setdefault(ids[at], []).append((ids[int(other)], float(row[other])))
    return found
