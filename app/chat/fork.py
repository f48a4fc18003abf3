"""A conversation splits: a new branch under an older message, where SplitGuard lets it.

It is decided on the database's state while the tree is locked; labels are embedded before that, without a session.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from app.chat import branch_queries as queries
from app.chat.profiles import PROFILES, Context, Profile
from app.chat.queries import get_conversation
from app.chat.settings import BranchSettings
from app.chat.split_guard import Limits, Refusal, Sibling, State, Vector, refusals, siblings_under
from app.chat.tables import Branch, Conversation, Message
from app.chat.tree import Tree
from app.core.errors import Conflict
from app.core.log import get
from app.db.session import Database
from app.index.spaces import Spaces
from app.providers.ports import ProviderError

log = get(__name__)

By = Literal["user", "model"]
Made = TypeVar("Made")

# Siblings that came while labels were compared are compared, too; not for ever.
_ROUNDS: Final = 4
_SAID: Final = {
    "depth": "Branches go {needed} deep at most.",
    "children": "There are {present} branches here already, and {needed} at most.",
    "branch_messages": "This branch has {present} messages since it was last forked; {missing} more are needed.",
    "label": "A branch beside it already has a label that says the same.",
    "conversation_messages": "There are {present} messages since the last fork; {missing} more are needed.",
}


class SplitRefused(Conflict):
    """The conversation may not split here now."""

    code = "split_refused"


@dataclass(frozen=True, slots=True)
class Fork:
    """What is wished for. `force` passes over the conditions, never over the caps, and counts only for a person.
    `context` None: the profile's.
    """

    from_message_id: uuid.UUID
    profile: Profile
    label: str
    force: bool = False
    by: By = "user"
    context: Context | None = None

    @property
    def is_forced(self) -> bool:
        return self.force and self.by == "user"


@dataclass(frozen=True, slots=True)
class _Held:
    """A locked tree, and the message under which it is to be forked."""

    conversation: Conversation
    tree: Tree
    message: Message


class Labels:
    """Labels of one wish and the siblings beside it, with the vectors by which they are compared."""

    def __init__(self, spaces: Spaces) -> None:
        self._spaces = spaces
        self._tried: set[str] = set()
        self.vectors: dict[str, Vector] = {}

    def are_known(self, siblings: Sequence[Sibling]) -> bool:
        return all(sibling.label in self._tried for sibling in siblings)

    async def compare(self, label: str, siblings: Sequence[Sibling]) -> None:
        """Embed what was not yet. Without an embedder their wording alone counts."""
        new = [one for one in dict.fromkeys([label, *(one.label for one in siblings)]) if one not in self._tried]
        if not siblings or not new:
            return
        self._tried.update(new)
        try:
            # As questions: as passages short ones are all alike (e5-small: unrelated Chinese labels .92 on average; as
            # questions .86, and none of 132 unrelated pairs reaches .90).
            found = await self._spaces.embedders[0].queries(new)
        except ProviderError as error:
            log.warning("labels_not_compared", code=error.code)
            return
        self.vectors.update(zip(new, found.dense, strict=True))


class Forking:
    """Forks for whoever wishes."""

    def __init__(self, database: Database, spaces: Spaces, settings: BranchSettings) -> None:
        self._database = database
        self._spaces = spaces
        self._limits = limits_of(settings)

    async def fork(self, workspace_id: uuid.UUID, conversation_id: uuid.UUID, wish: Fork) -> Branch:
        """Raises ConversationNotFound, MessageNotFound, SplitRefused."""
        made = await self._decide(workspace_id, conversation_id, wish, self._split)
        log.info("forked", conversation_id=str(conversation_id), branch_id=str(made.id), by=wish.by)
        return made

    async def check(self, workspace_id: uuid.UUID, conversation_id: uuid.UUID, wish: Fork) -> None:
        """Whether it would be made now; nothing is. Raises as `fork`."""
        await self._decide(workspace_id, conversation_id, wish, self._allowed)

    async def _decide(
        self,
        workspace_id: uuid.UUID,
        conversation_id: uuid.UUID,
        wish: Fork,
        decide: Callable[[AsyncSession, _Held, Fork, Labels], Awaitable[Made]],
    ) -> Made:
        """With the tree locked and every label beside it compared."""
        labels = Labels(self._spaces)
        async with self._database.read() as session:
            await get_conversation(session, workspace_id, conversation_id)
            message = await queries.get_message_of(session, workspace_id, conversation_id, wish.from_message_id)
            tree = await queries.get_tree(session, workspace_id, conversation_id)
        siblings = siblings_under(tree, message.branch_id)
        for rounds_left in reversed(range(_ROUNDS)):
            await labels.compare(wish.label, siblings)
            async with self._database.unit() as session:
                conversation, tree = await queries.lock_tree(session, workspace_id, conversation_id)
                # What was there may have been deleted.
                message = await queries.get_message_of(session, workspace_id, conversation_id, wish.from_message_id)
                siblings = siblings_under(tree, message.branch_id)
                if wish.is_forced or labels.are_known(siblings) or not rounds_left:
                    return await decide(session, _Held(conversation, tree, message), wish, labels)
        raise AssertionError

    async def _allowed(self, session: AsyncSession, held: _Held, wish: Fork, labels: Labels) -> tuple[State, int]:
        """What it was decided on, and the last ordinal of the branch. Raises SplitRefused."""
        state, last_ordinal = await queries.get_split_state(
            session, held.conversation, held.tree, held.message.branch_id
        )
        found = refusals(state, wish.label, labels.vectors, self._limits, forced=wish.is_forced)
        if found:
            raise refused(found)
        return state, last_ordinal

    async def _split(self, session: AsyncSession, held: _Held, wish: Fork, labels: Labels) -> Branch:
        state, last_ordinal = await self._allowed(session, held, wish, labels)
        return await queries.insert_branch(
            session,
            held.conversation,
            [held.message],
            label=wish.label,
            profile=wish.profile,
            context=wish.context or PROFILES[wish.profile].context,
            depth=state.depth + 1,
            made_by=wish.by,
            forked_at_ordinal=last_ordinal,
        )


def limits_of(settings: BranchSettings) -> Limits:
    return Limits(
        branch_messages=settings.branch_split_messages,
        conversation_messages=settings.branch_conversation_messages,
        depth=settings.branch_max_depth,
        children=settings.branch_max_children,
        label_cosine=settings.branch_label_cosine,
    )


def refused(found: Sequence[Refusal]) -> SplitRefused:
    """The first of the conditions that failed, and all of them as data."""
    told = [_told(one) for one in found]
    return SplitRefused(_SAID[found[0].condition].format(**told[0]), **told[0], conditions=told)


def _told(refusal: Refusal) -> dict[str, Any]:
    told: dict[str, Any] = {
        "condition": refusal.condition,
        "missing": refusal.missing,
        "needed": refusal.needed,
        "present": refusal.present,
    }
    if refusal.sibling is not None:
        told |= {"sibling_id": str(refusal.sibling.id), "sibling_label": refusal.sibling.label}
    return told
