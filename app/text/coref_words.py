"""Word lists of coreference in English: given names by sex, titles, kin and trades, verbs, function words.

Names borne by both sexes, and surnames that look like given names, are left out on purpose: an unknown sex is
harmless, a wrong one is not. Data only.
"""

from __future__ import annotations

from typing import Final


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MALE_NAMES = """
    aaron abdul abraham adam adolf adrian ahmad ahmed aidan akira alan alastair albert alberto alec alejandro
    aleksandr alessandro alexander alexandre alexei alf alfonso alfred alfredo ali alistair allan allen alvin
    amir amit anatoly anders andre andreas andrei andres andrew andy angelo angus anil antoine anton antonio
    anwar archibald archie ari aristotle armando arnold arthur arturo arun ashok august augustus axel barack
    barry bart bartholomew basil ben benedict benito benjamin bernard bernardo bert bertrand bill billy bjorn
    bob bobby boris brad bradley brendan brent brett brian bruce bruno bryan byron caesar caleb calvin carl
    carlo carlos cecil cedric cesar chad charles charlie chester chris christian christoph christopher chuck
    clarence claude claudio clay clayton clement cliff clifford clint clive colin connor conor conrad
    constantine cornelius craig curt curtis cyril cyrus dan daniel danny dante darrell darren dave david dean
    declan denis dennis derek desmond dick diego dieter dimitri dirk dmitri dmitry dom domenico dominic don
    donald doug douglas duncan dustin dwight earl eamon ed eddie edgar edmond edmund eduardo edward edwin eli
    elias elijah elliot elliott elmer elon elton emil emile emilio emmanuel enrico enrique eric erich erik
    ernest ernesto ernie ernst erwin ethan eugene evan ezra fabio federico felipe felix ferdinand fernando
    fidel floyd francesco francisco franco francois frank frankie franklin franz fred freddie frederic
    frederick friedrich fritz fyodor gabriel gareth garry gary gaston gavin geoff geoffrey george gerald gerard
    gerhard giacomo gilbert giles giorgio giovanni giuseppe glen glenn godfrey gottfried graeme graham greg
    gregor gregory guillermo gunther gus gustav gustave guy hamid hamish hank hans harold harrison harry harvey
    hassan heath hector heinrich helmut henri henrik henry herbert herman hermann hideo hiroshi homer horace
    horatio howard hubert hugh hugo humphrey hussein iain ian ibrahim igor ira irving irwin isaac isaiah ismail
    ivan jack jackie jacob jacques jaime jake jakob jamal james jan jared jason javier jay jeff jefferson
    jeffrey jeremiah jeremy jerome jerry jesus jim jimmy joachim joao joaquin joe joel joey johan johann
    johannes john johnny jon jonas jonathan jonathon jorge jose josef joseph josh joshua josiah juan jules
    julian julio julius jurgen justin karl keith ken kenji kenneth kenny kevin khalid kirk klaus konrad
    konstantin kurt kyle lance larry lars laszlo laurence lawrence lazarus len lenny leo leon leonard leonardo
    leopold leroy lewis liam lionel lloyd lorenzo lou louis luc luca lucas lucien ludwig luigi luis luke luther
    maarten magnus malcolm manuel marc marcel marcello marco marcos marcus mario mark marshall martin marty
    marvin mateo matt matteo matthew matthias maurice maury maximilian mehmet melvin michael michel miguel mike
    mikhail miles miroslav mitch mitchell mohamed mohammad mohammed morris mort muhammad mustafa nathan
    nathaniel ned neil nelson neville nicholas nick nicolas nicolai nigel nikita nikola nikolai nils noah noel
    norm norman octavio oleg oliver olivier omar orlando orson orville oscar osvaldo otis otto owen pablo paolo
    pascal patrick paul pavel pedro percival percy perry pete peter phil philip philippe phillip pierre pieter
    piotr quentin rafael rahul raj rajesh ralph ramon randall randolph randy raoul raphael rashid raul ravi ray
    raymond reginald reid rene reuben rex ricardo richard rick ricky roald rob robbie robert roberto rod
    roderick rodney rodrigo roger roland rolf roman ron ronald ronnie rory roscoe ross roy ruben rudolf rudolph
    rudy rufus rupert russell ryan salvador salvatore samuel sanjay santiago saul scott sean sebastian serge
    sergei sergio seth seymour shaun shawn sherman shinji sid sigmund silvio simon sol solomon spencer stan
    stanley stefan stephen steve steven stewart stuart sven tadeusz takashi takeshi ted terence terrence theo
    theodore thomas tim timothy titus tobias toby todd tom tomas tommy tony travis trevor tristan troy tyler
    umberto uwe vernon vic victor viktor vince vincent vinod virgil vishnu vittorio vlad vladimir wade wallace
    walter walt warren wayne wendell werner wes wesley wilbur wilfred wilhelm will willard willem william
    willie winston wolfgang woodrow xavier yasser yuri yves zachary zack"""

