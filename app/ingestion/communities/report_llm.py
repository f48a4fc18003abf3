"""Reports by a language model; what it leaves undone the offline one does, and says so.

Its input is capped, its calls are bounded over all tasks of a process, and its findings are kept only with what they
cite. Knows neither tables nor which provider is at work.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from app.budget.count import ScriptEstimate
from app.core.log import get
from app.ingestion.communities.report import (
    MAX_FINDINGS,
    MODEL_FAILED,
    Finding,
    Place,
    Report,
    ReportBuilder,
    ReportInput,
)
from app.ingestion.communities.report_offline import OfflineReports, language_of, rate
from app.ingestion.communities.report_prompt import (
    INSTRUCTIONS,
    SCHEMA,
    Material,
    material_of,
    messages,
    prompt_version,
)
from app.ingestion.communities.settings import ReportSettings
from app.providers.json_answer import Spent, ask_json, numbers_in
from app.providers.ladder import NotJson
from app.providers.ports import ChatProvider, ChatRequest, ProviderError
from app.text.normalise import clean, fold

log = get(__name__)

INPUT_CUT: Final = "input_cut"
_MAX_TITLE: Final = 200
_MAX_SUMMARY: Final = 4000
_MAX_FINDING: Final = 1500
_MAX_PLACES: Final = 12
_MARGIN: Final = 1.1
"""Tokens are estimated."""


class LlmReports:
    """A `ReportBuilder` over one chat provider."""

    def __init__(
        self, provider: ChatProvider, model: str | None, settings: ReportSettings, fallback: OfflineReports
    ) -> None:
        self._provider = provider
        self._model = model
        self._settings = settings
        self._fallback = fallback
        self._count = ScriptEstimate().count
        self._permits = asyncio.Semaphore(settings.report_concurrency)

    @property
    def version(self) -> str:
        return f"llm/{prompt_version()}/{self._name}"

    @property
    def _name(self) -> str:
        return f"{self._provider.name}/{self._model or self._provider.default_model}"

    async def build(self, given: ReportInput) -> Report:
        try:
            async with self._permits:
                return await self._written(given)
        except ProviderError as error:
            log.warning("report_model_failed", community_id=str(given.community_id), code=error.code)
            report = await self._fallback.build(given)
            return replace(report, flags=(*report.flags, MODEL_FAILED))

    async def _written(self, given: ReportInput) -> Report:
        budget = self._input_tokens()
        material = await asyncio.to_thread(material_of, given, budget, self._count)
        request = ChatRequest(
            messages(given, material),
            model=self._model,
            max_tokens=self._settings.report_answer_tokens,
            json_schema=SCHEMA,
            purpose="extract",
        )
        spent = Spent()
        said = await ask_json(self._provider, request, _is_report, spent)
        report = read_report(said, given, material, self._name)
        log.info("report_written", community_id=str(given.community_id), calls=spent.calls, tokens=spent.tokens)
        return report

    def _input_tokens(self) -> int:
        """What the material may take: the setting, or less where the model's window demands."""
        window = self._provider.capabilities(self._model).context_window
        frame = self._count(INSTRUCTIONS) + self._count(json.dumps(SCHEMA)) + 200
        room = int((window - self._settings.report_answer_tokens - frame) / _MARGIN)
        return max(min(self._settings.report_input_tokens, room), 200)


class ChosenReports:
    """A `ReportBuilder`: the one that `find_builder` gives at the moment, or else `otherwise`."""

    def __init__(self, find_builder: Callable[[], ReportBuilder | None], otherwise: ReportBuilder) -> None:
        self._find_builder = find_builder
        self._otherwise = otherwise

    @property
    def version(self) -> str:
        return (self._find_builder() or self._otherwise).version

    async def build(self, given: ReportInput) -> Report:
        return await (self._find_builder() or self._otherwise).build(given)


def read_report(said: Mapping[str, Any], given: ReportInput, material: Material, name: str) -> Report:
    """The report in a model's answer. Findings that rest on nothing are dropped; raises NotJson when none is left."""
    findings = list(_findings(said.get("findings"), given, material))[:MAX_FINDINGS]
    title, summary = _words(said.get("title"), _MAX_TITLE), _words(said.get("summary"), _MAX_SUMMARY)
    if not findings or not title:
        raise NotJson("No finding cites anything that is listed." if title else "The report has no title.")
    return Report(
        title=title,
        summary=summary or findings[0].text,
        rating=_rating(said.get("rating"), given),
        rating_reason=_words(said.get("rating_reason"), _MAX_FINDING),
        findings=tuple(findings),
        language=language_of(given),
        generated_by=name,
        flags=(INPUT_CUT,) if material.is_cut and not material.children else (),
    )


def _is_report(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("title")) and isinstance(value.get("findings"), list)


def _findings(said: Any, given: ReportInput, material: Material) -> Iterable[Finding]:
    for item in said if isinstance(said, list) else ():
        if isinstance(item, str):
            item = {"text": item}
        if not isinstance(item, dict):
            continue
        text = _words(item.get("text") or item.get("explanation") or item.get("summary"), _MAX_FINDING)
        finding = _resting(text, numbers_in(item.get("cites")), given, material) if text else None
        if finding is not None:
            yield finding


def _resting(text: str, cites: Sequence[str], given: ReportInput, material: Material) -> Finding | None:
    """The finding with what it rests on; what it names, where it cites nothing that there is."""
    statements = [material.statements[one] for one in cites if one in material.statements]
    entities = {material.entities[one] for one in cites if one in material.entities}
    below = [finding for one in cites if one in material.children for finding in material.children[one].report.findings]
    if not (statements or entities or below):
        folded = fold(text)
        entities = {member.id for member in given.members if len(member.name) > 1 and fold(member.name) in folded}
    if not statements and not below:
        # Only names: what is said of them is said somewhere; the strongest of that.
        both = [one for one in given.statements if one.source_id in entities and one.target_id in entities]
        either = [one for one in given.statements if one.source_id in entities or one.target_id in entities]
        statements = (both or either)[:3]
    entities |= {end for one in statements for end in (one.source_id, one.target_id)}
    places = [Place(one.card_id, one.chunk_id, one.start, one.end) for one in statements]
    # Of a part all findings are meant: the first place of each.
    places += [finding.places[0] for finding in below if finding.places]
    kept = tuple(dict.fromkeys(places))[:_MAX_PLACES]
    if not kept:
        return None
    return Finding(
        text,
        tuple(sorted(entities | {entity for finding in below for entity in finding.entity_ids})),
        tuple(dict.fromkeys([*(one.id for one in statements), *(r for f in below for r in f.relation_ids)])),
        tuple(dict.fromkeys(place.card_id for place in kept)),
        kept,
    )


def _words(said: Any, limit: int) -> str:
    return " ".join(clean(said).split())[:limit] if isinstance(said, str) else ""


def _rating(said: Any, given: ReportInput) -> float:
    try:
        value = float(said)
    except (TypeError, ValueError):
        return rate(given)
    return round(min(max(value, 0.0), 10.0), 1) if math.isfinite(value) else rate(given)
