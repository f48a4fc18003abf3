"""Turns of dialogues are found, and lists of keys are not; what is said is told with the speakers' names."""

from __future__ import annotations

import time

import pytest

from app.text.dialogue import addressee_of, stand_alone_turn, turns

CHAT = "Caroline: Hey Mel! Good to see you!\nMelanie: Hey Caroline! I'm swamped with work.\nCaroline: Oh no."


def speakers(content: str) -> list[str]:
    return [turn.speaker for turn in turns(content)]


class TestTurns:
    def test_a_turn_knows_its_places(self) -> None:
        content = (
            "# Call\n\n[10:02] Nadia: Omar's laptop died again.\nTwice!\n[10:03] Felix: Tell him.\n\n## Later\ntext"
        )
        first, second = turns(content)
        assert (first.speaker, first.time_text) == ("Nadia", "10:02")
        assert content[first.start : first.end] == "[10:02] Nadia: Omar's laptop died again.\nTwice!"
        assert content[first.said_start : first.end] == "Omar's laptop died again.\nTwice!"
        assert content[second.start : second.end] == "[10:03] Felix: Tell him."

    @pytest.mark.parametrize(
        ("content", "found"),
        [
            (CHAT, ["Caroline", "Melanie", "Caroline"]),
            ("**Ann**: Where is it?\n\n**Bob**: In the car, I think.", ["Ann", "Bob"]),
            ("**Ann:** Where is it?\n\n**Bob:** In the car, I think.", ["Ann", "Bob"]),
            ("> Ann: Where is it?\n> Bob: In the car.", ["Ann", "Bob"]),
            ("- [9:00] Zed: hi\n- [9:01] Kim: hi\n- [9:02] Zed: bye", ["Zed", "Kim", "Zed"]),
            ("09:12 Zed: hi\n09:13 Kim: hi\n09:14 Zed: bye", ["Zed", "Kim", "Zed"]),
            ("Dr. Bell (May 3): How do you feel?\nMr. Okafor (May 3): Better.", ["Dr. Bell", "Mr. Okafor"]),
            ("张三：你到了吗？\n李四：刚到，堵车。", ["张三", "李四"]),
            ("小王: 需求又改了。\n老陈: 什么时候的事？\n小王: 昨天。", ["小王", "老陈", "小王"]),
            ("房东：水费下个月一起交。\n租客：好的，我知道了。", ["房东", "租客"]),
            ("[2024-05-01 09:12] 林姐：合同发了吗\n[2024-05-01 09:13] 阿杰：发了", ["林姐", "阿杰"]),
            ("记者：您怎么看？\n余华：我觉得还行。\n记者：谢谢。", ["记者", "余华", "记者"]),
            ("Q: Does it run offline?\nA: Yes, it does.\nQ: And on Windows?\nA: Also.", ["Q", "A", "Q", "A"]),
        ],
    )
    def test_dialogues(self, content: str, found: list[str]) -> None:
        assert speakers(content) == found

    @pytest.mark.parametrize(
        "content",
        [
            "",
            "There is one rule: never deploy on Friday.\nAnd a second: write it down.",
            "Note: back up first.\nWarning: this deletes data.\nNote: really.",
            "name: mindcone\nversion: 1.2\nlicense: MIT\nname: other",
            "---\ntitle: Call with Ann\nauthor: Bob\n---\nWe talked.",
            "```\nAnn: hello there.\nBob: hello.\nAnn: bye.\n```",
            "City: Paris\nCountry: France\nLanguage: French",
            "Pros: it is fast.\nCons: it is new.\nPros: it is free.\nCons: no docs.",
            "Correct: I am here.\nIncorrect: I is here.\nCorrect: He is.\nIncorrect: He are.",
            "Inbox: what I have not read yet.\nArea: what I keep up, always.\nProject: what ends.",
            "- 作用：记录灵感。\n- 评价：很好用。\n- 作用：管理任务。\n- 评价：一般。",
            "优点：速度快，体积小。\n缺点：不支持中文。\n优点：免费。\n缺点：慢。",
            "时间：周三下午。\n地点：三楼会议室。\n参会人：全体。",
            "首先：打开软件。\n其次：新建文件。\n最后：保存。",
            "http://a.example/x\nhttps://b.example/y\nhttp://c.example/z",
            "Ann: I said nothing.",
            "Ann: milk\nAnn: bread\nAnn: eggs",
            "| Ann: x | Bob: y |\n|---|---|\n| Ann: z | Bob: w |",
            "12:30 lunch\n13:00 call\n14:15 train",
        ],
    )
    def test_no_dialogues(self, content: str) -> None:
        assert turns(content) == []

    def test_a_long_note_with_a_quotation_in_it_is_no_dialogue(self) -> None:
        prose = "We met in the morning and talked about the budget for the next year.\n" * 6
        assert turns(prose + "Ann: it is too much.\nBob: it is not.\n" + prose) == []

    def test_is_linear(self) -> None:
        """Eight times the text costs about eight times the time; its square would be 64."""

        def cost(times: int) -> float:
            content = ("Ann: is it [there: or `not`?\n" + "x" * 40 + ":" + "\n[[[[ (((( Bob: **no**.\n") * times
            best = float("inf")
            for _ in range(3):
                begun = time.process_time()
                turns(content)
                best = min(best, time.process_time() - begun)
            return best

        assert cost(4000) < 24 * cost(500)


