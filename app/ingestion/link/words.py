"""Words that say something about the name they stand in: titles, endings, opposites, professions. Data only."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _in_order(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ARTICLES: Final = _words("the a an")
SMALL: Final = _words("of the and for in on to de la le du van von der")
"""Left out of acronyms."""

# ------------------------------------------------------------------------------------- persons

MALE: Final = _words("mr mister sir lord king prince emperor")
FEMALE: Final = _words("mrs ms miss madam lady dame queen princess empress")
TITLES: Final = (
    MALE
    | FEMALE
    | _words(
        "dr doctor prof professor president senator governor captain colonel general lieutenant sergeant judge justice "
        "chancellor minister pope saint st rev reverend father coach chef"
    )
)
GENERATIONS: Final = _words("jr sr junior senior")

HAN_TITLES: Final = tuple(
    sorted(
        _in_order("""
            先生 女士 小姐 太太 夫人 老师 教授 博士 医生 大夫 护士 律师 法官 警官 经理 总经理 总监 总裁 董事长 董事 社长
            院长 校长 所长 主任 部长 局长 处长 科长 省长 市长 县长 书记 主席 总统 总理 首相 将军 队长 教练 师傅 同志
            同学 工程师 研究员 院士 作家 导演 编辑 记者 会计 司机 总 工 导 哥 姐 叔 阿姨
        """),
        key=len,
        reverse=True,
    )
)
"""After a full name; the longest first."""

# -------------------------------------------------------------------------------- organizations

COMPANY_ENDINGS: Final = _words(
    "inc incorporated llc ltd limited corp corporation co company gmbh ag sa plc bv nv oy ab kg srl spa pty pte"
)
HAN_COMPANY: Final = r"(?:股份|控股|科技|技术|信息|集团)*(?:有限(?:责任)?公司|公司|集团)$"
HEADS: Final = _words("university college school institute company city county province state district")
"""What a name can be said without: Stanford (University)."""
HAN_HEADS: Final = r"(?<=..)(?:大学|学院|公司|市|省|县|区|镇|村|州)$"

HAN_BODIES: Final = (
    r"(?:大学|学院|中学|小学|科学院|研究院|研究所|医院|法院|银行|公司|集团|协会|学会|委员会|联合会|工会|组织|政府|局|部|署|厅|"
    r"出版社|报社|电视台|博物馆|图书馆|体育馆|中心|会议|大会|大战|战争|运动|革命|奥运会|运动会)$"
)
"""How names of organisations and events end that are called by a few of their characters."""

# ------------------------------------------------------------------------------------- opposites

OPPOSITES: Final = tuple(
    _words(line)
    for line in """
north south east west northern southern eastern western central
upper lower
left right
inner outer internal external
male female men women boys girls
old new
big small great little
public private
primary secondary tertiary
major minor
max min mini maxi pro lite
before after
first last
spring summer autumn fall winter
morning evening night
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
red green blue black white yellow
junior senior
import export
input output
similarity distance
""".strip().splitlines()
)
OPPOSITE_BEGINNINGS: Final = tuple(
    tuple(line.split())
    for line in """
micro macro
hyper hypo
inter intra
pre post pro
over under
in de re con
im ex em
super sub
endo exo
homo hetero
mono poly bi tri multi uni
ab ad
anti pro
up down
eu pro
""".strip().splitlines()
)
NEGATIONS: Final = _words("un non in im ir il dis anti semi self no")
"""Beginnings that turn a word into something else."""
HAN_OPPOSITES: Final = _in_order("""
    东西南北中 上下 左右 前后 内外 里外 大小 男女 新旧老 高低 宏微 正反负副 早中晚午夜 甲乙丙丁戊 公私 有无 春夏秋冬
    冷热温 黑白红绿蓝黄 日月年周 父母 兄弟姐妹 出入 进出 买卖 升降 长短 软硬 主次 阴阳
