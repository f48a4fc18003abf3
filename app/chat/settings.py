"""Knobs of answering."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.budget.settings import BudgetSettings


class ToolSettings(BaseModel):
    """How far a model may go with tools in one turn."""

    tool_max_rounds: int = Field(6, ge=1, le=50, description="How often a model is asked in one turn, tools in between")
    tool_max_calls: int = Field(12, ge=0, le=200, description="Tool calls of one turn")
    tool_turn_tokens: int = Field(
        200_000, ge=1000, description="Tokens of one turn, in and out, after which no further round is begun"
    )
    tool_room_tokens: int = Field(6000, ge=0, description="Of the budget, kept free for calls and their results")
    tool_result_tokens: int = Field(1500, ge=16, description="A longer result of a tool is cut")
    tool_seconds: float = Field(30.0, gt=0, description="How long one tool may take")


class BranchSettings(BaseModel):
    """When a conversation may split, and how much of the way to a branch is told in it."""

    branch_split_messages: int = Field(5, ge=0, description="Messages of a branch between two of its forks")
    branch_conversation_messages: int = Field(3, ge=0, description="Messages of a conversation between two forks")
    branch_max_depth: int = Field(5, ge=1, le=20, description="How deep branches go; the first one has depth 0")
    branch_max_children: int = Field(8, ge=1, le=100, description="Branches that hang under one")
    branch_label_cosine: float = Field(0.9, ge=0, le=1, description="Siblings' labels that are this near say the same")
    branch_path_messages: int = Field(50, ge=1, le=500, description="How far back the path to a branch is told")
    branch_digest_tokens: int = Field(500, ge=64, description="To how much the path to a branch is condensed")
    branch_digest_seconds: float = Field(20.0, gt=0, description="How long a model may take to condense it")
    branch_ancestors: int = Field(20, ge=0, le=100, description="Branches above that are told of")
    branch_cards: int = Field(20, ge=0, le=100, description="Cards cited on the way to a branch that count again")


class InsightSettings(BaseModel):
    """When a branch is condensed into insights, and what other branches are told of them."""

    insight_every_messages: int = Field(5, ge=1, description="Messages of the user after which a branch is condensed")
    insight_same_cosine: float = Field(0.92, ge=0, le=1, description="From here on two insights say the same")
    insight_gate_cosine: float = Field(
        0.86,
        ge=0,
        le=1,
        description="From here on texts of two branches have to do with each other, whatever their words",
    )
    insight_told_most: int = Field(12, ge=0, le=100, description="Insights that a prompt is offered at most")
    insight_provider: str | None = Field(
        None, description="The chat provider that condenses branches and compares them; none: rules do"
    )
    insight_model: str | None = None
    title_provider: str | None = Field(
        None, description="The chat provider that gives conversations better titles than their first question"
    )
    title_model: str | None = None


class AnswerSettings(InsightSettings, BranchSettings, ToolSettings, BudgetSettings):
    answer_limit: int = Field(8, ge=1, le=50, description="Cards retrieved for an answer, unless the caller says")
    turn_detached_seconds: float = Field(
        60.0, ge=0, description="How long a turn that nobody listens to goes on before it is interrupted"
    )
    turn_beat_seconds: float = Field(1.0, gt=0, le=5, description="How often a running answer is saved")
    turn_stale_seconds: float = Field(30.0, ge=10, description="Silence after which a running answer counts as dead")