_FEMALE_NAMES = """
    abby abigail ada adela adelaide adele adriana agatha agnes aisha alberta alejandra alexandra alexandria
    alice alicia alina alison allison alma amalia amanda amber amelia amelie amy ana anastasia andrea angela
    angelica angelina angie anita anja ann anna annabel annabelle anne annette annie annika antoinette antonia
    april arlene astrid audrey augusta aurora ava barbara beatrice beatrix becky belinda bella bernadette
    bernice bertha bessie beth bethany betsy bette betty beverley beverly bianca birgit blanche bonnie brenda
    brianna bridget brigitte brittany britney brooke camilla camille candace candice cara carina carla carlotta
    carmela carmen carol carole carolina caroline carolyn carrie cassandra cassie catalina catarina caterina
    catherine cathy cecilia cecily celeste celia celine charlene charlotte chelsea cheryl chiara chloe christa
    christina christine cindy claire clara clarissa claudette claudia clementine cleopatra colette colleen
    connie constance consuelo cora cordelia corinne cristina crystal cynthia daisy daniela danielle daphne dawn
    deanna debbie deborah debra deirdre delia delilah denise diana diane dina dinah dolly dolores dominique
    donna dora doreen doris dorothea dorothy edith edna eileen elaine eleanor elena eliza elisa elisabeth elise
    eliza elizabeth ella ellen elsa elsie elvira emilia emily emma erica erika erin esmeralda estelle esther
    ethel etta eugenia eugenie eunice eva evangeline eve evelina evelyn faith fatima fay faye felicia felicity
    fiona flora florence frances francesca francine frida frieda gabriela gabriella gabrielle gemma genevieve
    georgia georgina geraldine gertrude gillian gina ginny giovanna gisela gladys gloria grace greta gretchen
    griselda gwen gwendolyn hanna hannah harriet hazel heather heidi helen helena helene helga henrietta
    hermione hilary hilda hillary holly hope ida ilse imelda imogen ingrid irena irene irina iris irma isabel
    isabella isabelle isla isolde ivana ivy jacqueline jana jane janet janice janine jasmine jean jeanette
    jeanne jenna jennie jennifer jenny jessica jill joan joanna joanne jocelyn jodie johanna josephine joy
    joyce juanita judith judy julia juliana julianne julie juliet juliette june justine kaitlyn kara karen
    karin karina kate katarina katerina katharine katherine kathleen kathryn kathy katie katrina katy kay kayla
    keiko kelsey kimberly kirsten kirsty krista kristen kristin kristina kylie lana lara larissa laura lauren
    laurie lea leah leila lena leonora leticia lia liana lidia lila lilian liliana lillian lily linda lindsay
    lisa lisbeth lise liv livia liza lizzie lois lola lorena loretta lori lorna lorraine lottie louisa louise
    lucia lucie lucille lucinda lucy luisa luna lydia lynda lynette mabel maddie madeleine madeline madonna
    maeve magdalena maggie maia maisie mamie mandy manuela mara marcella marcia margaret margarita margie
    margot marguerite maria mariah mariam marian mariana marianne marie marilyn marina marisa marjorie marlene
    marta martha martina mary matilda maud maude maureen maxine maya meg megan meghan melanie melinda melissa
    mercedes meredith mia michelle mila mildred milena millicent millie mimi mina minnie mira miranda miriam
    moira mollie molly mona monica monika monique muriel myra myrtle mya nadia nadine nan nancy naomi natalia
    natalie natasha nell nellie nelly nicola nicole nina nita noelle nora noreen norma octavia odette olga
    olive olivia ophelia paige pam pamela patricia patsy patti paula paulina pauline pearl peggy penelope penny
    petra phoebe phyllis pippa polly prudence priscilla priya rachel ramona raquel rebecca regina rene renata
    renee rhoda rhonda rita roberta rosa rosalie rosalind rosamund rosanna rose roseanne rosemary rosie rowena
    roxanne ruby ruth sabina sabine sabrina sadie sally salma samantha sandra sara sarah saskia scarlett selena
    selma serena shannon sharon sheila shirley siobhan sofia sonia sonja sophia sophie stacey stella stephanie
    sue susan susanna susannah susanne susie suzanne suzy svetlana sybil sylvia sylvie tabitha tamara tania
    tanya tara tatiana teresa tess tessa thea thelma theresa therese tiffany tilda tina tracy trish trisha
    trudy uma una ursula valentina valeria valerie vanessa venus vera verity veronica vicky victoria viola
    violet virginia vivian vivien vivienne wanda wendy whitney wilhelmina wilma winifred winona xenia yoko
    yolanda yvette yvonne zelda zoe zoey zora zsa"""

