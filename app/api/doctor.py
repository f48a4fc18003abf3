"""`GET /doctor`: is everything as it should be?"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from app.api.deps import Admin, Wired

router = APIRouter(tags=["doctor"])


class DoctorReport(BaseModel):
    """Every count of `invariants` is 0 when all is well."""

    ok: bool
    checks: dict[str, Any]
    invariants: dict[str, int]


@router.get("/doctor")
async def get_doctor(principal: Admin, services: Wired, deep: bool = False) -> DoctorReport:
    """Checks of the installation and counts of broken invariants, over all workspaces. `deep` takes its time."""
    return DoctorReport.model_validate(await services.doctor(deep), from_attributes=True)
