"""Word lists that tell names from other words, and what kind of thing a name names. Data only."""

from __future__ import annotations

import functools
from typing import Final

from app.text.names_ordinary import BASE

MAX_WORD: Final = 40


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# ------------------------------------------------------------------------------------ English

# "Elizabeth I was" is a name, "Caroline, I think" is not.
AFTER_I: Final = _words("""
    think guess know hope love want need feel can could will would have had just really also don't didn't haven't am
    saw went got like used never always can't couldn't understand agree remember""")
# "translated into Latin": a language, not the adjective of "Latin poetry".
BEFORE_LANGUAGES: Final = _words("""
    into in from speak speaks spoke speaking learn learns learned learning study translated fluent""")
# What stands in front of a noun phrase.
BEFORE_NOUNS: Final = _words("""
    e.g i.e etc a an the this that these those my your his her its our their of for with in on to by from into about
    and or as via per each every some any no between using without""")

# Closed classes, auxiliaries, interjections and adverbs that open sentences: never the first word of a name there.
CLOSED: Final = _words("""
    a an the this that these those my your his her its our their some any each every no all both either neither such
    i me you he him she it we us they them who whom whose which what when where why how whether while mine yours
    hers ours theirs myself yourself himself herself itself ourselves themselves someone somebody anyone anybody
    everyone everybody nobody none something anything everything nothing one ones and or but nor so yet if then else
    than because since although though unless until till once as of in on at by for with without within from to into
    onto upon over under above below between among amongst through throughout during before after about around
    against along across behind beyond beside besides near off out up down toward towards via per like unlike
    despite except including inside outside regarding concerning following given provided depending according
    compared due be am is are was were been being do does did doing done have has had having will would shall should
    can could may might must ought let lets get gets got getting go goes going gone""")
FUNCTION: Final = CLOSED | _words("""
    not never ever always often sometimes usually rarely also too very really quite just only even still already
    again soon now today tomorrow yesterday tonight later earlier recently currently finally eventually originally
    initially formerly previously subsequently meanwhile afterwards afterward however therefore thus hence moreover
    furthermore nevertheless nonetheless otherwise instead indeed perhaps maybe probably possibly certainly
    definitely actually basically generally typically similarly likewise additionally consequently unfortunately
    fortunately hopefully interestingly apparently obviously clearly overall anyway together here there everywhere
    somewhere elsewhere yes no yeah yep nope ok okay oh ah aw aww wow hey hi hello hmm huh ugh haha lol omg btw fyi
    imo please thanks thank sorry congrats congratulations welcome well sure great good nice cool awesome amazing
    right exactly absolutely totally glad happy sounds looks seems guess bye goodbye cheers yay yup whoa ooh dear
    many much more most few fewer less least several other another others same different various certain own first
    second third fourth fifth last next previous former latter two three four five six seven eight nine ten dozens
    hundreds thousands millions half see note notes read use using used based make makes made take takes took come
    comes came know think i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll
    we're we've we'll we'd they're they've they'll they'd that's there's here's what's who's where's how's when's
    why's let's don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't cannot couldn't shouldn't
    haven't hasn't hadn't ain't woah woohoo woo whoo oof yum yummy ouch yea anytime alright aye ahem phew eek yikes
    gosh geez jeez dang darn damn heck hooray hurray bravo kudos np thx ty pls bummer there'll that'll it'd that'd
    gonna wanna gotta kinda y'all""")

# Small words inside a name, between two capitalised ones: "Haymo of Faversham", "Ludwig van Beethoven".
JOINERS: Final = _words("""
    of de del della di da do dos du des la le las los van von der den ter ten bin ibn al el y zu und""")
# "Boso the Elder".
EPITHETS: Final = _words(
    """
    Elder Younger Great Conqueror Bald Wise Terrible Bold Good Pious Fat Simple Short Lion Magnificent"""
)
AFTER_OF: Final = _words("the la le las los der den")
# "Centers for Disease Control", but not "left Boston for New York".
TAKES_FOR: Final = _words("""
    center centers centre centres institute foundation society association committee council department ministry
    office fund award prize movement campaign alliance agency bureau organisation organization program programme
    school college coalition union court commission laboratory medal network partnership""")

MONTHS: Final = _words("""
    january february march april may june july august september october november december jan feb mar apr jun jul
    aug sep sept oct nov dec""")
WEEKDAYS: Final = _words("""
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun mondays
    tuesdays wednesdays thursdays fridays saturdays sundays""")
