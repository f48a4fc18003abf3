"""Common English words in their base forms: a capital on one of them proves nothing where a sentence begins. Data only.

From SCOWL (Spell Checker Oriented Word Lists), sizes 10 and 20, inflected forms left out. Copyright 2000-2018 by
Kevin Atkinson. Permission to use, copy, modify, distribute and sell these word lists, the associated scripts, the
output created from the scripts, and its documentation for any purpose is hereby granted without fee, provided that
the above copyright notice appears in all copies and that both that copyright notice and this permission notice
appear in supporting documentation. Kevin Atkinson makes no representations about the suitability of this array for
any purpose. It is provided "as is" without express or implied warranty.
"""

from __future__ import annotations

from typing import Final

_BASE = """
    aardvark abandon abbreviate abbreviation abide ability able abnormal abolish abolition abort abortion about
    above abroad absence absent absolute absorb abstract abstraction absurd abuse abusive abysmal academic
    accelerate accent accept acceptable acceptance access accessible accident accidental accommodate accommodation
    accompany accomplish accord accordance account accountant accumulate accuracy accurate accusation accuse
    accustom ace achieve achievement acid acknowledge acorn acoustic acquaintance acquire acquisition acronym across
    act action activate active activity actor actual acute adapt adaptation add addict addictive addition additional
    address adequate adhere adjacent adjective adjust adjustment administer administration administrative admirable
    admiration admire admission admit adopt adoption adult advance advantage advantageous advent adventure
    adventurous adverse advert advertise advertisement advice advisable advise advisor advocate aerial aesthetic
    aesthetically affair affect affection afford aforementioned afraid after afternoon afterward again against age
    agency agenda agent aggressive ago agony agree agreement agricultural ahead aid aim air aircraft airport akin
    alarm alas albeit album alcohol alcoholic alert algebra algebraic algorithm alias alien align alignment alike
    alive all allegation allege allergic alleviate alliance allocate allocation allow allowable allowance almost
    alone along alongside aloud alpha alphabet alphabetic alphabetical already also alter alteration alternate
    alternative although altogether always am amateur amaze ambassador amber ambient ambiguity ambiguous ambitious
    amend amendment among amount amp ample amplifier amuse amusement an anagram analog analogous analogue analyses
    analysis analyst analyze anarchy anatomy ancestor ancient and anecdote angel anger angle angry anguish animal
    anniversary announce announcement annoy annoyance annual anomaly anonymous anorak another answer anthology
    anticipate anticipation antidote antique antisocial anxious anybody anyhow anyone anyplace anything anyway
    anywhere apart apathetic apathy apologize apology apostrophe appall apparatus apparent appeal appear appearance
    append appendix applause apple applicable applicant application appoint appointment appraisal appreciate
    appreciation approach appropriate approval approve approximate approximation apt arbitrarily arbitrary arc
    arcade arcane arch archaic architecture archive are area arena arguable argue argument arise arisen arithmetic
    arm arose around arrange arrangement array arrest arrival arrive arrogance arrogant arrow art article artificial
    artist artistic as ascend ash ashamed ashcan aside ask asleep aspect assault assemble assert assertion assess
    assessment asset assign assignment assist assistance assistant associate association assort assume assumption
    assure asterisk astronomer astronomy asynchronous at ate atheism atheist atlas atmosphere atmospheric atom
    atomic atrocity attach attachment attack attain attempt attend attendance attendant attention attitude attorney
    attract attraction attractive attribute audible audience audio aunt authentic author authority authorization
    authorize autobiography automate automatic automatically automobile autumn availability available average avoid
    await awake award aware away awful awkward ax axiom axis baby back backbone background backlog backspace
    backward bacteria bacterium bad badge baffle bag baggage bake balance ball ballet ballot ban banal banana band
    bandwagon bandwidth bang bank bankrupt bar bare bargain bark baroque barrel barrier barrister base basement bash
    basic basically basis basket bass bastard bat batch bath bathroom battery battle baud bay be beach beam bean
    bear beard beast beat beaten beautiful beauty became because become bed bedroom beef been before beforehand beg
    began begin begun behalf behave behavior behind belief believable believe bell belong beloved below belt bench
    bend beneath beneficial benefit bent beside best bet beta between beware beyond bias bible biblical bicycle bid
    big biggest bigot bigotry bill billfold billion bin binary bind biochemistry biography biological biologist
    biology bird birth birthday biscuit bishop bit bite bitmap bitten bizarre black blackboard blackmail blade blame
    blank blanket blast blatant bless blew blind blink bliss blob block blood blow blown blue blurb board boat bob
    body bog boggle bogus boil bold bolt bomb bond bone bonus book booklet bookshop bookstore boom boost boot border
    borderline bore boredom born borne borrow boss both bottle bottom bought bounce bound boundary bout bow bowl box
    boy bracket brain brake branch brand brass brave breach bread break breakdown breakfast breath breathe bred
    breed breeze brethren brick bridge brief brigade bright brilliant bring broad broadcast broke broken brother
    brought brown browse brush brutal bubble buck bucket budget buffer bug build built bulb bulk bull bullet
    bulletin bump bunch bundle burden bureaucracy burn burnt burst bury bus bush business bust but button buy by bye
    bypass byte cabbage cabinet cable caffeine cage cake calculate calculation calculator calculus calendar call
    calm cam came camera camp campaign campus can cancel cancer candidate cannot canonical cant cap capability
    capable capacity capital capitalism capitalist captain capture car carbon card cardboard care careful careless
    carpet carriage carrier carrot carry cartoon cartridge case cash cassette cast castle casual cat catalog
    catastrophic catch categorically category cathedral catholic cattle caught causal causality cause caution cave
    caveat cease ceiling celebrate celebration cell cellular censor censorship cent central century ceremony certain
    certainty certificate chain chair chairman chalk challenge chamber champagne champion chance chancellor change
    changeover channel chaos chaotic chap chapel chapter char character characteristic charge charitable charity
    charm chart chase chat cheap cheat check cheek cheer cheerful cheese chemical chemist chemistry chess chest
    chestnut chew chicken chief child childhood childish children chip chocolate choice choir choose chop choral
    chord chorus chose chosen chuck chunk church cider cigarette cinema circa circle circuit circuitry circular
    circulate circulation circumstance cite citizen civil civilian civilization civilize claim clarification clarify
    clarity clash class classic classical classification classify clause clean clear clearance clever click client
    cliff climate climb clinic clinical clip clique clock clog clone close closet closure cloth clothe cloud club
    clue clumsy cluster coach coal coarse coast coat cobbler code coffee coherent coin coincide coincidence coke
    cold collaboration collapse collar collate colleague collect collection collective college colon color column
    combat combination combine come comedy comfort comfortable comic comma command commandment commence comment
    commentary commentator commercial commission commit commitment committee commodity common communal communicate
    communication communism communist community compact companion company comparable comparative compare comparison
    compassion compatibility compatible compel compensate compensation compete competence competent competition
    competitive competitor compilation compile complacent complain complaint complement complementary complete
    completion complex complexity complicate complication compliment comply component compose composite composition
    compound comprehend comprehensible comprehension comprehensive compress compression comprise compromise
    compulsion compulsory computation computational compute computerize con concatenate conceal concede conceivable
    conceive concentrate concentration concept conception conceptual concern concert concerto concise conclude
    conclusion concrete concur concurrently condemn condemnation condense condition conditional condom condone
    conduct conductor conference confess confidence confident confidential confidentiality configuration configure
    confine confirm confirmation conflict conform confront confuse confusion congest congestion congratulate
    congratulations conjecture conjunction connect connection connector connotation conscience conscious consecutive
    consensus consent consequence consequent conservation conservative consider considerable considerate
    consideration consist consistency consistent consolation console conspicuous conspiracy constant constituency
    constituent constitute constitution constitutional constrain constraint construct construction constructive
    consult consultancy consultant consultation consume consumption contact contain contemplate contemporary
    contempt contend content contention contentious contest context continent continental continual continuation
    continue continuity continuous continuum contour contraception contract contradict contradiction contradictory
    contrary contrast contravention contribute contribution contributor contrive control controversial controversy
    convenience convenient convention conventional conversation converse conversion convert convey convict
    conviction convince cook cookie cool cooperate cooperation coordinate coordination cope copper copyright core
    corn corporate corporation corpse correct correction correlate correlation correspond correspondence
    correspondent corridor corrupt corruption cosmic cosmology cost cotton cough could council counsel count
    counterexample counterpart countless country countryside couple courage courier course court courtesy cousin
    cover coverage cow cozy crack craft cramp crap crash crass crawl crazy cream create creation creative creator
    creature credibility credible credit creed creep crew cricket crime criminal crisis crisp criteria criterion
    critic critical criticism criticize crop cross crossroad crossword crowd crown crucial crude cruel cruelty
    cruise crunch crush cry cryptic crystal cs cube cubic cuckoo cuddly cue culprit cult cultural culture cumbersome
    cumming cums cumulative cunning cup cupboard cure curiosity curious currency current curriculum curry curse
    cursor curtain curve custard custom customary cut cute cycle cyclist cylinder cynic cynical daft daily damage
    damn damnation damp dance danger dangerous dare dark darling dash data database date datum daughter dawn day
    daylight daytime dead deadline deaf deal dealt dear death debatable debate debt debug decade decay decent decide
    decimal decision deck declaration declare decline decode decrease dedicate deduce deduction deed deem deep
    default defeat defect defective defend defense defensive deficiency define definite definition definitive defy
    degenerate degradation degrade degree deity delay delete deletion deliberate delicate delicious delight
    delightful delimiters deliver delta delusion demand demented demise democracy democratic democratically demolish
    demonstrate demonstration denominator denote dense density dentist deny department departmental departure depend
    dependence dependent deposit depress depression deprive depth deputy derange derivative derive derogatory
    descend describe description descriptive desert deserve design designate desirable desire desk desktop despair
    desperate despise despite destination destine destroy destruction destructive detach detail detect detectable
    detection detective detector deter determination determine deterrent detract devastate develop development
    deviation device devil devious devise devoid devote diagnosis diagnostic diagonal diagram dial dialect dialog
    dialogue diameter diary dice dictate dictator dictatorship dictionary did die diesel diet differ difference
    different differential differentiate difficult dig digit digital dignity dilemma dim dimension dimensional dine
    dinner dip diplomatic dire direct direction directive director dirt disable disadvantage disagree disagreement
    disappear disappoint disappointment disaster disastrous disc discard discharge disciplinary discipline
    disclaimer disco disconnect discontinue discount discourage discover discrepancy discrete discretion
    discriminate discrimination discuss discussion disease disguise disgust dish dishonest disk dislike dismal
    dismiss disorder display disposable disposal dispose disposition dispute disregard disrupt disruption
    dissertation dissimilar distance distant distasteful distinct distinction distinctive distinguish distort
    distortion distract distress distribute distribution district disturb disturbance ditch ditto dive diverse
    diversity divert divide divine division divorce do doctor doctrine document documentary documentation dodge doe
    dog dogma dole dollar domain domestic dominant dominate don donate donation done doom door dose dot double doubt
    doubtful doubtless down downhill downright downstairs downwards dozen draft drag dragon drain drama dramatic
    dramatically drank drastic drastically draw drawback drawn dread dreadful dream dreary dress drew drift drill
    drink drip drive drivel driven drop drove drown drug drum drunk drunken dry dual dubious duck due duff dug dull
    dumb dummy dump dumpster duplicate duplication duration during dust dustbin duty dying dynamic dynamically each
    eager eagle ear earlier earliest earn earth ease easier easiest easily east eastern eat eaten eccentric echo
    ecological ecology economic economical economy edge edit edition editor editorial educate education educational
    effect effective efficiency efficient effort egg ego eh eight eighteen eighth either elaborate elderly elect
    election electoral electorate electric electrical electricity electron electronic electronically elegant element
    elementary elephant elevator eleven eligible eliminate elite elitist else elsewhere em embarrass embarrassment
    embed emerge emergency eminent emit emotion emotional emphasis emphasize empire empirical employ employee
    employment empty emulate emulation emulator enable enclose encode encounter encourage encouragement end endeavor
    endless enemy energy enforce engage engine enhance enhancement enjoy enjoyable enjoyment enlarge enlighten
    enlightenment enormous enough ensure entail enter enterprise entertain entertainment enthusiasm enthusiastic
    entire entirety entitle entity entrance entry envelope environment environmental envisage envy epic episode
    equal equality equate equation equilibrium equip equipment equivalent era erase ergo err erroneous error escape
    esoteric especially essay essence essential establish establishment estate estimate estimation eternal eternity
    ethic ethical ethnic etymology evaluate evaluation even event eventual ever everybody everyday everyone
    everything everywhere evidence evident evil evolution evolutionary evolve exact exaggerate exam examination
    examine example exceed excellent except exception exceptional excess excessive exchange excite excitement
    exclamation exclude exclusion exclusive excuse executable execute execution executive exempt exercise exhaust
    exhaustive exhibit exhibition exist existence exit exotic expand expansion expect expectation expedition
    expenditure expense expensive experience experiment experimental experimentation expert expertise expire explain
    explanation explanatory explicit explode exploit exploitation exploration explore explosion explosive
    exponential export expose exposure express expression expressway extant extend extension extensive extent
    external extinction extra extract extraction extraneous extraordinarily extraordinary extreme extremist eye
    eyesight fabric face facilitate facility fact factor factual faculty fail failure faint fair faith faithful fake
    fall fallacious fallacy fallen false fame familiar familiarity family famine famous fan fancy fantastic fantasy
    far farce fare farewell farm farther farthest fascinate fascist fashion fashionable fast fat fatal fate father
    fatuous faucet fault favor favorable favorite fear feasibility feasible feat feature fed federal fee feeble
    feedback feel feet fell fellow felt female feminist fence fender festival fetch fever few fiber fiction
    fictional fiddle field fierce fifteen fifth fifty fight figure file fill film filter filthy final finalize
    finance financial find fine finger finish finite fire firework firm first fiscal fish fit five fix fizzy flag
    flame flash flat flavor flaw fleet flesh flew flexibility flexible flight flip float flood floor floppy flour
    flow flown fluctuation fluent fluffy fluid flush flute fly foam focus fog fold folk follow fond font food fool
    foolish foot football footnote for forbade forbid forbidden force forcibly forecast foreign foreseeable forever
    forgave forget forgive forgiven forgot forgotten fork form formal format formation formula formulae formulation
    forth forthcoming fortnight fortunate fortune forty forum forward fossil fought foul found foundation fountain
    four fourteen fourth fraction fragile fragment frame framework frank frantic fraud freak free freedom freeway
    freeze french frequency frequent fresh friction friend friendship frighten fringe frivolous frog from front
    frown froze frozen fruit frustrate frustration fry fudge fuel fulfill full fume fun function functional
    functionality fund fundamental fundamentalist funeral funnier funniest funny fur furniture furry further
    furthermore furthest fuse fusion fuss futile future fuzzy gain galactic galaxy game gang gap garage garbage
    garble garden gas gasoline gasp gate gateway gather gave gay gear gender gene general generalization generalize
    generate generation generator generic generous genetic genetically genius genocide genre gentle gentleman
    gentlemen genuine geographical geography geology geometry gesture get ghastly ghost giant gibberish gift gig gin
    girl girlfriend give given glad glance glass glean global glorious glory glossy glove glow glue gnome go goal
    goat god gold golden goldfish golf gone good goodbye gorgeous gospel gossip got gotten govern government
    governor gown grab grace grade gradual graduate graduation graffiti graffito grain grammar grammatical grand
    grandfather grandmother grant graph graphic graphical grasp grass grateful gratuitous grave gravitational
    gravity gray greasy great greed green grew grid grief grim grind grip groan gross ground group grow grown growth
    guarantee guard guess guest guidance guide guideline guilt guinea guitar gulf gullible gum gun gut guy ha habit
    hack had hail hair haircut half hall halt halve ham hand handbook handful handicap handle hang hangover happen
    happier happiest happily happiness happy hard hardback harden hardship hardware harm harmful harmless harmony
    harsh hash hassle hasten hasty hat hate hatred have havoc hazard hazy he head headache headline health heap hear
    heard heart heartily heat heaven heavier heaviest heavily heavy heel height held helicopter hell hello helmet
    help helpful helpless hence henceforth her herd here hereby heresy heritage hero heroic heroin herself hesitate
    heterosexual hexadecimal hid hidden hide hideous hierarchical hierarchy high highlight highway hilarious hill
    him himself hindsight hint hip hire his historian historic historical history hit hitherto ho hobby hog hold
    hole holiday hollow home homosexual homosexuality honest honey honor honorary hook hope hopeful hopeless horde
    horizon horizontal horn horrendous horrible horrid horrific horrify horror horse hospital host hostile hot hotel
    hour house household how however huge huh hum human humane humanity humble humor humorous hundred hung hungry
    hunt hurry hurt husband hut hydrogen hyphen hypocrisy hypocrite hypocritical hypothesis hypothetical hysterical
    ice icon id idea ideal idealistic identical identification identifier identify identity ideological ideology
    idiom idiosyncratic idiot idiotic idle if ignorance ignorant ignore ill illegal illiterate illogical illusion
    illustrate illustration image imaginary imagination imaginative imagine imbalance immature immediate immense
    imminent immoral immortal immune impact impair impend imperative imperfect imperial impersonal implausible
    implement implementation implication implicit imply import importance important impose impossible impractical
    impress impression impressive imprison improbable improve improvement impulse in inability inaccessible
    inaccuracy inaccurate inadequate inadvertently inane inappropriate incapable incarnation incentive inch
    incidence incident incidental inclination incline include inclusion inclusive incoherent income incompatible
    incompetence incompetent incomplete incomprehensible inconsistency inconsistent inconvenience inconvenient
    incorporate incorrect increase incredible increment incur indeed indefensible indefinite indent independence
    independent indeterminate index indicate indication indicative indicator indictment indirect indirection
    indistinguishable individual induce induction indulge industrial industry ineffective inefficiency inefficient
    inequality inertia inevitable inexperienced infallible infamous infant infantile infect infection infelicity
    infer inference inferior inferiority infinite inflation inflexible inflict influence influential info inform
    informal information informative infrastructure infrequent infringement ingenious ingredient inhabit inhabitant
    inherent inherit inheritance inhibit inhibition initial initialization initialize initiate initiative inject
    injure injustice ink innocence innocent innovation innovative input inquire insane insect insecure insensitive
    insert insertion inside insidious insight insignificant insist insistence insofar inspect inspection inspiration
    inspire install installation instance instant instead instinct institute institution instruct instruction
    instrument instrumental insufficient insult insurance intact intake integer integral integrate integration
    integrity intellect intellectual intelligence intelligent intend intense intensity intensive intent intention
    intentional inter interact interaction interactive intercourse interface interfere interference interim interior
    intermediate intermittent internal international interpret interpretation interrogate interrupt interruption
    intersection interval intervene intervention interview intimate into intolerance intrinsic intrinsically
    introduce introduction introductory intuitive invade invalid invalidate invaluable invariably invasion invent
    invention inventor inverse invert invest investigate investigation investment invisible invitation invite invoke
    involve involvement ion irate iron ironic irrational irrelevant irrespective irresponsible irritate irritation
    is island isolate isolation issue it item itself jack jacket jail jam jargon jazz jealous jeans jelly jerk jest
    jet job join joint joke jolly journal journalist journey joy judge judgment juice jump junction jungle junior
    junk jury just justice justifiable justification justify juvenile keen keep ken kept kernel kettle key keyboard
    keystroke keyword kick kid kidnap kidney kill kind king kingdom kiss kit kitchen knee knew knife knight knock
    know knowledge known lab label labor laboratory lack lad lag laid lain lake lamp land landlord landscape lane
    language large lark laser last late latter laugh laughter launch lavatory law lawn lawyer lay layout laziness
    lazy leach lead leadership leaf leaflet league leak lean leap learn least leather leave lecture led left leg
    legal legend legendary legible legislation legitimate leisure lemon lend length lenient lens lent lesbian less
    lesson lest let lethal level liability liable liaison libel liberal liberty librarian library license lid lie
    life lifestyle lifetime lift light lightning like likelihood likewise limb limit limitation line linear
    linguistic link linkage lion lip liquid liquor lisp list listen lit literal literary literate literature little
    live load loan lobby local locate location lock lodge log logic logical logo lonely long look loop loophole
    loose lord lorry lose loss lost lot loud lousy love low loyal luck luckily ludicrous luggage lump lunatic lunch
    lunchtime lung lurk lust luxury lying lyric machine machinery mad made magazine magic magical magnetic
    magnificent magnitude mail mailbox main mainframe mainstream maintain maintenance maize major majority make male
    malfunction malicious man manage management mandate mandatory mangle mania manifestation manifestly manifesto
    manipulate manipulation mankind manpower manual manufacture map march margin marginal marital mark market
    marriage marry marvelous mask mass massive master match mate material mathematical mathematician mathematics
    matrices matrix matter mature maximize maximum may maybe mayor maze me meal mean meaningful meaningless meant
    meantime meanwhile measure measurement meat mechanic mechanical mechanism media medical medicine medieval medium
    meet megabyte melody melt member membership memorable memory men mend mental mentality mention menu mercury
    mercy mere merge merit merry mess message met metal metaphor method metric metro mice microcomputer
    microprocessor microwave midday middle midnight might migrate migration mild mile mileage military milk mill
    million mimic mind mindless mine minimal minimalist minimize minimum minister minor minority mint minus minute
    miracle miraculous mirror miscellaneous misdirect miserable misery misfortune misguide misinterpret mislead
    misled misplace misprint misread misrepresent miss missile mission mist mistake mistaken mistook misunderstand
    misunderstood misuse mix mixture mnemonic moan mob mobile mock mod mode model moderate moderation modern
    modification modify module mold mole molecular molecule mom moment momentarily momentum monarch money monitor
    monkey monochrome monopoly monster month mood moon moral morality more moreover morning moron mortal mortality
    most mother motion motivate motivation motive motor motorway motto mount mountain mouse mouth move movement
    movie much muck mud muddle mug multiple multiplication mum mumble mummy mundane murder muscle museum music
    musical musician must mutter mutual my myself mysterious mystery mystic myth mythical mythology nail naive naked
    name nameless narrative narrow nastier nastiest nasty nation national native natural nature naughty nay near
    nearby neat necessarily necessary necessity neck need needle negate negative neglect negligible negotiable
    negotiate negotiation neighbor neighborhood neither nerve nervous nest net network neural neutral never
    nevertheless new newcomer newsletter newspaper next nice nick nickname night nightmare nil nine no noble nobody
    node noise nominal nominate none nonetheless nonsense noon nor norm normal normality north northern nose
    nostalgia not notable notation note nothing notice noticeable notification notify notion notorious
    notwithstanding noun novel novelty novice now nowadays nowhere nuclear nuisance null numb numeral numeric
    numerical numerous nun nurse nut oar obey object objection objectionable objective obligation obligatory oblige
    obnoxious obscene obscure obscurity observation observe obsess obsession obsolete obstruct obtain obtainable
    obvious occasion occasional occupation occupy occur occurrence ocean odd of off offend offense offensive offhand
    office official offset offspring often oh oil old omission omit on once one oneself ongoing onion onto onus open
    opera operate operation operational operator opinion opponent opportunity oppose opposite opposition oppress
    oppression opt optic optical optimal optimistic optimization optimize optimum option optional opus or oral
    orange orbit orbital orchestra orchestral order ordinary organ organic organization organize orient oriental
    orientate orientation origin original originate originator orthodox other otherwise ought our ourselves out
    outcome outcry outdated outgoing outline outlook output outrage outrageous outright outset outside outstanding
    outweigh over overall overcame overcome overdraft overdue overflow overhead overlap overload overlong overlook
    overnight overprice overridden override overrode overseas overtime overtone overview overwhelm overwriting
    overwritten owe own ownership oxygen ozone pace pacifier pack package packet pad page paid pain painful painless
    paint pair palace pale pan panel panic pant paper paperback par parade paradise paradox paragraph parallel
    parameter paranoia paranoid paraphrase pardon parent parentheses parenthesis parity park parliament parochial
    parody parrot parse part partial participant participate particle particular partition partner pass passage
    passenger passion passionate passive passport password past paste pat patch patent path pathetic patience
    patient patronize pattern pause pavement pay payment peace peaceful peak peanut peasant peculiar pedal pedant
    pedantic pedantry pedestrian peer pen penalty pence pencil pended pending pends penguin penny people per
    perceive percent percentage perception perfect perfection perform performance perhaps period periodic
    periodically peripheral permanent permissible permission permit perpetual persecute persist persistent person
    personal personality personnel perspective persuade persuasion perverse pet petrol petty pharmacy phase
    phenomena phenomenon philosopher philosophical philosophy phoenix phone photo photocopy photograph photographic
    phrase physic physical physicist physiology pi piano pick picture pie piece pig pigeon pile pill pilot pin pinch
    pink pint pipe pipeline pit pitch pitfall pizza place plague plain plan plane planet planetary plant plaster
    plastic plate platform plausible play playground plea pleasant please pleasure plenty plot ploy plug plural plus
    pocket poem poet poetic poetry point pointless poison poke polar pole police policeman polish polite political
    politician politics poll pollution polynomial pompous pool poor pop pope populace popular popularity populate
    population pork pornography port portability portable portion portray pose position positive possess possession
    possibility possible post postage postal postcard postmaster postpone postscript postulate pot potato potential
    pound pour poverty powder power powerful practicable practical practice pragmatic praise pray preach precaution
    precede precedence precedent precious precise precision predecessor predict predictable prediction predominantly
    preface prefer preferable preference prefix pregnancy pregnant prejudice preliminary premature premise premium
    preparation prepare prerequisite prescribe prescription presence present presentation preserve president press
    pressure presumably presume pretend pretentious pretty prevail prevalent prevent prevention preview previous
    price pride priest primarily primary prime primitive prince principal principle print printout prior priority
    prison privacy private privatization privilege prize pro probability probable problem procedure proceed process
    processor proclaim produce product production productive productivity profession professional professor profile
    profit profitable profound program programmable progress prohibit project projection proliferation prolong
    prominent promise promote promotion prompt prone pronoun pronounce pronunciation proof propaganda proper
    property prophet proportion proportional proposal propose proposition proprietary prose prosecute prosecution
    prospect prospective prostitute protect protection protein protest protocol prototype proud prove proven provide
    provision provisional provocative provoke proximity pseudo psychological psychologist psychology pub public
    publication publicity publicize publish pudding pull pulp pulse pump pun punch punctuation puncture punish
    punishment punt pupil purchase pure purge purity purple purpose pursue pursuit push put putt puzzle python
    qualification qualifier qualify quality quantity quantum quarter queen query quest question questionable
    questionnaire queue quibble quick quiet quit quite quiz quota quotation quote rabbit rabid race racial racism
    racist rack racket radar radiation radical radio radius rag rage raid rail railroad railway rain rainbow raise
    ram rampant ran random rang range rank rant rape rapid rare rash rat rate rather ratio rational rationale rattle
    rave raw ray razor re reach react reaction reactionary reactor read readable readership readily real realistic
    reality realization realize realm rear rearrange reason reasonable reassure rebuild rebuilt recall receipt
    receive recent reception recipe recipient reckless reckon reclaim recognition recognizable recognize
    recollection recommend recommendation reconcile reconsider record recover recreational recruit recruitment
    rectangle rectangular rectify recursion recursive recycle red redefine redirect reduce reduction redundancy
    redundant refer reference referendum refine reflect reflection reflex reform reformat refrain refresh refund
    refusal refuse refute regain regard regardless regime region regional register registration regret regrettably
    regular regulation reign reinstate reiterate reject rejection relate relation relationship relative relativity
    relax relay release relevance relevant reliability reliable relief relieve religion religious relocation
    reluctance reluctant remain remainder remark remarkable remedy remember remind reminiscent remote removal remove
    rename rend rendition renew rent repair repeat repeatable repent repertoire repetition repetitive rephrase
    replace replacement reply report represent representation representative reproduce reproduction repulsive
    reputation request require requirement requisite reread rescue research resemblance resemble resent reservation
    reserve reset reside residence resident resign resignation resist resistance resolution resolve resort resource
    respect respectable respective respond response responsibility responsible rest restart restaurant restore
    restrain restrict restriction restrictive result resume resurrection retail retain retire retirement retract
    retrieval retrieve return reuse reveal revelation revenge revenue reverse revert review revise revision revolt
    revolution revolutionary reward rewrite rewritten rewrote rhetorical rhyme rhythm ribbon rice rich rid ridden
    ride ridiculous right rigid rigorous ring riot rip rise risen risk ritual rival river road robot robust rock
    rocket rod rode role roll roman romance romantic roof room root rope rose rot rotate rotation rotten rough round
    roundabout rout route routine row royal royalties rub rubbish rude ruin rule rumor run rung rural rush rusty
    sabotage sack sacred sacrifice sad sadden safe safeguard safety saga said sail saint sake salary sale salesman
    salt salvation same sample sand sandwich sane sang sanity sank sarcasm sarcastic sat satellite satire
    satisfaction satisfactorily satisfactory satisfy sauce save saw say scale scan scandal scarce scare scarf
    scarlet scatter scenario scene scenery schedule scheme scholar school science scientific scientifically
    scientist scope score scotch scrap scratch scream screen screw script scroll scum sea seal search season seat
    second secondary secret secretary sect section sector secular secure security see seek seem seen segment seldom
    select selection selective self selfish sell semantic seminar send senior sensation sense sensible sensitive
    sensitivity sent sentence sentient sentiment sentimental separate separation separator sequel sequence
    sequential serial series serious sermon servant serve service session set settle seven seventh several severe
    severity sex sexist sexual sexuality shade shadow shake shaken shall shallow shame shape share shareholder sharp
    she sheep sheet shelf shell shelter shelve shift shine ship shirt shock shoe shone shook shoot shop short
    shortage shorten shorthand shot should shout shove show shown shut shutdown sic sick sicken side sideways sigh
    sight sigma sign signal signature significance significant silence silent silicon sillier silliest silly silver
    similar similarity simple simplicity simplify simplistic simulate simulation simultaneous sin since sincere sine
    sinful sing single singular sinister sink sir sister sit site situate situation six sixteen sixth sixty size
    skeleton skeptical sketch skill skin skip skirt skull sky slag slang slash slave sleep slept slice slid slide
    slight slim slip slippery slogan slope sloppy slot slow small smallish smart smash smell smile smith smoke
    smooth smug snack snag snail sneak sniff snobbery snow so soap sober social socialism socialist society sock
    socket sod soft software soil solar sold soldier sole solicitor solid solo solution solve some somebody somehow
    someone someplace something sometime somewhat somewhere son song soon sophisticate sordid sore sorry sort sought
    soul sound soundtrack soup source south southern space span spare spatial speak special specialist specialize
    specialty species specific specifically specification specify specimen spectacular spectrum speculate
    speculation sped speech speed spell spend spent sphere spigot spike spill spin spiral spirit spiritual spit
    spite splendid split spoil spoke spoken spokesman sponsor spontaneous spoof spool sport spot spout sprang spray
    spread spring sprung spur spurious spy squad square squash squeeze stability stable stack staff stage stagger
    stair staircase stake stale stall stamp stance stand standard standardize standpoint star stare stark start
    startle starve state statement static station stationary statistic statistical status stay steadily steady steal
    steam steel steep steer stem step stereo stereotype sterile sterling stick stiff still stimulate stimulation
    stir stock stole stolen stomach stone stood stop storage store storm straight straightforward strain strange
    strategic strategy straw stray stream street strength strengthen stress stretch strict strike string stringent
    strip strive stroke strong struck structural structure struggle stuck student studio study stuff stumble stun
    stunt stupid stupidity style subject subjective submission submit subroutine subscribe subscription subsequent
    subset subsidiary subsidize substance substantial substitute substitution subtle subtlety subway succeed success
    successful succession successive successor such sudden sue suffer suffice sufficient suffix sugar suggest
    suggestion suicidal suicide suit suitability suitable suite sum summarize summary sun sundry sung sunk sunlight
    sunny sunrise sunshine super superb superficial superfluous superior superiority supermarket supernatural
    supervise supervision supervisor supplement supplementary supplier supply support suppose suppress suppression
    supreme sure surface surgery surname surplus surprise surround survey survival survive susceptible suspect
    suspend suspension suspicion suspicious sustain swallow swam swamp swap swear sweat sweep sweet swept swim swing
    switch sword swore sworn swum symbol symbolic symmetric symmetry sympathetic sympathize sympathy symphony
    symptom syndicate syndrome synonym synonymous syntactic syntactically syntax synthesis synthesizer system
    systematic tab table tack tackle tactic tactical tactless tag tail tailor take taken tale talent talk tall tame
    tangent tank tap tape target task taste tasteless taught tax taxation taxi taxpayer tea teach team teapot tear
    technical technique technological technology tedious teenage teeth telephone telescope television tell temper
    temperature temple temporarily temporary tempt temptation ten tend tendency tennis tense tension tentative tenth
    term terminal terminate termination terminator terminology terrible terrify territory terror terrorism terrorist
    terse test text textbook textual than thank thankful that the theater thee theft their them theme themselves
    then theological theology theorem theoretical theory therapy there thereabouts thereafter thereby therefore
    therein thereof these thesis thick thief thieve thin think third thirst thirty this thorough thoroughfare those
    thou though thought thousand thread threat threaten three threshold threw throat through throughout throughput
    throw thrown thrust thumb thus tick ticket tidy tie tiger tight tile till time timescale timetable tin tip tire
    tiresome title to toad toast tobacco today toe together toggle toilet token told tolerance tolerant tolerate
    toll tomato tome tomorrow ton tone tongue tonight too took tool tooth top topic topical tore torn torture toss
    total touch tough tour tourist toward tower town trace track trade tradition traditional traffic tragedy tragic
    trail train transaction transcript transfer transform transformation transient transit transition translate
    translation translator transmission transmit transparent transport trap trash trashcan travel tray tread
    treasure treat treatment tree trek tremendous trend trial triangle tribe trick trifle trigger trilogy trinity
    trip triple tripos triumph trivia trivial trolley troop trouble trouser truck true trumpet truncate trunk trust
    truth try tube tune tunnel turn turntable tutor tutorial twelve twentieth twenty twice twin twist two tying type
    typeset typewriter typical ugh ugly ultimate umbrella unable unacceptable unaffected unambiguous unattended
    unauthorized unavailable unavoidable unaware unbalanced unbearable unbelievable unbiased uncertain uncertainty
    unchanged uncle unclear uncomfortable uncommon unconnected unconscious unconvincing undefined under
    underestimate undergo undergone undergraduate underground underlain underlay underlie underline underlying
    underneath understand understandable understood undertake undertaken undertook underwent undesirable undid undo
    undocumented undone undoubtedly unduly uneasy unemployed unemployment unexpected unexplained unfair unfamiliar
    unfinished unfortunate unfounded unfriendly unhappy unhealthy unhelpful uniform unify unimportant uninteresting
    union unique unit unite universal universe university unjustified unknown unless unlike unlimited unload unlock
    unlucky unnatural unnecessarily unnecessary unobtainable unofficial unpleasant unpopular unpredictable unread
    unreadable unrealistic unreasonable unrelated unreliable unsafe unsatisfactory unseen unset unsolicited unsound
    unspecified unstable unsuccessful unsuitable unsupported unsure unsuspecting untidy until unto untrue unusable
    unused unusual unwanted unwelcome unwilling unwise unworkable up upbringing update upgrade upon upright upset
    upside upstairs upward urban urge urgency urgent us usable usage use useful useless usual utility utter vacancy
    vacation vacuum vague vain valid validity valley valuable value valve van vandalism vanish variable variance
    variant variation variety various vary vast vat vector vegetable vegetarian vehicle vein velocity vend vendor
    venture venue verb verbal verbatim verbose verdict verification verify versatile verse version versus vertical
    very vessel vet via viable vicar vice vicinity vicious victim victory video view viewpoint vigorously vile
    village vintage vinyl violate violation violence violent violin virgin virtual virtue virus visible vision visit
    visitor visual vital vocabulary vocal voice void voltage volume voluntarily voluntary volunteer vomit vote vouch
    vowel vulnerable wade waffle wage wait wake walk wall wallet wander want war ward warehouse warm warn warp
    warrant wartime was wash waste wasteful watch water wave way we weak wealth weapon wear weasel weather wed wee
    week weekday weekend weigh weight weird welcome welfare well went were west western wet whale what whatever
    whatsoever wheel when whence whenever where whereas whereby whereupon wherever whether which whichever while
    whilst whim whiskey whistle white who whoever whole wholeheartedly whom whoop whose why wicked wide widespread
    width wife wild will win wind window wine wing winter wipe wire wisdom wise wish wit witch with withdraw
    withdrawal withdrawn withdrew within without witty wive wizard woke woken wolf woman wombat women won wonder
    wonderful wondrous wont wood wooden word wore work workable workload workshop workstation world worldwide worm
    worn worry worse worship worst worth worthless worthwhile would wound wow wrap wrath wreck wren wretched wrist
    write written wrong wrote yard yawn year yellow yes yesterday yet yeti yield you young your yourself yourselves
    youth zero zone zoom"""
BASE: Final = frozenset(_BASE.split())