_BOTH = {"rene", "jean", "jan", "andrea", "nicola", "dominique", "camille", "nikita", "ali", "kay", "laurie", "noel"}
MALE_NAMES: Final = frozenset(_MALE_NAMES.split()) - _BOTH
FEMALE_NAMES: Final = frozenset(_FEMALE_NAMES.split()) - _BOTH

# Given names that are as often somebody's surname: alone they say nothing of a sex.
_SURNAMES = """
    allen bruce bradley clay clement clifford clinton craig curtis dean douglas duncan earl floyd franklin
    gilbert glenn graham gregory harrison harvey heath henry howard irving irwin james jefferson kirk lance
    lawrence lewis lloyd louis marshall martin mitchell morris nelson owen parker perry reid roland roman ross
    roy ruben russell ryan scott sherman spencer stanley stewart stuart thomas travis tyler wade wallace walter
    warren will winston brooke grace hope lindsay lynn meredith paige whitney kelly tracy arnold barry conrad
    cornelius grant guy"""
SURNAMES: Final = frozenset(_SURNAMES.split())

MALE_TITLES: Final = words_of("""
    mr sir lord king prince duke baron count father fr brother uncle monsieur herr""")
FEMALE_TITLES: Final = words_of("""
    mrs ms miss madam madame lady queen princess duchess baroness countess sister aunt mademoiselle frau dame""")
TITLES: Final = (
    MALE_TITLES
    | FEMALE_TITLES
    | words_of("""
    dr prof professor rev reverend president senator governor mayor minister judge justice captain colonel
    general major lieutenant sergeant detective inspector officer doctor chancellor secretary coach pope saint
    st capt col gen lt sgt gov sen rep hon bishop archbishop cardinal emperor empress sheikh rabbi ambassador
    commander admiral congressman congresswoman chief agent director""")
)

MALE_NOUNS: Final = words_of("""
    father husband brother son uncle nephew grandfather grandson stepfather stepson boyfriend widower man boy
    gentleman actor businessman chairman spokesman policeman congressman king prince duke monk priest
    footballer salesman sportsman statesman dad grandpa fiance fiancé groom cameraman baseman lineman godfather
    stepbrother guy waiter hero emperor lord""")
FEMALE_NOUNS: Final = words_of("""
    mother wife sister daughter aunt niece grandmother granddaughter stepmother stepdaughter girlfriend widow
    woman girl lady actress businesswoman chairwoman spokeswoman policewoman congresswoman queen princess
    duchess nun mum mom grandma fiancee fiancée bride ballerina soprano waitress heroine hostess comedienne
    midwife housewife mistress goddess heiress maid godmother stepsister sportswoman empress nurse""")
# Whom a text speaks of without a name: anyone of these may be meant by a pronoun.
PERSON_NOUNS: Final = (
    MALE_NOUNS
    | FEMALE_NOUNS
    | words_of("""
    doctor teacher student manager boss landlord plumber minister director author writer singer player friend
    colleague neighbour neighbor customer client user patient officer judge lawyer professor driver engineer
    developer designer child baby kid parent cousin sibling twin partner intern employee worker owner founder
    leader captain coach editor artist poet musician composer scientist researcher journalist reporter critic
    president governor mayor senator soldier victim suspect killer murderer detective agent reader speaker
    candidate nominee successor predecessor assistant secretary nanny therapist dentist stranger visitor guest
    host mentor rival enemy lover caller person someone somebody anyone anybody everyone everybody nobody one
    puppy dog cat kitten horse""")
)

AUXILIARIES: Final = words_of("""
    is are was were am be been being has have had having do does did will would can could shall should may
    might must isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't won't wouldn't can't
    cannot couldn't""")
PAST_VERBS: Final = words_of("""
    became began bought broke brought built came caught chose drew drove fell felt fought found gave got grew
    held hit kept knew led left lent let lost made meant met paid put quit ran read rode rose said sang sat saw
    sent set shot showed sold spent spoke stood stole struck swam taught told took thought threw understood
    went won wore wrote beat bore cut dealt died dug fed fled flew forgot forgave froze hid hurt laid lay lit
    overcame sank shook shut slept split spread sprang swept swore tore withdrew woke married born tells asks
    finds leaves goes meets says gives takes makes sees comes gets becomes runs calls kills tries wants knows
    decides begins returns arrives discovers learns realizes realises believes thinks works lives plays helps
    loves marries refuses agrees sends shows brings turns confronts visits convinces persuades reveals explains
    offers attacks escapes claims keeps warns informs accuses invites follows saves catches starts stops
    continues dies wins loses feels hears moves wakes falls remembers joins reports admits suggests promises
    hires owns argues writes describes states notes adds recalls include includes say think know want tell ask
    give take make see come get leave go find meet""")
