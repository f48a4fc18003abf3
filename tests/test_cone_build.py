"""The cone of a card without a model: episodes, facets, points that a stranger understands."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from app.ingestion.cone.build import build_episodes
from app.ingestion.cone.limits import ConeLimits
from app.ingestion.cone.look import look
from app.ingestion.cone.phrases import width
from app.ingestion.cone.view import CardView, NameView, SentenceView
from app.ingestion.extract.types import EntityDraft, EpisodeDraft, PointDraft, Source, Span

NOW = datetime(2024, 3, 5, 12, tzinfo=UTC)


def card(content: str, title: str = "", created_at: datetime = NOW) -> Source:
    return Source(uuid.UUID(int=1), title, content, created_at)


def named(content: str, *names: str) -> list[EntityDraft]:
    """Entities with every place that spells their name."""
    found = []
    for name in names:
        spans, at = [], content.find(name)
        while at >= 0:
            spans.append(Span(at, at + len(name)))
            at = content.find(name, at + 1)
        found.append(EntityDraft(name, "person", mentions=tuple(spans)))
    return found


def episodes(
    content: str, title: str = "", entities: Sequence[EntityDraft] = (), limits: ConeLimits | None = None
) -> list[EpisodeDraft]:
    source = card(content, title)
    return build_episodes(source, look(source, entities), limits or ConeLimits())


def points(found: Sequence[EpisodeDraft]) -> list[PointDraft]:
    return [point for episode in found for facet in episode.facets for point in facet.points]


def texts(content: str, title: str = "", entities: Sequence[EntityDraft] = ()) -> list[str]:
    return [point.text for point in points(episodes(content, title, entities))]


# ----------------------------------------------------------------------------------- small cards


@pytest.mark.parametrize("content", ["", " ", "\n\t \u3000\n", "---", "***\n\n---", "- \n-"])
def test_a_card_that_says_nothing_has_no_episode(content: str) -> None:
    """F11."""
    assert episodes(content, "Title") == []


@pytest.mark.parametrize(
    "content",
    [
        "买牛奶",
        "明天交房租",
        "猫",
        "我对花生过敏，很严重。",
        "下周二下午三点带小猫去医院打疫苗，别忘了",
        "Bob likes jazz",
        "42",
    ],
)
def test_a_short_card_is_never_dropped(content: str) -> None:
    """B14."""
    (episode,) = episodes(content)
    (facet,) = episode.facets
    assert content in facet.points[0].text
    assert episode.title
    assert facet.title
    assert episode.summary
    assert facet.description


def test_a_short_card_is_one_episode_of_one_facet_called_like_the_card() -> None:
    content = "NEAT burns energy without training. Walk more, stand more.\n\nIt adds up to 300 kcal a day."
    (episode,) = episodes(content, "NEAT")
    assert [facet.title for facet in episode.facets] == ["NEAT"]
    assert episode.title == "NEAT"


def test_headings_alone_and_pictures_alone_still_say_something() -> None:
    assert "Roadmap" in points(episodes("# Roadmap\n\n## 2024\n"))[0].text
    assert points(episodes("![[会议白板.png]]"))[0].text


# --------------------------------------------------------------------------------------- sections


NOTE = """# Postgres notes

Postgres keeps old row versions. Vacuum removes them.

## Indexes

- B-tree is the default
- GIN:
    - serves full text
    - slow to update
- HNSW needs 1.2 GB for 100k vectors of 1024 dimensions, measured on 3 March 2024.

## Limits

| name | value |
|---|---|
| columns | 1600 |
| row size | 1.6 TB |

