"""Knobs of the token budget: how much a prompt may hold, and who gets which share of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, Field, model_validator

from app.budget.allocate import SHARES, Bucket

_FULL: Final = 1.0 + 1e-9


class BudgetSettings(BaseModel):
    answer_total_tokens: int = Field(100_000, ge=1000, description="Budget of a prompt, where the window allows it")
    answer_reserve_tokens: int = Field(2048, ge=64, description="Kept free for the answer")
    answer_margin_share: float = Field(
        0.05, ge=0, le=0.5, description="Of the budget, kept free where the model's tokens can only be estimated"
    )
    budget_query_share: float = Field(
        SHARES[Bucket.query_instructions], ge=0, le=1, description="Instructions and question, which are never cut"
    )
    budget_dialog_share: float = Field(SHARES[Bucket.current_dialog], ge=0, le=1, description="The newest turns")
    budget_cards_share: float = Field(
        SHARES[Bucket.retrieved_cards], ge=0, le=1, description="Cards, which also take what others leave"
    )
    budget_paths_share: float = Field(SHARES[Bucket.graph_paths], ge=0, le=1, description="Reasoning paths")
    budget_memory_share: float = Field(SHARES[Bucket.memory], ge=0, le=1, description="Memories of the workspace")
    budget_insights_share: float = Field(
        SHARES[Bucket.branch_insights], ge=0, le=1, description="Insights from other branches"
    )
    budget_topology_share: float = Field(
        SHARES[Bucket.topology], ge=0, le=1, description="Where the branch stands, and what refers to it"
    )
    budget_summary_tokens: int = Field(
        500, ge=0, description="At most, of the dialog's share, for a summary of the turns that are left out; 0: none"
    )

    @property
    def budget_shares(self) -> Mapping[Bucket, float]:
        return {
            Bucket.query_instructions: self.budget_query_share,
            Bucket.current_dialog: self.budget_dialog_share,
            Bucket.retrieved_cards: self.budget_cards_share,
            Bucket.graph_paths: self.budget_paths_share,
            Bucket.memory: self.budget_memory_share,
            Bucket.branch_insights: self.budget_insights_share,
            Bucket.topology: self.budget_topology_share,
        }

    @model_validator(mode="after")
    def _shares_are_of_one_whole(self) -> BudgetSettings:
        if sum(self.budget_shares.values()) > _FULL:
            raise ValueError("the budget's shares are more than the whole")
        return self