# With a number they count parts of a text or of a plan: "Chapter 3", "Step 2". Alone they are ordinary too.
COUNTED: Final = _words("""
    chapter section part step figure fig table page pages day week month year item question phase level grade
    version volume vol no number issue appendix lesson unit episode season round stage task example option note line
    row column paragraph exercise problem theorem lemma equation eq slide session turn room am pm est pst utc gmt kb
    mb gb ch sec art article act scene verse stanza book story tip rule point""")

HONORIFICS: Final = _words("""
    dr mr mrs ms mx prof professor sir dame mister miss madam doctor rev reverend""")
# Stripped in front of a full name; kept before a single one: "King Hugh".
OFFICES: Final = _words("""
    president senator governor judge justice captain general colonel major lieutenant sergeant admiral commander
    minister chancellor ambassador secretary mayor director actor actress singer author writer coach detective
    officer inspector bishop archbishop cardinal pope father sister brother uncle aunt grandma grandpa rabbi imam
    sheikh congressman representative councillor""")
RULERS: Final = _words("""
    king queen prince princess emperor empress duke duchess count countess earl lord lady pope saint tsar sultan""")
ABBREVIATED: Final = _words("""
    st dr mr mrs ms jr sr prof mt ft gen col lt sgt capt rev sen gov rep hon maj""")

# Capital letters that name nothing worth a node.
NOT_ACRONYMS: Final = _words("""
    ok tv am pm ad bc bce ce id ids no faq todo fixme done note tbd tba wip eta asap fyi btw imo imho lol omg rip
    diy vip pdf png jpg jpeg gif svg csv url urls uri http https www html css xml iso mb gb kb tb hz khz mhz ghz cm
    mm km kg ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx ps pps aka vs re fw cc bcc rsvp isbn
    issn doi q1 q2 q3 q4 h1 h2 xd doing later waiting cancelled now tags tag type alias true false null none nil nan
    yes and or not if else end ui ux os app api apis cpu gpu ram usb cli gui ide sdk orm dom tl dr tldr qa q&a pr
    prs mr md txt zip a1 a2 b1 b2""")
# "American singer": an adjective. Alone it names at most a language.
DEMONYMS: Final = _words("""
    american british english scottish welsh irish french german italian spanish portuguese dutch belgian swiss
    austrian swedish norwegian danish finnish icelandic polish czech slovak hungarian romanian bulgarian greek
    turkish russian ukrainian serbian croatian slovenian bosnian albanian estonian latvian lithuanian chinese
    japanese korean indian pakistani bangladeshi vietnamese thai indonesian malaysian filipino australian canadian
    mexican brazilian argentine argentinian chilean peruvian colombian venezuelan cuban egyptian moroccan algerian
    tunisian nigerian kenyan ethiopian ghanaian israeli palestinian iranian iraqi syrian lebanese saudi jordanian
    afghan european asian african latin roman byzantine ottoman soviet christian catholic protestant jewish muslim
    islamic buddhist hindu orthodox anglican western eastern northern southern french-canadian african-american
    asian-american hispanic latino victorian medieval german-born americans britons germans italians russians
    europeans asians africans christians catholics jews muslims arab arabic persian hebrew cantonese mandarin
    bengali tamil telugu hindi punjabi norman anglo-saxon celtic nordic puerto-rican jamaican haitian dominican
    new-zealander sicilian bavarian prussian saxon californian texan""")

