"""What a branch is for: how the way to it is told, and what the model is asked to do there. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from app.text.normalise import is_chinese

Profile = Literal["deep_dive", "explore", "summarize", "challenge"]
Context = Literal["compress", "inherit", "none"]
Language = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class ProfileSpec:
    """`context` is the strategy unless somebody chose another."""

    context: Context
    instructions: Mapping[Language, str]
    names: Mapping[Language, str]


PROFILES: Final[Mapping[Profile, ProfileSpec]] = {
    "deep_dive": ProfileSpec(
        "compress",
        {
            "en": "This branch goes into one sub-question in depth. Look for mechanisms and evidence, and say how sure "
            "each step is. Leave side issues to other branches.",
            "zh": "这个分支深入研究一个子问题：找出机制与证据，说明每一步有多可靠；旁枝问题留给别的分支。",
        },
        {"en": "deep dive", "zh": "深入"},
    ),
    "explore": ProfileSpec(
        "compress",
        {
            "en": "This branch explores. Offer analogies, hypotheses and unexpected connections; mark what the sources "
            "say and what is only an idea.",
            "zh": "这个分支发散探索：提出类比、假设和意想不到的联系，并分清哪些来自资料、哪些只是想法。",
        },
        {"en": "explore", "zh": "探索"},
    ),
    "summarize": ProfileSpec(
        "inherit",
        {
            "en": "This branch looks back. Sum up what was found so far, in order of weight, and list the points that "
            "are still open.",
            "zh": "这个分支回顾总结：按重要性概括目前的结论，并列出仍未解决的问题。",
        },
        {"en": "summary", "zh": "总结"},
    ),
    "challenge": ProfileSpec(
        "compress",
        {
            "en": "This branch challenges. Look for counter-arguments, risks, weak evidence and alternatives; say what "
            "would have to be true for the opposite to hold.",
            "zh": "这个分支提出质疑：寻找反例、风险、薄弱的证据和替代方案，并说明在什么条件下相反的结论成立。",
        },
        {"en": "challenge", "zh": "质疑"},
    ),
}


def language_of(text: str) -> Language:
    return "zh" if is_chinese(text) else "en"


def instructions_of(profile: str | None, language: Language) -> str:
    """Nothing for the first branch."""
    spec = PROFILES.get(profile)  # type: ignore[call-overload]
    return spec.instructions[language] if spec else ""


def name_of(profile: str | None, language: Language) -> str:
    spec = PROFILES.get(profile)  # type: ignore[call-overload]
    return spec.names[language] if spec else ""
