"""Branches of one conversation come together: a new branch that knows the paths of all of them. Nothing is copied."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from app.chat import branch_queries as queries
from app.chat.fork import Labels, limits_of, refused
from app.chat.profiles import PROFILES, Context, Profile
from app.chat.queries import BranchNotFound
from app.chat.settings import BranchSettings
from app.chat.split_guard import caps, siblings_under, taken
from app.chat.tables import Branch
from app.core.errors import Conflict, Invalid
from app.core.log import get
from app.db.session import Database
from app.index.spaces import Spaces

log = get(__name__)


class NothingToMerge(Conflict):
    """A branch in which nothing was said yet cannot be merged."""

    code = "branch_empty"


class OtherConversation(Invalid):
    """Only branches of one conversation can be merged or linked."""

    code = "other_conversation"


@dataclass(frozen=True, slots=True)
class Merge:
    """Of two branches or more, all different; the new one hangs under the first. `context` None: the profile's."""

    branch_ids: Sequence[uuid.UUID]
    label: str
    profile: Profile = "summarize"
    context: Context | None = None
    force: bool = False


class Merging:
    def __init__(self, database: Database, spaces: Spaces, settings: BranchSettings) -> None:
        self._database = database
        self._spaces = spaces
        self._limits = limits_of(settings)

    async def merge(self, workspace_id: uuid.UUID, wish: Merge) -> Branch:
        """Under the newest message of the first branch. A merge is no fork: only the caps and the label count.

        Raises BranchNotFound, OtherConversation, NothingToMerge, SplitRefused.
        """
        labels = Labels(self._spaces)
        async with self._database.read() as session:
            first = await queries.get_branch_of(session, workspace_id, wish.branch_ids[0])
            for other in wish.branch_ids[1:]:
                if (await queries.get_branch_of(session, workspace_id, other)).conversation_id != first.conversation_id:
                    raise OtherConversation
            tree = await queries.get_tree(session, workspace_id, first.conversation_id)
        if not wish.force:
            await labels.compare(wish.label, siblings_under(tree, first.id))
        async with self._database.unit() as session:
            conversation, tree = await queries.lock_tree(session, workspace_id, first.conversation_id)
            if not set(wish.branch_ids) <= tree.nodes.keys():
                raise BranchNotFound
            ends = []
            for branch_id in wish.branch_ids:
                end = await queries.find_last_message(session, workspace_id, branch_id)
                if end is None:
                    raise NothingToMerge
                ends.append(end)
            depths = tree.depths()
            depth = 1 + max(depths[branch_id] for branch_id in wish.branch_ids)
            siblings = siblings_under(tree, first.id)
            found = caps(depth, len(siblings), self._limits)
            if not wish.force:
                found += taken(wish.label, siblings, labels.vectors, self._limits)
            if found:
                raise refused(found)
            made = await queries.insert_branch(
                session,
                conversation,
                ends,
                label=wish.label,
                profile=wish.profile,
                context=wish.context or PROFILES[wish.profile].context,
                depth=depth,
                made_by="user",
            )
        log.info("merged", conversation_id=str(first.conversation_id), branch_id=str(made.id), parents=len(ends))
        return made
