"""Branches over HTTP: fork, merge, rename, move, delete, and refer from one to another."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, cast

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError
from sqlalchemy.ext.asyncio import AsyncSession

from app.api.deps import Chatter, Claimed, Reader, ReadSession, Wired, WriteSession
from app.api.etag import IfMatch, etag, expected_version
from app.api.idempotency import RecordedRoute
from app.api.text_types import Line, Shape
from app.chat import branch_queries as queries
from app.chat.branch_queries import Counted, Relation
from app.chat.branch_tables import BranchLink
from app.chat.fork import Fork
from app.chat.merge import Merge, OtherConversation
from app.chat.profiles import Context, Profile
from app.chat.queries import BranchNotFound, get_conversation
from app.chat.rearrange import Change
from app.chat.tables import Branch
from app.chat.tree import Tree
from app.core.errors import Invalid, VersionMismatch
from app.wiring import Services

router = APIRouter(tags=["branches"], route_class=RecordedRoute)

Label = Annotated[Line, Field(max_length=200, description="Short; says what the branch is about")]
MAX_REASON = 2000


class SelfLink(Invalid):
    """A branch cannot refer to itself."""

    code = "self_link"


def _not_null(value: Any) -> Any:
    if value is None:
        raise PydanticCustomError("null", "Nothing of a branch can be cleared")
    return value


class ForkBody(Shape):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "from_message_id": "0199d6c2-6f6f-7c43-8a7e-1b2c3d4e5f60",
                "profile": "challenge",
                "label": "What speaks against it",
            }
        }
    )

    from_message_id: uuid.UUID
    profile: Profile
    label: Label
    force: bool = Field(False, description="Pass over SplitGuard's conditions; its caps hold all the same")
    context: Context | None = Field(None, description="How the way to it is told; the profile decides when left out")


class MergeBody(Shape):
    branch_ids: Annotated[list[uuid.UUID], Field(min_length=2, max_length=8)] = Field(
        description="Of one conversation, all different; the new branch hangs under the first"
    )
    label: Label
    profile: Profile = "summarize"
    context: Context | None = None
    force: bool = Field(False, description="Whatever labels are beside it")


class BranchBody(Shape):
    """What is absent stays. `parent_message_id` moves the branch, with all below it, under another message of its
    conversation.
    """

    label: Annotated[Label | None, BeforeValidator(_not_null)] = None
    profile: Annotated[Profile | None, BeforeValidator(_not_null)] = None
    context: Annotated[Context | None, BeforeValidator(_not_null)] = None
    parent_message_id: Annotated[uuid.UUID | None, BeforeValidator(_not_null)] = None


class LinkBody(Shape):
    target_branch_id: uuid.UUID
    relation: Relation
    reason: Annotated[Line, Field(max_length=MAX_REASON)]


class ParentShape(BaseModel):
    branch_id: uuid.UUID
    message_id: uuid.UUID


class BranchShape(BaseModel):
    """`parent_*` null: the conversation's first branch. `merged_from`: further parents of a branch that was merged.
    `messages` and `insights` are its own; `children` hang under it.
    """

    id: uuid.UUID
    conversation_id: uuid.UUID
    parent_branch_id: uuid.UUID | None
    parent_message_id: uuid.UUID | None
    merged_from: Sequence[ParentShape]
    profile: Profile | None
    context: Context
    label: str | None
    depth: int
    messages: int
    children: int
    insights: int
    made_by: str
    created_at: datetime
    updated_at: datetime
    last_message_at: datetime | None
    version: int


class LinkShape(BaseModel):
    id: uuid.UUID
    branch_id: uuid.UUID
    target_branch_id: uuid.UUID
    relation: Relation
    reason: str
    made_by: str
    created_at: datetime


class LinksShape(BaseModel):
    items: Sequence[LinkShape]


class TreeShape(BaseModel):
    """Branches oldest first, the conversation's first one before all others; `links` between them."""

    conversation_id: uuid.UUID
    branches: Sequence[BranchShape]
    links: Sequence[LinkShape]


@router.get("/conversations/{conversation_id}/tree")
async def get_tree(principal: Reader, session: ReadSession, conversation_id: uuid.UUID) -> TreeShape:
    """The conversation's branches and what they have to do with each other."""
    await get_conversation(session, principal.workspace_id, conversation_id)
    tree = await queries.get_tree(session, principal.workspace_id, conversation_id)
    links = await queries.list_tree_links(session, principal.workspace_id, conversation_id)
    counted = await queries.list_counted(session, principal.workspace_id, conversation_id)
    return TreeShape(
        conversation_id=conversation_id,
        branches=[branch_shape(one, tree) for one in counted if one.branch.id in tree.nodes],
        links=[link_shape(link) for link in links],
    )


@router.post("/conversations/{conversation_id}/branches", status_code=201)
async def create_branch(
    principal: Chatter,
    services: Wired,
    conversation_id: uuid.UUID,
    body: ForkBody,
    response: Response,
    claim: Claimed,
) -> BranchShape:
    """Go on from an older message in a branch of its own. Nothing is copied.

    409 `split_refused` says by `condition` what is in the way (branch_messages, label, conversation_messages, or the
    caps depth and children), and by `missing` how many messages are missing; `conditions` are all that fail.
    """
    made = await services.forking.fork(
        principal.workspace_id,
        conversation_id,
        Fork(body.from_message_id, body.profile, body.label, force=body.force, by="user", context=body.context),
    )
    return await _created(services, made, response)