PREPOSITIONS: Final = words_of("""
    of in on at by with to from for against about into over under after before between among during through
    without within upon toward towards near behind beside besides above below across along around beyond
    despite except inside outside like per since until via than as opposite alongside versus including
    featuring off onto""")
SUBORDINATORS: Final = words_of("""
    that who whom whose which when while because after before since until although though if unless whereas
    where as so why how what once whether""")
CONJUNCTIONS: Final = words_of("""
    and or but nor yet""")
DETERMINERS: Final = words_of("""
    the a an this that these those his her their its my our your some any each every""")

MALE_PRONOUNS: Final = words_of("""
    he him his himself""")
FEMALE_PRONOUNS: Final = words_of("""
    she her hers herself""")

# What may stand after an objective "her"; anything else makes it possessive.
AFTER_OBJECT: Final = (
    PREPOSITIONS
    | CONJUNCTIONS
    | AUXILIARIES
    | SUBORDINATORS
    | words_of("""
    the a an this these those not back away out up down home there here too also again alone soon instead
    together it him them me you us all both then now later today yesterday tomorrow tonight once twice either
    because he she they i we""")
)

MONTHS_AND_DAYS: Final = words_of("""
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday""")
# Last or inner words of names that nobody bears.
NOT_PERSON_WORDS: Final = words_of("""
    university college school academy institute company corporation corp inc ltd llc club fc united city county
    state states kingdom republic union league cup championship championships olympics games award awards prize
    festival theatre theater opera orchestra band records studios studio pictures films film series show house
    hall museum gallery library church cathedral abbey temple hospital street avenue road square park river
    lake mountain mountains island islands sea ocean bay coast valley beach bridge station airport court
    council committee commission ministry department office bureau agency association society foundation party
    parliament congress senate army navy force forces war battle act bill treaty magazine times news journal
    press post review book novel album song tour season episode part chapter volume radio television tv channel
    network group bank center centre north south east west northern southern eastern western new old great san
    santa fort port mount los las saint- saints university's division class grand prix open masters trophy
    medal order section team stadium arena conference district province region village town castle palace tower""")
PLACES: Final = words_of("""
    america american england english britain british scotland scottish ireland irish wales welsh france french
    germany german italy italian spain spanish portugal portuguese russia russian soviet china chinese japan
    japanese india indian pakistan canada canadian australia australian mexico mexican brazil brazilian
    argentina europe european africa african asia asian london paris berlin rome madrid moscow tokyo beijing
    sydney melbourne toronto york chicago boston philadelphia hollywood broadway california texas florida
    michigan ohio illinois pennsylvania massachusetts jersey carolina kansas missouri iowa wisconsin minnesota
    oregon washington virginia israel israeli jewish christian catholic roman greek greece turkish turkey egypt
    iran iraq poland polish swedish sweden norway norwegian danish denmark dutch netherlands belgium belgian
    austria austrian swiss switzerland hungary hungarian vienna venice milan dublin edinburgh glasgow
    manchester liverpool oxford cambridge harvard yale princeton stanford atlanta dallas houston miami detroit
    seattle denver cleveland orleans angeles francisco korea korean vietnam cuban cuba philippines singapore
    hong kong taiwan thailand nigeria kenya african-american muslim islam islamic protestant anglican nazi
    western afghanistan ukraine romania czech prague munich lisbon geneva god christmas easter internet bible""")
# Capitalised because they open a sentence.
OPENERS: Final = (
    PREPOSITIONS
    | SUBORDINATORS
    | CONJUNCTIONS
    | DETERMINERS
    | AUXILIARIES
    | MALE_PRONOUNS
    | FEMALE_PRONOUNS
    | words_of("""
    i it we you they them him there here then now later today yesterday tomorrow however therefore meanwhile
    moreover furthermore also still soon eventually finally first second third next last born died one two
    three four five six seven eight nine ten many most several few both all another other others no not yes
    well even just only never always often sometimes perhaps maybe instead upon following according prior due
    based such having being during early late shortly afterwards originally initially previously subsequently
    additionally similarly unfortunately fortunately recently currently formerly once again together apart thus
    hence nobody everyone someone everything nothing please thanks thank hello hi hey ok okay let her's went
    got met talked told saw called asked ever almost despite voiced whether nearly quite rather head miss
    confidential special""")
)
