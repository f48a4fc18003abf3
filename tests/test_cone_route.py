"""Whether new material joins an episode that is there."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.ingestion.cone.route import Candidate, Material, RouteLimits, route
from app.ingestion.cone.split import split_episode
from app.ingestion.extract.types import EpisodeDraft, FacetDraft, RoleDraft, TimeRange

DAY = datetime(2024, 3, 1, tzinfo=UTC)
ID = uuid.UUID(int=7)


def day(offset: float) -> TimeRange:
    return TimeRange(DAY + timedelta(days=offset), DAY + timedelta(days=offset + 1))


OLD = Material("Graz move", "Ann moves to Graz.", frozenset({"ann", "graz", "acme"}), day(0), "notes/move.md", 3)


def judged(new: Material, old: Material = OLD, z: float = 4.0, limits: RouteLimits | None = None) -> str:
    found = route(new, [Candidate(ID, old, z)], limits)
    assert (found.episode == ID) == (found.reason == "joined")
    return found.reason


def test_same_focus_and_continuity_join() -> None:
    assert judged(replace(OLD, summary="Ann looks for a flat in Graz.", happened=day(2))) == "joined"


@pytest.mark.parametrize(
    ("new", "z", "reason"),
    [
        (OLD, 2.9, "too far"),
        (replace(OLD, entities=frozenset({"bob", "vienna"})), 9.0, "other entities"),
        (replace(OLD, entities=frozenset({"ann", "vienna", "bob", "globex"})), 9.0, "other entities"),
        (replace(OLD, entities=frozenset()), 9.0, "other entities"),
        (replace(OLD, happened=day(9)), 9.0, "no continuity"),
        (replace(OLD, happened=None, path="other/move.md"), 9.0, "no continuity"),
        (replace(OLD, happened=None, title="Flat in Graz"), 9.0, "no continuity"),
        (replace(OLD, happened=None), 9.0, "joined"),
        (replace(OLD, facets=16), 9.0, "full"),
        (replace(OLD, title="Graz move 2"), 9.0, "other numbers"),
    ],
)
def test_in_doubt_it_is_a_new_episode(new: Material, z: float, reason: str) -> None:
    assert judged(new, z=z) == reason


def test_other_versions_and_other_days_are_other_episodes() -> None:
    """C2: nearness alone merges nothing."""
    model = replace(OLD, title="GPT-3 notes", happened=None)
    assert judged(replace(model, title="GPT-4 notes"), model, 9.0) == "other numbers"
    journal = replace(OLD, title="2024-03-01", path="journal/2024-03-01.md")
    assert judged(replace(journal, title="2024-03-02", path="journal/2024-03-02.md"), journal, 9.0) == "other numbers"


@pytest.mark.parametrize(
    ("one", "two"),
    [("Plan, part 1", "Plan, part 2"), ("读书笔记（上）", "读书笔记（下）"), ("三体 第一章", "三体 第二章")],
)
def test_parts_of_a_series_in_one_folder_join_sooner(one: str, two: str) -> None:
    old = replace(OLD, title=one, happened=None, path="series/a.md")
    new = replace(OLD, title=two, happened=None, path="series/b.md")
    assert judged(new, old, 2.5) == "joined"
    assert judged(replace(new, path="elsewhere/b.md"), old, 9.0) != "joined"


def test_thresholds_are_parameters() -> None:
    assert judged(OLD, z=2.0, limits=RouteLimits(min_z=1.5)) == "joined"
    assert judged(replace(OLD, happened=day(9)), limits=RouteLimits(max_gap_days=30)) == "joined"


def test_the_nearest_that_may_be_joined_wins_and_ties_go_by_id() -> None:
    far = replace(OLD, entities=frozenset({"x", "y"}))
    a, b = uuid.UUID(int=1), uuid.UUID(int=2)
    assert route(OLD, [Candidate(b, OLD, 4.0), Candidate(a, OLD, 4.0), Candidate(ID, far, 9.0)]).episode == a
    assert route(OLD, []).reason == "no candidate"


def test_a_split_keeps_every_facet_and_moves_the_roles_along() -> None:
    facets = tuple(FacetDraft(f"Book > Part {n // 10} > T{n}", f"About {n}.") for n in range(30))
    roles = (RoleDraft("Ann", "Ann wrote it", 0), RoleDraft("Bob", "Bob read it", 25), RoleDraft("Bob", "Bob read it"))
    parts = split_episode(EpisodeDraft("Book", "All of it.", facets, roles, external_id="b"), 18, 150)
    assert [facet for part in parts for facet in part.facets] == list(facets)
    assert [part.title for part in parts] == ["Book > Part 0", "Book > Part 1", "Book > Part 2"]
    assert [role for part in parts for role in part.roles] == [
        RoleDraft("Ann", "Ann wrote it", 0),
        RoleDraft("Bob", "Bob read it", 5),
        RoleDraft("Bob", "Bob read it"),
    ]
    assert [part.external_id for part in parts] == ["b/1", "b/2", "b/3"]


def test_a_small_episode_is_not_split() -> None:
    episode = EpisodeDraft("One", "x", tuple(FacetDraft(str(n), "d") for n in range(18)))
    assert split_episode(episode, 18, 150) == [episode]