""")
HAN_NEGATIONS: Final = frozenset("无非不反半未超准亚伪")

# ---------------------------------------------------------------------------------- words as numbers

NUMBER_WORDS: Final = {
    word: str(number)
    for ordered in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
    )
    for number, word in enumerate(ordered.split())
}

# --------------------------------------------------------------------------------- stated aliases

CUES_HAN: Final = (
    "英文缩写|英文简称|英文名|中文名|简称|全称|全名|又称|又叫|又名|也叫|也称|也写作|亦称|俗称|别称|原名|本名|笔名|曾用名|旧称|"
    "昵称|外号|绰号"
)
"""A name may follow at once: 笔名老舍."""
CUES_HAN_JOINED: Final = "缩写|别名"
"""Behind these something joins, or the script changes: 别名记录 is a record, 别名为… tells a name."""
CUES_LATIN: Final = (
    r"short for|shortened to|abbreviated(?: to| as)?|(?:abbreviation|acronym|initialism) (?:of|for)|stands for|"
    r"also (?:known|called|written)(?: as)?|better known as|known as|a\.?k\.?a\.?|formerly(?: known as)?|"
    r"(?:pen|real|birth|stage|full|maiden) name(?: of| is|:)?|pseudonym of|nicknamed|née|another name for|alias(?: of)?"
)

# ---------------------------------------------------------------------------------- professions

PROFESSIONS: Final = {
    group: (_words(latin), tuple(han.split()))
    for group, latin, han in (
        (
            "science",
            "professor physicist chemist biologist mathematician economist historian philosopher researcher scientist "
            "lecturer linguist psychologist",
            "教授 物理学家 化学家 生物学家 数学家 经济学家 历史学家 研究员 科学家 院士 讲师 学者 心理学家",
        ),
        (
            "medicine",
            "doctor dentist surgeon nurse physician cardiologist pharmacist therapist veterinarian",
            "医生 医师 护士 牙医 外科 内科 药剂师 兽医",
        ),
        ("law", "lawyer attorney judge solicitor barrister notary", "律师 法官 检察官 公证员"),
        ("school", "teacher schoolteacher kindergartener", "老师 教师 班主任 幼师"),
        ("kitchen", "chef cook baker barista waiter butcher", "厨师 主厨 面点师 咖啡师 服务员 烘焙师"),
        (
            "sport",
            "athlete footballer player gymnast swimmer cyclist boxer sprinter goalkeeper striker",
            "运动员 球员 体操 游泳 拳击手 守门员 短跑 国脚 奥运会",
        ),
        (
            "stage",
            "actor actress singer violinist pianist musician guitarist drummer dancer comedian cellist",
            "演员 歌手 小提琴 钢琴家 音乐家 吉他手 舞者 相声",
        ),
        ("army", "soldier sergeant lieutenant colonel sailor", "军人 士兵 上校 少校 海军"),
        ("police", "policeman policewoman detective", "警察 民警 刑警"),
        (
            "trade",
            "blacksmith carpenter plumber electrician mechanic driver tailor mason welder locksmith",
            "木匠 电工 水管工 司机 裁缝 铁匠 焊工 修理工",
        ),
        ("farm", "farmer fisherman shepherd", "农民 渔民 牧民 茶农 果农"),
        ("space", "astronaut cosmonaut", "航天员 宇航员"),
        ("software", "programmer developer", "程序员 工程师"),
        ("church", "priest pastor bishop monk nun", "牧师 神父 和尚 僧人 尼姑"),
    )
}
"""Group → Latin words, Han words. Somebody of one group is hardly ever of another."""
KINDRED: Final = frozenset(
    frozenset(pair.split("+"))
    for pair in _in_order("""
        science+medicine science+law science+school science+software science+space science+stage army+medicine
        army+space stage+school trade+farm medicine+school software+school church+school sport+army sport+police
    """)
)
"""Groups that go together."""
