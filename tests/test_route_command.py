"""`mindcone route`: one object per line, in order, and nothing else started."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_run import DEADLINE_SECONDS, ROOT, Instance

KEYS = ["query", "level", "reason", "confidence", "gates", "escalated_from"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    """A data directory on which nothing runs. The database it is told of does not exist, so none can be used."""
    return Instance(
        tmp_path_factory.mktemp("route") / "data",
        MINDCONE_SAMPLE="off",
        MINDCONE_DATABASE_URL="postgresql://nobody@127.0.0.1:9/none",
    )


def routed(alone: Instance, given: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "app.cli", "route", *words],
        cwd=ROOT,
        env=alone.environment,
        input=given,
        capture_output=True,
        timeout=DEADLINE_SECONDS,
    )


def test_one_object_per_line_blank_lines_included(alone: Instance) -> None:
    lines = ["你好", "", "what connects X and Y", "   ", "总结这张卡片", "one\u2028line\x85still", "tab\there", "总览"]
    told = routed(alone, "\n".join(lines).encode() + b"\n", "-")
    assert told.returncode == 0, told.stderr
    answers = [json.loads(line) for line in told.stdout.decode().split("\n")[:-1]]
    assert [answer["query"] for answer in answers] == lines
    assert {tuple(answer) for answer in answers} == {tuple(KEYS)}
    assert [answers[place]["level"] for place in (0, 1, 2, 3, 4, 7)] == [
        "chat",
        "chat",
        "explore",
        "chat",
        "search",
        "insight",
    ]
    assert all(answer["gates"] == [] and answer["escalated_from"] is None for answer in answers)


@pytest.mark.parametrize(
    ("given", "queries"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"\n\n", ["", ""]),
        (b"no end", ["no end"]),
        (b"windows\r\nends\r\n", ["windows", "ends"]),
        (b"bad \xff byte\nnext\n", ["bad \ufffd byte", "next"]),
    ],
)
def test_lines_end_where_a_line_feed_is(alone: Instance, given: bytes, queries: list[str]) -> None:
    told = routed(alone, given, "--json", "-")
    assert told.returncode == 0, told.stderr
    assert [json.loads(line)["query"] for line in told.stdout.decode().split("\n")[:-1]] == queries


def test_a_single_question_as_words_and_as_json(alone: Instance) -> None:
    shown = routed(alone, b"", "what connects tea and trade")
    assert shown.stdout.decode().startswith("explore  (connection, confidence ")
    told = json.loads(routed(alone, b"", "--json", "what connects tea and trade").stdout)
    assert list(told) == KEYS
    assert (told["level"], told["reason"]) == ("explore", "connection")


def test_a_workspace_brings_its_gates(tmp_path: Path) -> None:
    empty = Instance(tmp_path / "data", MINDCONE_SAMPLE="off")
    told = routed(empty, "总览\n你好\n".encode(), "--workspace", "default", "-")
    assert told.returncode == 0, told.stderr.decode()
    first, second = (json.loads(line) for line in told.stdout.splitlines())
    assert (first["level"], first["gates"]) == ("chat", ["empty_workspace"])
    assert (second["level"], second["gates"]) == ("chat", [])
    unknown = routed(empty, b"x\n", "--workspace", "nowhere", "-")
    assert unknown.returncode == 1
    assert b"not_found" in unknown.stderr