@router.post("/branches/merge", status_code=201)
async def merge_branches(
    principal: Chatter, services: Wired, body: MergeBody, response: Response, claim: Claimed
) -> BranchShape:
    """Bring branches together in a new one, which is told the way to each of them. They stay as they are."""
    if len(set(body.branch_ids)) < len(body.branch_ids):
        raise Invalid("`branch_ids` must all be different.")
    made = await services.merging.merge(
        principal.workspace_id, Merge(body.branch_ids, body.label, body.profile, body.context, body.force)
    )
    return await _created(services, made, response)


@router.get("/branches/{branch_id}")
async def get_branch(principal: Reader, session: ReadSession, branch_id: uuid.UUID, response: Response) -> BranchShape:
    found = await queries.get_branch_of(session, principal.workspace_id, branch_id)
    response.headers["ETag"] = etag(found.version)
    return await _shown(session, found)


@router.patch("/branches/{branch_id}")
async def update_branch(
    principal: Chatter,
    services: Wired,
    session: WriteSession,
    branch_id: uuid.UUID,
    body: BranchBody,
    response: Response,
    if_match: IfMatch = None,
) -> BranchShape:
    """Rename it, give it another purpose, or move it. Never under itself (409 `branch_cycle`); where it moves to the
    caps hold, and no label beside it is the same (409 `split_refused`).
    """
    branch, tree = await services.rearranging.hold(session, principal.workspace_id, branch_id)
    _check(branch, if_match)
    if body.model_fields_set:
        change = Change(body.label, body.profile, body.context, body.parent_message_id)
        await services.rearranging.change(session, branch, tree, change)
    response.headers["ETag"] = etag(branch.version)
    return await _shown(session, branch)


@router.delete("/branches/{branch_id}", status_code=204)
async def delete_branch(
    principal: Chatter,
    services: Wired,
    session: WriteSession,
    branch_id: uuid.UUID,
    if_match: IfMatch = None,
    cascade: Annotated[bool, Query(description="Delete what hangs under it, too")] = False,
) -> None:
    """With its messages. While others hang under it or were merged from it: 409 `branch_has_children`, unless
    `cascade`: then those under it go as well, and those merged from it that hang elsewhere only forget it.
    """
    branch, tree = await services.rearranging.hold(session, principal.workspace_id, branch_id)
    _check(branch, if_match)
    await services.rearranging.delete(session, branch, tree, cascade=cascade)


@router.get("/branches/{branch_id}/links")
async def list_links(principal: Reader, session: ReadSession, branch_id: uuid.UUID) -> LinksShape:
    """References from and to a branch, oldest first."""
    await queries.get_branch_of(session, principal.workspace_id, branch_id)
    links = await queries.list_links(session, principal.workspace_id, branch_id)
    return LinksShape(items=[link_shape(link) for link in links])


@router.post("/branches/{branch_id}/links", status_code=201, responses={200: {"model": LinkShape}})
async def create_link(
    principal: Chatter, session: WriteSession, branch_id: uuid.UUID, body: LinkBody, response: Response
) -> LinkShape:
    """Say what a branch has to do with another. Said again, it is not doubled: the reason is replaced (200)."""
    source = await queries.get_branch_of(session, principal.workspace_id, branch_id)
    target = await queries.get_branch_of(session, principal.workspace_id, body.target_branch_id)
    if source.id == target.id:
        raise SelfLink
    if source.conversation_id != target.conversation_id:
        raise OtherConversation
    link, is_new = await queries.save_link(session, source, target, body.relation, body.reason, "user")
    response.status_code = 201 if is_new else 200
    return link_shape(link)


@router.delete("/branches/{branch_id}/links/{link_id}", status_code=204)
async def delete_link(principal: Chatter, session: WriteSession, branch_id: uuid.UUID, link_id: uuid.UUID) -> None:
    await queries.get_branch_of(session, principal.workspace_id, branch_id)
    await queries.delete_link(session, principal.workspace_id, branch_id, link_id)


def branch_shape(counted: Counted, tree: Tree) -> BranchShape:
    branch = counted.branch
    further = tree.nodes[branch.id].parents[1:]
    return BranchShape.model_construct(
        id=branch.id,
        conversation_id=branch.conversation_id,
        parent_branch_id=branch.parent_branch_id,
        parent_message_id=branch.parent_message_id,
        merged_from=[ParentShape(branch_id=parent.branch_id, message_id=parent.message_id) for parent in further],
        profile=cast(Any, branch.profile),
        context=cast(Any, branch.context),
        label=branch.label,
        depth=branch.depth,
        messages=counted.messages,
        children=len(tree.children(branch.id)),
        insights=counted.insights,
        made_by=branch.made_by,
        created_at=branch.created_at,
        updated_at=branch.updated_at,
        last_message_at=counted.last_message_at,
        version=branch.version,
    )


def link_shape(link: BranchLink) -> LinkShape:
    return LinkShape.model_construct(
        id=link.id,
        branch_id=link.source_branch_id,
        target_branch_id=link.target_branch_id,
        relation=cast(Any, link.relation),
        reason=link.reason,
        made_by=link.made_by,
        created_at=link.created_at,
    )


async def _created(services: Services, made: Branch, response: Response) -> BranchShape:
    response.headers["ETag"] = etag(made.version)
    response.headers["Location"] = f"/api/v1/branches/{made.id}"
    async with services.database.read() as session:
        return await _shown(session, made)


async def _shown(session: AsyncSession, branch: Branch) -> BranchShape:
    """Raises BranchNotFound."""
    tree = await queries.get_tree(session, branch.workspace_id, branch.conversation_id)
    found = await queries.list_counted(session, branch.workspace_id, branch.conversation_id, branch.id)
    if not found or branch.id not in tree.nodes:
        raise BranchNotFound
    return branch_shape(found[0], tree)


def _check(branch: Branch, if_match: str | None) -> None:
    if expected_version(if_match, branch.version) not in (None, branch.version):
        raise VersionMismatch(version=branch.version)
