"""The notes that ship with the project: they import cleanly, hang together, and the example questions point at them."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import app
from app.transfer.notes import ParsedNote
from app.transfer.vault import open_vault

ROOT = Path(app.__file__).parent
HAN = re.compile(r"[一-鿿]")
WORD = re.compile(r"[A-Za-z']+")
LINK = re.compile(r"\[\[([^\]|#]+)")


@pytest.fixture(scope="module")
def notes() -> list[ParsedNote]:
    with open_vault(ROOT / "sample_vault") as vault:
        results = list(vault)
    assert [r.path for r in results if r.note is None] == []
    return [r.note for r in results if r.note is not None]


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((ROOT / "sample_vault_questions.json").read_text("utf-8"))
    return loaded


def mostly_chinese(note: ParsedNote) -> bool:
    return len(HAN.findall(note.content)) > len(WORD.findall(note.content))


def test_every_note_is_dated_tagged_and_read_without_a_warning(notes: list[ParsedNote]) -> None:
    assert len(notes) >= 40
    for note in notes:
        assert note.warnings == []
        assert note.tags
        assert note.title == Path(note.path).stem
        assert note.created_at is not None
        assert datetime(2025, 3, 1, tzinfo=UTC) <= note.created_at <= datetime(2026, 10, 31, tzinfo=UTC)
        assert len(HAN.findall(note.content)) + len(WORD.findall(note.content)) >= 120


def test_half_is_chinese_and_half_english(notes: list[ParsedNote]) -> None:
    chinese = sum(map(mostly_chinese, notes))
    assert chinese >= 18
    assert len(notes) - chinese >= 18


def test_titles_are_unique_and_every_link_leads_to_a_note(notes: list[ParsedNote]) -> None:
    assert max(Counter(note.title for note in notes).values()) == 1
    names = {name for note in notes for name in note.metadata["aliases"]}  # type: ignore[union-attr]
    dead = [(note.title, target) for note in notes for target in LINK.findall(note.content) if target not in names]
    assert dead == []


def test_no_note_stands_alone_and_links_cross_the_languages(notes: list[ParsedNote]) -> None:
    by_name = {name: note for note in notes for name in note.metadata["aliases"]}  # type: ignore[union-attr]
    edges = [(note, by_name[target]) for note in notes for target in LINK.findall(note.content)]
    assert {id(target) for _, target in edges} | {id(source) for source, _ in edges} == {id(note) for note in notes}
    assert sum(mostly_chinese(source) != mostly_chinese(target) for source, target in edges) >= 30


def test_questions_cover_the_levels_in_both_languages_and_name_real_notes(
    notes: list[ParsedNote], questions: list[dict[str, Any]]
) -> None:
    titles = {note.title for note in notes}
    assert len(questions) == 12
    assert {question["level"] for question in questions} == {"chat", "search", "explore", "context", "insight"}
    assert {question["language"] for question in questions} == {"zh", "en"}
    for question in questions:
        assert set(question["notes"]) <= titles
        assert bool(question["notes"]) == bool(question["answer"]) == (question["level"] != "chat")
        assert (HAN.search(question["question"]) is not None) == (question["language"] == "zh")