GIVEN_NAMES: Final = _words("""
    ada niels ida aaron abigail adam adrian agnes aiden alan albert alex alexander alexandra alexis alfred alice
    alison allen amanda amber amelia amy ana andre andrea andreas andrew andy angela angelina anita ann anna anne
    annie anthony antonio ariana arthur ashley audrey austin ava barbara barry beatrice becky ben benjamin bernard
    bertha bertrand beth betty beverly bill billy bob bobby bonnie brad bradley brandon brenda brian bruce bryan
    caitlin calvin cameron carl carla carlos carmen carol caroline carolyn catherine cathy charles charlie charlotte
    cheryl chloe chris christian christina christine christopher cindy claire clara claude cody colin connie craig
    crystal cynthia daisy dale dan daniel danny darren dave david dean deborah debra denise dennis derek diana diane
    dick dino dominic don donald donna doris dorothy doug douglas dylan earl eddie edgar edith edward edwin eileen
    elaine eleanor elena eli elijah elizabeth ella ellen elliot emily emma eric erica erin ernest esther ethan
    eugene eva evan evelyn felix fernando fiona florence frances francis francois frank franklin fred frederick
    gabriel gary george gerald gina giovanni glen glenn gloria gordon grace greg gregory guy hannah harold harriet
    harry harvey hazel heather hector helen henry herbert holly howard hugh hugo ian irene isaac isabel isabella
    ivan jack jackie jackson jacob jacqueline jake james jamie jan jane janet janice jared jasmine jason jay jean
    jeff jeffrey jennifer jenny jeremy jerry jesse jessica jill jim jimmy joan joanna joe joel johan johann john
    johnny jon jonathan jordan jorge jose joseph joshua joy joyce juan judith judy julia julian julie june justin
    karen karl kate katherine kathleen kathryn katie keith kelly ken kenneth kevin kim kimberly kirk kurt kyle larry
    laura lauren laurie lawrence lee leo leon leonard leslie lester lewis liam lillian linda lisa logan lois
    lorraine louis louise lucas lucy luis luke lydia lynn madison marc marcus margaret maria marie marilyn mario
    marion mark marlene martha martin marvin mary mason matt matthew maureen max megan mel melanie melissa michael
    michel michelle miguel mike mildred molly monica morgan nancy naomi natalie natasha nate nathan neil nicholas
    nick nicole noah nora norman olga oliver olivia oscar pamela pat patricia patrick paul paula pedro peggy penny
    peter phil philip phillip phyllis pierre rachel ralph ramon randy ray raymond rebecca regina ricardo richard
    rick rita rob robert roberto robin rodney roger roland ron ronald rosa rose rosemary ross roy ruby russell ruth
    ryan sabrina sally sam samantha samuel sandra sandy sara sarah scott sean sebastian sergio seth shane shannon
    sharon shawn sheila shirley sidney simon sofia sonia sophia sophie stacy stanley stella stephanie stephen steve
    steven stewart stuart sue susan suzanne sylvia tamara tanya tara ted teresa terry thelma theodore theresa thomas
    tiffany tim timothy tina todd tom tommy tony tracy travis trevor tyler valerie vanessa vera vernon veronica
    victor victoria vincent viola violet virginia vivian walter wanda warren wayne wendy wesley wilhelm will william
    willie xavier yvonne zachary zoe ahmed ali mohammed muhammad mohandas fatima hassan hussein ibrahim omar yusuf
    aisha priya raj ravi sanjay sathish anil deepak vijay ananya arjun wei ming jing yuki hiroshi kenji akira
    takeshi haruki satoshi vladimir dmitri sergei nikolai mikhail boris olga ingrid lars sven bjorn astrid giulia
    luca marco paolo francesca pablo diego alejandro sofía josé jürgen hans fritz otto klaus günther heinrich ludwig""")

# Given names that are common words as well.
_ALSO_WORDS: Final = _words("""
    amber bill crystal daisy dale dean don earl frank gene grace grant guy hazel heather holly ivy jasmine jean joy
    june kit mark mason may olive pat peg penny ray rich rob robin rose ruby sandy sue viola violet will april
    august summer hope faith chase iris dick drew christian""")
CLEAR_GIVEN: Final = GIVEN_NAMES - _ALSO_WORDS

