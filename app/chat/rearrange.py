"""Branches are renamed, moved and deleted, with the tree locked: what hangs below comes along or is in the way."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from app.chat import branch_queries as queries
from app.chat.fork import limits_of, refused
from app.chat.profiles import Context, Profile
from app.chat.settings import BranchSettings
from app.chat.split_guard import caps, siblings_under, taken
from app.chat.tables import Branch
from app.chat.tree import Tree
from app.core.clock import now
from app.core.errors import Conflict


class FirstBranch(Conflict):
    """The first branch of a conversation stays where it is; delete the conversation instead."""

    code = "first_branch"


class BranchCycle(Conflict):
    """A branch cannot hang under itself or under one of its own."""

    code = "branch_cycle"


class BranchHasChildren(Conflict):
    """Other branches hang under this one or were merged from it; say that they may go as well, or delete them first."""

    code = "branch_has_children"


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be changed; None leaves it as it is."""

    label: str | None = None
    profile: Profile | None = None
    context: Context | None = None
    parent_message_id: uuid.UUID | None = None


class Rearranging:
    """Works in the session of whoever asks, which is to commit soon."""

    def __init__(self, settings: BranchSettings) -> None:
        self._limits = limits_of(settings)

    async def hold(self, session: AsyncSession, workspace_id: uuid.UUID, branch_id: uuid.UUID) -> tuple[Branch, Tree]:
        """The branch with its tree, locked. Raises BranchNotFound."""
        branch = await queries.get_branch_of(session, workspace_id, branch_id)
        _, tree = await queries.lock_tree(session, workspace_id, branch.conversation_id)
        return await queries.get_branch_of(session, workspace_id, branch_id, fresh=True), tree

    async def change(self, session: AsyncSession, branch: Branch, tree: Tree, change: Change) -> None:
        """Raises FirstBranch, MessageNotFound, BranchCycle, SplitRefused. The tree must be held."""
        if branch.parent_branch_id is None and (change.parent_message_id or change.profile or change.context):
            raise FirstBranch
        under = branch.parent_branch_id
        if change.parent_message_id not in (None, branch.parent_message_id):
            under = await self._move(session, branch, tree, change)
        elif change.label is not None and under is not None:
            self._check_label(tree, branch, under, change.label)
        for name in ("label", "profile", "context"):
            if (value := getattr(change, name)) is not None:
                setattr(branch, name, value)
        branch.updated_at = now()
        branch.version += 1
        await session.flush()

    async def delete(self, session: AsyncSession, branch: Branch, tree: Tree, *, cascade: bool) -> None:
        """With its messages. With `cascade` all that hangs under it goes too; what was merged from it and hangs
        elsewhere stays and forgets it. Raises FirstBranch, BranchHasChildren. The tree must be held.
        """
        if branch.parent_branch_id is None:
            raise FirstBranch
        below = tree.descendants(branch.id)
        if below and not cascade:
            raise BranchHasChildren(children=len(tree.children(branch.id)), descendants=len(below))
        await queries.delete_branches(session, branch.workspace_id, branch.id)
        left = await queries.get_tree(session, branch.workspace_id, branch.conversation_id)
        await queries.save_depths(session, branch.workspace_id, left.depths())

    async def _move(self, session: AsyncSession, branch: Branch, tree: Tree, change: Change) -> uuid.UUID:
        assert change.parent_message_id is not None
        message = await queries.get_message_of(
            session, branch.workspace_id, branch.conversation_id, change.parent_message_id
        )
        if tree.would_cycle(branch.id, message.branch_id):
            raise BranchCycle
        siblings = siblings_under(tree, message.branch_id, but=branch.id)
        depth = tree.depths()[message.branch_id] + 1
        if found := caps(depth + tree.height(branch.id), len(siblings), self._limits):
            raise refused(found)
        self._check_label(tree, branch, message.branch_id, change.label or branch.label or "")
        moved = [branch.id, *tree.descendants(branch.id)]
        await queries.forget_digests(session, branch.workspace_id, moved)
        await queries.place_branch(session, branch, message)
        left = await queries.get_tree(session, branch.workspace_id, branch.conversation_id)
        depths = left.depths()
        branch.depth = depths[branch.id]
        await session.flush()
        await queries.save_depths(session, branch.workspace_id, depths)
        return message.branch_id

    def _check_label(self, tree: Tree, branch: Branch, under: uuid.UUID, label: str) -> None:
        """By its wording: who renames has seen what is beside it."""
        if found := taken(label, siblings_under(tree, under, but=branch.id), {}, self._limits):
            raise refused(found)
