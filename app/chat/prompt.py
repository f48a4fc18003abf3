"""What the model is told, under a token budget: what wants to be in, what the allocator grants, what it comes to. Pure.

Parts are counted one by one and granted; then the real text is counted, and the least of them pays for what joining
them cost. `app.budget` says how the budget is shared, `blocks` how things are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.budget.allocate import SHARES, Bucket, Plan, QuestionTooLong, Wants, allocate, limit_of
from app.budget.count import Remembering, TokenCounter
from app.budget.ledger import Ledger
from app.budget.pack import Item, normalised
from app.chat.blocks import (
    CHAT_INSTRUCTIONS,
    INSTRUCTIONS,
    MORE_DATA,
    NO_SOURCES,
    PER_MESSAGE_TOKENS,
    REPORTS,
    Blocks,
    Note,
    Turn,
    asked,
    listed,
    messages,
    render_insight,
    render_line,
    render_memory,
    render_source,
    render_step,
    render_summary,
)
from app.chat.citations import Citable, without_markers
from app.chat.connections import Connection, said_in
from app.chat.shorten import Shortening, source_tokens
from app.providers.ports import Message, Source

__all__ = [
    "NO_SOURCES",
    "PER_MESSAGE_TOKENS",
    "Ledger",
    "Material",
    "Note",
    "Prompt",
    "QuestionTooLong",
    "Turn",
    "lay_out",
    "render_source",
]

# Text with more characters per token than this is not counted, it is too long: counting takes time.
_MAX_CHARS_PER_TOKEN: Final = 16
# A shorter summary says nothing.
_MIN_SUMMARY_TOKENS: Final = 48
_LABEL_CHARS: Final = 80
# Who pays first where nothing says that one is worth less than another.
_PAYERS: Final = (
    Bucket.topology,
    Bucket.branch_insights,
    Bucket.memory,
    Bucket.graph_paths,
    Bucket.retrieved_cards,
    Bucket.current_dialog,
)


@dataclass(frozen=True, slots=True)
class Material:
    """What there is to tell. `sources` and `connections` best first, `history` oldest first and without the question.
    Markers of sources and memories differ.
    """

    sources: Sequence[Citable] = ()
    history: Sequence[Turn] = ()
    connections: Sequence[Connection] = ()
    memories: Sequence[Citable] = ()
    insights: Sequence[Note] = ()
    topology: Sequence[Note] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """`sources`, `citable`, `insights` and `topology` are those that are in it. `left_out` are the turns that are not,
    for which a summary of `summary_tokens` has room.
    """

    messages: Sequence[Message]
    sources: Sequence[Source]
    citable: dict[str, Citable]
    ledger: Ledger
    insights: Sequence[Note] = ()
    topology: Sequence[Note] = ()
    left_out: Sequence[Turn] = ()
    summary_tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that was granted. `worth` is from 0 to 1 in its bucket."""

    what: Any
    label: str
    tokens: int
    worth: float


def lay_out(
    question: str,
    sources: Sequence[Citable],
    history: Sequence[Turn],
    *,
    budget_tokens: int,
    counter: TokenCounter,
    grounded: bool,
    extra_instructions: str = "",
    connections: Sequence[Connection] = (),
    memories: Sequence[Citable] = (),
    insights: Sequence[Note] = (),
    topology: Sequence[Note] = (),
    shares: Mapping[Bucket, float] = SHARES,
    summary: str = "",
    summary_tokens: int = 0,
    before: str = "",
) -> Prompt:
    """The prompt that fits `budget_tokens` by `counter`. Instructions and question stay whole; the rest is shared out
    as `allocate` says. Without cards (not `grounded`) the dialog takes what others leave.

    `summary` stands for the turns that are left out; where there is none yet, `summary_tokens` are kept free for it.
    `before` is what the conversation came to before the history begins: it is told first, and goes last.
    Raises QuestionTooLong. May take tens of milliseconds.
    """
    material = Material(sources, history, connections, memories, insights, topology)
    laying = _Laying(question, material, budget_tokens, counter, grounded, extra_instructions, shares, summary, before)
    return laying.prompt(summary_tokens)