_PLACES = """
    afghanistan albania algeria andorra angola argentina armenia australia austria azerbaijan bahamas bahrain
    bangladesh barbados belarus belgium belize bolivia botswana brazil britain bulgaria cambodia cameroon canada chad
    chile china colombia congo croatia cuba cyprus denmark ecuador egypt england eritrea estonia ethiopia fiji finland
    france gabon gambia georgia germany ghana greece greenland grenada guatemala guinea guyana haiti honduras hungary
    iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kazakhstan kenya kosovo kuwait laos
    latvia lebanon lesotho liberia libya liechtenstein lithuania luxembourg madagascar malawi malaysia maldives mali
    malta mauritius mexico moldova monaco mongolia montenegro morocco mozambique myanmar namibia nepal netherlands
    nicaragua niger nigeria norway oman pakistan palestine panama paraguay peru philippines poland portugal qatar
    romania russia rwanda samoa scotland senegal serbia singapore slovakia slovenia somalia spain sudan suriname
    sweden switzerland syria taiwan tajikistan tanzania thailand togo tunisia turkey turkmenistan uganda ukraine
    uruguay usa us u.s u.s.a uk u.k uae uzbekistan venezuela vietnam wales yemen zambia zimbabwe europe asia africa
    america antarctica oceania scandinavia alabama alaska arizona arkansas california colorado connecticut delaware
    florida hawaii idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan
    minnesota mississippi missouri montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah
    vermont virginia wisconsin wyoming ontario quebec alberta bavaria saxony tuscany lombardy sicily normandy brittany
    burgundy catalonia andalusia lotharingia siberia manchuria london paris berlin munich hamburg cologne frankfurt
    vienna zurich geneva basel rome milan naples venice florence turin madrid barcelona seville lisbon porto dublin
    edinburgh glasgow manchester liverpool birmingham oxford cambridge bristol leeds brussels antwerp amsterdam
    rotterdam copenhagen stockholm oslo helsinki reykjavik warsaw krakow prague budapest bucharest sofia belgrade
    zagreb athens istanbul ankara moscow petersburg kiev kyiv odessa minsk riga vilnius tallinn boston chicago
    philadelphia houston dallas seattle denver atlanta miami detroit baltimore cleveland pittsburgh phoenix portland
    sacramento oakland hollywood brooklyn manhattan toronto montreal vancouver ottawa calgary havana tokyo kyoto osaka
    nagoya yokohama hiroshima seoul busan beijing shanghai shenzhen guangzhou hangzhou chengdu nanjing wuhan tianjin
    taipei macau bangkok hanoi saigon manila jakarta bali kuala delhi mumbai bombay calcutta kolkata bangalore chennai
    karachi lahore dhaka kathmandu kabul tehran baghdad damascus beirut jerusalem cairo alexandria nairobi lagos
    johannesburg pretoria casablanca dubai doha riyadh mecca sydney melbourne brisbane perth canberra auckland
    wellington"""
PLACES: Final = _words(_PLACES) | frozenset(
    place.replace("_", " ")
    for place in _words("""
    united_states united_kingdom new_york new_york_city los_angeles san_francisco san_diego las_vegas new_orleans
    new_zealand new_jersey new_mexico new_hampshire new_delhi north_carolina south_carolina north_dakota
    south_dakota west_virginia rhode_island washington_dc hong_kong south_korea north_korea south_africa
    saudi_arabia sri_lanka costa_rica puerto_rico el_salvador czech_republic dominican_republic united_arab_emirates
    european_union soviet_union great_britain northern_ireland north_america south_america latin_america middle_east
    rio_de_janeiro buenos_aires sao_paulo mexico_city cape_town tel_aviv st_petersburg abu_dhabi kuala_lumpur
    ho_chi_minh_city salt_lake_city kansas_city st_louis san_jose san_antonio silicon_valley bay_area
    papua_new_guinea""")
)

# What the last word (or the first before "of") says of the whole.
ORGANIZATION_HEADS: Final = _words("""
    university college institute institution school academy inc corp corporation company co ltd llc plc gmbh group
    bank foundation association society committee council party ministry department agency hospital club team band
    orchestra league union airlines airways records studios studio press army navy congress parliament senate court
    commission authority federation organization organisation bureau fc united labs laboratory laboratories museum
    gallery library police brigade regiment division holdings partners capital ventures entertainment pictures
    broadcasting network television theatre theater choir ensemble philharmonic consortium alliance coalition guild
    church diocese archdiocese monastery abbey conservatory seminary centre center centers government administration
    service services software technologies systems motors electronics pharmaceuticals industries""")
PLACE_HEADS: Final = _words("""
    river lake mountain mountains mount island islands isle city county state states street road avenue park bay
    valley beach bridge airport station castle village district province ocean sea peninsula desert forest kingdom
    republic square tower palace canyon creek falls hill hills harbor harbour port coast gulf strait cape plateau
    plains region territory empire town township borough parish boulevard lane highway stadium arena temple shrine
    cathedral cemetery garden gardens reservoir glacier volcano canal dam trail mounds""")
EVENT_HEADS: Final = _words("""
    war wars battle siege festival olympics games cup championship championships conference summit revolution
    election elections tour parade marathon expo crisis massacre uprising rebellion revolt crusade earthquake
    hurricane genocide coup referendum tournament ceremony outage incident hackathon convention symposium series""")
WORK_HEADS: Final = _words("""
    journal magazine gazette chronicle symphony sonata concerto opera album manifesto trilogy newspaper herald
    tribune dictionary encyclopedia encyclopaedia anthem bible quran handbook""")
PRODUCT_HEADS: Final = _words("""
    api sdk protocol engine framework library language database server browser app plugin os linux""")