```python
def connect(host):
    return asyncpg.connect(host)
```
"""


def test_sections_become_facets_in_order_with_offsets() -> None:
    (episode,) = episodes(NOTE, "Postgres notes")
    assert [facet.title for facet in episode.facets] == [
        "Postgres notes",
        "Postgres notes > Indexes",
        "Postgres notes > Limits",
    ]
    spans = [(facet.start or 0, facet.end or 0) for facet in episode.facets]
    assert spans == sorted(spans)
    for facet in episode.facets:
        for point in facet.points:
            assert point.start is not None
            assert point.end is not None
            assert (facet.start or 0) <= point.start < point.end <= (facet.end or 0)


def test_items_say_what_they_are_under() -> None:
    found = texts(NOTE, "Postgres notes")
    assert "Postgres notes > Indexes: B-tree is the default" in found
    assert "GIN: serves full text" in found
    assert "GIN: slow to update" in found
    assert "GIN:" not in found
    assert any(text.startswith("HNSW needs 1.2 GB") for text in found)


def test_a_line_that_leads_in_is_the_parent_of_the_list_below_it() -> None:
    found = texts("The service has two limits:\n\n- uses HNSW\n- 300 tokens\n")
    assert found == ["The service has two limits: uses HNSW", "The service has two limits: 300 tokens"]


def test_rows_of_a_table_carry_their_header() -> None:
    found = texts(NOTE, "Postgres notes")
    assert "name: columns; value: 1600" in found
    assert "name: row size; value: 1.6 TB" in found


def test_long_tables_and_long_paragraphs_are_several_facets() -> None:
    rows = "\n".join(f"| item {n} | costs {n} dollars per piece |" for n in range(100))
    (table,) = episodes(f"| name | price |\n|---|---|\n{rows}", "Prices")
    assert len(table.facets) > 3
    assert all(point.text.startswith("name: item ") for point in points([table]))
    (chapter,) = episodes(" ".join(f"Chapter sentence number {n} tells of ship {n}." for n in range(400)), "Ships")
    assert len(chapter.facets) > 3
    assert len(points([chapter])) == 400


def test_code_is_one_point_of_its_identifiers() -> None:
    code = [text for text in texts(NOTE, "Postgres notes") if "python" in text]
    assert code == ["Postgres notes > Limits: python code: connect, host, asyncpg.connect"]


def test_chinese_items_and_tables_use_chinese_marks() -> None:
    found = texts("## 用法\n\n- 支持全文检索\n\n| 名称 | 数值 |\n|---|---|\n| 列数 | 1600列 |\n", "数据库")
    assert found == ["数据库 > 用法：支持全文检索", "名称：列数；数值：1600列"]


def test_long_sections_without_headings_become_facets_with_titles_of_their_own() -> None:
    paragraphs = [
        f"{topic} matters a lot here. " + "It has many sides and all of them are told. " * 12
        for topic in ("Cooking", "Sailing", "Chess", "Pottery")
    ]
    (episode,) = episodes("\n\n".join(paragraphs), "Hobbies")
    titles = [facet.title for facet in episode.facets]
    assert len(titles) == 4
    assert len({title.casefold() for title in titles}) == 4
    assert titles[0] == "Hobbies: Cooking matters a lot here"


def test_facets_of_one_name_are_told_apart() -> None:
    (episode,) = episodes("## Notes\n\nFirst thing.\n\n## Notes\n\nSecond thing.\n", "Log")
    assert [facet.title for facet in episode.facets] == ["Log > Notes", "Log > Notes (2)"]


def test_a_first_line_that_repeats_the_title_is_no_point() -> None:
    assert texts("Root Cause\n\nA certificate expired on 5 May.", "Root Cause") == ["A certificate expired on 5 May."]


def test_wrapped_lines_are_one_sentence_and_verses_are_not() -> None:
    wrapped = "The quick brown fox jumps over the lazy dog that sleeps near the\nriver bank in Oxford every single day."
    assert texts(wrapped) == [wrapped.replace("\n", " ")]
    assert len(texts("The first verse of it is here\nThe second verse of it is there")) == 2


def test_markdown_marks_links_and_callouts_do_not_show() -> None:
    found = texts("> [!note] **Bold** claim about [the API](https://example.org/x) and [[Graph RAG|GraphRAG]] here")
    assert found == ["Bold claim about the API and GraphRAG here"]


# -------------------------------------------------------------------------------------- sentences


def test_compounds_are_split_only_where_both_sides_stand_alone() -> None:
    both = "Ann Lee founded Acme Robotics in Boston in 1998, and Globex bought the whole company in 2004."
    assert texts(both) == [
        "Ann Lee founded Acme Robotics in Boston in 1998.",
        "Globex bought the whole company in 2004.",
    ]
    leaning = "Ann Lee founded Acme Robotics in Boston in 1998, and she sold the whole company in 2004."
    assert texts(leaning) == [leaning]


def test_what_points_back_joins_what_it_points_to() -> None:
    assert texts("RDF represents facts as triples. This makes them easy to merge.") == [
        "RDF represents facts as triples. This makes them easy to merge."
    ]


def test_very_long_sentences_are_bounded_and_nothing_is_lost() -> None:
    long = "甲" + "，".join(f"第{i}件事情说得很长很长很长很长" for i in range(40)) + "。"
    found = texts(long)
    assert len(found) > 2
    assert all(width(text) <= 61 for text in found)
    assert all(any(f"第{i}件" in text for text in found) for i in range(40))


def test_points_are_told_in_the_words_that_stand_alone() -> None:
    content = "Marie Curie was born in Warsaw. She won the Nobel Prize in 1903."
    at = content.index("She")
    view = CardView(
        [
            SentenceView(0, at - 1, content[: at - 1]),
            SentenceView(at, len(content), "Marie Curie won the Nobel Prize in 1903.", names=("Marie Curie",)),
        ],
        names=[NameView("Marie Curie", (Span(0, 11),)), NameView("Warsaw", (Span(24, 30),))],
    )
    first, second = points(build_episodes(card(content, "Marie Curie"), view))
    assert second.text == "Marie Curie won the Nobel Prize in 1903."
    assert content[second.start : second.end] == "She won the Nobel Prize in 1903."
    assert first.entities == ("Marie Curie", "Warsaw")
    assert second.entities == ("Marie Curie",)


# --------------------------------------------------------------------------------------- dialogue


TALK = """Melanie: Hey Caroline! Good to see you!
Caroline: Hi Mel! How was your weekend?
Melanie: I painted a lake sunrise with my kids on Saturday.
Caroline: Wow, that's cool! Do you still run?
Melanie: Yes, every morning.
Caroline: Painting is a great way to relax after a long week at the hospital.
Melanie: Thanks! Bye!"""


def test_turns_are_told_by_name() -> None:
    found = points(episodes(TALK, "Chat"))
    told = [point.text for point in found]
    assert "Melanie painted a lake sunrise with Melanie's kids on Saturday." in told
    assert 'Caroline said: "Painting is a great way to relax after a long week at the hospital."' in told
    assert all(point.speaker in ("Melanie", "Caroline") for point in found)


def test_a_short_reply_goes_with_its_question() -> None:
    reply = [text for text in texts(TALK, "Chat") if "every morning" in text]
    assert reply == ['Caroline asked: "Does Melanie still run?" Melanie said: "Yes, every morning."']


def test_small_talk_is_no_point_unless_there_is_nothing_else() -> None:
    assert not any("Good to see" in text or "Bye" in text for text in texts(TALK, "Chat"))
    assert texts("Ann: Hi!\nBob: Hello!\nAnn: Thanks, bye!\nBob: Bye!") != []


def test_chinese_turns() -> None:
    found = texts("张伟：你好！\n李娜：我上周去了成都，吃了火锅。\n张伟：你住在哪里？\n李娜：春熙路。\n", "聊天")
    assert any("李娜上周去了成都" in text for text in found)
    assert any("张伟问" in text and "春熙路" in text for text in found)


# -------------------------------------------------------------------------------- episodes, roles


def test_a_journal_is_an_episode_per_day() -> None:
    content = "# 2024-03-01\n\nMet Ann in Graz.\n\n# 2024-03-02\n\nYesterday was long.\n\n## Work\n\nFixed bug #12.\n"
    found = episodes(content, "Journal")
    assert [episode.title for episode in found] == ["Journal > 2024-03-01", "Journal > 2024-03-02"]
    assert found[0].happened is not None
    assert found[0].happened.start.date().isoformat() == "2024-03-01"
    yesterday = found[1].facets[0].points[0].times
    assert [t.start.date().isoformat() for t in yesterday] == ["2024-03-01"]


def test_an_oversized_episode_is_split_along_its_headings() -> None:
    content = "".join(
        f"# Part {part}\n\n" + "".join(f"## Topic {part}.{n}\n\nFact {part}-{n} is here.\n\n" for n in range(8))
        for part in range(4)
    )
    found = episodes(content, "Book")
    assert [len(episode.facets) for episode in found] == [8, 8, 8, 8]
    assert [episode.title for episode in found] == [f"Book > Part {part}" for part in range(4)]
    assert all(0 <= (role.facet or 0) < len(episode.facets) for episode in found for role in episode.roles)


def test_an_oversized_episode_without_headings_to_split_at_is_split_evenly() -> None:
    content = "".join(f"## Topic {n}\n\nFact number {n} is here.\n\n" for n in range(40))
    found = episodes(content, "List")
    assert all(len(episode.facets) <= 18 for episode in found)
    assert sum(len(episode.facets) for episode in found) == 40
    assert len({episode.title for episode in found}) == len(found)


def test_summary_and_description_are_bounded() -> None:
    content = "\n\n".join(f"## H{n}\n\n" + "Some words that fill the space of this card. " * 20 for n in range(12))
    (episode,) = episodes(content, "Long")
    assert width(episode.summary) <= 175
    assert all(width(facet.description) <= 60 for facet in episode.facets)
    assert all(f"H{n}" in episode.summary for n in range(12))


def test_roles_are_short_clauses_about_the_entity() -> None:
    content = (
        "Grace Hopper, a rear admiral in the navy of the United States, wrote the first compiler, A-0, in 1952 while "
        "working for Remington Rand on the UNIVAC with a team of four people. Remington Rand sold machines."
    )
    (episode,) = episodes(content, "Compilers", named(content, "Grace Hopper", "Remington Rand"))
    by_name = {role.entity: role.role for role in episode.roles}
    assert by_name["Remington Rand"] == "Remington Rand sold machines."
    assert width(by_name["Grace Hopper"]) <= 25
    assert by_name["Grace Hopper"].startswith("Grace Hopper")
    assert all(role.facet == 0 for role in episode.roles)


def test_the_same_card_gives_the_same_cone() -> None:
    """C4."""
    assert episodes(NOTE, "Postgres notes") == episodes(NOTE, "Postgres notes")


def test_a_megabyte_is_read_in_seconds() -> None:
    told = " ".join(f"Ann Lee met Bob in Graz on {day} May 2023 and they paid {day}00 dollars." for day in range(1, 15))
    content = "\n\n".join(f"## Section {n}\n\n{told}\n\n- item {n}\n- other" for n in range(1_000))
    assert len(content) > 950_000
    source = card(content, "Huge")
    view = look(source)
    began = time.process_time()
    found = build_episodes(source, view)
    assert time.process_time() - began < 20
    assert all(len(episode.facets) <= 18 for episode in found)
    assert sum(len(episode.facets) for episode in found) == 1_000