class TestAddressee:
    def test_of_two_it_is_the_other(self) -> None:
        speakers = {turn.speaker for turn in turns(CHAT)}
        assert addressee_of(speakers, "Caroline") == "Melanie"
        assert addressee_of(speakers, "Melanie") == "Caroline"

    def test_of_three_it_is_nobody(self) -> None:
        found = turns(CHAT + "\nJon: Hi all, I am here.\nMelanie: Hi Jon!")
        assert len(found) == 5
        assert addressee_of({turn.speaker for turn in found}, "Caroline") is None


class TestStandAlone:
    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("I went home.", "Ann went home."),
            ("I'm tired and I've had enough.", "Ann is tired and Ann has had enough."),
            ("I am here; I'll stay.", "Ann is here; Ann will stay."),
            ("I have a cat. I don't like dogs.", "Ann has a cat. Ann doesn't like dogs."),
            ("I really want to go.", "Ann really wants to go."),
            ("I'd love to.", "Ann would love to."),
            ("My sister gave me a book.", "Ann's sister gave Ann a book."),
            ("You were right.", "Bob was right."),
            ("You're a good cook.", "Bob is a good cook."),
            ("Are you coming? Do you know?", "Is Bob coming? Does Bob know?"),
            ("Did you see my keys?", "Did Bob see Ann's keys?"),
            ("Your garden is lovely.", "Bob's garden is lovely."),
            ("That book is mine.", "That book is Ann's."),
            ("You know, it is late.", "You know, it is late."),
            ("Thank you! It is, you know, late.", "Thank you! It is, you know, late."),
            ("We both laughed.", "Ann and Bob laughed."),
            ("We moved to Rome.", "We moved to Rome."),
            ('He said "I quit" to me.', 'He said "I quit" to Ann.'),
            ("The mine is closed in Minsk.", "The mine is closed in Minsk."),
        ],
    )
    def test_english(self, said: str, told: str) -> None:
        assert stand_alone_turn(said, "Ann", "Bob") == told

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("我昨天到的。", "小王昨天到的。"),
            ("我的车坏了，你能来接我吗？", "小王的车坏了，老陈能来接小王吗？"),
            ("我们明天去。", "我们明天去。"),
            ("我们俩都去。", "小王和老陈都去。"),
            ("谢谢你！", "谢谢你！"),
            ("你好，自我介绍一下。", "你好，自我介绍一下。"),
            ("本人同意，您看呢？", "小王同意，老陈看呢？"),
            ("他说“我不去”。", "他说“我不去”。"),
        ],
    )
    def test_chinese(self, said: str, told: str) -> None:
        assert stand_alone_turn(said, "小王", "老陈") == told

    def test_without_an_addressee_you_stays(self) -> None:
        assert stand_alone_turn("I told you.", "Ann") == "Ann told you."
        assert stand_alone_turn("我告诉你。", "小王") == "小王告诉你。"

    def test_a_label_that_names_nobody_is_not_put_in(self) -> None:
        assert stand_alone_turn("I think so, don't you?", "A", "Q") == "I think so, don't you?"
        assert stand_alone_turn("我觉得是。", "答", "问") == "我觉得是。"

    def test_what_has_nothing_to_tell_comes_back_itself(self) -> None:
        said = "The meeting is at nine."
        assert stand_alone_turn(said, "Ann", "Bob") is said
