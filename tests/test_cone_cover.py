"""The coverage guard: what an extraction lost comes back in the card's words."""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from app.ingestion.cone.build import build_episodes
from app.ingestion.cone.cover import cover, texts_of, uncovered
from app.ingestion.cone.look import look
from app.ingestion.extract.types import EpisodeDraft, FacetDraft, PointDraft, Source
from bench.coverage import read

CONTENT = (
    "The Payments API failed on 5 May 2023. The peak error rate reached 28%.\n\n"
    "An estimated 1,420 merchants lost $380,000. Write to ops@example.org.\n\n"
    "今年利润增长了12%，员工有300名。"
)


def source(content: str = CONTENT) -> Source:
    return Source(uuid.UUID(int=1), "Outage", content, datetime(2023, 6, 1, tzinfo=UTC))


def from_a_model(*facets: FacetDraft) -> list[EpisodeDraft]:
    return [EpisodeDraft("Outage", "An outage.", facets)]


def told(episodes: list[EpisodeDraft]) -> list[str]:
    return [point.text for episode in episodes for facet in episode.facets for point in facet.points]


def test_what_is_missing_comes_back_in_the_facet_that_shares_its_words() -> None:
    found = from_a_model(
        FacetDraft("Error rate", "The Payments API failed and the error rate peaked."),
        FacetDraft("Merchants", "Many merchants lost money."),
        FacetDraft("利润", "公司的利润与员工。"),
    )
    added: Counter[str] = Counter()
    first, second, third = cover(source(), found, added=added)[0].facets
    assert [point.text for point in first.points] == [
        "The Payments API failed on 5 May 2023.",
        "The peak error rate reached 28%.",
    ]
    assert "An estimated 1,420 merchants lost $380,000." in [point.text for point in second.points]
    assert [point.text for point in third.points] == ["今年利润增长了12%，员工有300名。"]
    assert added["date"] >= 1
    assert added["percent"] == 2
    assert added["money"] == 1
    assert added["identifier"] == 1


def test_what_comes_back_has_exact_offsets() -> None:
    (episode,) = cover(source(), from_a_model(FacetDraft("Outage", "")))
    for point in episode.facets[0].points:
        assert CONTENT[point.start : point.end] == point.text


def test_spans_of_facets_decide_where_they_are_given() -> None:
    middle = CONTENT.index("An estimated")
    found = from_a_model(
        FacetDraft("One", "", start=0, end=middle), FacetDraft("Two", "", start=middle, end=len(CONTENT))
    )
    one, two = cover(source(), found)[0].facets
    assert all((point.start or 0) < middle for point in one.points)
    assert all((point.start or 0) >= middle for point in two.points)


def test_another_way_to_write_it_is_not_missing() -> None:
    found = from_a_model(
        FacetDraft(
            "Outage",
            "On May 5, 2023 the Payments API failed.",
            (
                PointDraft("28 percent of calls failed; 1420 merchants lost 380,000 dollars"),
                PointDraft("ops@example.org is the contact"),
                PointDraft("今年利润增长百分之十二，共三百名员工"),
            ),
        )
    )
    assert cover(source(), found) == found


def test_a_changed_number_is_missing() -> None:
    """C5."""
    found = from_a_model(FacetDraft("Years", "He stayed 5 years."))
    (episode,) = cover(source("He stayed 6 years."), found)
    assert told([episode]) == ["He stayed 6 years."]


def test_guarding_twice_adds_nothing() -> None:
    once = cover(source(), from_a_model(FacetDraft("Outage", "")))
    assert cover(source(), once) == once


def test_without_episodes_and_without_anchors_nothing_happens() -> None:
    assert cover(source(), []) == []
    found = from_a_model(FacetDraft("Mood", "All is well."))
    assert cover(source("it was all quite well"), found) == found


def test_targets_of_links_and_code_are_no_claims() -> None:
    content = "See [the guide](https://example.org/a/b).\n\n```sh\ncurl -X POST http://localhost:8080/v1/x\n```\n"
    found = from_a_model(FacetDraft("Guide", "See the guide."))
    assert cover(source(content), found) == found


def test_turns_come_back_with_their_speaker() -> None:
    content = "Ann: I moved to Graz in 2019.\nBob: We sold 12 boats in April.\nAnn: I paid 300 euros.\n"
    card = source(content)
    (episode,) = cover(card, from_a_model(FacetDraft("Talk", "")), look(card))
    assert told([episode]) == [
        "Ann moved to Graz in 2019.",
        'Bob said: "We sold 12 boats in April."',
        "Ann paid 300 euros.",
    ]


def test_a_long_sentence_comes_back_in_pieces_that_are_bounded() -> None:
    filler = "word " * 50
    content = f"In 1998 {filler}, {filler}, and {filler} it cost $77 million."
    (episode,) = cover(source(content), from_a_model(FacetDraft("Cost", "")))
    assert len(told([episode])) == 2
    assert all(len(text.split()) <= 62 for text in told([episode]))


def test_real_texts_lose_nothing(shared_data: Path) -> None:
    for name in ("locomo_dev/sessions", "evolving_events"):
        total = lost = 0
        for title, text in read(shared_data / name):
            card = Source(uuid.uuid4(), title, text, datetime.now(UTC))
            view = look(card)
            found = cover(card, build_episodes(card, view), view)
            total += len(view.anchors or ())
            lost += len(uncovered(text, texts_of(found)))
        assert total > 900
        assert lost <= total / 100
