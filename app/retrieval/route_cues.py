"""Cues: what a question says about itself in so many words, in Chinese and English. The router's rules and classifier
read them.

Pure; all patterns meet the folded and masked text of `route_features.masked` (`§` a name, `¶` a quotation or title, `¤`
a title in 《》, `0` a number).
"""

from __future__ import annotations

import re
from typing import Final

KIN: Final = (
    r"father|mother|parents?|son|daughter|brother|sister|wife|husband|spouse|partner|uncle|aunt|grand(?:father|"
    r"mother|son|"
    r"daughter)|child(?:ren)?|teacher|mentor|boss|founder|director|author|composer|performer|writer|creator|"
    r"owner|ceo|"
    r"president|capital|birthplace|mayor|producer|publisher|inventor|investor|employer|colleagues?|alma mater|country"
)
HAN_KIN: Final = (
    r"父亲|母亲|爸爸|妈妈|儿子|女儿|哥哥|弟弟|姐姐|妹妹|妻子|丈夫|配偶|老婆|老公|爷爷|奶奶|外公|外婆|祖父|祖母|"
    r"孩子|老师|导师|上司|老板|"
    r"创始人|导演|作者|作曲者?|主演|演员|制片人|母公司|首都|出生地|发明者|投资人|投资方|同事|同学|校长|母校|国家|"
    r"女婿|岳父|学生"
)

