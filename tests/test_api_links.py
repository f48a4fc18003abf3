"""Wikilinks: both directions, both languages, whatever was written first."""

from __future__ import annotations

from typing import Any

import httpx

from tests.api_client import API, create

pytest_plugins = ("tests.api_client",)


async def links(client: httpx.AsyncClient, card: dict[str, Any]) -> dict[str, Any]:
    answer = await client.get(f"{API}/cards/{card['id']}/links")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def outgoing(found: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(link["target"], link["card"] and link["card"]["id"]) for link in found["outgoing"]]


def incoming(found: dict[str, Any]) -> list[str]:
    return [link["card"]["id"] for link in found["incoming"]]


async def test_a_link_written_before_its_target_starts_to_work(client: httpx.AsyncClient) -> None:
    source = await create(client, title="Source", content="See [[中国地图]] and [[ＭＡＰＳ  |the maps]].")
    assert outgoing(await links(client, source)) == [("中国地图", None), ("ＭＡＰＳ", None)]

    zh = await create(client, title="中国地图", content="x")
    en = await create(client, title="maps", content="x")
    found = await links(client, source)
    assert outgoing(found) == [("中国地图", zh["id"]), ("ＭＡＰＳ", en["id"])]
    first = found["outgoing"][0]
    assert source["content"][first["start"] : first["end"]] == "[[中国地图]]"
    assert (found["outgoing"][1]["alias"], found["related"]) == ("the maps", [])

    back = await links(client, zh)
    assert back["incoming"] == [
        {
            "target": "中国地图",
            "alias": None,
            "start": 4,
            "end": 12,
            "card": {"id": source["id"], "title": "Source"},
        }
    ]
    assert incoming(await links(client, en)) == [source["id"]]


async def test_links_follow_changes(client: httpx.AsyncClient) -> None:
    target = await create(client, title="Target", content="x")
    source = await create(client, title="Source", content="[[Target]] [[Other]]")
    assert incoming(await links(client, target)) == [source["id"]]

    await client.patch(f"{API}/cards/{source['id']}", json={"content": "`[[Target]]` is code, [[Other]] is not"})
    assert incoming(await links(client, target)) == []
    assert outgoing(await links(client, source)) == [("Other", None)]

    await client.patch(f"{API}/cards/{target['id']}", json={"title": "Other"})
    assert outgoing(await links(client, source)) == [("Other", target["id"])]
    assert incoming(await links(client, target)) == [source["id"]]

    await client.delete(f"{API}/cards/{source['id']}")
    assert incoming(await links(client, target)) == []
    await client.post(f"{API}/cards/{source['id']}/undelete")
    assert incoming(await links(client, target)) == [source["id"]]

    await client.delete(f"{API}/cards/{target['id']}")
    assert outgoing(await links(client, source)) == [("Other", None)]


async def test_aliases_and_file_names_answer_too(client: httpx.AsyncClient) -> None:
    by_alias = await create(
        client, title="People's Republic", content="x", metadata={"aliases": ["中国", "China"], "alias": "PRC"}
    )
    by_file = await create(client, title="Readme of maps", content="x", source={"path": "notes/地理/Maps v1.2.md"})
    source = await create(
        client, title="S", content="[[中国]] [[china]] [[PRC]] [[Maps v1.2]] [[地理/Maps v1.2]] [[elsewhere/Maps v1.2]]"
    )
    found = [card for _, card in outgoing(await links(client, source))]
    assert found == [by_alias["id"]] * 3 + [by_file["id"]] * 2 + [None]
    assert incoming(await links(client, by_file)) == [source["id"]] * 2


async def test_a_shared_name_belongs_to_a_title_and_then_to_the_older_card(client: httpx.AsyncClient) -> None:
    alias = await create(client, title="Something", content="x", metadata={"aliases": ["Meeting"]})
    source = await create(client, title="S", content="[[Meeting]]")
    assert outgoing(await links(client, source)) == [("Meeting", alias["id"])]
    first = await create(client, title="Meeting", content="first")
    second = await create(client, title="meeting", content="second")
    assert outgoing(await links(client, source)) == [("Meeting", first["id"])]
    assert incoming(await links(client, first)) == [source["id"]]
    assert incoming(await links(client, second)) == []
    assert incoming(await links(client, alias)) == []


async def test_self_links_embeds_headings_and_very_long_names(client: httpx.AsyncClient) -> None:
    name = "ﷺ" * 400
    card = await create(client, title=name, content=f"[[#Only a heading]] ![[{name}#Part|shown]] [[ ]] [[]]")
    found = await links(client, card)
    assert outgoing(found) == [(name, card["id"])]
    assert incoming(found) == [card["id"]]