PERSON_SUFFIXES: Final = _words("jr sr ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi")

# "X is a …": the noun that follows tells what X is.
PERSON_NOUNS: Final = _words("""
    actor actress singer songwriter writer author novelist poet playwright director filmmaker producer composer
    musician guitarist pianist drummer rapper dj artist painter sculptor photographer architect designer politician
    president senator governor lawyer attorney judge diplomat king queen prince princess emperor empress duke
    duchess count countess earl baron noble nobleman noblewoman bishop archbishop pope priest monk nun saint
    theologian philosopher scientist physicist chemist biologist mathematician economist historian psychologist
    sociologist astronomer engineer inventor programmer developer researcher professor teacher scholar doctor
    physician surgeon nurse footballer player athlete swimmer boxer wrestler cyclist runner coach manager
    businessman businesswoman entrepreneur executive founder journalist reporter editor critic columnist broadcaster
    host presenter comedian model dancer choreographer soldier officer general admiral commander pilot astronaut
    explorer activist revolutionary leader chef farmer person man woman boy girl son daughter wife husband brother
    sister father mother friend screenwriter cinematographer illustrator cartoonist vocalist bassist socialite
    aristocrat translator librarian missionary pirate criminal""")
PLACE_NOUNS: Final = _words("""
    city town village country state province region district county island river lake mountain volcano sea ocean bay
    beach park street road bridge airport station castle palace municipality commune suburb neighborhood
    neighbourhood settlement capital continent peninsula desert valley hamlet township parish borough prefecture
    kingdom empire republic territory census-designated archipelago glacier creek tributary reservoir stadium arena
    temple cathedral building skyscraper cemetery tower monument""")
ORGANIZATION_NOUNS: Final = _words("""
    company corporation organization organisation university college school institute agency bank band team club
    party association society foundation charity committee council department ministry newspaper publisher studio
    label orchestra group hospital church museum startup manufacturer airline retailer franchise league union duo
    quartet conglomerate subsidiary firm brand""")
WORK_NOUNS: Final = _words("""
    film movie novel book album song single poem play opera musical symphony series sitcom show documentary painting
    magazine journal episode comic manga anime story memoir biography anthology ep mixtape podcast sculpture drama
    comedy thriller western sequel""")
EVENT_NOUNS: Final = _words("""
    war battle festival election championship tournament conference revolution event ceremony competition race
    summit earthquake hurricane massacre siege referendum disaster match outage incident holiday""")
PRODUCT_NOUNS: Final = _words("""
    software library framework database tool app application language browser engine platform plugin extension
    package smartphone car vehicle aircraft console device game model protocol server editor operating service
    website drug chip processor camera laptop""")
CONCEPT_NOUNS: Final = _words("""
    method technique theory concept algorithm principle disease disorder condition process practice law theorem
    style genre term phenomenon field discipline branch philosophy religion ideology approach strategy pattern
    metric measure property species genus family plant animal fish bird mineral substance hormone protein element
    compound sport game dish food drink demon deity therapy form type kind system structure""")

# Headings of templates and other words that head a section rather than name its subject.
TEMPLATE: Final = _words("""
    introduction overview summary conclusion background references reference notes note todo todos abstract contents
    index appendix links link related resources resource ideas idea thoughts examples example usage installation
    install setup faq changelog license contributing contents readme misc miscellaneous other others details
    description motivation discussion results methods method tasks task agenda attendees action actions questions
    question answers answer steps step tips tip highlights highlight metadata tags tag template templates untitled
    inbox daily journal journals diary log logs archive draft drafts home start test tests page pages item items
    date author title source sources status type category categories information info features feature settings
    options getting started see also further reading table definition definitions history today tomorrow yesterday
    week month year goals goal review project projects resources area areas attachments attachment problem problems
    solution solutions cause impact timeline next plan plans pros cons takeaways learnings key decision decisions
    context what why how when where who seed evergreen wip done doing waiting later now permanent fleeting
    literature books book movie movies article articles podcast video videos people person meeting meetings docs
    command commands images image photo photos file files""")