@dataclass(slots=True)
class _Laying:
    """One prompt in the making."""

    question: str
    material: Material
    budget: int
    counter: TokenCounter
    grounded: bool
    extra_instructions: str
    shares: Mapping[Bucket, float]
    summary: str
    before: str = ""
    pairs: list[list[Turn]] = field(default_factory=list)
    parts: dict[Bucket, list[_Part]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.counter, Remembering):
            self.counter = Remembering(self.counter)

    def prompt(self, summary_tokens: int) -> Prompt:
        instructions = self._instructions()
        hard = self._hard(instructions)
        self.pairs = _pairs(self.material.history)
        items = {
            Bucket.current_dialog: self._dialog(),
            Bucket.retrieved_cards: self._cards(),
            Bucket.memory: [self._item(render_memory(one), one.score) for one in self.material.memories],
            Bucket.branch_insights: [self._item(render_insight(one), one.score) for one in self.material.insights],
            Bucket.topology: [self._item(render_step(one), one.score) for one in self.material.topology],
        }
        aside = self._aside(summary_tokens)
        wants = Wants(hard, items, Bucket.retrieved_cards if self.grounded else Bucket.current_dialog, aside)
        plan = allocate(self.budget, wants, self.shares)
        lines: list[str | None] = []
        if self.material.connections:
            # What the cards say anyway is not told again; which cards those are depends on the room, and so on this.
            lines = self._lines(self._granted_cards(plan, items))
            items[Bucket.graph_paths] = [self._path_item(line, one) for line, one in self._shown(lines)]
            plan = allocate(self.budget, wants, self.shares)
        return self._written(plan, items, lines, instructions, self._room_for_summary(summary_tokens))

    # ------------------------------------------------------------------------- what wants to be in

    def _instructions(self) -> str:
        instructions = INSTRUCTIONS if self.grounded else CHAT_INSTRUCTIONS
        material = self.material
        if material.connections or material.memories or material.insights or material.topology or self._earlier:
            instructions += f"\n{MORE_DATA}"
        if any(source.kind == "report" for source in material.sources):
            instructions += f"\n{REPORTS}"
        if self.extra_instructions:
            instructions += f"\n\n{self.extra_instructions}"
        if len(instructions) + len(self.question) > _MAX_CHARS_PER_TOKEN * self.budget:
            raise QuestionTooLong(window_tokens=self.budget)
        return instructions

    def _hard(self, instructions: str) -> int:
        """What is never cut, and the tags around what might come in."""
        least = self._count(messages(instructions, (), Blocks(), self.question, grounded=self.grounded))
        frames = (
            (self.material.connections, listed("connections", [])),
            (self.material.memories, ""),
            (self.material.insights, ""),
            (self.material.topology, listed("topology", [])),
        )
        tags = sum(self.counter.count(f"{frame}\n\n") for wanted, frame in frames if wanted)
        return least + tags if least + tags <= self.budget or least > self.budget else least

    def _dialog(self) -> list[Item]:
        """Newest pair first. What cannot fit is not counted."""
        items: list[Item] = []
        left = self.budget
        for pair in reversed(self.pairs):
            chars = sum(len(turn.content) for turn in pair)
            tokens = chars // _MAX_CHARS_PER_TOKEN
            if tokens <= left:
                tokens = sum(self.counter.count(turn.content) + PER_MESSAGE_TOKENS for turn in _past(pair))
            items.append(Item(tokens))
            left -= tokens
            if left < 0:
                break
        return items

    def _cards(self) -> list[Item]:
        """By rank: what the scores of passages of different cards say beyond it is in the order already."""
        sources = self.material.sources
        sizes = [source_tokens(source, self.counter) for source in sources]
        if sum(sizes) <= self.budget // 4:
            return [Item(size, -float(rank)) for rank, size in enumerate(sizes)]
        items = []
        for rank, (source, size) in enumerate(zip(sources, sizes, strict=True)):
            short = Shortening(source, self.counter)
            items.append(Item(size, -float(rank), short.tokens, short.breaks))
        return items

    def _item(self, rendered: str, score: float) -> Item:
        return Item(self.counter.count(rendered + "\n"), score)

    def _path_item(self, line: str, connection: Connection) -> Item:
        return self._item(render_line(line), connection.score)

    @property
    def _earlier(self) -> str:
        return "\n\n".join(filter(None, (self.before, self.summary)))

    def _aside(self, summary_tokens: int) -> int:
        before = self.counter.count(render_summary(self.before) + "\n\n") if self.before else 0
        if self.summary:
            return self.counter.count(render_summary(self._earlier) + "\n\n")
        return before + self._room_for_summary(summary_tokens)

    def _room_for_summary(self, summary_tokens: int) -> int:
        tokens = min(summary_tokens, limit_of(self.shares[Bucket.current_dialog], self.budget) // 4)
        return tokens if tokens >= _MIN_SUMMARY_TOKENS else 0

    # -------------------------------------------------------------------------------- what is granted

    def _granted_cards(self, plan: Plan, items: Mapping[Bucket, Sequence[Item]]) -> list[_Part]:
        packed = plan.packed[Bucket.retrieved_cards]
        of_bucket = items[Bucket.retrieved_cards]
        worth = normalised([item.score for item in of_bucket])
        granted = []
        for index in packed.chosen:
            source = self.material.sources[index]
            tokens = of_bucket[index].tokens
            if packed.cut is not None and packed.cut[0] == index:
                part = Shortening(source, self.counter).version(packed.cut[1], not packed.whole)
                if part is None:
                    continue
                source, tokens = part, source_tokens(part, self.counter)
            granted.append(_Part(source, source.title, tokens, worth[index]))
        return granted

    def _granted(self, bucket: Bucket, plan: Plan, items: Sequence[Item], given: Sequence[tuple[Any, str]]) -> None:
        worth = normalised([item.score for item in items])
        self.parts[bucket] = [
            _Part(given[index][0], given[index][1], items[index].tokens, worth[index])
            for index in (plan.packed[bucket].chosen if items else ())
        ]

    def _lines(self, cards: Sequence[_Part]) -> list[str | None]:
        """The connections as lines beside these cards; None for those that say nothing that the cards do not."""
        is_said = said_in(part.what.text for part in cards)
        markers = {part.what.id: part.what.marker for part in reversed(cards)}
        lines = [one.line(markers.get(one.card_id), is_said) for one in self.material.connections]
        seen: set[str] = set()
        for place, line in enumerate(lines):
            if line in seen:
                lines[place] = None
            elif line is not None:
                seen.add(line)
        return lines

    def _shown(self, lines: Sequence[str | None]) -> list[tuple[str, Connection]]:
        both = zip(lines, self.material.connections, strict=True)
        return [(line, one) for line, one in both if line is not None]

    # -------------------------------------------------------------------------------- what it comes to

    def _written(
        self,
        plan: Plan,
        items: Mapping[Bucket, Sequence[Item]],
        lines: Sequence[str | None],
        instructions: str,
        aside: int,
    ) -> Prompt:
        material = self.material
        kept = len(plan.packed[Bucket.current_dialog].whole)
        dialog = items[Bucket.current_dialog]
        self.parts[Bucket.current_dialog] = [
            _Part(pair, "", dialog[age].tokens, 1 - age / max(kept, 1))
            for age, pair in reversed([*zip(range(kept), reversed(self.pairs), strict=False)])
        ]
        self.parts[Bucket.retrieved_cards] = self._granted_cards(plan, items)
        shown = self._shown(lines) if lines else []
        given: dict[Bucket, list[tuple[Any, str]]] = {
            Bucket.graph_paths: [(one, line[:_LABEL_CHARS]) for line, one in shown],
            Bucket.memory: [(one, one.title) for one in material.memories],
            Bucket.branch_insights: [(one, one.label) for one in material.insights],
            Bucket.topology: [(one, one.label) for one in material.topology],
        }
        for bucket, things in given.items():
            self._granted(bucket, plan, items.get(bucket, ()), things)

        dropped: list[tuple[Bucket, _Part]] = []
        while True:
            history, summary = self._history()
            found = messages(
                instructions, history, self._blocks(), self.question, grounded=self.grounded, summary=summary
            )
            total = self._count(found)
            if total <= self.budget:
                break
            dropped.append(self._drop_least())
        ledger = self._ledger(plan, items, given, lines, instructions, summary, dropped)
        ledger.close(total)
        cards = _told_together([part.what for part in self.parts[Bucket.retrieved_cards]])
        memories = [part.what for part in self.parts[Bucket.memory]]
        left_out = self.pairs[: len(self.pairs) - len(self.parts[Bucket.current_dialog])]
        return Prompt(
            messages=found,
            sources=[
                *(_as_source(one) for one in (*cards, *memories)),
                # What another branch found answers, too, and cannot be pointed to.
                *(Source("", part.what.label, part.what.text) for part in self.parts[Bucket.branch_insights]),
            ],
            citable={one.marker: one for one in (*cards, *memories)},
            ledger=ledger,
            insights=[part.what for part in self.parts[Bucket.branch_insights]],
            topology=[part.what for part in self.parts[Bucket.topology]],
            left_out=[turn for pair in left_out for turn in _past(pair)],
            summary_tokens=aside if left_out and not self.summary else 0,
        )

    def _history(self) -> tuple[list[Turn], str]:
        kept = self.parts[Bucket.current_dialog]
        turns = [turn for part in kept for turn in _past(part.what)]
        return turns, self._earlier if len(kept) < len(self.pairs) else self.before

    def _blocks(self) -> Blocks:
        paths = [part.what for part in self.parts[Bucket.graph_paths]]
        cards = self.parts[Bucket.retrieved_cards]
        by_path = dict(zip(map(id, self.material.connections), self._lines(cards), strict=True)) if paths else {}
        return Blocks(
            sources=_told_together([part.what for part in cards]),
            connections=[line for path in paths if (line := by_path[id(path)]) is not None],
            memories=[part.what for part in self.parts[Bucket.memory]],
            insights=[part.what for part in self.parts[Bucket.branch_insights]],
            topology=[part.what for part in self.parts[Bucket.topology]],
        )

    def _drop_least(self) -> tuple[Bucket, _Part]:
        """Take out what is worth least in its bucket; the last one of those that are worth the same. Raises
        QuestionTooLong when there is nothing left.
        """
        worst: tuple[float, int, int] | None = None
        for payer, bucket in enumerate(_PAYERS):
            for place, part in enumerate(self.parts[bucket]):
                # Of the dialog the oldest pair goes, which stands first and is worth least.
                key = (part.worth, payer, -place)
                worst = key if worst is None else min(worst, key)
        if worst is None:
            for name in ("summary", "before"):
                if getattr(self, name):
                    setattr(self, name, "")
                    return Bucket.current_dialog, _Part("", name, 0, 0.0)
            raise QuestionTooLong(window_tokens=self.budget)
        bucket = _PAYERS[worst[1]]
        return bucket, self.parts[bucket].pop(-worst[2])

    # ------------------------------------------------------------------------------- the account of it

    def _ledger(
        self,
        plan: Plan,
        items: Mapping[Bucket, Sequence[Item]],
        given: Mapping[Bucket, Sequence[tuple[Any, str]]],
        lines: Sequence[str | None],
        instructions: str,
        summary: str,
        dropped: Sequence[tuple[Bucket, _Part]],
    ) -> Ledger:
        ledger = Ledger.opened(self.budget, plan.limits, self.shares)
        count = self.counter.count
        ledger.packed(Bucket.query_instructions, count(instructions), "instructions")
        ledger.packed(Bucket.query_instructions, count(asked(self.question, grounded=self.grounded)), "question")
        self._account_dialog(ledger, items[Bucket.current_dialog], summary)
        packed = plan.packed[Bucket.retrieved_cards]
        for part in self.parts[Bucket.retrieved_cards]:
            ledger.packed(Bucket.retrieved_cards, part.tokens, part.label)
        for index, item in enumerate(items[Bucket.retrieved_cards]):
            if index not in packed.whole:
                is_cut = packed.cut is not None and packed.cut[0] == index
                title = self.material.sources[index].title
                ledger.cut(Bucket.retrieved_cards, title, item.tokens, "shortened" if is_cut else "does_not_fit")
        for bucket, things in given.items():
            for part in self.parts[bucket]:
                ledger.packed(bucket, part.tokens, part.label)
            inside = plan.packed[bucket].chosen if bucket in plan.packed else ()
            for index, item in enumerate(items.get(bucket, ())):
                if index not in inside:
                    ledger.cut(bucket, things[index][1], item.tokens, "does_not_fit")
        for line, one in zip(lines, self.material.connections, strict=False):
            if line is None:
                ledger.cut(Bucket.graph_paths, one.card_title, 0, "in_sources")
        for bucket, part in dropped:
            if bucket is not Bucket.current_dialog:
                ledger.cut(bucket, part.label, part.tokens, "recount")
        return ledger

    def _account_dialog(self, ledger: Ledger, items: Sequence[Item], summary: str) -> None:
        kept = self.parts[Bucket.current_dialog]
        if kept:
            turns = sum(len(part.what) for part in kept)
            ledger.packed(Bucket.current_dialog, sum(part.tokens for part in kept), f"{turns} messages")
        if summary:
            tokens = self.counter.count(render_summary(summary) + "\n\n")
            ledger.packed(Bucket.current_dialog, tokens, "before" if summary == self.before else "summary")
        if older := len(self.pairs) - len(kept):
            ledger.cut(Bucket.current_dialog, f"{older} older turns", items[len(kept)].tokens, "does_not_fit")

    def _count(self, found: Sequence[Message]) -> int:
        return sum(self.counter.count(message.content) + PER_MESSAGE_TOKENS for message in found)


def _told_together(sources: Sequence[Citable]) -> list[Citable]:
    """Reports name those of their notes that are here."""
    markers = {source.marker for source in sources}
    return [
        replace(source, rests_on=tuple(one for one in source.rests_on if one in markers)) if source.rests_on else source
        for source in sources
    ]


def _as_source(one: Citable) -> Source:
    return Source(one.marker, one.title, one.text, one.score, one.focus, one.kind, one.rests_on, one.is_theme)


def _pairs(history: Sequence[Turn]) -> list[list[Turn]]:
    """A user's message with what answered it, oldest first."""
    pairs: list[list[Turn]] = []
    for turn in history:
        if turn.role == "user" or not pairs:
            pairs.append([])
        pairs[-1].append(turn)
    return pairs


def _past(pair: Sequence[Turn]) -> list[Turn]:
    """Markers of answers that are past are not in them: they would point to the sources of today."""
    return [replace(t, content=without_markers(t.content)) if t.role == "assistant" else t for t in pair]
