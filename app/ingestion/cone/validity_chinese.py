"""Chinese claims of which one can be true at a time: states with one value, relations of which there is one. Pure.

Chinese writes no capitals and no articles: a subject is a name that is known, or a noun that asks for a value (期, 价,
租金, 版本).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from app.ingestion.cone.validity_shapes import Slot, Statement, names_one, one_of, place, slots
from app.text.names_zh_words import CLEAR_SURNAMES, NOT_PERSONS, PLACES
from app.text.normalise import fold, name_key

_UNSURE = re.compile(
    r"[不没]|无(?!锡|线|人机)|未(?!来)|别(?!墅)|非(?!洲)|如果|假如|假设|要是|若|倘|万一|只要|除非|可能|也许|或许|大概(?!\d)|似乎|好像|应该|估计|预计"
    r"|打算|计划(?=在|搬|将|招|于)|准备|(?<![理联思])想|希望|考虑|争取|即将|将(?=会|在|于|是|为|要|达|搬|涨|改|有)|会(?=是|在|有|搬|涨|达|改|变)|据说|听说|传闻|据称|据报"
    r"|(?<!小)说(?!明)|表示|认为|觉得|声称|宣称|(?<!名)称(?!为)|曾经|曾(?=[任在住是有])|以前|原来|原本|之前|过去|当时|前任|[吗呢吧么]$|假装|建议|要求|必须|梦见|或者?|也(?=在|是|有|住)|还(?=在|是|有|住)"
    r"|同时|兼|差点|临时"
)
_NOW: Final = r"(?:目前|现在|如今|眼下|截至目前|截至今天|当前|最新|现(?=有|为|任|住|居)|已经|已)"
_LEADING = re.compile(rf"^(?:{_NOW}|最近|昨天|上个?月|上周|今年|去年|本月|这个月|刚刚|更新)[，,:：]?\s*")
_NOW_WORD = re.compile(_NOW)
_COMPARED = re.compile(r"[，,（(]\s*(?:原来?[为是]|此前|之前|比|较|而不?是|上涨|下降|涨了|降了|从).*$")
_ALTOGETHER = re.compile("(?:[一总]?共|今年)$")
_NOBODY = re.compile(
    r"[我你您咱她]|(?<![其吉])他|它|[这每各某们]|那(?!不勒|曲)|有的|有些|很多|许多|大家|人人|人们|一些|一个|所有|任何|其他|别人|谁|什么|哪|以及|[，,；;、“”\"（）()？?和与]|上次|下次|昨天|今天|明天"
)


def _subject(text: str, names: Sequence[str], needs_name: bool) -> tuple[str, bool] | None:
    """The key of a subject, and whether a name is in it."""
    text = _ALTOGETHER.sub("", _NOW_WORD.sub("", text).strip())
    if not text or len(text) > 40 or _NOBODY.search(text):
        return None
    named = names_one(text, names)
    if not named and (needs_name or _ASKS.search(text) is None or len(text) > 10):
        return None
    return name_key(text.replace("的", "")), named


# --------------------------------------------------------------------------------------- values

# Nouns of which a thing has one value. Without a name they stand for what the text is about.
_ASKS = re.compile(
    r"(?:期|期限|日期|时长|标准|门槛|时间|版本|版本号|价|年假|价格|售价|单价|定价|费|费用|房租|月租|租金|押金|工资|月薪|年薪|薪水|薪资|奖金|人数|数量|总数|面积|体重|身高|年龄|血压|血糖"
    r"|容量|重量|长度|高度|宽度|深度|距离|速度|功率|预算|余额|利率|汇率|税率|占比|比例|比率|胜率|转化率|成功率|总额|金额|成本|收入|利润|销量|产量|营收|市值|股价|库存"
    r"|额度|上限|下限|限额|分数|成绩|得分|续航|里程|温度|湿度|端口|端口号|房间号|门牌号|车位|密码|工期|学费|年费|月费|会费|票价|公司|本公司|学校|工厂|团队|图书馆)$"
)
_CHANGED = one_of("""
    上?涨到|升到|升至|增加到|增至|增长到|提高到|提高至|提升到|提升至|上调[到至为]|下调[到至为]|降到|降至|降低到
    |下降到|减少到|减至|缩短到|缩短为|延长到|延长至|延长为|推迟到|推迟至|延期到|延期至|提前到|提前至|改到|改为
    |改成|调整为|升级[到至为]|扩容[到至]|调整到|调到|变成|变为|扩大到|扩大为|达到|达""")
_BETWEEN = r"(?P<between>[^，,；;：:。]{0,8})$"
_CHANGE = re.compile(rf"^(?P<subject>.+?)(?:已|再次|将)?(?P<be>{_CHANGED}了?){_BETWEEN}")
# Greedy: the verb nearest to the value.
_STATE = re.compile(
    r"^(?P<subject>.+)(?:(?P<be>就?是|为(?!了|什|何)|定在|定于|等于|报|卖|售(?=价)?)"
    rf"|(?P<verb>最[多少高低](?:可以?|能)?[^\d\s]{{1,2}}|共?有|拥有|设有|可?容纳|占地|需要?|花费|耗时|收费|续航|持续|重|长|高|宽|深)){_BETWEEN}"
)
_DEED = re.compile(r"[了过着]")
_EVERY = re.compile("每[月年天周日]")
_TAIL_BARS = re.compile(r"[，,；;：:。、（(？?和与]|以[上下前后内]|之[前后]|左右.{2,}|[了过着吗]|里的|中的|才|时(?!薪)")
_DATED = re.compile(r"(?:期|期限|日期|时长|标准|门槛|期限|时间|日|生日|纪念日)$")
_BETWEEN_STOP = re.compile(r"[的\s]")


def _value(text: str, names: Sequence[str], has_times: bool) -> Statement | None:
    filled = slots(text)
    if not filled:
        return None
    slot = filled[-1]
    before, tail = text[: slot.start].rstrip(), text[slot.end :].strip()
    found = _CHANGE.match(before) or _STATE.match(before)
    verb, between = "be", ""
    if found is not None:
        subject_text, between = found["subject"], found["between"]
        verb = "be" if found["be"] else found.groupdict()["verb"]
    elif slot.unit in ("岁", "岁+"):
        subject_text = before.removesuffix("今年").removesuffix("现年")
        if fold(subject_text) not in names:
            return None
    elif _ASKS.search(before):
        subject_text = before
    else:
        return None
    if any(other.end > len(subject_text) for other in filled[:-1]):
        return None
    if len(tail) > 12 or _TAIL_BARS.search(tail) or _DEED.search(between):
        return None
    if any(not other.fixed for other in filled[:-1]) or not _fits(slot, subject_text, verb):
        return None
    if has_times and slot.kind not in ("date", "clock") and "岁" not in slot.unit:
        # A year within the subject and "every month" date nothing.
        dates = any(other.kind == "date" for other in filled[:-1])
        if not dates and "年" not in text and not _EVERY.search(text):
            return None
    subject = _subject(subject_text.removesuffix("今年"), names, False)
    if subject is None:
        return None
    if (
        slot.kind == "quantity"
        and not subject[1]
        and verb not in ("be", "共有", "有", "拥有")
        and _ASKS.search(subject_text) is None
    ):
        return None
    verb = "有" if verb in ("共有", "拥有", "设有") else verb
    rest = fold(_BETWEEN_STOP.sub("", between) + "#" + _BETWEEN_STOP.sub("", tail))
    return Statement(subject[0], f"{verb} {slot.kind} {slot.unit} {rest}", slot.value, subject[1])


def _fits(slot: Slot, subject: str, verb: str) -> bool:
    if slot.kind == "date":
        return slot.fixed and verb == "be" and _DATED.search(subject) is not None
    if slot.kind in ("number", "version", "clock"):
        return verb == "be"
    if slot.kind == "money":
        return verb not in ("共有", "有", "拥有", "设有")
    return not slot.value.startswith("第")


# ------------------------------------------------------------------------------------ relations

_LATELY = (
    r"(?:上个?月|上周|上个?星期|最近|今年|去年|昨天|前天|这个月|本月|刚刚|刚|正式|又|再次|终于|从\S{1,8}?(?=搬|跳))*"
)
_ROLE = (
    r"(?P<role>CEO|CTO|CFO|COO|首席执行官|首席技术官|总裁|董事长|总经理|财务总监|技术总监|市场总监|运营总监|销售总监|人事总监|负责人|项目经理|校长|院长|主席"
    r"|总统|总理|首相|市长|省长|县长|国王|主编|总编辑|队长|主教练|教练|班主任|店长|馆长|社长|会长|老板|房东|首都|省会|首府|主人|妻子|丈夫|老婆|老公|女友|男友"
    r"|女朋友|男朋友|上司|上级|直属领导|直属上级|导师|法人|法定代表人|法人代表|产品负责人|技术负责人)"
)
_SAME_ROLE: Final = {
    "首席执行官": "ceo",
    "负责": "负责人",
    "首席技术官": "cto",
    **dict.fromkeys(("上司", "上级", "直属领导", "直属上级"), "汇报"),
    **dict.fromkeys(("妻子", "丈夫", "老婆", "老公"), "配偶"),
    **dict.fromkeys(("女友", "女朋友"), "女友"),
    **dict.fromkeys(("男友", "男朋友"), "男友"),
}
_WORK_AS = r"(?:工作|上班|任职|就职|担任\S{1,12}|任\S{1,8}|做\S{1,8}|当\S{1,8})"
_LIVES = one_of("居住在|住在|现居|常住|定居在?于?|搬家到了?|搬到了?|搬去了?|搬至|迁居到?|移居到?了?")
_WORKS = one_of("就职于|任职于|供职于|跳槽到了?|跳槽去了?|入职了?|加盟了?")
_SEAT = one_of("位于|设在|设于|搬到了?|搬至|迁至|迁到了?|迁往|在")
_HIDDEN = "(?P<role>密码|账号|邮箱|手机号码?|电话号码|域名|网址|暗号)(?:是|为|改为|改成了?|换成了?)"
_BECOMES = one_of("就?是|担任|出任|就任|接任|升任|被任命为|当选为?|任")
_RELATIONS: Final = tuple(
    (kind, re.compile(f"^{pattern}$"))
    for kind, pattern in (
        ("seat", rf"(?P<s>.+?)的?总部{_LATELY}{_SEAT}(?P<o>.+)"),
        ("home", rf"(?P<s>.+?){_LATELY}{_LIVES}(?P<o>.+?)(?:了|生活|居住|定居)?"),
        ("place", r"(?P<s>.+?)(?:位于|坐落于|坐落在|地处)(?P<o>.+)"),
        ("employer", rf"(?P<s>.+?){_LATELY}{_WORKS}(?P<o>.+?)(?:了|{_WORK_AS})?"),
        ("employer", rf"(?P<s>.+?){_LATELY}在(?P<o>.+?){_WORK_AS}"),
        ("汇报", r"(?P<s>.+?)(?:直接)?向(?P<o>.+?)汇报(?:工作)?"),
        ("汇报", r"(?P<s>.+?)(?:直接)?汇报给(?P<o>.+)"),
        ("配偶", rf"(?P<s>.+?){_LATELY}(?:嫁给了?|娶了)(?P<o>.+)"),
        ("配偶", rf"(?P<s>.+?){_LATELY}[和与跟](?P<o>.+?)结婚了?"),
        ("name", rf"(?P<s>.+?){_LATELY}(?:改名为|更名为|改名叫|改名成|改称|现名)(?P<o>.+)"),
        ("favourite", r"(?P<s>.+?)最(?:喜欢|爱)的(?P<role>[^，,是]{1,6})是(?P<o>[^，,；;]{1,12})"),
        ("secret", rf"(?P<s>.+?)的?{_HIDDEN}[:：]?\s*(?P<o>[!-~]{{3,60}})"),
        ("role", rf"(?P<s>.+?)的?{_ROLE}(?:换成了?|改由|改为|变成了?|是|为|由)(?P<o>.+?)(?:担任|接任)?"),
        ("role", r"(?P<s>.+?)由(?P<o>.+?)(?P<role>负责)"),
        ("held", rf"(?P<o>.+?){_LATELY}{_BECOMES}(?P<s>.+?)的?(?:新任?|现任)?{_ROLE}(?:一职)?"),
    )
)
_RELATED = re.compile(
    r"总部|住|居|搬|迁|位于|坐落|地处|职|跳槽|加盟|工作|上班|担任|汇报|换成|变成|改|嫁|娶|结婚|名|现名|改称|最喜欢|最爱|密码|账号|邮箱|号码|手机号|域名|网址|暗号|是|[任为由]"
)
_FIGURE = re.compile(r"[\d〇零一二三四五六七八九十百千万亿两]")
_MANY = re.compile(r"[和与及、，,；;或的了过]|以及|一[个家位名]")
_FIRM = re.compile(r"(?:股份有限公司|有限责任公司|有限公司|公司|集团)$")


def _is_person(text: str) -> bool:
    """A surname and one or two characters, where only people stand."""
    return len(text) in (2, 3) and text[0] in CLEAR_SURNAMES and text not in NOT_PERSONS and not _NOBODY.search(text)


def _relation(text: str, names: Sequence[str]) -> Statement | None:
    if not _RELATED.search(text):
        return None
    for kind, pattern in _RELATIONS:
        if (found := pattern.match(text)) and (statement := _related(kind, found, names)):
            return statement
    return None


def _related(kind: str, found: re.Match[str], names: Sequence[str]) -> Statement | None:
    group = found.groupdict()
    role = group.get("role") or ""
    given = group["o"].strip()
    subject = _subject(group["s"], names, kind != "secret")
    if subject is None and kind in ("home", "employer", "汇报", "配偶") and _is_person(group["s"]):
        subject = name_key(group["s"]), True
    if kind == "secret":
        if subject is None and len(group["s"]) <= 8 and not _NOBODY.search(group["s"]):
            subject = name_key(group["s"]), False
        return Statement(subject[0], role, given, subject[1]) if subject else None
    if subject is None or _MANY.search(given) or _NOBODY.search(given) or len(given) > 20:
        return None
    if kind == "favourite":
        return Statement(subject[0], f"favourite {role}", name_key(given))
    if kind in ("role", "held"):
        role = _SAME_ROLE.get(role, fold(role))
        return Statement(subject[0], role, name_key(given)) if kind == "role" or fold(given) in names else None
    if kind in ("home", "place", "seat"):
        if not (names_one(given, names) or given in PLACES or re.search("[省市区县镇乡村州岛国路号]$|小区$", given)):
            return None
        width, key = place(given)
        return Statement(subject[0], f"place {width}", key)
    if kind == "employer":
        if not names_one(given, names):
            return None
        if given in PLACES or re.search("[省市区县镇乡村州岛国]$", given):
            return Statement(subject[0], "place of work", place(given)[1])
        return Statement(subject[0], "employer", name_key(_FIRM.sub("", given) or given))
    return Statement(subject[0], kind, name_key(given))


# ----------------------------------------------------------------------------------------- all


def read_chinese(text: str, names: Sequence[str], has_times: bool, speaker: str) -> Statement | None:
    """`names` are folded. 我 at the beginning is the `speaker`; without one it is nobody."""
    text = text.rstrip(" 。.！!；;")
    if not _RELATED.search(text) and not _FIGURE.search(text):
        return None
    if speaker:
        text = re.sub("^我(?!们|国|校|司)", speaker, text)
        names = [*names, fold(speaker)]
    text = _LEADING.sub("", _COMPARED.sub("", text))
    if _UNSURE.search(text):
        return None
    text = _NOW_WORD.sub("", text)
    return _relation(text, names) or _value(text, names, has_times)