# Words that are no part of a clean noun compound ("vector database"): verbs, adverbs, adjectives of everyday use.
NOT_IN_COMPOUNDS: Final = (
    FUNCTION
    | MONTHS
    | WEEKDAYS
    | _words("""
    able add added ago agree allow allows although appear appears apply ask asked available away bad be become
    becomes began begin begins believe best better big bit bring brings build built buy call called care catch
    change changed check choose close contain contains continue could couple create created cut day days decide
    decided describe early easy end enjoy enough enter especially far feel feels felt find finds fine follow follows
    forward found full fun give gives gone grow hand hands happen happened happens hard hear heard help helped helps
    high hold hope huge important include includes interesting join keep keeps kept kind kinds know known large late
    lead leads learn learned leave leaves left let little live lived lives long look looked looking lot lots love
    loved loves low made main mean means meet met mind moment moments move moved need needed needs new number old
    open part parts past pay people perfect person place places plan plans play played plays possible pretty
    probably proud provide provides put ran real receive remember require requires return run runs said saw say says
    seem seen send sent serve served set share shared short show showed shown shows side similar simple since single
    small someone sort sound sounds special spend spent start started starts stay stop strong stuff take taken takes
    talk tell thing things thought time times told took top tried tries true try trying turn turned use used useful
    user users uses using want wanted wants way ways week weeks went whole wish wonder wonderful work worked working
    works world worth write writes wrong wrote year years yet young born died became located published released
    written directed produced named considered ever lately super such back both next bad hey fact case cases example
    examples idea ideas line lines point points mine matter reason reasons issue issues problem problems question
    questions year-old positive negative loving future main native supporting recurring various major minor recent
    current popular famous local national international public private common general modern ancient traditional
    professional personal official original additional difficult easier entire exciting favorite favourite final
    free fresh funny beautiful lovely warm cold hot dark light bright red blue green black white gray grey yellow
    brown pink quick slow fast weak rich poor clean dirty sad fellow key total average annual daily weekly monthly
    yearly upcoming ongoing remaining leading featured titled set held won lost making getting going taking having
    being seeing looking working playing helping giving coming doing trying feeling thinking talking spending
    sharing starting stayed truly rather almost nearly alone apart aside ahead venomous largest smallest oldest
    youngest highest lowest eldest greatest finest worthwhile outstanding incredible meaningful responsible""")
)

# Lower-case Latin words in a Chinese text that are no product.
COMMON_LATIN: Final = _words("""
    app apps pdf url web blog email ppt word excel html css xml json yaml csv png jpg jpeg gif svg mp mp3 mp4 http
    https www com cn org net io api ui ux ok vs diy bug bugs demo tips tip todo tag tags id ip it pc vip cpu gpu ram
    usb wifi img src div span class style width height px alt href title type key value true false null none default
    string int date time tp file path note notes page admin user users group config root bin lib usr etc opt var
    home tmp txt md doc docs exe zip readme index main test tests code data table query select from where limit
    order by desc asc dataview tasks task quote info abstract summary warning important kg km cm mm ml min max avg
    st nd rd th""")


_NOUNS: Final = (
    PERSON_NOUNS | PLACE_NOUNS | ORGANIZATION_NOUNS | WORK_NOUNS | EVENT_NOUNS | PRODUCT_NOUNS | CONCEPT_NOUNS
)


def is_ordinary(word: str) -> bool:
    """Whether the lower-case `word` is a common English word or a regular form of one."""
    return len(word) <= MAX_WORD and _is_ordinary(word)


@functools.lru_cache(maxsize=65_536)
def _is_ordinary(word: str) -> bool:
    if word in CLEAR_GIVEN:
        return False
    if _is_form(word, twice=True):
        return True
    return "-" in word and all(part.isdigit() or not part or is_ordinary(part) for part in word.split("-"))


def _is_form(word: str, twice: bool) -> bool:
    """`twice`: of a regular form as well: stories, of story, which is left out beside store."""
    if word in BASE or word in FUNCTION or word in _NOUNS:
        return True
    for ending, repairs in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            stem = word[: -len(ending)]
            if any(stem + repair in BASE or (twice and _is_form(stem + repair, False)) for repair in repairs):
                return True
            if len(stem) > 3 and stem[-1] == stem[-2] and stem[:-1] in BASE:
                return True
    return False


_ENDINGS: Final = (
    ("ies", ("y",)),
    ("es", ("", "e")),
    ("s", ("",)),
    ("ied", ("y",)),
    ("ed", ("", "e")),
    ("ing", ("", "e")),
    ("ily", ("y",)),
    ("ly", ("", "e", "le")),
    ("er", ("", "e")),
    ("ers", ("", "e")),
    ("est", ("", "e")),
    ("ness", ("",)),
    ("y", ("", "e")),
)