_PATTERNS: Final[dict[str, str]] = {
    "greeting": r"^(?:hi|hello|hey|yo|good (?:morning|afternoon|evening|night)|morning|嗨|哈喽|你好|您好|早上好|"
    r"早安|早啊|下午好|晚上好|"
    r"晚安|大家好)(?![a-z])",
    "thanks": r"\bthank|\bthx\b|\bcheers\b|\bsorry\b|\bbye\b|goodbye|see you|no problem|well done|great job|谢谢|"
    r"多谢|感谢|辛苦|抱歉|对不起|"
    r"不好意思|再见|拜拜|明天见|回头聊|先下了",
    "nod": r"^(?:ok(?:ay)?|yes|no|sure|alright|got it|fine|cool|great|nice|lol|wow|haha|hmm|好的?|嗯+|行|可以|"
    r"知道了|明白了?|哈+|哦+|厉害)\b"
    r"|^(?:awesome|never mind|forget it|牛|绝|赞|没事|算了|对$|终于|恭喜)",
    "self": r"(?<!how )(?<!why )\b(?:are|do|can|could|will|were|have) you\b(?! tell me| sure| say)|"
    r"\byour (?:name|favou?rite|purpose|hobby|opinion)\b|\byou(?:'re| are) "
    r"|你(?:是|会|能不能|能做|叫|有|喜欢|觉得|背后|真|太|好|可以做|是不是|还好|多大|怕)",
    "feeling": r"what should i (?:wear|have|eat|cook|do\b(?! about))|\bany ideas|\bideas for\b|would you rather|"
    r"if you were|\b(?:feel(?:ing)?|bored|tired|sad|lonely|stressed|happy|upset|exhausted|joke|laugh|cheer|"
    r"motivat|riddle|game|sing|poem|"
    r"haiku|fairy tale|bedtime)\b|心情|难过|好累|太累|无聊|压力|开心|郁闷|焦虑|失眠|笑话|段子|哈哈|陪我|安慰|"
    r"减肥|头疼|追女生|吃什么|送(?:什么|女|男)|去哪玩|好玩|外面下雨|鼓励|打气|唱|诗|童话|谜|游戏|接龙"
    r"|recite|say something|talk to me|let's (?:chat|talk|play)|聊[聊会]|好久不见|忙不忙|夸|笑一个|假如|如果你|"
    r"if you could|sky blue|make friends|sleep better|放假|升职|好日子",
    "make": r"^(?:please |can you |could you |help me )*(?:write|compose|draft|implement|rewrite|rephrase|"
    r"paraphrase|correct|proofread|"
    r"fix|format|convert|calculate|compute|brainstorm|suggest|recommend|invent|pretend|act as|imagine|generate|"
    r"create|design|solve|"
    r"refactor|optimi[sz]e|debug|polish|shorten|simulate|play|give me (?:a|an|some|two|three|five|ten|0)\b|"
    r"make (?:up|me)|"
    r"tell me (?:a|an|some)\b(?! (?:story|timeline) of)|come up with|turn (?:this|these|the|it)\b|sort (?:this|"
    r"these)|find a (?:nick)?name|think of)"
    r"|写(?:一|个|段|首|封|点|篇|份|几)|润色|改写|起草|拟一?(?:份|封|个)|编(?:一个|个|一段)|(?:起|取)(?:个|十个|"
    r"几个|一个)?.{0,3}名|换算|算一?下|"
    r"扮演|(?:讲|说|来)(?:个|一个|段|点)|生成|格式化|优化|重构|推荐|给我(?:出|随机|来)|帮我想|(?:想|取|起)(?:十|"
    r"几|一|0)个|背(?:首|一)|唱|给个例子|用.{1,12}(?:实现|写)|改得"
    r"|^(?:plan|put ¶)|\bsynonym|rhymes with|给.{1,6}(?:组词|起名|取名)|[列做](?:一个|个|份)|帮我改|改一下|简化|"
    r"转成|近义词|三分之一|\ba third of|给.{1,5}写",
    "translate": r"\btranslat|how (?:do|would|can) (?:you|i|one) say|\bin (?:french|german|spanish|chinese|"
    r"japanese|english|italian|korean)\b"
    r"|翻译|译成|译为|\bword for\b|what's § for\b|¶ in (?:§|\w+)\b|[¶里].{0,8}怎么[说讲写]$|怎么[说讲]$|翻成|"
    r"(?:这句|句话|英文|单词).{0,4}什么意思"
    r"|怎么(?:念|读|拼)|\bpronounc|\bspell\b|count to",
    "code": r"\b(?:code|function|script|regex|regular expression|snippet|bug|compile|algorithm|class|loop|"
    r"unit tests?|stack trace|"
    r"exception|python|javascript|typescript|rust|java|sql|bash|html|css|json|api|leetcode|sort|div|recursion|"
    r"dockerfile|quer(?:y|ies)|loops?|syntax)\b|c\+\+|代码|函数|脚本|正则|报错|编程|算法|"
    r"单元测试|爬虫|递归|循环|排序|编译|调试|语法|死循环|[;{}]|\w\(|=>|==",
    "sum": r"0 ?[-+*/×÷^] ?0|\b0 (?:times|plus|minus|divided)|(?:times|plus|minus) 0|square root|squared|0的平方|"
    r"0 ?(?:percent|%) of|[乘加减除]以?0|等于(?:多少|几)|平方根|百分之"
    r"|\bdivide 0|sum of|0加到|解方程|各几只|solve \w|time complexity|时间复杂度|0 km/h",
    "units": r"0 ?(?:miles?|km|kilometres?|ounces?|pounds?|degrees|feet|inch(?:es)?|usd|dollars?)\b.* (?:to|in|"
    r"into) |how many \w+ are (?:in|there in) "
    r"|0(?:公里|英里|华氏度|摄氏度|斤|磅|英寸|美元|度).*(?:换|是多少|等于)"
    r"|how many \w+ (?:are|is) (?:there )?in an? |\bahead of\b|(?:厘米|公里|英尺|英寸|小时|克)(?:有|是|等于)多少|"
    r"多少(?:厘米|公里|米|克|公斤|英里|摄氏度)|快几个小时",
    "now": r"\bwhat (?:time|day) is (?:it|today)\b|today's date|weather (?:today|now|tomorrow|like)|现在几点|"
    r"今天(?:星期|周)?几|几号了|今天.{0,4}天气",
    "text_given": r"(?:following|below|this) (?:text|paragraph|sentence|code|passage|email|function|query|"
    r"snippet|table|json|list|essay|word)|"
    r"(?:下面|以下|这)(?:这)?(?:段|句|个|的|行|篇)?(?:话|文字|内容|代码|句子|英文|函数|段落|表格|文本|邮件|json|"
    r"sql)|[:：] ?\S+.{5,}",
    "notes": r"\b(?:notes?|cards?|vault|journals?|diary|records?)\b|笔记|卡片|日记|记录|记过",
    "one_card": r"\b(?:this|that|the) (?:card|note|page|article|document|entry)\b|(?:这|那|该|本)(?:张|篇|条|则|"
    r"份|个)?(?:卡片|笔记|文章|文档|日记|note|card)"
    r"|(?:card|note|卡片|笔记|打开|总结|概括) ?[¶¤]",
    "find": r"\b(?:find|search for|look up|which (?:card|note)s?|where did i (?:write|note|put|save|record)|"
    r"show me the|open|have i (?:ever )?"
    r"(?:written|noted)|do i have (?:a|any) notes?)\b|哪(?:张|条|篇)|找(?:一下|到|出|下)|查(?:一下|找|下)?|(?:记|"
    r"写)(?:过|在)|有没有(?:写|记)|打开|存在哪",
    "whole": r"\ball (?!right|about|in all)\w+|\bacross\b|these (?:documents|materials|cards|notes|articles)|"
    r"\bthe (?:novel|work) |(?:of|in) the (?:novel|book)$|my (?:cards|journals|collection|knowledge)\b|"
    r"\barchive\b|taken together|add up to|\bcombine.*\binto\b|"
    r"start to finish|read everything|\beverything\b|\b(?:entire|whole)\b|\boverall\b|\bin general\b|as a whole|"
    r"throughout|"
    r"\bcorpus\b|\bcollection\b|\bvault\b|knowledge base|\bmy notes\b|\ball (?:notes|topics|themes|cards|"
    r"documents|interviews|projects)\b|high level|"
    r"big picture|全部|所有|整个|整体|全局|全库|总体|纵观|综合|宏观|全景|知识库|资料库|笔记库|知识体系|知识结构|"
    r"历次|各个|各方|通篇|通读|全书|我的(?:笔记|卡片)|这批|整本|整份|这些(?:资料|材料|卡片|笔记|文档)|纵览|全貌|"
    r"大局|从头到尾|这个库|"
    r"大多数|这部作品|这些文章|合起来|这本书|(?:故事|小说).{0,3}(?:想|的?(?:主|中心))"
    r"|recent notes|latest entries|\bthe team\b|\bteam's\b|literature|document set|the market|最近的笔记|"
    r"近期记录|团队|文献|资料集|问卷|市场|访谈|用户反馈|in general\b|all in all",
    "theme": r"\b(?:themes?|topics?|trends?|patterns?|gaps?|blind spots?|overview|big picture|recurring|recur|"
    r"common threads?|clusters?|"
    r"communities|categories|insights?|lessons?|core ideas?|central (?:message|idea)|survey|landscape|genres?|"
    r"priorities|what is missing|perspectives|"
    r"contradict(?:ions?)?|open questions|unresolved|conclusions?|findings|takeaways|viewpoints?|disagreements|"
    r"inconsisten\w+|main (?:lines|points|ideas|"
    r"people|characters)|hot issues|weak spots|holes|moral|distribution|neglect\w*|overlooked|keywords|values|"
    r"risks|society|trends|directions|focus|again and again|in common)\b|主题|趋势|规律|盲区|盲点|概览|总览|概貌|"
    r"综述|反复|模式|大类|分类|分个类|话题|共性|共同的?教训|"
    r"洞见|洞察|核心(?:思想|观点|内容)|领域|方向|主线|面貌|缺(?:了|什么|少|口)|矛盾|全景|悬而未决|版图|社群|走势|"
    r"侧重|总的结论|总体结论|中心思想|道理|分布|层次|忽略|没(?:考虑|注意|想)到|前后不一致|薄弱|空白|分歧|导读|"
    r"收获|成长|共同(?:发现|原因|点)|归[成类]|聚类|汇总|对照|重点|看重|优先级|价值观|概况|反映|关键词|意想不到"
    r"|\bstruggl|mistakes|one-sided|\bbroad\b|weakness|\btake stock|revolve|from phase|pain points|isolated|"
    r"table of contents|world view|central concepts|\bmain \w+|check-up|success and failure|haven't (?:touched|"
    r"noticed)|forgotten|短板|体检|盘点|围绕什么|议题|各阶段|忘|群像|成败|偏科|知识面|世界观|痛点|普遍|核心的|"
    r"孤立|目录|导言|薄弱|结论综述"
    r"|\btopics\b|\bideas\b|未决|现状|洞察|主导|普遍同意|\bconsensus\b|\bdominant\b|insights|phase to phase|"
    r"thin$|what kind of stuff|open issues",
    "most": r"\bmost (?:about|often|common|frequent|important|of)\b|\bdominat|\bmostly\b|\btop (?:0|three|five|"
    r"ten)\b|最多|最常|占比|最关心|最重要|最频繁|多数|"
    r"大体|主要",
    "change": r"over (?:the|these) (?:years?|months?|time)|\b(?:shifted|evolved?|changed|developed?)\b|this year|"
    r"last (?:few|three|six) months|so far|"
    r"变化|演变|转变|这(?:一|几|半)年|近(?:来|期|几年)|最近(?:三|几|半|一)|过去(?:几|一|三)年|年度|这个月|今年",
    "about_me": r"\b(?:about me|as a person|my (?:thinking|interests|focus|knowledge|mood|views|beliefs|mind|"
    r"habits))\b|what have i\b|what do i (?:write|think|"
    r"read|care)|where (?:is|are) my|am i\b|我(?:这|最近|平时|经常|整体|都在|主要|写得|关注|到底|自己|一般|"
    r"是一个)|我的(?:想法|关注|兴趣|知识|观点|性格|情绪|思考|看法)"
    r"|\bdo i (?:really|keep|truly|always)|\bi keep\b|am i (?:truly|really)|why do my\b|my (?:projects|journals|"
    r"writing|ideas|health|diet)\b|我(?:到底|真正|总是|反复)|我(?:的)?所有(?:的)?(?:想法|项目)|我的(?:日记|项目|"
    r"饮食|健康|阅读|写作|笔记)",
    "summarise": r"\b(?:summar|sum up|recap|gist|digest|review|distil|synthesi|describe|key points|condense)|"
    r"总结|概括|归纳|综合|回顾|要点|梳理|概述|提炼|摘要",
    "branch": r"\bbranch(?:es)?\b|\bfork(?:ed)?\b|分支|支线",
    "dialogue": r"\b(?:conversation|chat(?:ted)?|thread|dialogue|discussion|discuss(?:ed)?|session|exchange|"
    r"talk(?:ed|ing)? about|left off|leave off)\b|对话|聊(?:天|到|过|了|的)|"
    r"讨论|商量|谈到|谈了|说到哪|会话",
    "you_said": r"\bwhy did you\b|(?:what|how) .*do you mean|i (?:pasted|started with|asked about|asked for)|"
    r"as before$|一开始(?:提|说|问)|贴的|按(?:这个|你)|照(?:刚才|你)|\byou(?:'ve| have)? (?:just |earlier |"
    r"previously )*(?:said|say|told|mentioned?|gave|cited?|wrote|answered|suggested|listed|claimed|quoted)\b|"
    r"\byour (?:last|previous|first|second|third|earlier|answer|reply|response|point|example|explanation|"
    r"suggestion)\b|"
    r"你(?:刚|刚才|刚刚|之前|上面|前面|上一?[条次]|的?回答|说|提到|引用|给出?的|列|那个)",
    "earlier": r"\b(?:earlier|previous(?:ly)?|above|before that|just (?:now|said|discussed|mentioned|gave|told)|"
    r"last (?:question|answer|message|turn|reply|time we)|"
    r"a moment ago|so far|back to|(?:we|you|i) just|(?:first|last) thing i (?:asked|said)|we had got to|our last|"
    r"i (?:asked|said) (?:before|first))\b|刚才|刚刚|之前(?:聊|说|讨论|那|的?对话|的?问题|提|我)|"
    r"上一?[个条轮](?:问题|话题|回答|答案|消息|回复)|上面|前面|前文|上文|上(?:次|回)(?:说|聊|讨论|对话)|来着|"
    r"刚(?:问|说|算|开始问)|分叉|"
    r"回到|接着|继续|上下文"
    r"|\b(?:that|the last) (?:table|version)\b|我们刚|\bgoal again\b|\bagain$|remind me|did i tell you|"
    r"\bour (?:first|second|third)\b|original question|告诉过你|你说过",
    "follow": r"^(?:continue|go on|and|but|so|why|how so|really|then|what about|how about|tell me more|elaborate|"
    r"more|keep going|expand|explain (?:that|it)|"
    r"shorter|again|which one|is (?:that|it)|does (?:that|it)|you (?:missed|misunderstood|forgot)|another one|"
    r"yes, (?:that|go)|which of (?:the two|those|these)|would (?:that|it)|what if (?:we|you|i)|"
    r"any(?:thing)? else|(?:say|explain|do) (?:that|it|this)|how come|are you sure|for example|i (?:don't|"
    r"do not) (?:get|understand)|no, i mean\w*|not (?:that|this)|what became|"
    r"what does (?:that|it|this) mean|meaning|make (?:that|it)|give (?:me )?(?:an|another) example|"
    r"can you give an example|who is (?:he|she|that))\b|^(?:继续|接着|然后|那|还有呢|为什么$|为什么这|展开|详细|"
    r"具体|所以|但是|再|换|它|他|她|举|不对|对，|不是|你(?:漏|理解错|搞错|误解)|前两|这两(?:个|种)|没听懂|你确定|"
    r"真的吗|什么意思|这是什么意思|怎么会|能(?:再|举)|后来)|呢$|还有吗|不太懂"
    r"|^(?:agreed|okay, (?:let|next|and)|ok, (?:let|next))|next step|what's next|option (?:two|one|a|b)|"
    r"any other way|another angle|what if it|我同意|^好(?:的)?，|下一步|接下来|换个角度|别的办法|如果不行|那这样|"
    r"总之|什么来着|和上一版|上一版|那§呢",
    "pointing": r"\b(?:that|this|it|those|these|them|ones?|the (?:first|second|third|latter|former)|he|she|"
    r"they)\b|这个|那个|它|这些|那些|第[一二三四五0]|其中|这(?:件|次|里)|"
    r"那(?:件|次|场|段)|后者|前者",
    "story": r"\b(?:stor(?:y|ies)|happen(?:ed|ing|s)?|backstory|circumstances?|unfold(?:ed)?|sequence of events|"
    r"timeline|journey|incident|episode|"
    r"aftermath|background|going on|walk me through|turn(?:ed)? out|come about|came about|scene|retell|what led|"
    r"leading up|reconstruct|play out|situation|"
    r"atmosphere|ordeal|adventure|saga|how it all|went wrong|go(?:ne)? through|come of|came of|"
    r"(?:things|events) .*develop(?:ed)?|affair|departure|ups and downs|post-mortem|back then|cope|behind|"
    r"switch from|end(?:ed)? up|evening when|mood|life like|be like|was .{0,40}like$|"
    r"full account|account of|rise and fall|step by step|tale|course of|events|dealing with|change things|"
    r"was it like|state of mind|become who|get so far|falling.out|weigh)\b|来龙去脉|前因后果|经过|过程|始末|经历|"
    r"故事|发生(?:了|过|的)?(?:什么|哪些)?|怎么回事|当时|历程|一步步|情况下|处境|起因|"
    r"背景|前后|那段|那阵子|那次|那天|风波|详情|那件事|(?:出|发生)了什么事|哪些事|起(?:起)?落|复盘|情[景形况]|"
    r"当[年晚初]|怎么(?:走上|变成|收场)|怎么样了|一步|"
    r"闹翻|破裂|吵架|弄丢|失而复得|场景|陷入|转到|完整(?:地|的)?(?:讲|还原)|起因|那一?年|之前的生活|那一趟|"
    r"的故事|来回"
    r"|from (?:the )?beginning|ins and outs|back and forth|\bnight\b|last meeting|\byears at\b|\bdays (?:of|when|"
    r"around)|been through|troubles|proposed|caught fire|chaotic|preceded|react|前前后后|那些年|那会儿|场面|求婚|"
    r"反应|气氛|从头(?:讲|说|到尾讲)|路上|遭遇|走过的路|变故|契机|前因|乱成|起落|平息"
    r"|\b(?:relive|recount|brought about|begin for|started out|calm(?:ed)? down)\b|局面|压力下|怎么开始|尽头",
    "relation": r"\brelat(?:ed|es?|ion(?:ship)?s?)\b|\bconnect(?:s|ed|ions?|ing)?\b|\blink(?:s|ed|ing)?\b|"
    r"\bbetween\b|\bties?\b|\btied\b|\bbridges?\b|"
    r"\bnetwork\b|\bgraph\b|\bneighbou?rs?\b|\bpath\b|\bin common\b|\boverlap\b|\bassociat(?:ed|ions?)\b|"
    r"\binvolved\b|\bsurround|\bcircle\b|\bhops?\b|"
    r"\bknow each other\b|\bfit together\b|\bshare[sd]?\b|\bcontacts$|\btogether\b|adjacent|\bappl(?:y|ies) to|"
    r"combined with|"
    r"part of \S+$|(?:kind|type) of \S+$|mixed up|to do with|dealings|collaborat|works? closely|supply chain|"
    r"subsidiar|suppliers|prerequisite|lead me|through whom|"
    r"through whose|whose hands|relatives?|mentioned where|who is around|tie in|reached from|as well as|touch on|"
    r"works? with|next to|degree|associated with|linked|what else|who else|belongs? to|\bwhom does § know|关系|"
    r"联系|关联|有关|相关|连(?:接|在|起|到)|共同|交集|图谱|桥梁|纽带|周围|周边|相邻|渊源|来往|往来|认识|围绕|"
    r"扯[得上]|搭上|牵扯|跳|人脉|社交圈|邻居|结合|联想|延伸|一种吗|包含|供应链|前置|后续知识|走得最近|合作|"
    r"谁的手|转给|一起出现|还(?:提到|投|演)|亲戚|血缘|介绍过来|牵涉|校友|同学里|员工里|连[到起]|相互|配合|邻|"
    r"通过.{1,10}(?:认识|找到)|展开图|旁边的"
    r"|\bcit(?:e|es|ed|ing)\b|\breferenced\b|reports? to|family tree|members of|web of|(?:knowledge|"
    r"ideas) around|performs? better|mediat|brought .* together|stands? between|friends? of friends?|talks? to$|"
    r"\bhave to do\b|引用|谱系|家族|汇报|隔着|成员|身边|属于.*还是|归到|建立在|衍生|知识网络|旗下|接口|流向|牵线|"
    r"反目|朋友的朋友|谁懂|向谁"
    r"|瓜葛|链条|类似|相近|\bsimilar|多像|同乡|全部关系|\bassociates\b|\ballies\b|\brivals\b|\bdoes § know §|"
    r"close to|顺着",
    "affects": r"\b(?:influenc\w*|affect(?:s|ed)?|impacts?(?: on)?|depends?(?: on)?|shaped?|leads? to|"
    r"results? in|inspired?|contributes?|interacts?|"
    r"upstream|downstream|mechanism|causes? .+ to|drives?|enables?|knock-on|breaks if|failure of|"
    r"happens to .+ when)\b|影响|依赖|导致|作用于|推动|启发|促进|什么机制|连锁|牵动|波及|会怎样|上游|下游|上下游|"
    r"引发|制约|驱动",
    "compare": r"\bdifferen(?:ce|ces|t from|tiate)|\bdiffers?\b|\bcompar|\bvs\b|\bversus\b|\bboth\b|"
    r"\bsame\b.*\b(?:as|country|city|year|director|nationality)\b|"
    r"\bsimilar|\b(?:older|younger|earlier|first|taller|larger|longer|later|bigger|"
    r"more recent(?:ly)?),? .*\bor\b|\bdistinguish|"
    r"区别|对比|比较|相同|不同|异同|谁更|哪个更|哪个.*更|谁.*更|都是|同一|差别|差异|共同点|相似|优缺点|相比|各自|"
    r"哪[个部]更|pros and cons|rather than|which (?:came|was|is) .*(?:first|older|farther)|more \w+, § or|"
    r"\bdoes § or §|are § and §|is § or §",
    "chain": rf"\b(?:{KIN})(?:'s)? (?:of|to) (?:the )?(?:{KIN})\b|\b(?:{KIN})\b.*\b(?:of|'s|whose|who|"
    rf"where)\b.*\b(?:{KIN})\b|"
    rf"\b(?:{KIN}) of (?:the )?(?:film|song|company|movie|album|person|man|woman|band)\b|\bwhose\b|"
    rf"(?:{HAN_KIN})(?:的|所在|毕业|娶|嫁|来自|出生|后来|还)|的.{{0,6}}(?:的|是)(?:{HAN_KIN})的|所在的?(?:城市|"
    r"国家|公司|省)|出生的(?:城市|国家|地方)|"
    r"(?:city|country|town|company|organi[sz]ation|person|team) (?:where|in which|that|who)\b|[谁哪].*(?:既|同时)|"
    rf"^(?:which|what|where|who|when|whom) .*\b(?:{KIN})(?:'s| of) .*\b(?:born|die|go to|from|university|win|"
    r"marry|nationality|study)"
    r"|(?:heads|leads|runs) the \w+ § |\b(?:school|university|team|company|city|town) (?:that |"
    r"where )?§ (?:attend|play|work|live|was|graduat)|的那(?:所|家|座|个)(?:大学|学校|公司|城市)|就读的|"
    r"写[¤¶]的人|唱[¤¶]|演[¤¶]|朋友的朋友",
    "kin": rf"\b(?:{KIN})\b|{HAN_KIN}",
    "two_names": r"[§¶¤].*[§¶¤]",
    "name": r"§",
    "particle": r"[吧呀啊啦呢吗哦嘛哈咯]$|^[喂哟嘿唉]|^(?:tell|say|let|talk|make|sing|recite)\b",
    "and_two": r"§ and §|[¶¤] and [¶¤]|[与和跟、]",
    "quote": r"[¶¤]",
    "card_title": r"¤",
    "who": r"\bwho(?:m|se)?\b|谁",
    "when": r"\bwhen\b|what (?:time|date|year|day|month)|which (?:year|day|month)|how (?:long|often)|什么时候|"
    r"何时|哪[天年月]|几[点号月]|多久|多长时间|哪一年",
    "where": r"\bwhere\b|which (?:city|country|place)|哪里|哪儿|何处|什么地方|在哪",
    "quantity": r"\bhow (?:many|much|old|far|high|big|tall|large|heavy)\b|多少|几[个只次种人名岁位张台]|"
    r"多[大高远长重]",
    "what_is": r"^(?:what|who) (?:is|are|was|were)\b|what's\b|什么是|是什么|定义|define|\bmeans?\b|指什么",
    "which": r"\bwhich\b|哪(?:个|些|种|类|位|家|几)",
    "why": r"\bwhy\b|为什么|为何|原因",
    "how": r"^how (?:do|to|can|should|is|are|does)\b|怎么|如何|怎样|步骤",
    "yes_no": r"^(?:is|are|do|does|did|has|have|had|can|was|were|will|should)\b|吗$|是不是|有没有|会不会|是否",
    "attribute": r"\b(?:phone|e-?mail|address|price|cost|birthday|passwords?|version|date|deadline|number|port|"
    r"size|colou?r|brand|salary|revenue|"
    r"name of|title of|dose|recipe|ingredients?|symptoms?|types? of|kinds? of|reasons?|treatments?|role|purpose|"
    r"schedule|setting)\b|电话|邮箱|地址|价格|"
    r"生日|密码|版本|号码|编号|日期|端口|尺寸|颜色|牌子|工资|收入|剂量|配方|症状|类型|步骤|名字|职务|职位|作用|"
    r"用途|原文|原话|截止|费用|面积|人口"
    r"|\bgoals?\b|to-do|\bmodel\b|\btitle\b|\bdegree\b|\bweight\b|\bexact words\b|drawbacks?|建议|礼物|体重|目标|"
    r"待办|型号|说明书|学历|网址|联系方式|原因",
    "i": r"\b(?:i|my|me|we|our|us)\b|我",
    "you": r"\byou(?:r|rs)?\b|你",
    "said_about": r"\bdid .+ (?:say|tell|mention|decide|feel|think|recommend|suggest|plan|buy|do|make|give|"
    r"get)\b|(?:说|讲|写)(?:过|了|的)",
    "graph_words": r"\b(?:entit(?:y|ies)|nodes?|edges?|concepts?)\b|实体|节点|概念|上位|下位|关系网|图",
}
CUES: Final = (*_PATTERNS, "very_short", "short", "long")
_COMPILED: Final = tuple(re.compile(pattern) for pattern in _PATTERNS.values())
_WORD: Final = re.compile(r"[\u4e00-\u9fff]|[^\W\d_]+|[§¶¤0]")


def cues(text: str) -> list[int]:
    """Places in `CUES` that the masked `text` shows, ascending."""
    found = [place for place, pattern in enumerate(_COMPILED) if pattern.search(text)]
    words = 0
    for match in _WORD.finditer(text):
        # Two Han characters are about a word.
        words += 1 if match[0] >= "\u4e00" else 2
    size = 0 if words <= 6 else 1 if words <= 12 else 2 if words > 40 else None
    return found if size is None else [*found, len(_COMPILED) + size]
