"""What language models took in the caller's workspace, by day, provider, model and purpose."""

from __future__ import annotations

from datetime import date

from fastapi import APIRouter
from pydantic import BaseModel

from app.api.deps import Admin, Wired
from app.api.pages import Cursor, InvalidCursor, Limit, Page, cut, encode, parts
from app.people import usage_queries as queries
from app.text.normalise import has_forbidden

router = APIRouter(prefix="/usage", tags=["usage"])


class CountsShape(BaseModel):
    """`estimated`: calls whose tokens the provider did not count itself. Failures count what was said before them."""

    calls: int
    failures: int
    estimated: int
    input_tokens: int
    output_tokens: int


class UsageShape(CountsShape):
    """`model` is empty for calls that gave nothing."""

    day: date
    provider: str
    model: str
    purpose: str


class UsagePage(Page[UsageShape]):
    """`total` is of all pages. `today_tokens` are held against `daily_tokens`; null: no budget."""

    total: CountsShape
    today_tokens: int
    daily_tokens: int | None


@router.get("")
async def list_usage(
    principal: Admin,
    services: Wired,
    limit: Limit = 50,
    cursor: Cursor = None,
    since: date | None = None,
    until: date | None = None,
) -> UsagePage:
    """The latest day first; days are those of UTC. Other processes' last seconds may be missing."""
    after = _position(cursor)
    await services.meter.flush()
    async with services.database.read() as session:
        rows = await queries.list_days(session, principal.workspace_id, limit + 1, after, since, until)
        total = await queries.get_total(session, principal.workspace_id, since, until)
    page, last = cut(rows, limit)
    return UsagePage(
        items=[UsageShape.model_validate(row, from_attributes=True) for row in page],
        next_cursor=encode(last.day.isoformat(), last.provider, last.model, last.purpose) if last is not None else None,
        total=CountsShape.model_validate(total, from_attributes=True),
        today_tokens=services.meter.spent_today(principal.workspace_id),
        daily_tokens=services.settings.workspace_daily_tokens,
    )


def _position(cursor: str | None) -> queries.Position | None:
    if cursor is None:
        return None
    match parts(cursor):
        case [str(day), str(provider), str(model), str(purpose)] if not has_forbidden(provider + model + purpose):
            try:
                return date.fromisoformat(day), provider, model, purpose
            except ValueError as error:
                raise InvalidCursor from error
    raise InvalidCursor
