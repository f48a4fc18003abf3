"""Branches over HTTP: SplitGuard, paths without copies, merges, moves, deletion, references; many at once."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import asyncpg
import httpx
import pytest

from app.wiring import Services
from tests.api_client import API, assert_problem, execute, fetch, make_key, make_workspace

pytest_plugins = ("tests.api_client",)


class Trunk:
    """A conversation and shorthands for what is done in it."""

    def __init__(self, client: httpx.AsyncClient, conversation_id: str) -> None:
        self.client = client
        self.id = conversation_id

    async def say(self, content: str, branch: str | None = None) -> dict[str, Any]:
        body = {"content": content} | ({"branch_id": branch} if branch else {})
        answer = await self.client.post(f"{API}/conversations/{self.id}/turns", json=body)
        assert answer.status_code == 200, answer.text
        said: dict[str, Any] = answer.json()
        return said

    async def ask_fork(self, under: str, label: str, profile: str = "deep_dive", **more: Any) -> httpx.Response:
        body = {"from_message_id": under, "profile": profile, "label": label, **more}
        return await self.client.post(f"{API}/conversations/{self.id}/branches", json=body)

    async def fork(self, under: str, label: str, **more: Any) -> dict[str, Any]:
        answer = await self.ask_fork(under, label, **more)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def tree(self) -> list[dict[str, Any]]:
        answer = await self.client.get(f"{API}/conversations/{self.id}/tree")
        assert answer.status_code == 200
        branches: list[dict[str, Any]] = answer.json()["branches"]
        return branches

    async def messages(self, branch: str, **more: Any) -> list[dict[str, Any]]:
        answer = await self.client.get(f"{API}/conversations/{self.id}/messages", params={"branch_id": branch, **more})
        assert answer.status_code == 200, answer.text
        items: list[dict[str, Any]] = answer.json()["items"]
        return items


@pytest.fixture
async def trunk(client: httpx.AsyncClient) -> Trunk:
    made = await client.post(f"{API}/conversations")
    return Trunk(client, made.json()["id"])


async def doctor(services: Services) -> dict[str, int]:
    report = await services.doctor(True)
    return {name: count for name, count in report.invariants.items() if count}


# ------------------------------------------------------------------------------------ SplitGuard


async def test_a_fork_is_an_append_under_an_older_message(trunk: Trunk, services: Services) -> None:
    first = await trunk.say("We compare suppliers.")
    second = await trunk.say("Alfa is cheap.")
    made = await trunk.fork(first["message_id"], "Alfa in depth")
    assert (made["parent_branch_id"], made["parent_message_id"]) == (first["branch_id"], first["message_id"])
    assert (made["profile"], made["context"], made["depth"], made["messages"]) == ("deep_dive", "compress", 1, 0)
    ((before,),) = await fetch(services.database, "SELECT count(*) FROM messages")
    turn = await trunk.say("How cheap?", made["id"])
    assert turn["branch_id"] == made["id"]
    ((after,),) = await fetch(services.database, "SELECT count(*) FROM messages")
    # Nothing was copied.
    assert (before, after) == (4, 6)
    own = await trunk.messages(made["id"])
    assert [message["ordinal"] for message in own] == [1, 2]
    assert own[0]["parent_id"] == first["message_id"]
    whole = await trunk.messages(made["id"], path=True)
    assert [message["id"] for message in whole] == [
        first["user_message_id"],
        first["message_id"],
        turn["user_message_id"],
        turn["message_id"],
    ]
    assert second["message_id"] not in {message["id"] for message in whole}
    for message, parent in zip(whole[1:], whole, strict=False):
        assert message["parent_id"] == parent["id"]
    assert [(one["label"], one["depth"], one["messages"], one["children"]) for one in await trunk.tree()] == [
        (None, 0, 4, 1),
        ("Alfa in depth", 1, 2, 0),
    ]


async def test_a_path_in_pages(trunk: Trunk) -> None:
    first = await trunk.say("one")
    branch = await trunk.fork(first["message_id"], "a")
    inner = await trunk.say("two", branch["id"])
    leaf = await trunk.fork(inner["user_message_id"], "b", force=True)
    await trunk.say("three", leaf["id"])
    whole = await trunk.messages(leaf["id"], path=True)
    assert [message["content"] for message in whole if message["role"] == "user"] == ["one", "two", "three"]
    assert len(whole) == 5
    paged: list[Any] = []
    cursor = None
    for _ in range(5):
        answer = await trunk.client.get(
            f"{API}/conversations/{trunk.id}/messages",
            params={"branch_id": leaf["id"], "path": True, "limit": 2} | ({"cursor": cursor} if cursor else {}),
        )
        paged += answer.json()["items"]
        cursor = answer.json()["next_cursor"]
        if cursor is None:
            break
    assert paged == whole


async def test_conditions_are_refused_with_what_is_missing(trunk: Trunk) -> None:
    turn = await trunk.say("one")
    await trunk.fork(turn["message_id"], "first")
    refused = assert_problem(await trunk.ask_fork(turn["message_id"], "second"), 409, "split_refused")
    assert (refused["condition"], refused["missing"]) == ("branch_messages", 5)
    assert [(one["condition"], one["missing"]) for one in refused["conditions"]] == [
        ("branch_messages", 5),
        ("conversation_messages", 3),
    ]
    await trunk.say("two")
    await trunk.say("three")
    refused = assert_problem(await trunk.ask_fork(turn["message_id"], "second"), 409, "split_refused")
    assert (refused["condition"], refused["missing"], refused["needed"], refused["present"]) == (
        "branch_messages",
        1,
        5,
        4,
    )
    assert "1 more" in refused["detail"]
    await trunk.say("four")
    refused = assert_problem(await trunk.ask_fork(turn["message_id"], " FIRST! "), 409, "split_refused")
    assert (refused["condition"], refused["missing"], refused["sibling_label"]) == ("label", 0, "first")
    await trunk.fork(turn["message_id"], "second")


async def test_the_first_fork_of_a_branch_is_free_but_not_at_once(trunk: Trunk) -> None:
    turn = await trunk.say("one")
    child = await trunk.fork(turn["message_id"], "first")
    inner = await trunk.say("two", child["id"])
    refused = assert_problem(await trunk.ask_fork(inner["message_id"], "deeper"), 409, "split_refused")
    assert (refused["condition"], refused["missing"]) == ("conversation_messages", 1)
    # Anywhere in the conversation.
    await trunk.say("three")
    await trunk.fork(inner["message_id"], "deeper")


async def test_a_label_that_says_the_same_in_other_words(trunk: Trunk) -> None:
    turn = await trunk.say("one")
    await trunk.fork(turn["message_id"], "risks of the supplier")
    for words in ("two", "three", "four"):
        await trunk.say(words)
    refused = assert_problem(await trunk.ask_fork(turn["message_id"], "supplier: the risks"), 409, "split_refused")
    assert refused["condition"] == "label"
    await trunk.fork(turn["message_id"], "costs of the supplier")


async def test_force_passes_over_conditions_and_never_over_caps(trunk: Trunk) -> None:
    turn = await trunk.say("one")
    for n in range(8):
        await trunk.fork(turn["message_id"], f"branch {n}", force=True)
    refused = assert_problem(await trunk.ask_fork(turn["message_id"], "branch 8", force=True), 409, "split_refused")
    assert (refused["condition"], refused["missing"], refused["needed"]) == ("children", 0, 8)
    under = turn["message_id"]
    branch = (await trunk.tree())[1]["id"]
    for depth in range(2, 6):
        under = (await trunk.say(f"at depth {depth}", branch))["message_id"]
        made = await trunk.fork(under, "deeper", force=True)
        assert made["depth"] == depth
        branch = made["id"]
    under = (await trunk.say("too deep", branch))["message_id"]
    refused = assert_problem(await trunk.ask_fork(under, "deeper", force=True), 409, "split_refused")
    assert (refused["condition"], refused["needed"], refused["present"]) == ("depth", 5, 6)


async def test_what_is_not_there_or_not_acceptable(trunk: Trunk, services: Services) -> None:
    """N1, N2."""
    turn = await trunk.say("one")
    other = Trunk(trunk.client, (await trunk.client.post(f"{API}/conversations")).json()["id"])
    assert_problem(await other.ask_fork(turn["message_id"], "a"), 404, "message_not_found")
    assert_problem(await trunk.ask_fork(str(uuid.uuid4()), "a"), 404, "message_not_found")
    nowhere = Trunk(trunk.client, str(uuid.uuid4()))
    assert_problem(await nowhere.ask_fork(turn["message_id"], "a"), 404, "conversation_not_found")
    for body in (
        {"profile": "explore", "label": "a"},
        {"from_message_id": "x", "profile": "explore", "label": "a"},
        {"from_message_id": turn["message_id"], "profile": "wander", "label": "a"},
        {"from_message_id": turn["message_id"], "profile": "explore", "label": "  "},
        {"from_message_id": turn["message_id"], "profile": "explore", "label": "a\x00"},
        {"from_message_id": turn["message_id"], "profile": "explore", "label": "a" * 201},
        {"from_message_id": turn["message_id"], "profile": "explore", "label": "a", "color": "red"},
    ):
        answer = await trunk.client.post(f"{API}/conversations/{trunk.id}/branches", json=body)
        assert_problem(answer, 422, "validation_error")
    for path in ("", "/links"):
        assert_problem(await trunk.client.get(f"{API}/branches/{uuid.uuid4()}{path}"), 404, "branch_not_found")
        assert_problem(await trunk.client.get(f"{API}/branches/x{path}"), 422, "validation_error")


async def test_another_workspace_sees_nothing(trunk: Trunk, services: Services, request: pytest.FixtureRequest) -> None:
    """D7, D13."""
    turn = await trunk.say("one")
    child = await trunk.fork(turn["message_id"], "mine")
    locked = request.getfixturevalue("locked")
    theirs, _ = await make_key(services, "chat", "read", workspace_id=await make_workspace(services, "other"))
    reads, _ = await make_key(services, "read")
    async with locked(x_api_key=theirs) as stranger:
        answer = await Trunk(stranger, trunk.id).ask_fork(turn["message_id"], "a")
        assert_problem(answer, 404, "conversation_not_found")
        for method, path, body in (
            ("GET", f"/conversations/{trunk.id}/tree", None),
            ("GET", f"/branches/{child['id']}", None),
            ("PATCH", f"/branches/{child['id']}", {"label": "yours"}),
            ("DELETE", f"/branches/{child['id']}", None),
            ("GET", f"/branches/{child['id']}/links", None),
            ("POST", "/branches/merge", {"branch_ids": [turn["branch_id"], child["id"]], "label": "m"}),
        ):
            answer = await stranger.request(method, f"{API}{path}", json=body)
            assert answer.status_code == 404, (method, path)
    async with locked(x_api_key=reads) as reader:
        own = Trunk(reader, trunk.id)
        assert_problem(await own.ask_fork(turn["message_id"], "a"), 403, "missing_scope")
        assert [one["label"] for one in await own.tree()] == [None, "mine"]


async def test_a_request_that_is_repeated_forks_once(trunk: Trunk) -> None:
    """N14."""
    turn = await trunk.say("one")
    body = {"from_message_id": turn["message_id"], "profile": "explore", "label": "once"}
    answers = [
        await trunk.client.post(
            f"{API}/conversations/{trunk.id}/branches", json=body, headers={"Idempotency-Key": "fork-1"}
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert answers[0].headers["location"] == f"{API}/branches/{answers[0].json()['id']}"
    assert len(await trunk.tree()) == 2


# ------------------------------------------------------------------------------------ many at once


async def test_of_many_forks_at_once_one_is_allowed(trunk: Trunk, services: Services) -> None:
    turn = await trunk.say("one")
    answers = await asyncio.gather(*(trunk.ask_fork(turn["message_id"], f"label {n}") for n in range(8)))
    # The first is free; for all others messages are missing.
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    assert {answer.json()["condition"] for answer in answers if answer.status_code == 409} == {"branch_messages"}
    assert len(await trunk.tree()) == 2


async def test_of_many_forced_forks_at_once_as_many_as_the_cap_allows(trunk: Trunk) -> None:
    turn = await trunk.say("one")
    answers = await asyncio.gather(*(trunk.ask_fork(turn["message_id"], f"label {n}", force=True) for n in range(12)))
    assert sorted(answer.status_code for answer in answers) == [201] * 8 + [409] * 4
    assert {answer.json()["condition"] for answer in answers if answer.status_code == 409} == {"children"}
    assert (await trunk.tree())[0]["children"] == 8


async def test_one_label_is_taken_once_however_many_want_it(trunk: Trunk, services: Services) -> None:
    services.forking._limits = services.forking._limits.__class__(0, 0)
    turn = await trunk.say("one")
    answers = await asyncio.gather(
        *(trunk.ask_fork(turn["message_id"], label) for label in ("same label", "Same Label", "label: same"))
    )
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409]
    assert {answer.json()["condition"] for answer in answers if answer.status_code == 409} == {"label"}


async def test_parallel_appends_to_a_branch_have_each_its_place(trunk: Trunk, services: Services) -> None:
    turn = await trunk.say("one")
    child = await trunk.fork(turn["message_id"], "crowded")
    said = await asyncio.gather(
        *(trunk.say(f"word {n}", child["id"]) for n in range(6)), trunk.say("above"), trunk.say("above again")
    )
    own = await trunk.messages(child["id"])
    assert [message["ordinal"] for message in own] == list(range(1, 13))
    assert {message["content"] for message in own if message["role"] == "user"} == {f"word {n}" for n in range(6)}
    assert {message["status"] for message in own} == {"complete"}
    assert own[0]["parent_id"] == turn["message_id"]
    for message, parent in zip(own[1:], own, strict=False):
        assert message["parent_id"] == parent["id"]
    for one in said[:6]:
        places = [message["id"] for message in own]
        assert places.index(one["message_id"]) == places.index(one["user_message_id"]) + 1
    ((appended,),) = await fetch(services.database, "SELECT appended FROM conversations")
    assert appended == 2 + 16
    assert await doctor(services) == {}


async def test_moves_at_once_never_make_a_cycle(trunk: Trunk, services: Services) -> None:
    turn = await trunk.say("one")
    one = await trunk.fork(turn["message_id"], "left", force=True)
    two = await trunk.fork(turn["message_id"], "right", force=True)
    in_one = await trunk.say("in left", one["id"])
    in_two = await trunk.say("in right", two["id"])
    answers = await asyncio.gather(
        *(
            trunk.client.patch(f"{API}/branches/{branch}", json={"parent_message_id": under})
            for branch, under in ((one["id"], in_two["message_id"]), (two["id"], in_one["message_id"]))
        )
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    (refused,) = [answer for answer in answers if answer.status_code == 409]
    assert_problem(refused, 409, "branch_cycle")
    assert sorted(branch["depth"] for branch in await trunk.tree()) == [0, 1, 2]
    assert await doctor(services) == {}


async def test_the_database_itself_refuses_a_cycle(trunk: Trunk, services: Services) -> None:
    turn = await trunk.say("one")
    one = await trunk.fork(turn["message_id"], "left", force=True)
    two = await trunk.fork(turn["message_id"], "right", force=True)
    ends = [(await trunk.say("x", branch["id"]))["message_id"] for branch in (one, two)]
    url = services.database.dsn
    first, second = await asyncpg.connect(url), await asyncpg.connect(url)
    move = "UPDATE branches SET parent_branch_id = $1, parent_message_id = $2 WHERE id = $3"
    try:
        begun = first.transaction()
        await begun.start()
        await first.execute(move, uuid.UUID(two["id"]), uuid.UUID(ends[1]), uuid.UUID(one["id"]))
        # The second one neither sees the first nor passes it: it waits, and then is told.
        late = asyncio.create_task(second.execute(move, uuid.UUID(one["id"]), uuid.UUID(ends[0]), uuid.UUID(two["id"])))
        await asyncio.wait({late}, timeout=0.2)
        assert not late.done()
        await begun.commit()
        with pytest.raises(asyncpg.CheckViolationError, match="own ancestor"):
            await late
        with pytest.raises(asyncpg.CheckViolationError):
            await first.execute(
                "INSERT INTO branch_parents SELECT workspace_id, $1, 1, $2, $3 FROM branches WHERE id = $1",
                uuid.UUID(two["id"]),
                uuid.UUID(one["id"]),
                uuid.UUID(ends[0]),
            )
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            await first.execute(move, uuid.UUID(turn["branch_id"]), uuid.UUID(ends[1]), uuid.UUID(one["id"]))
    finally:
        await first.close()
        await second.close()


# ------------------------------------------------------------------------------------ merge


async def test_a_merge_has_both_as_parents(trunk: Trunk, services: Services) -> None:
    turn = await trunk.say("one")
    left = await trunk.fork(turn["message_id"], "left", force=True)
    right = await trunk.fork(turn["message_id"], "right", force=True)
    answer = await trunk.client.post(
        f"{API}/branches/merge", json={"branch_ids": [left["id"], right["id"]], "label": "both"}
    )
    assert_problem(answer, 409, "branch_empty")
    ends = [(await trunk.say(f"in {branch['label']}", branch["id"]))["message_id"] for branch in (left, right)]
    ((before,),) = await fetch(services.database, "SELECT count(*) FROM messages")
    answer = await trunk.client.post(
        f"{API}/branches/merge", json={"branch_ids": [left["id"], right["id"]], "label": "both"}
    )
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["parent_branch_id"], made["parent_message_id"]) == (left["id"], ends[0])
    assert made["merged_from"] == [{"branch_id": right["id"], "message_id": ends[1]}]
    assert (made["profile"], made["context"], made["depth"]) == ("summarize", "inherit", 2)
    assert (await fetch(services.database, "SELECT count(*) FROM messages")) == [(before,)]
    # It is in the way of both, and goes with the one that it hangs under.
    for branch in (left, right):
        assert_problem(await trunk.client.delete(f"{API}/branches/{branch['id']}"), 409, "branch_has_children")
    answer = await trunk.client.patch(f"{API}/branches/{right['id']}", json={"parent_message_id": ends[0]})
    assert answer.status_code == 200, answer.text
    assert {one["label"]: one["depth"] for one in await trunk.tree()} == {None: 0, "left": 1, "right": 2, "both": 3}
    assert (await trunk.client.delete(f"{API}/branches/{right['id']}?cascade=true")).status_code == 204
    shown = (await trunk.client.get(f"{API}/branches/{made['id']}")).json()
    assert (shown["merged_from"], shown["depth"]) == ([], 2)
    assert await doctor(services) == {}


async def test_merges_that_make_no_sense(trunk: Trunk) -> None:
    turn = await trunk.say("one")
    left = await trunk.fork(turn["message_id"], "left")
    other = Trunk(trunk.client, (await trunk.client.post(f"{API}/conversations")).json()["id"])
    elsewhere = await other.say("x")
    await trunk.say("y", left["id"])
    for ids, status, code in (
        ([left["id"], left["id"]], 422, "invalid"),
        ([left["id"]], 422, "validation_error"),
        ([left["id"], elsewhere["branch_id"]], 422, "other_conversation"),
        ([left["id"], str(uuid.uuid4())], 404, "branch_not_found"),
    ):
        answer = await trunk.client.post(f"{API}/branches/merge", json={"branch_ids": ids, "label": "m"})
        assert_problem(answer, status, code)


# ------------------------------------------------------------------------------------ move, rename, delete


async def test_a_branch_moves_with_what_hangs_under_it(trunk: Trunk, services: Services) -> None:
    first = await trunk.say("one")
    second = await trunk.say("two")
    one = await trunk.fork(first["message_id"], "left", force=True)
    inner = await trunk.say("in left", one["id"])
    leaf = await trunk.fork(inner["message_id"], "leaf", force=True)
    await trunk.say("in leaf", leaf["id"])
    two = await trunk.fork(second["message_id"], "right", force=True)
    target = await trunk.say("in right", two["id"])
    answer = await trunk.client.patch(
        f"{API}/branches/{one['id']}", json={"parent_message_id": target["user_message_id"]}
    )
    assert answer.status_code == 200, answer.text
    assert (answer.json()["depth"], answer.headers["etag"]) == (2, '"2"')
    whole = await trunk.messages(leaf["id"], path=True)
    assert [message["content"] for message in whole if message["role"] == "user"] == [
        "one",
        "two",
        "in right",
        "in left",
        "in leaf",
    ]
    for message, parent in zip(whole[1:], whole, strict=False):
        assert message["parent_id"] == parent["id"]
    for branch, under in ((one, inner), (two, inner), (two, target)):
        answer = await trunk.client.patch(
            f"{API}/branches/{branch['id']}", json={"parent_message_id": under["message_id"]}
        )
        assert_problem(answer, 409, "branch_cycle")
    answer = await trunk.client.patch(
        f"{API}/branches/{first['branch_id']}", json={"parent_message_id": target["message_id"]}
    )
    assert_problem(answer, 409, "first_branch")
    assert await doctor(services) == {}


async def test_a_branch_is_renamed_and_given_another_purpose(trunk: Trunk) -> None:
    turn = await trunk.say("one")
    one = await trunk.fork(turn["message_id"], "left", force=True)
    await trunk.fork(turn["message_id"], "right", force=True)
    url = f"{API}/branches/{one['id']}"
    answer = await trunk.client.patch(url, json={"label": "West"}, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.json()["label"], answer.headers["etag"]) == (200, "West", '"2"')
    answer = await trunk.client.patch(url, json={"label": "x"}, headers={"If-Match": '"1"'})
    assert_problem(answer, 412, "version_mismatch")
    refused = assert_problem(await trunk.client.patch(url, json={"label": "RIGHT"}), 409, "split_refused")
    assert refused["condition"] == "label"
    answer = await trunk.client.patch(url, json={"profile": "summarize", "context": "none"})
    assert (answer.json()["profile"], answer.json()["context"], answer.json()["label"]) == ("summarize", "none", "West")
    assert_problem(await trunk.client.patch(url, json={"label": None}), 422, "validation_error")
    first = f"{API}/branches/{turn['branch_id']}"
    assert (await trunk.client.patch(first, json={"label": "Main"})).json()["label"] == "Main"
    assert_problem(await trunk.client.patch(first, json={"profile": "explore"}), 409, "first_branch")


async def test_deletion_says_what_becomes_of_the_children(trunk: Trunk, services: Services) -> None:
    """D5, D14."""
    turn = await trunk.say("one")
    one = await trunk.fork(turn["message_id"], "left", force=True)
    inner = await trunk.say("in left", one["id"])
    leaf = await trunk.fork(inner["message_id"], "leaf", force=True)
    await trunk.say("in leaf", leaf["id"])
    two = await trunk.fork(turn["message_id"], "right", force=True)
    link = {"target_branch_id": one["id"], "relation": "related", "reason": "both"}
    assert (await trunk.client.post(f"{API}/branches/{two['id']}/links", json=link)).status_code == 201
    url = f"{API}/branches/{one['id']}"
    refused = assert_problem(await trunk.client.delete(url), 409, "branch_has_children")
    assert (refused["children"], refused["descendants"]) == (1, 1)
    assert_problem(await trunk.client.delete(f"{API}/branches/{turn['branch_id']}?cascade=true"), 409, "first_branch")
    assert_problem(await trunk.client.delete(url, headers={"If-Match": '"7"'}), 412, "version_mismatch")
    assert (await trunk.client.delete(f"{url}?cascade=true")).status_code == 204
    assert [branch["label"] for branch in await trunk.tree()] == [None, "right"]
    assert (await fetch(services.database, "SELECT count(*) FROM messages")) == [(2,)]
    assert (await fetch(services.database, "SELECT count(*) FROM branch_links")) == [(0,)]
    assert (await trunk.client.delete(f"{API}/branches/{two['id']}")).status_code == 204
    assert await doctor(services) == {}


# ------------------------------------------------------------------------------------ references


async def test_branches_refer_to_each_other(trunk: Trunk) -> None:
    turn = await trunk.say("one")
    one = await trunk.fork(turn["message_id"], "left", force=True)
    two = await trunk.fork(turn["message_id"], "right", force=True)
    url = f"{API}/branches/{one['id']}/links"
    body = {"target_branch_id": two["id"], "relation": "contradicts", "reason": "Prices differ."}
    made = await trunk.client.post(url, json=body)
    assert made.status_code == 201
    again = await trunk.client.post(url, json=body | {"reason": "Prices differ by a third."})
    assert (again.status_code, again.json()["id"]) == (200, made.json()["id"])
    assert (await trunk.client.post(url, json=body | {"relation": "extends"})).status_code == 201
    for branch in (one, two):
        items = (await trunk.client.get(f"{API}/branches/{branch['id']}/links")).json()["items"]
        assert [(link["relation"], link["reason"]) for link in items] == [
            ("contradicts", "Prices differ by a third."),
            ("extends", "Prices differ."),
        ]
    tree = (await trunk.client.get(f"{API}/conversations/{trunk.id}/tree")).json()
    assert len(tree["links"]) == 2
    assert (await trunk.client.delete(f"{url}/{made.json()['id']}")).status_code == 204
    assert_problem(await trunk.client.delete(f"{url}/{made.json()['id']}"), 404, "link_not_found")
    other = Trunk(trunk.client, (await trunk.client.post(f"{API}/conversations")).json()["id"])
    elsewhere = (await other.say("x"))["branch_id"]
    for target, status, code in (
        (one["id"], 422, "self_link"),
        (elsewhere, 422, "other_conversation"),
        (str(uuid.uuid4()), 404, "branch_not_found"),
    ):
        assert_problem(await trunk.client.post(url, json=body | {"target_branch_id": target}), status, code)
    for bad in ({"relation": "likes"}, {"reason": " "}, {"reason": "a" * 2001}):
        assert_problem(await trunk.client.post(url, json=body | bad), 422, "validation_error")


async def test_a_deleted_conversation_leaves_nothing_of_its_branches(trunk: Trunk, services: Services) -> None:
    """D14."""
    turn = await trunk.say("one")
    one = await trunk.fork(turn["message_id"], "left", force=True)
    two = await trunk.fork(turn["message_id"], "right", force=True)
    for branch in (one, two):
        await trunk.say("x", branch["id"])
    link = {"target_branch_id": one["id"], "relation": "related", "reason": "both"}
    await trunk.client.post(f"{API}/branches/{two['id']}/links", json=link)
    await trunk.client.post(f"{API}/branches/merge", json={"branch_ids": [one["id"], two["id"]], "label": "m"})
    await execute(
        services.database,
        "INSERT INTO path_digests SELECT workspace_id, id, 'x', 'offline' FROM messages ON CONFLICT DO NOTHING",
    )
    assert (await trunk.client.delete(f"{API}/conversations/{trunk.id}")).status_code == 204
    for table in ("branches", "messages", "branch_parents", "branch_links", "path_digests", "branch_insights"):
        assert (await fetch(services.database, f"SELECT count(*) FROM {table}")) == [(0,)], table
