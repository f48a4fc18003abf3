"""The router's rules: the few forms of question whose level is beyond doubt.

Pure. The first rule that fits decides; they read the masked text and its cues, and leave to the classifier what they do
not know.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Final

from app.retrieval.route_cues import HAN_KIN, KIN
from app.retrieval.types import Level

_NONE: Final[Set[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    """Fits where `pattern` is found, or any of `cues`; with all of `also` and none of `unless`."""

    level: Level
    reason: str
    pattern: re.Pattern[str] | None = None
    cues: Set[str] = _NONE
    also: Set[str] = _NONE
    unless: Set[str] = _NONE
    # How often rules are right on held-out questions: `python -m bench.router.report`.
    confidence: float = 0.97

    def fits(self, text: str, shown: Set[str]) -> bool:
        if not self.also <= shown or self.unless & shown:
            return False
        return bool(self.cues & shown) or (self.pattern is not None and self.pattern.search(text) is not None)


_SMALL_TALK = re.compile(
    r"^(?:(?:hi+|hello|hey|yo|howdy)(?:,? (?:there|mindcone|everyone|again))?|good (?:morning|afternoon|evening|"
    r"night)|"
    r"how are you(?: doing)?(?: today)?|how(?:'s| is) it going|what'?s up|thanks?(?: you)?(?: (?:so|very) much|"
    r" a lot)?|thx|bye(?: bye)?|goodbye|"
    r"see you(?: later| tomorrow)?|who are you|what can you do|what(?:'s| is) your name|ok(?:ay)?|great|nice|"
    r"cool|haha|lol|"
    r"(?:你|您)好[啊呀吗]?|嗨|哈[喽罗](?:哈[喽罗])?|早(?:上好|安|啊)?|下午好|晚上好|晚安|多?谢+[你您]?[啦了]?|"
    r"非常感谢|太感谢了|再见|拜拜|你是谁|你叫什么(?:名字)?|"
    r"你能做什么|你会什么|你会做什么|在吗|在不在|好的?[吧啊]?|嗯+|哈+|辛苦了?|最近好吗|你还好吗|"
    r"吃了吗)(?:[,， ]*(?:谢谢|thanks?|mindcone|在吗))?$"
)
_FOLLOW_UP = re.compile(
    r"^(?:(?:and |but |so )?(?:why|how so|how come|really|then what|what else|and then|anything else|for example|"
    r"go on|continue|keep going|"
    r"(?:tell me )?more|(?:tell me|say) more(?: about (?:that|it|this))?|elaborate(?: on (?:that|it|this))?|"
    r"say (?:that|it) again|are you sure(?: about that)?|"
    r"(?:can you )?(?:give|show) (?:me )?(?:an|another) example|(?:can you )?explain (?:that|it|this)(?: again)?|"
    r"why do you (?:say|think) (?:that|so)|"
    r"what do you mean(?: by that)?|what does that mean|(?:what|how) about (?:the )?(?:first|second|third|last|"
    r"next|other)(?: (?:one|option|point))?)|"
    r"继续(?:说|讲)?|接着(?:说|讲)|然后呢?|后来呢|那?后来呢|还有(?:吗|呢|别的吗)|为什么(?:呢|这么说|这样说)?|"
    r"怎么会(?:这样)?|举个例子|比如(?:呢|说)?|再说一遍|"
    r"展开(?:讲讲|说说)?|(?:再)?详细(?:说说|讲讲|一点|点)|具体(?:说说|一点|呢)|真的吗|你确定吗?|什么意思|"
    r"这是什么意思|没听懂|那?第[一二三四五0]个呢|换个说法)$"
)
_CONVERSATION = re.compile(
    r"\b(?:this|that|the|other|another|sibling|parent|main|neighbou?ring|previous|last|my|both|two|"
    r"these) (?:\S+ )?branch(?:es)?\b|[这那另父主两前子]"
    r"(?:一)?(?:个|条|个兄弟|个父)?分支|(?:兄弟|隔壁|别的|其他|刚才的|平行)分支|分支(?:里|中|上)?(?:都)?(?:说|"
    r"讨论|聊|谈|提|的结论|得出)|"
    r"刚才|(?:你|我们?)刚刚?(?:说|讲|提|问|聊|讨论|给|列|商量|那|引用)|刚刚(?:那|的)|我们(?:之前|上次|前面|刚才|"
    r"昨天)?(?:聊|讨论|谈)(?:到|过|了|的)|我们(?:之前|刚才|前面|先前)(?:都)?(?:决定|商定|约定|说好|定下)(?:了|过|的)?"
    r"(?:是)?(?:什么|哪些|啥)|(?:之前|上次|前面)(?:的)?(?:对话|聊天)|"
    r"(?:这次|这轮|本次|我们的|整个|这个|之前的|上次的?)(?:对话|聊天|会话|讨论)|上一?[个条轮](?:问题|话题|回答|"
    r"答案|消息|回复)|前面(?:说|提|聊|讨论|问)|"
    r"\b(?:we|you) (?:just|previously|already) (?:said|discussed|talked|mentioned|decided|told|gave|cited|listed|"
    r"wrote)|\bwhat (?:did|have) we (?:discuss|talk|decide)"
    r"(?:ed|d)?\b.*(?:earlier|before|conversation|chat|thread|so far|just now)|\b(?:this|our|"
    r"the) (?:conversation|chat|thread|dialogue|session)\b|"
    r"\byour (?:last|previous|earlier|second|third|first) (?:answer|reply|point|message|response|example|"
    r"suggestion)|\bmy (?:last|previous|earlier|first) question|"
    r"\bwe were (?:just )?(?:talking|discussing)|where (?:did )?we (?:leave|left) off|(?:answer|conclusion|plan|"
    r"text|list|point|option)s? (?:above|mentioned earlier)|"
    r"\b(?:earlier|before),? you (?:said|mentioned)|\byou (?:said|mentioned|told me) (?:earlier|before|that)"
)
_WHOLE = re.compile(
    r"^(?:(?:give me |show me )?(?:an? |the )?(?:global |overall |general |complete |full )*(?:overview|"
    r"big picture)(?: of (?:everything|it all|all of it|all my notes|my notes))?|"
    r"(?:全局|整体|全部|总体|来个|给我一个|给我)*(?:总览|概览|全景|纵览|鸟瞰)|所有主题(?:都?列出来)?|有哪些主题)$"
    r"|across (?:all )?(?:of )?my (?:notes|cards|vault|journals)|(?:summari[sz]e|sum up|digest|condense) (?:all|"
    r"everything|the whole|the entire|my whole)|"
    r"what (?:are|is) my (?:notes|knowledge base|vault|collection) (?:mostly |mainly |all )?about|(?:blind spots|"
    r"gaps) (?:of|in) my|my blind spots|"
    r"(?:总结|概括|归纳|综合|回顾|梳理)(?:一下)?(?:我)?(?:的)?(?:所有|全部|整个|一切)|我的(?:笔记|知识库|"
    r"卡片)(?:里|中)?(?:主要|整体|大致|都)(?:讲|写|是|在|关于|涉及|有|包括)|(?:知识|思维)盲[区点]"
)
_CONNECTION = re.compile(
    r"\bwhat (?:connects?|links|ties)\b|\b(?:relationships?|connections?|links?|paths?|ties|"
    r"association) (?:between|from|is there between)\b|"
    r"\bhow (?:is|are|do|does|did) .{1,80} (?:related|connected|linked|relate|connect|know each other|associated|"
    r"interact)\b|\b(?:related|connected|linked) to what\b|"
    r"[与和跟同及、].{1,40}(?:什么|有何|有没有|之间|啥|是否有)(?:的)?(?:样的)?(?:关系|联系|关联|渊源|交集)|"
    r"之间(?:的|是什么|有什么|有何|存在什么)?(?:关系|联系|关联)|关系(?:网|图谱)|怎么认识的|"
    r"in common\b.* (?:with|and)|\b(?:have|has) in common|(?:共同点|区别|异同|不同之处)(?:是什么|在哪|有哪些|"
    r"吗)?$|\bdifferences? between\b|^compare\b"
)
_CHAIN = re.compile(
    rf"\b(?:{KIN})(?: of (?:the )?|'s )(?:\S+ ){{0,4}}?(?:{KIN})\b|(?:{HAN_KIN})的(?:{HAN_KIN})|"
    rf"\b(?:{KIN}) of the (?:film|song|movie|album|company|city|country|person|man|woman|band|book|"
    r"organi[sz]ation)\b|"
    r"\bwho is (?:older|younger)\b|\bwhich (?:film|movie|band|person|song|author|director|company|magazine|"
    r"book) (?:was|is|came|has|had) .{0,40}(?:first|earlier|older|later|more|younger|longer)\b"
)
_INFLUENCE = re.compile(
    r"^(?:what|which|who|whom|how|why|in what way|is|are|does|do|did) .*\b(?:influenced?s?|affect(?:s|ed)?|"
    r"depends? on|shaped?|interacts?|results? in|lead(?:s)? to|"
    r"contributes? to|inspired?|knock-on effects?)\b|(?:影响|依赖|作用于|波及|牵动|推动|启发|连锁反应|相互作用)"
)
_CODE = re.compile(
    r"\b(?:analy[sz]e|explain|debug|fix|review|refactor|optimi[sz]e|comment|improve|check|run)\b.{0,30}\b(?:this|"
    r"the following|below|my|the)\b.{0,14}"
    r"\b(?:code|function|script|query|snippet|program|bug)\b|(?:分析|解释|看看?|看一下|优化|重构|检查|调试|修改|"
    r"修|运行|注释|解读|review).{0,8}(?:这|下面|以下|该|我的?)"
    r".{0,4}(?:代码|函数|脚本|sql|程序|报错|bug|code)"
)
_TRANSLATE = re.compile(
    r"^(?:please |can you |could you |help me )*translate\b|翻译(?:一下|成|为|：|:|这|下|以下)|译(?:成|为)|"
    r"translate 一下|how do (?:you|i) say "
)
_STORY = re.compile(
    r"\bwhat (?:exactly |really |actually )*(?:happened|was going on|went wrong|went on|led up to)\b|"
    r"\bhow did .{1,60} (?:come about|unfold|end up|play out|start and)\b|"
    r"\b(?:back)?story (?:of|behind)\b|\bwalk me through (?:how|what)|\btimeline of\b|\bsequence of events\b|"
    r"\breconstruct\b|\bcircumstances\b|"
    r"来龙去脉|前因后果|始末|[的个]经过|经过(?:和|是|讲)|前后经过|发生了(?:什么|哪些|啥)|(?:到底|究竟)(?:怎么了|"
    r"怎么回事|出了什么)|历程|一步步|那天的?(?:情况|情形|情景)|当晚|"
    r"讲讲.{1,20}(?:经历|故事|那件事)|在什么(?:背景|情况)下"
)
_FIND = re.compile(
    r"^(?:please |can you |help me )*(?:find|search for|look up|show me|open|get) (?:me )?(?:my |the |a |"
    r"all )?(?:notes?|cards?|entr(?:y|ies)|page)\b|"
    r"\b(?:which|what) (?:cards?|notes?) (?:mentions?|talks? about|contains?|says?)\b|where did i (?:write|note|"
    r"save|put)|(?:在)?哪(?:一)?(?:张|条|篇)(?:卡片|笔记|记录)(?:里)?(?:提|写|记|说|讲|有)|"
    r"(?:找|查|搜)(?:一下|到|出|找|索)?.{0,12}(?:笔记|卡片|记录)|(?:记|写)在哪"
)

# Cues of a question that asks for something else than the collection as a whole; and of one for a detail of it.
_OTHERWISE: Final = frozenset({"one_card", "quote", "find", "make", "story", "dialogue", "relation", "earlier", "code"})
_DETAIL: Final = _OTHERWISE | {"attribute", "who", "when", "where", "said_about"}

CONVERSATION: Final = "conversation"
"""The rule for questions about the conversation itself."""

RULES: Final = (
    Rule(Level.chat, "small_talk", _SMALL_TALK, confidence=1.0),
    Rule(Level.context, "follow_up", _FOLLOW_UP),
    Rule(Level.context, CONVERSATION, _CONVERSATION, unless=frozenset({"code", "make", "thanks"})),
    Rule(Level.chat, "task", _CODE, unless=frozenset({"notes"})),
    Rule(Level.chat, "task", _TRANSLATE, unless=frozenset({"notes", "one_card", "card_title"})),
    Rule(Level.chat, "task", cues=frozenset({"sum", "units", "now"}), unless=frozenset({"notes", "name"})),
    Rule(
        Level.search,
        "one_card",
        cues=frozenset({"one_card"}),
        unless=frozenset({"relation", "you_said", "branch", "dialogue", "story", "affects"}),
    ),
    Rule(Level.insight, "whole_collection", _WHOLE, unless=frozenset({"one_card", "quote"})),
    Rule(
        Level.insight,
        "whole_collection",
        cues=frozenset({"theme", "most", "summarise", "about_me"}),
        also=frozenset({"whole"}),
        unless=_OTHERWISE | {"name"},
    ),
    Rule(
        Level.insight,
        "whole_collection",
        cues=frozenset({"theme", "whole"}),
        also=frozenset({"notes"}),
        unless=_DETAIL,
    ),
    Rule(
        Level.insight,
        "whole_collection",
        cues=frozenset({"whole"}),
        unless=_DETAIL
        | {"name", "two_names", "kin", "follow", "affects", "compare", "quantity"}
        | {"branch", "you_said", "feeling", "text_given", "why"},
    ),
    Rule(
        Level.context,
        "story",
        _STORY,
        unless=frozenset({"notes", "one_card", "code", "make", "theme", "quantity", "attribute", "most"}),
    ),
    Rule(Level.search, "find", _FIND, unless=frozenset({"relation", "theme", "dialogue", "compare"})),
    Rule(Level.explore, "connection", _CONNECTION, unless=frozenset({"story", "dialogue", "code", "make", "whole"})),
    Rule(
        Level.explore,
        "influence",
        _INFLUENCE,
        unless=frozenset(
            {"story", "dialogue", "make", "whole", "about_me", "code", "feeling", "theme", "you_said", "when", "where"}
        ),
    ),
    Rule(Level.explore, "chain", _CHAIN, unless=frozenset({"story", "dialogue", "make", "whole"})),
)


def find_rule(text: str, shown: Set[str]) -> Rule | None:
    """The rule that decides about a masked question that shows these cues."""
    return next((rule for rule in RULES if rule.fits(text, shown)), None)
