"""Commands that start the embedded database themselves and stop it afterwards."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import asyncpg
import pytest

from tests.conftest import with_database
from tests.test_run import ROOT, Instance


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    """A data directory on which nothing runs."""
    return Instance(tmp_path_factory.mktemp("cli") / "data", MINDCONE_SAMPLE="off")


def test_import_search_and_import_again(alone: Instance, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "茶.md").write_text("# 茶\n\n何秀兰的古树茶在 2025 年春天卖 300 元一饼。", encoding="utf-8")
    (tmp_path / "notes" / "broken.pdf").write_bytes(b"%PDF-1.7 not really")
    (tmp_path / "notes" / "plain.txt").write_text("The kettle broke on 3 May 2026.", encoding="utf-8")
    first = alone.command("import", str(tmp_path / "notes"))
    assert first.returncode == 0, first.stderr
    told = json.loads(first.stdout)
    assert told["files"] == {"created": 2, "rejected": 1}
    assert told["codes"] == {"unreadable_pdf": 1}
    assert told["cards"] == {"ready": 2}
    assert "broken.pdf" in first.stderr
    assert alone.postgres() == []

    again = json.loads(alone.command("import", str(tmp_path / "notes")).stdout)
    assert again["files"] == {"unchanged": 2, "rejected": 1}

    found = json.loads(alone.command("search", "古树茶多少钱", "--json").stdout)
    assert found["hits"][0]["card"]["title"] == "茶"
    answered = alone.command("ask", "When did the kettle break?")
    assert answered.returncode == 0
    assert "The kettle broke on 3 May 2026." in answered.stdout
    assert "[1]" in answered.stdout


def test_eval_measures_a_folder_and_leaves_nothing_behind(alone: Instance, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    documents = {
        "d 1": "The lighthouse keeper feeds seven cats.",
        "d%2": "水泵每年十月检修一次。",
        "d3": "Bread needs time.",
    }
    questions = {
        "q1": ("Who feeds cats?", "d 1"),
        "q2": ("水泵什么时候检修？", "d%2"),
        "q3": ("What needs time?", "d3"),
    }
    rows = [json.dumps({"_id": key, "title": "", "text": text}, ensure_ascii=False) for key, text in documents.items()]
    (folder / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
    asked = [json.dumps({"_id": key, "text": text}, ensure_ascii=False) for key, (text, _) in questions.items()]
    (folder / "queries.jsonl").write_text("\n".join(asked), encoding="utf-8")
    gold = ["query-id\tcorpus-id\tscore", *(f"{key}\t{doc}\t1" for key, (_, doc) in questions.items())]
    (folder / "qrels.tsv").write_text("\n".join(gold) + "\n", encoding="utf-8")

    told = alone.command(
        "eval", str(folder), "--level", "search", "--level", "bm25", "--run", str(tmp_path / "out.trec"), "--vs", "bm25"
    )
    assert told.returncode == 0, told.stderr
    report = json.loads(told.stdout)
    assert report["levels"]["search"]["recall@1"] == 1.0
    assert report["levels"]["search"]["vs"]["bm25"]["recall@5"]["diff"] == 0.0
    assert report["ingestion"]["cards"] == 3
    run = (tmp_path / "out.search.trec").read_text(encoding="utf-8").splitlines()
    assert run[0].split()[:4] == ["q1", "Q0", "d%201", "1"]
    assert any(line.split()[2] == "d%252" for line in run)
    left = json.loads(alone.command("doctor", "--deep", "--json").stdout)
    assert left["ok"], left
    found = json.loads(alone.command("search", "lighthouse keeper", "--json").stdout)["hits"]
    assert "The lighthouse keeper feeds seven cats." not in {hit["snippet"] for hit in found}


def test_eval_makes_the_reports_that_level_insight_reads(alone: Instance, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    documents = {
        "d1": "Anna Berg repaired the Sea Eagle in Hamburg. Bruno Klein paints the Sea Eagle every spring.",
        "d2": "Bruno Klein sailed with Anna Berg from Hamburg to Bergen in the Sea Eagle.",
        "d3": "Clara Weiss planted tomatoes in Granada. Clara Weiss met Diego Ruiz in Granada.",
        "d4": "Diego Ruiz sells the tomatoes of Clara Weiss in Granada.",
    }
    questions = {"q1": ("What do my notes say about the Sea Eagle?", "d1")}
    rows = [json.dumps({"_id": key, "title": "", "text": text}) for key, text in documents.items()]
    (folder / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
    asked = [json.dumps({"_id": key, "text": text}) for key, (text, _) in questions.items()]
    (folder / "queries.jsonl").write_text("\n".join(asked), encoding="utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")

    told = alone.command("eval", str(folder), "--level", "insight", "--level", "search")
    assert told.returncode == 0, told.stderr
    report = json.loads(told.stdout)
    assert report["ingestion"]["reports"] == report["ingestion"]["communities"] >= 2
    assert report["levels"]["insight"]["degraded"] == {}
    assert report["levels"]["insight"]["recall@1"] == 1.0
    without = json.loads(alone.command("eval", str(folder), "--level", "search").stdout)
    assert "reports" not in without["ingestion"]
    left = json.loads(alone.command("doctor", "--deep", "--json").stdout)
    assert left["ok"], left


def test_communities_are_listed_shown_and_made_anew(alone: Instance, tmp_path: Path) -> None:
    (tmp_path / "trip.md").write_text(
        "Anna Berg repaired the Sea Eagle in Hamburg. Anna Berg sailed the Sea Eagle to Bergen.", encoding="utf-8"
    )
    assert alone.command("import", str(tmp_path)).returncode == 0
    made = alone.command("communities", "rebuild", "--json")
    assert made.returncode == 0, made.stderr
    listed = json.loads(alone.command("communities", "list", "--json").stdout)["items"]
    assert len(listed) == json.loads(made.stdout)["communities"] >= 1
    boat = next(one for one in listed if "Sea Eagle" in one["title"])
    assert (boat["level"], boat["stale"]) == (0, False)
    shown = alone.command("communities", "show", boat["id"])
    assert "members: " in shown.stdout
    assert "- Anna Berg repaired the Sea Eagle in Hamburg." in shown.stdout
    missing = alone.command("communities", "show", "00000000-0000-0000-0000-000000000000")
    assert missing.returncode == 1
    assert "community_not_found" in missing.stderr


def test_the_demonstration_answers_with_sources(alone: Instance) -> None:
    told = alone.command("demo")
    assert told.returncode == 0, told.stderr
    for level in ("chat", "search", "explore", "context", "insight"):
        assert f"level {level}:" in told.stdout
    assert "path: question" in told.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("search", " "),
        ("ask", ""),
        ("ask", "x" * 40_000),
        ("search", "x", "--level", "deepest"),
        ("eval", str(ROOT), "--level", "nothing"),
        ("import", "/no/where"),
    ],
)
def test_wrong_arguments_are_named(alone: Instance, words: tuple[str, ...]) -> None:
    told = alone.command(*words)
    assert told.returncode == 2
    assert "Traceback" not in told.stderr


def test_a_database_of_ones_own_is_migrated_only_when_asked(server_dsn: str, tmp_path: Path) -> None:
    """A configured database belongs to its admin: the schema changes by `db upgrade`, not by a start."""
    dsn = with_database(server_dsn, "own_database")
    asyncio.run(_create(server_dsn, "own_database"))
    own = Instance(tmp_path / "data", MINDCONE_DATABASE_URL=dsn)
    before = own.command("db", "status")
    assert (before.returncode, json.loads(before.stdout)["state"]) == (1, "pending")
    refused = own.command("search", "anything")
    assert refused.returncode == 1
    assert "schema_pending" in refused.stderr
    assert own.command("db", "upgrade").returncode == 0
    after = own.command("db", "status")
    assert (after.returncode, json.loads(after.stdout)["state"]) == (0, "current")
    assert json.loads(own.command("search", "anything", "--json").stdout)["hits"] == []
    assert not (tmp_path / "data" / "postgres").exists()


async def _create(dsn: str, name: str) -> None:
    connection = await asyncpg.connect(dsn)
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
