"""Common English words in their base forms: a capital on one of them proves nothing where a sentence begins. Data only.

From SCOWL (Spell Checker Oriented Word Lists), sizes 10 to 35, regular derivations left out. Copyright 2000-2018 by
Kevin Atkinson. Permission to use, copy, modify, distribute and sell these word lists, the associated scripts, the
output created from the scripts, and its documentation for any purpose is hereby granted without fee, provided that
the above copyright notice appears in all copies and that both that copyright notice and this permission notice
appear in supporting documentation. Kevin Atkinson makes no representations about the suitability of this array for
any purpose. It is provided "as is" without express or implied warranty.
"""

from __future__ import annotations

from typing import Final

_BASE = """
    aardvark aback abacus abandon abate abbey abbot abbreviate abbreviation abdicate abdomen abdominal abduct abet
    abhor abhorrent abide ability abject ablaze able abnormal aboard abode abolish abolition aboriginal aborigine
    abort abortion abortive abound about above aboveboard abrasive abreast abridge abroad abrupt abscess abscond
    absence absent absentee absolute absolve absorb absorbent absorption abstain abstention abstract abstraction
    abstruse absurd abundant abuse abusive abysmal abyss academic academy accede accelerate accelerator accent
    accentuate accept acceptable acceptance access accessible accessory accident accidental acclaim acclimate
    acclimatize accolade accommodate accommodation accompanist accompany accomplice accomplish accord accordance
    accordion accost account accountancy accountant accredit accrue accumulate accuracy accurate accusation accuse
    accustom ace ache achieve achievement acid acknowledge acne acorn acoustic acquaint acquaintance acquiesce
    acquire acquisition acquit acquittal acre acreage acrid acrimony acrobat acrobatic acronym across acrylic act
    action activate active activist activity actor actress actual actuary acumen acupuncture acute adage adamant
    adapt adaptation adaptive add addendum addict addiction addictive addition additional additive address addressee
    adept adequate adhere adherent adhesive adjacent adjective adjoin adjourn adjunct adjust adjustment administer
    administration administrative administrator admirable admiral admiration admire admission admit admonish adobe
    adolescent adopt adoption adore adorn adrift adroit adult adulterate adultery adulthood advance advantage
    advantageous advent adventure adventurous adverb adverbial adversary adverse advert advertise advertisement
    advice advisable advise advisor advocate aerial aerodynamic aerosol aerospace aesthetic aesthetically afar
    affair affect affection affectionate affidavit affiliate affirm affirmative affix afflict affliction affluent
    afford affront afield aflame afloat afoot aforementioned aforesaid afraid afresh after aftereffect afterlife
    aftermath afternoon afterthought afterward again against age agency agenda agent aggravate aggregate aggressive
    aggressor aghast agile agitate agitator aglow agnostic ago agonize agony agree agreement agricultural
    agriculture aground ahead ahoy aid aide aim air airborne aircraft airfield airier airiest airline airmail
    airplane airport airstrip airtight aisle ajar akin alarm alarmist alas albeit albino album alcohol alcoholic
    alcove alert alga algae algebra algebraic algorithm alias alibi alien alienate alight align alignment alike
    alimony alive alkali alkaline all allay allegation allege allegorical allegory allergic allergy alleviate alley
    alliance alligator allocate allocation allot allow allowable allowance alloy allude allure almanac almighty
    almond almost aloft alone along alongside aloof aloud alpha alphabet alphabetic alphabetical alphanumeric
    already also altar alter alteration alternate alternative alternator although altitude alto altogether
    altruistic aluminum always am amalgamate amass amateur amateurish amaze ambassador amber ambient ambiguity
    ambiguous ambitious ambivalent amble ambush amen amend amendment amethyst amid amiss ammonia amnesia amnesty
    amoeba amoebae amok among amoral amount amp ampere ampersand amphetamine amphibian amphitheater ample amplifier
    amplify amplitude amputate amulet amuse amusement an anagram anal analgesic analog analogous analogue analyses
    analysis analyst analytic analytical analyze anarchic anarchist anarchy anathema anatomical anatomy ancestor
    ancestral ancestry anchor anchorage anchovy ancient and android anecdote anemia anemic anesthesia anesthetic
    anew angel angelic anger angle angrier angriest angry angst anguish angular animal animate ankle annex
    annihilate anniversary annotate announce announcement annoy annoyance annual annul anoint anomaly anon anonymous
    anorak another answer antagonist antagonistic antagonize anteater antelope antenna antennae anthem anthill
    anthology anthrax anthropologist anthropology anticipate anticipation antidote antique antisocial antler antonym
    anus anvil anxiety anxious anybody anyhow anyone anyplace anything anyway anywhere aorta apart apartheid
    apathetic apathy aperture apex apiece aplomb apocryphal apologetic apologize apology apostle apostrophe appall
    apparatus apparel apparent appeal appear appearance appease append appendage appendicitis appendix appetite
    appetizer applaud applause apple applicable applicant application applicator appoint appointee appointment
    apposite appraisal appraise appreciate appreciation appreciative apprehend apprehensive apprentice approach
    appropriate approval approve approximate approximation apricot apron apt aptitude aquamarine aquarium aquatic
    aqueduct arbiter arbitrary arbitrate arbitrator arbor arc arcade arcane arch archaeological archaeologist
    archaeology archaic archbishop archetypal archipelago architect architectural architecture archive archway
    ardent ardor are area arena arguable argue argument argumentative aria arid arise arisen aristocracy aristocrat
    aristocratic arithmetic arm armadillo armchair armistice armor armpit aroma aromatic arose around arouse arraign
    arrange arrangement array arrest arrival arrive arrogance arrogant arrow arsenal arsenic arson art arterial
    artery arthritic arthritis artichoke article articulate artifact artifice artificial artillery artisan artist
    artistic artistry artwork as asbestos ascend ascent ascertain ascetic ascribe asexual ash ashamed ashcan ashen
    ashore ashtray aside ask askew asleep asparagus aspect aspen asphalt asphyxiate aspirant aspire aspirin assail
    assailant assassin assassinate assault assemble assent assert assertion assertive assessment assessor asset
    assign assignment assimilate assist assistance assistant associate association associative assort assume
    assumption assure asterisk asteroid asthma astonish astound astray astride astringent astrological astrology
    astronaut astronomer astronomical astronomy astute asylum asymmetry asynchronous at ate atheism atheist
    atheistic athlete athletic atlas atmosphere atmospheric atom atomic atone atrocity attach attachment attack
    attain attempt attend attendance attendant attention attentive attest attic attire attitude attorney attract
    attraction attractive attribute auburn auction auctioneer audible audience audio audit auditor auditorium august
    aunt aura aural austere authentic authenticate author authoritarian authoritative authority authorization
    authorize auto autobiography autocracy autocrat autocratic autograph automate automatic automatically automobile
    automotive autonomy autopsy autumn autumnal auxiliary avail availability available avalanche avarice avenge
    avenue average averse avert aviator avid avocado avoid avow avowal await awake awaken award aware away awesome
    awful awhile awkward awoke awoken awry ax axiom axiomatic axis axle azalea azure babble babe babier babiest
    baboon babyish bachelor back backbone backfire backgammon background backhand backlash backlog backpack backside
    backslash backspace backstage backtrack backward bacon bacteria bacterial bacterium bad bade badge badminton
    baffle bag bagel baggage baggier baggiest bail bait bake balance balcony bald bale balk ball ballad ballast
    ballerina ballet balloon ballot ballroom balm balmier balmiest baloney bamboo bamboozle ban banal banana band
    bandage bandanna bandier bandiest bandit bandstand bandwagon bandwidth bang bani banish banister banjo bank
    banknote bankrupt bankruptcy banquet banter baptize bar barb barbarian barbaric barbecue barbiturate bard bare
    bareback barefoot bargain barge baritone bark barley barman barn barnacle barnyard barometer baron baroque
    barrage barrel barren barrette barricade barrier barrister bartender barter base baseball baseline basement bash
    basic basically basil basin basis bask basket basketball bass bassoon bastard baste bat batch bath bathe
    bathroom bathtub baton batsman battalion battle battlefield baud bawdier bawdiest bawdy bawl bay bayonet bayou
    bazaar be beach beacon bead beadier beadiest beagle beak beam bean bear beard beast beat beaten beautician
    beautiful beautify beauty beaver became because beckon become bed bedbug bedlam bedridden bedrock bedroom
    bedside bedspread bedtime beech beef beefier beefiest beehive been beeper beeswax beet beetle befall befallen
    befell befit before beforehand befriend beg began beggar begin begrudge beguile begun behalf behave behavior
    behavioral behead beheld behind behold beige belabor belch belfry belie belief believable believe belittle bell
    bellboy bellhop belligerent bellow belong beloved below belt bemoan bemuse bench bend beneath benediction
    benefactor beneficial beneficiary benefit benevolent benign bent bequeath bequest bereave bereft beret berry
    berserk berth beseech beset beside besiege besought best bestial bestow bet beta betcha betray betrayal
    betrothal bettor between beverage beware bewilder bewitch beyond bias bible biblical bibliographic bibliography
    bicentennial bicker bicycle bid bidden bide biennial big bigamist bigamy bigot bigotry bike bikini bilateral
    bile bilingual bill billboard billfold billion billow bin binary bind bingo binomial biochemical biochemistry
    biographer biographical biography biological biologist biology bipartisan biplane birch bird birdcage birth
    birthday birthmark birthplace biscuit bisect bisexual bishop bison bit bitch bite bitmap bitten bittersweet
    bizarre blab black blackberry blackbird blackboard blacken blackhead blackjack blacklist blackmail blackout
    blacksmith blacktop bladder blade blame blanch blancmange bland blank blanket blare blaspheme blast blatant
    blaze bleach bleak blearier bleariest bleary bleat bleed blemish blend bless blew blight blimp blind blindfold
    blink blip bliss blister blithe blitz blizzard blob bloc block blockade blockage blockbuster blockhead blog
    blond blonde blood bloodhound bloodier bloodiest bloodshot bloodstream bloodthirstier bloodthirsty bloom blossom
    blot blotch blouse blow blown blowout blowtorch blubber bludgeon blue bluebell blueberry bluebird bluegrass
    blueprint bluff blunder blunt blur blurb blurt blush bluster boar board boardwalk boas boast boat bob bobbin
    bobcat bode bodice bodyguard bodywork bog boggle bogus boil bold bologna bolster bolt bomb bombard bond bondage
    bone bonfire bonier boniest bonnet bonus booby booed book bookcase bookend bookkeeper booklet bookmark bookshelf
    bookshop bookstore bookworm boom boomerang boon boor boorish boos boost boot bootee booth bootleg bootstrap
    booze border borderline bore boredom born borne borough borrow bosom boss bossier bossiest botanical botanist
    botany botch both bothersome bottle bottleneck bottom bough bought boulder boulevard bounce bound boundary
    bounty bouquet bourbon bourgeois bourgeoisie bout boutique bovine bow bowel bowl box boxcar boy boycott
    boyfriend boyhood boyish brace bracelet bracket brackish brag braggart braid brain brainier brainiest brainstorm
    brainwash braise brake bran branch brand brandish bras brash brassier brassiere brassiest brat bravado brave
    bravo brawl brawn brawnier brawniest bray brazen brazier breach bread breadth breadwinner break breakdown
    breakfast breakneck breakthrough breakwater breast breath breathe bred breed breeze breezier breeziest brethren
    brew brewery bribe bribery brick bricklayer bridal bride bridegroom bridesmaid bridge bridle brief briefcase
    brigade bright brighten brilliant brim brimstone brine bring brinier briniest brink brisk bristle brittle broach
    broad broadcast broaden broadside brocade broccoli brochure broil broke broken bronchitis bronco bronze brooch
    brood brook broom broth brotherhood brought brow browbeat browbeaten brown brownie browse bruise brunch brunette
    brunt brush brusque brutal brute brutish bubble bubblier bubbliest buck bucket buckle buddy budge budget buff
    buffalo buffet buffoon bug buggier buggiest bugle build built bulb bulge bulk bulkier bulkiest bull bulldog
    bulldoze bullet bulletin bullfight bullfrog bullion bumblebee bummer bummest bump bumpier bumpiest bunch bundle
    bung bungalow bungle bunion bunk bunny buoy buoyancy buoyant burble burden burdensome bureau bureaucracy
    bureaucrat bureaucratic burger burglar burgle burial burlap burlier burliest burly burn burnish burnt burp burr
    burro burrow bursar burst bury bus bush bushel bushier bushiest busier busiest business businessman businessmen
    businesswoman businesswomen bust bustle busybody but butcher butler butt butte buttercup butterfly buttermilk
    butterscotch buttock button buttonhole buttress buxom buy buzz buzzard by bye bygone bypass bystander byte byway
    cabaret cabbage cabin cabinet cable caboose cacao cache cackle cacti cactus caddie cadet cafeteria caffeine cage
    cagier cagiest cajole cake calcium calculate calculation calculator calculi calculus calendar calf caliber
    calibrate calico calk call calligraphy callow callus calm calorie calve cam camaraderie came camel cameo camera
    camouflage camp campaign campus can canal canary cancel cancer candid candidacy candidate candle candlestick
    candor candy cane canine canister canker cannery cannibal cannier canniest cannon cannot canoe canon canonical
    canopy cant cantaloupe canteen canvas canyon cap capability capable capacitor capacity cape capillary capital
    capitalism capitalist capitalize capitulate caprice capsize capsule captain caption captivate captive captor
    capture car caramel carat caravan carbohydrate carbon carburetor carcass carcinogenic card cardboard cardiac
    cardigan cardinal care carefree careful careless caretaker cargo caribou caricature carnage carnal carnival
    carnivore carol carouse carp carpenter carpentry carpet carriage carriageway carrier carrion carrot cart cartel
    cartilage cartographer cartography carton cartoon cartoonist cartridge cartwheel carve cascade case cash cashew
    cashier cashmere casino cask casket casserole cassette cast castaway caste castigate castle castoff castrate
    casual casualty cat cataclysm cataclysmic catalog catapult cataract catastrophe catastrophic catcall catch
    catchier catchiest categorical categorize category caterpillar catfish cathedral catholic catnap catnip cattle
    catwalk caucus caught cauliflower caulk causal causality cause causeway caustic caution cavalier cavalry cave
    caveat cavern caviar cavort cease ceasefire cedar cede ceiling celebrate celebration celery celestial celibacy
    celibate cell cellar cellist cello cellophane cellular cellulose cemetery censor censorship censure census cent
    centennial centerpiece centimeter centipede central centralize centrifuge century ceramic cereal cerebral
    ceremonial ceremony certain certainty certificate certify cervical chafe chaff chagrin chain chainsaw chair
    chairman chairmen chairperson chalet chalice chalk chalkier chalkiest challenge chamber chameleon champ
    champagne champion chance chancellor chandelier change changeover channel chant chaos chaotic chap chapel
    chaperon chaplain chapter char character characteristic characterize charcoal charge chariot charisma
    charismatic charitable charity charlatan charm chart chase chasm chassis chaste chasten chastise chat chatterbox
    chattier chattiest chauffeur chauvinist cheap cheapen cheat check checkout checkpoint checkup cheek cheep cheer
    cheerful cheerier cheeriest cheese cheesecloth cheetah chef chemical chemist chemistry cherish cherry cherub
    cherubim chess chest chestnut chew chewier chewiest chic chick chicken chide chief chieftain child childbirth
    childhood childish childlike children chili chill chillier chilliest chime chimney chimp chimpanzee chin china
    chink chintz chip chipmunk chiropractor chirp chisel chivalry chlorine chloroform chlorophyll chocolate choice
    choir choke cholera cholesterol choose choosier choosiest chop choppier choppiest choral chord chore
    choreographer choreography chortle chorus chose chosen chow chowder christen chrome chromium chromosome chronic
    chronicle chronological chronology chrysanthemum chubbier chubbiest chubby chuck chuckle chug chum chummier
    chummiest chunk chunkier chunkiest church churn chute cider cigar cigarette cinch cinder cinema cinnamon cipher
    circa circle circuit circuitry circular circulate circulation circulatory circumcise circumflex circumstance
    circumstantial circumvent circumvention circus cistern cite citizen citric citrus civic civil civilian
    civilization civilize clack clad claim clairvoyant clam clamber clammier clammiest clamor clamp clan clandestine
    clang clank clap claptrap claret clarification clarify clarinet clarity clash clasp class classic classical
    classification classify classmate classroom clatter clause claustrophobia claw clay clean cleanlier cleanliest
    cleanse clear clearance cleat cleavage cleave clef cleft clemency clench clergy clergyman clergymen cleric
    clerical clerk clever click client cliff climactic climate climax climb clime clinch clinic clinical clink clip
    clipboard clique clitoris cloak clock clockwise clockwork clod clog cloister clone close closet closure clot
    cloth clothe clothespin cloud cloudburst cloudier cloudiest clout clove cloven clown club clubhouse cluck clue
    clump clumsier clumsiest clumsy clung cluster clutch clutter coach coagulate coal coalesce coarse coarsen coast
    coastal coastline coat coax cobalt cobble cobra cobweb cocaine cock cockier cockiest cockpit cockroach cocktail
    cocoa coconut cocoon code coefficient coerce coercion coexist coffee coffer coffin cogency cogent cognac
    cognitive coherent coil coin coinage coincide coincidence coincidental coke colander cold colic collaborate
    collaboration collaborative collaborator collage collapse collar collarbone collate collateral colleague collect
    collection collective collector college collegiate collide collie colloquial colon colonel colonial colonize
    color colossal colt column coma comb combat combatant combination combine combustion come comeback comedian
    comedy comelier comeliest comet comfort comfortable comic comical comma command commandant commandeer
    commandment commando commemorate commence commend comment commentary commentator commerce commercial
    commercialize commiserate commission commit commitment committee commodity commodore common commonplace
    commonwealth communal commune communicate communication communicative communicator communion communique
    communism communist community commutative commute compact compaction companion company comparable comparative
    compare comparison compass compassion compassionate compatibility compatible compatriot compel compensate
    compensation compete competence competent competition competitive competitor compilation compile complacency
    complacent complain complaint complement complementary complete completion complex complexion complexity
    compliant complicate complication compliment complimentary comply component compose composite composition
    compost composure compound comprehend comprehensible comprehension comprehensive compress compression comprise
    compromise compulsion compulsive compulsory compunction computation computational compute computerize comrade
    con concatenate concave conceal concede conceit conceivable conceive concentrate concentration concentric
    concept conception conceptual concern concert concerto conciliate concise conclude conclusion conclusive concoct
    concoction concord concourse concrete concur concurrent condemn condemnation condense condescend condition
    conditional condom condominium condone condor conducive conduct conductor cone confection confederacy
    confederate confer conference confess confetti confidant confide confidence confident confidential
    confidentiality configuration configure confine confirm confirmation confiscate conflict conform confound
    confront confuse confusion congeal congenial congest congestion conglomerate congratulate congratulations
    congregate congress congressman congressmen congresswoman congresswomen congruent conical conifer conjecture
    conjugal conjugate conjunction conjure connect connection connective connector connoisseur connotation connote
    conquer conqueror conquest conscience conscious consecrate consecutive consensus consent consequence consequent
    consequential conservation conservative conservatory conserve consider considerable considerate consideration
    consign consist consistency consistent consolation console consolidate consonant consort consortium conspicuous
    conspiracy conspirator conspire constancy constant constituency constituent constitute constitution
    constitutional constrain constraint constrict constriction construct construction constructive construe consul
    consular consulate consult consultancy consultant consultation consume consummate consumption contact contagion
    contain contaminate contemplate contemplative contemporary contempt contend content contention contentious
    contest contestant context contextual continent continental contingency contingent continual continuation
    continue continuity continuous continuum contort contortion contour contraband contraception contraceptive
    contract contraction contractor contractual contradict contradiction contradictory contraption contrary contrast
    contravene contravention contribute contribution contributor contrite contrive control controversial controversy
    convalesce convalescent convection convene convenience convenient convent convention conventional converge
    conversant conversation conversational converse conversion convert convex convey convict conviction convince
    convoy convulse convulsive cooed cook cookbook cookie cool coop cooperate cooperation cooperative coordinate
    coordination coordinator coos cope copier copper copperhead copulate copyright coral cord cordial cordon
    corduroy core cork corkscrew corn cornea cornet cornier corniest cornmeal cornstarch corollary coronary coroner
    corporal corporate corporation corpse corpulent corpus corpuscle corral correct correction corrective corrector
    correlate correlation correspond correspondence correspondent corridor corroborate corrode corrosive corrupt
    corruption corsage corset cortex cosmetic cosmic cosmology cosmonaut cosmopolitan cosmos cost costlier costliest
    costume cottage cotton cottontail cottonwood couch cougar cough could council councilor counsel counselor count
    countdown counteract counterattack counterexample counterfeit counterpart countersign countess countless country
    countryman countrymen countryside coup couple coupon courage courier course court courtesy courthouse courtroom
    courtyard cousin cove covenant coverage covert covet cow coward cowardice cowboy cowgirl cowhide coyer coyest
    coyote cozier coziest cozy crab crabbier crabbiest crack crackle crackpot cradle craft craftier craftiest
    craftsman craftsmen crag craggier craggiest cram cramp cranberry crane cranium crank crankier crankiest crap
    crash crass crate crave crawl crayfish crayon craze crazier craziest creak creakier creakiest cream creamier
    creamiest crease create creation creative creator creature credential credibility credible credit creditor creed
    creek creep creepier creepiest cremate crepe crept crescendo crescent crest crestfallen cretin crevasse crevice
    crew crib cricket crime criminal crimson cringe crinkle cripple crisis crisp crisscross criteria criterion
    critic critical criticism criticize critique croak crochet crock crockery crocodile crocus crony crook croon
    crop croquet cross crossbow crossroad crosswalk crossword crotch crouch crow crowbar crowd crown crucial
    crucifix crucifixion crucify crude cruel cruelty cruise crumb crumble crumblier crumbliest crummier crummiest
    crummy crumple crunch crusade crush crust crustacean crustier crustiest crutch crux cry crybaby crypt cryptic
    crystal crystallize cs cube cubic cubicle cuckoo cucumber cuddle cue cuff cuisine culinary cull culminate
    culprit cult cultivate cultural culture cumbersome cumming cums cumulative cunning cup cupboard curator curb
    curd curdle cure curfew curio curiosity curious curl currant currency current curricula curriculum curry curse
    cursor curt curtail curtain curtsy curvature curve cushion custard custodian custody custom customary customize
    cut cutback cute cuticle cutlery cutlet cutthroat cyanide cycle cyclic cyclist cyclone cylinder cylindrical
    cymbal cynic cynical cypress cyst czar dabble dachshund daddy daemon daffodil daft dagger daintier daintiest
    dainty dairy dais damage dame damn damnation damp dampen damsel dance dandelion dandier dandiest dandruff dandy
    danger dangerous dangle dank dapper dare daredevil dark darken darling darn dart dash dashboard dastardly data
    database date datum daub daughter daunt dawdle dawn day daybreak daydream daylight daytime daze dazzle deacon
    dead deaden deadlier deadliest deadline deadlock deaf deal dealt dean dear dearth death debase debatable debate
    debauchery debilitate debit debonair debrief debris debt debtor debug debunk debut decade decadent decanter
    decapitate decay decease deceit deceive decency decent decentralize deception deceptive decibel decide decimal
    decimate decipher decision decisive deck declaration declare decline decode decompose decorate decorative
    decorator decorum decoy decrease decree decrepit decry dedicate deduce deduct deduction deductive deed deem deep
    deepen deer deface defamatory defame default defeat defeatist defecate defect defective defend defendant defense
    defensive defer deferential defiant deficiency deficient deficit defile define definite definition definitive
    deflate deflect deflection deform defraud defrost deft defunct defy degenerate degradation degrade degree
    dehydrate deify deign deity deject dejection delay delegate delete deletion deli deliberate delicacy delicate
    delicatessen delicious delight delightful delimit delinquency delinquent delirium deliver delta delude deluge
    delusion deluxe delve demagogue demand demean demeanor demented dementia demerit demise democracy democrat
    democratic democratically demolish demon demonstrably demonstrate demonstration demonstrative demonstrator
    demoralize demote demount demure denial denigrate denim denominator denote denounce dense density dent dental
    dentist dentistry deny deodorant deodorize depart department departmental departure depend dependence dependent
    depict depiction deplete deplore deport depose deposit depot deprave deprecate depreciate depress depression
    deprive depth deputy derail derange derelict deride derivative derive derogatory derrick descend descendant
    descent describe description descriptive descriptor desecrate desert deserve design designate desirable desire
    desist desk desktop desolate despair desperate despise despite despondent despot despotic dessert destabilize
    destination destine destitute destroy destruction destructive detach detail detain detect detectable detection
    detective detector detention deter detergent deteriorate determination determine deterministic deterrent detest
    dethrone detonate detonator detour detract detrimental devalue devastate develop development deviant deviate
    deviation device devil devious devise devoid devolve devote devotee devour devout diabetic diabolical diagnose
    diagnosis diagnostic diagonal diagram dial dialect dialog dialogue diameter diamond diaper diaphragm diarrhea
    diary diatribe dice dictate dictator dictatorial dictatorship diction dictionary did die diesel diet dietary
    differ difference different differential differentiate difficult diffuse dig digestion digestive digit digital
    digitize dignify dignitary dignity digress dike dilate dilemma diligent dill dilute dim dime dimension
    dimensional diminish diminutive dimple dine dinghy dingier dingiest dingy dinner dinosaur diocese dioxide dip
    diphtheria diphthong diploma diplomacy diplomat diplomata diplomatic dire direct direction directive director
    dirge dirt dirtier dirtiest disable disadvantage disagree disagreement disappear disappoint disappointment
    disaster disastrous disc discard discharge disciplinary discipline disco disconnect discontinue discount
    discourage discover discrepancy discrete discretion discriminate discrimination discussion disease disguise
    disgust dish dishonest disk dislike dismal dismiss disorder display disposable disposal dispose disposition
    dispute disregard disrupt disruption dissertation dissimilar distance distant distasteful distinct distinction
    distinctive distinguish distort distortion distract distress distribute distribution district disturb
    disturbance ditch dither ditto ditty dive diverge divergent diverse diversify diversity divert divide dividend
    divine division divisive divisor divorce divulge dizzier dizziest dizzy do docile dock doctor doctorate doctrine
    document documentary documentation dodge dodo doe dog doggerel doghouse dogma dogmatic dogwood doily dole doll
    dollar dolphin domain dome domestic domesticate domicile dominant dominate dominion domino don donate donation
    done donkey donor doodle doom door doorman doormen doorstep doorway dope dopier dopiest dormant dormitory dorsal
    dose dot dote double doubt doubtful doubtless dough doughnut dour douse dove dowdier dowdiest dowdy down
    downcast downfall downgrade downhill downier downiest downpour downright downstairs downstream downtown downward
    dowry doze dozen drab draconian draft draftier draftiest draftsman draftsmen drag dragon dragonfly drain
    drainage drama dramatic dramatically dramatist dramatize drank drape drapery drastic drastically draw drawback
    drawbridge drawl drawn dread dreadful dream dreamier dreamiest drearier dreariest dreary dredge drench dress
    dressier dressiest dressmaker drew dribble drier driest drift driftwood drill drink drip drive drivel driven
    driveway drizzle droll drone drool droop drop dropout dross drought drove drown drowse drowsier drowsiest drudge
    drudgery drug druggist drugstore drum drumstick drunk drunkard drunken dry dual dubious duchess duck duct dude
    due duel duet duff dug dugout duke dull dumb dumbbell dumbfound dummy dump dumpier dumpiest dumpster dunce dune
    dung dungeon dunk dunno dupe duplex duplicate duplication duration duress during dusk duskier duskiest dust
    dustbin dustier dustiest dustmen dustpan duty duvet dwarf dwell dwelt dwindle dying dynamic dynamical dynamite
    dynamo dynasty dysentery dyslexia each eager eagle ear earache eardrum earl earlier earliest earmark earn
    earshot earth earthier earthiest earthlier earthliest earthquake earthworm ease easel easier easiest east
    easterly eastern eastward eat eaten eave eavesdrop ebony eccentric ecclesiastical echo eclectic eclipse
    ecological ecologist ecology economic economical economist economize economy ecosystem ecstasy ecstatic
    ecumenical eczema eddy edge edgewise edgier edgiest edict edifice edit edition editor editorial educate
    education educational educator eerie effect effective effectual effeminate effervescent efficiency efficient
    effigy effort effusive egalitarian egg eggplant ego egocentric egotist eh eigenvalue eight eighteen eighteenth
    eighth eightieth either ejaculate eject ejection elaborate elapse elastic elbow elder eldest elect election
    elective elector electoral electorate electric electrical electrician electricity electrify electrocute
    electrode electrolysis electron electronic electronically electrostatic elegant elegy element elemental
    elementary elephant elevate elevator eleven eleventh elicit eligible eliminate elite elitist ellipse ellipsis
    elliptic elliptical elongate elope eloquent else elsewhere elucidate elude elusive em email emanate emancipate
    embalm embargo embark embarrass embarrassment embassy embed embellish ember embezzle embitter emblem embody
    emboss embrace embroider embryo embryonic emerald emerge emergent emigrant emigrate eminent emir emissary emit
    emotion emotional emotive empathy emperor emphasis emphasize emphatic emphysema empire empirical employ employee
    employment emporium empower empress emptier emptiest empty emulate emulation emulator enable enact enamel
    encapsulate encase enchant encircle enclose enclosure encode encompass encore encounter encourage encouragement
    encroach encryption encumber encyclopedia end endanger endear endeavor endemic endive endless endorse endow
    endure enema enemy energetic energy enforce engage engender engine engrave engross engulf enhance enhancement
    enigma enigmatic enjoy enjoyable enjoyment enlarge enlighten enlightenment enlist enliven enormous enough enrage
    enrich enroll ensemble enshrine ensign enslave ensue ensure entail entangle enter enterprise entertain
    entertainment enthrall enthusiasm enthusiast enthusiastic entice entire entirety entitle entity entomologist
    entomology entrance entrant entrap entreat entrench entropy entrust entry entwine enumerate enunciate envelop
    envelope environment environmental envisage envoy envy enzyme epaulet ephemeral epic epidemic epidermis epilepsy
    epileptic epilogue episode epitaph epithet epitome epoch epsilon equal equality equalize equate equation equator
    equatorial equestrian equilateral equilibrium equine equinox equip equipment equivalent equivocal era eradicate
    erase erasure erect erection ergo ergonomic erode erotic err errand errant erratic erroneous error erstwhile
    erudite erupt eruption escalate escalator escapade escape escort esophagi esophagus esoteric especial espionage
    essay essence essential establish establishment estate esteem estimate estimation etch eternal eternity ether
    ethereal ethic ethical ethnic ethos etiquette etymological etymology eulogize eulogy eureka euthanasia evacuate
    evade evaluate evaluation evangelical evangelist evangelistic evaporate evasive even event eventual ever
    evergreen evermore everybody everyday everyone everything everywhere evict eviction evidence evident evil
    evocative evoke evolution evolutionary evolve exacerbate exact exaggerate exalt exam examination examine example
    exasperate excavate exceed excel excellent except exception exceptional excerpt excess excessive exchange excise
    excite excitement exclaim exclamation exclude exclusion exclusive excommunicate excrete excuse executable
    execute execution executive executor exemplary exemplify exempt exemption exercise exert exertion exhale exhaust
    exhaustion exhaustive exhibit exhibition exhilarate exhort exhume exile exist existence existent existential
    exit exodus exonerate exorbitant exotic expand expanse expansion expansive expatriate expect expectancy
    expectant expectation expediency expedient expedite expedition expel expend expenditure expense expensive
    experience experiment experimental experimentation expert expertise expire explain explanation explanatory
    expletive explicit explode exploit exploitation exploration explore explosion explosive exponent exponential
    export expose exposure expound express expression expressive expressway exquisite extant extend extension
    extensive extent exterior exterminate external extinct extinction extinguish extol extort extortion extortionate
    extra extract extraction extradite extraneous extraordinary extrapolate extravagant extreme extremist extricate
    extrovert exuberant exude exult exultant eye eyeball eyebrow eyelash eyelid eyesight eyesore fabric fabricate
    facade face facet facial facile facilitate facility facsimile fact faction factor factorial factual faculty fade
    faggot fagot fail failure faint fair faith faithful fake falcon fall fallacious fallacy fallen fallout false
    falsehood falsetto falsify falter fame familiar familiarity familiarize family famine famous fan fanatic
    fanatical fancier fanciest fancy fanfare fang fantastic fantasy far faraway farce fare farewell farm farmland
    farther farthest fascinate fascist fashion fashionable fast fasten fat fatal fatalistic fate father fatherhood
    fatherland fathom fatigue fatten fattier fattiest fatuous faucet fault faultier faultiest fauna favor favorable
    favorite fawn faze fear fearsome feasibility feasible feast feat feather featherier featheriest feature fed
    federal federalist fee feeble feedback feel feet feign feint feline fell fellow felon felt female feminine
    feminist fence fend fern ferret ferry fertile fertilize fervent fervor fester festival festive festoon fetch
    fetid fetish fetter fetus feud feudal fever feverish few fiasco fibber fiber fiberglass fiche fickle fiction
    fictional fiddle fidget field fiend fiendish fierce fierier fieriest fiery fiesta fifteen fifteenth fifth
    fiftieth fifty fight figurative figure figurehead filch file filet fill fillet film filmier filmiest filter
    filth filthier filthiest final finale finalist finalize finance financial financier finch find fine finesse
    finger fingernail fingerprint fingertip finickier finickiest finicky finish finite fire firearm firecracker
    firefighter firefly fireman firemen fireplace fireproof fireside firewood firework firm first firsthand fiscal
    fish fisherman fishermen fishier fishiest fissure fist fit five fix fixture fizz fizzle flabbier flabbiest
    flabby flag flagpole flagrant flagstone flail flair flak flake flakier flakiest flamboyant flame flamingo flank
    flannel flap flapjack flare flash flashback flashier flashiest flashlight flask flat flatten flaunt flavor flaw
    flea fleck flee fleece fleecier fleeciest fleet flesh fleshier fleshiest flew flex flexibility flexible flick
    flier fliest flight flightier flightiest flimsier flimsiest flimsy flinch flint flip flippant flirt flit float
    flock flog flood floodlight floor flop floppier floppiest flora floral florid florist floss flotilla flounce
    flounder flour flourish flout flow flowerier floweriest flown fluctuate fluctuation flue fluency fluent fluff
    fluffier fluffiest fluid fluke flung flunk fluorescent flurry flush fluster flute flutist flutter flux fly
    flyover foal foam foamier foamiest focal focus fodder fog foggier foggiest foghorn foil foist fold foliage folk
    folklore folksier folksiest follow folly fond fondle font food foodstuff fool foolhardier foolhardiest foolhardy
    foolish foolproof foot footage football foothill foothold footnote footpath footprint footstep footstool
    footwear footwork for forage foray forbade forbear forbid forbidden forbore forborne force ford fore forearm
    forebode forecast forefather forefinger forefront forego foregone foreground forehead foreign foreleg foreman
    foremen foremost forensic foreplay forerunner foresaw foresee foreseeable foreseen foreshadow foresight foreskin
    forestall forestry foretaste foretell forethought foretold forever forewarn forewent foreword forfeit forgave
    forge forget forgive forgiven forgo forgone forgot forgotten fork forlorn form formal formalize format formation
    formative formula formulae formulate formulation forsake forsaken forsook forswear forswore forsworn fort forte
    forth forthcoming forthright forthwith fortieth fortify fortitude fortnight fortress fortunate fortune forum
    forward forwent fossil fossilize foster fought foul found foundation foundry fount fountain four fourteen
    fourteenth fourth fowl foxier foxiest foxy foyer fracas fractal fraction fractional fracture fragile fragment
    fragmentary fragrant frail frailty frame framework franc franchise frank frankfurter frantic fraternal
    fraternize fraud fraudulent fraught fray freak freckle free freedom freehand freeway freeze freight french
    frenzy frequency frequent fresh freshen freshman freshmen freshwater fret friar friction friend friendlier
    friendliest friendship frieze frigate fright frighten frigid frill frillier frilliest fringe frisk friskier
    friskiest fritter frivolous frizzier frizziest frizzy frock frog frolic from frond front frontage frontal
    frontier frost frostbit frostbite frostbitten frostier frostiest froth frothier frothiest frown froze frozen
    frugal fruit fruitier fruitiest frustrate frustration fry fudge fuel fugitive fulcrum fulfill full fumble fume
    fumigate fun function functional functionality fund fundamental fundamentalist funeral fungi fungicide fungus
    funnel funnier funniest fur furl furlong furlough furnace furnish furniture furor furrier furriest furrow
    further furthermore furthest furtive fuse fuselage fusion fuss fussier fussiest futile future futuristic fuzz
    fuzzier fuzziest gadget gaiety gain gait gala galactic galaxy gale gall gallant gallantry gallery galley
    gallivant gallon gallop galore galvanize gambit gamble game gamma gamut gander gang gangplank gangrene gangster
    gangway gap gape garage garb garbage garble garden gardenia gargle gargoyle garish garland garlic garnet garnish
    garret garrison garter gas gash gasket gasoline gasp gastric gate gateway gather gaudier gaudiest gaudy gauge
    gaunt gauntlet gauze gave gavel gawk gawkier gawkiest gay gaze gazelle gazette gear geed geese gelatin geld
    gender gene genealogical genealogy genera general generalization generalize generate generation generator
    generic generous genesis genetic genetically geneticist genial genie genii genital genius genocide genre gent
    gentile gentle gentleman gentlemen gentry genuine genus geographic geographical geography geological geologist
    geology geometric geometry geranium gerbil germ germicide germinate gesticulate gesture get getaway geyser
    ghastlier ghastliest ghastly ghetto ghost ghostlier ghostliest ghoul giant gibber gibberish gibe giddier
    giddiest giddy gift gig gigantic giggle gild gill gilt gimme gimmick gin ginger gingerbread gingham giraffe
    girder girdle girl girlfriend girlhood girlish girth gist give given gizzard glacial glacier glad gladden glade
    gladiator glamorize glamour glance gland glandular glare glass glassier glassiest glaze gleam glean glee glen
    glib glide glimmer glimpse glint glisten glitter gloat global globe globular globule gloom gloomier gloomiest
    glorify glorious glory gloss glossary glossier glossiest glove glow glucose glue glum glut glutton glycerin
    gnarl gnash gnat gnaw gnome gnus go goad goal goalie goalkeeper goat goatee gobble goblet goblin god godchild
    godchildren goddess godfather godlier godliest godlike godmother godparent godsend goggle gold golden goldfish
    goldsmith golf gondola gone gong gonna good goodbye goodnight goodwill gooey goof goofier goofiest gooier
    gooiest goon goose gopher gore gorge gorgeous gorier goriest gorilla gosh gospel gossamer gossip got gotten
    gouge goulash gourd gourmet gout govern government governmental governor gown grab grace grade gradient gradual
    graduate graduation graffiti graffito graft grain gram grammar grammatical gramophone grand grandchild
    grandchildren granddaughter grandeur grandfather grandiose grandmother grandparent grandson grandstand granite
    granny granola grant granular granule grape grapefruit grapevine graph graphic graphical graphite grapple grasp
    grass grasshopper grassier grassiest grate grateful gratify gratitude gratuitous grave gravel graven gravestone
    graveyard gravitate gravitational gravity gray graze grease greasier greasiest great greed greedier greediest
    green greenback greenhorn greenhouse greet gremlin grenade grew greyhound grid griddle gridiron grief grieve
    grill grille grim grimace grime grimier grimiest grin grind grindstone grip gripe grislier grisliest grisly
    gristle grit grittier grittiest grizzlier grizzliest grizzly groan grocer groggier groggiest groggy groin groom
    groove groovier grooviest grope gross grotesque grotto grouch grouchier grouchiest ground groundwork group
    grouse grove grovel grow growl grown growth grub grubbier grubbiest grudge gruel gruesome gruff grumble grumpier
    grumpiest grumpy grunt guarantee guarantor guard guardian gubernatorial guerrilla guess guesswork guest guffaw
    guidance guide guidebook guideline guild guile guillotine guilt guiltier guiltiest guinea guise guitar guitarist
    gulch gulf gull gullet gullible gulp gum gumdrop gummier gummiest gumption gun gunfire gunman gunmen gunpowder
    gunshot guppy gurgle guru gush gust gustier gustiest gut guy guzzle gymnasium gymnast gynecologist gynecology
    gyrate gyroscope ha habit habitat habitual hack hackney hacksaw had haddock haggard haggle hail hailstone hair
    haircut hairdo hairdresser hairier hairiest hairline hale half halfway halibut hall hallelujah hallmark hallway
    halo halon halt halve ham hamburger hamlet hammock hamper hamster hamstrung hand handbag handbook handcuff
    handful handicap handicraft handier handiest handiwork handkerchief handle handlebar handmade handout handrail
    handshake handsome hang hangar hangout hangover hanker haphazard happen happier happiest happiness happy
    harangue harass harbor hard hardback harden hardier hardiest hardliner hardship hardware hardwood hare harem
    hark harlot harm harmful harmless harmonic harmonica harmonize harmony harp harpist harpoon harpsichord harrow
    harry harsh hart harvest hash hassle haste hasten hastier hastiest hat hatch hatchet hate hatred haughtier
    haughtiest haughty haul haunt have haven havoc hawk haystack haywire hazard haze hazel hazier haziest he head
    headache headfirst headier headiest headland headlight headline headlong headmaster headphone headquarter
    headrest headroom headstone headstrong headway heal health healthcare healthier healthiest heap hear heard
    hearsay hearse heart heartache heartbeat heartbreak heartbroken heartburn hearten heartfelt hearth heartier
    heartiest heat heath heathen heave heaven heavenlier heavenliest heavier heaviest heavyweight heckle hectic
    hedge hedgehog heel heftier heftiest hefty heifer height heighten heir heirloom held helicopter heliport helium
    hell hellish hello helm helmet help helpful helpless hemisphere hemlock hemoglobin hemophilia hemorrhage hemp
    hence henceforth henchman henchmen hepatitis her herald herb herd here hereafter hereby hereditary herein heresy
    heretic heretical herewith heritage hermaphrodite hermit hernia hero heroic heroin heroine heron herself
    hesitancy hesitant hesitate heterosexual heuristic hexadecimal hexagon hexagonal heyday hiatus hibernate hiccup
    hick hickory hid hidden hide hideaway hideous hierarchical hierarchy hieroglyphic high highbrow highland
    highlight highway hijack hike hilarious hill hillbilly hillier hilliest hillside hilt him himself hind hindsight
    hinge hint hinterland hip hippie hippopotamus hire his histogram historian historic historical history hit hitch
    hitchhike hither hitherto hive ho hoard hoarse hoax hobbit hobble hobby hobbyhorse hobgoblin hobnob hobo hock
    hockey hodgepodge hog hoist hold holdup hole holiday holier holiest holler hollow holocaust holster homage home
    homeland homelier homeliest homemade homesick homespun homestead homeward homework homicidal homicide homier
    homiest homogenize homonym homophobic homosexual homosexuality hone honeycomb honeymoon honeysuckle honk honor
    honorary hood hoodlum hoodwink hoof hook hoop hooray hoot hope hopeful hopeless hopper hopscotch horde horizon
    horizontal hormone horn hornet hornier horniest horoscope horrendous horrible horrid horrific horrify horror
    horse horseback horseman horseplay horsepower horseradish horseshoe horticultural horticulture hose hosiery
    hospital hospitalize host hostage hostel hostess hostile hot hotel hothead hound hour hourglass house houseboat
    household housekeeper housewife housework hove hovel how however howl hubbub huddle hued huff huffier huffiest
    huge huh hulk hull hullabaloo hum human humane humanist humanitarian humanity humanize humble humbug humdrum
    humid humidify humiliate hummingbird humor humorist humorous hump hunch hunchback hundred hundredth hung
    hungrier hungriest hungry hunk hunt hurdle hurl hurrah hurricane hurry hurt hurtle husband hush husk huskier
    huskiest hustle hut hutch hyacinth hybrid hydrant hydraulic hydroelectric hydrogen hydroplane hyena hygiene
    hygienic hymn hymnal hyperbole hyphen hyphenate hypnosis hypnotic hypnotist hypnotize hypochondria hypochondriac
    hypocrisy hypocrite hypocritical hypotenuse hypothesis hypothesize hypothetical hysteria hysteric hysterical ice
    iceberg icebreaker icicle icier iciest icon id idea ideal idealist idealistic idealize identical identification
    identifier identify identity ideological ideology idiocy idiom idiomatic idiosyncrasy idiosyncratic idiot
    idiotic idle idol idolize idyllic if igloo ignite ignorance ignorant ignore iguana ill illegal illegitimate
    illicit illiteracy illiterate illogical illuminate illusion illusory illustrate illustration illustrative
    illustrator image imagery imaginary imagination imaginative imagine imbalance imbecile imitate imitative
    imitator immaculate immaterial immature immediate immense immerse immigrant immigrate imminent immobile
    immobilize immoral immortal immune immunize impact impair impale impart impartial impasse impassive impatient
    impeach impede impel impend imperative imperfect imperfection imperial imperialist imperil impersonal
    impersonate impertinent impetus impinge impish implant implausible implement implementation implicate
    implication implicit implore imply impolite import importance important impose impossible impostor impotent
    impound impoverish impractical imprecise impregnate impress impression impressive imprint imprison improbable
    impromptu improper impropriety improve improvement improvise impudent impulse impulsive impure in inability
    inaccessible inaccuracy inaccurate inaction inactive inadequacy inadequate inadvertent inane inanimate
    inappropriate inarticulate inasmuch inaugural inaugurate inborn inbreed inbuilt incandescent incapable
    incapacitate incarcerate incarnate incarnation incendiary incense incentive inception incessant incest inch
    incidence incident incidental incinerate incinerator incisive incisor incite inclination incline include
    inclusion inclusive incognito incoherent income incompatible incompetence incompetent incomplete
    incomprehensible inconclusive inconsiderate inconsistency inconsistent inconvenience inconvenient incorporate
    incorrect increase incredible increment incremental incriminate incubate incubator incumbent incur indecency
    indecent indecisive indeed indefensible indefinite indelicate indent independence independent indeterminate
    index indicate indication indicative indicator indict indictment indifferent indigestion indignant indigo
    indirect indirection indiscreet indiscriminate indistinct indistinguishable individual individualist
    indoctrinate indolent indoor induce induct induction indulge indulgent industrial industrialist industrialize
    industry ineffective ineffectual inefficiency inefficient inelegant inept ineptitude inequality inert inertia
    inertial inevitable inexact inexpensive inextricably infallible infamous infamy infancy infant infantile
    infantry infect infection infelicity infer inference inferior inferiority inferno infertile infest infidel
    infield infiltrate infinite infinitesimal infinitive infirm infirmary infix inflame inflammatory inflate
    inflation inflationary inflection inflexible inflict influence influential influenza influx info inform informal
    informant information informational informative infraction infrastructure infrequent infringe infringement
    infuriate infuse ingenious ingest ingrain ingratiate ingratitude ingredient inhabit inhabitant inhale inherent
    inherit inheritance inhibit inhibition inhuman inhumane initial initialization initialize initiate initiative
    initiator inject injection injunction injure injustice ink inkier inkiest inlaid inland inlay inlet inmate
    innate inner innermost innkeeper innocence innocent innovation innovative innuendo inoculate inoffensive
    inoperative inopportune inordinate input inquest inquire inquisitive insane inscribe inscription insect
    insecticide insecure insensitive insert insertion inside insidious insight insignia insignificant insincere
    insinuate insipid insist insistence insistent insofar insolent insoluble insolvency insolvent insomnia inspect
    inspection inspector inspiration inspire install installation instance instant instead instep instigate instill
    instinct instinctive institute institution institutional instruct instruction instructive instructor instrument
    instrumental insubordinate insubstantial insufficient insular insulate insulator insulin insult insurance insure
    insurgent insurrection intact intake integer integral integrate integration integrity intellect intellectual
    intelligence intelligent intend intense intensify intensity intensive intent intention intentional inter
    interact interaction interactive intercourse interface interfere interference interim interior intermediate
    intermittent internal international interpret interpretation interrogate interrupt interruption intersection
    interval intervene intervention interview intestinal intestine intimacy intimate intimidate into intolerance
    intolerant intoxicate intramural intransitive intrepid intricacy intricate intrigue intrinsic intrinsically
    introduce introduction introductory introspective introvert intrude intrusive intuitive inundate invade invalid
    invalidate invaluable invariant invasion invective invent invention inventive inventor inverse invert
    invertebrate invest investigate investigation investigator investment investor inveterate invigorate invisible
    invitation invite invoice invoke involuntary involve involvement inward iodine ion iota irate iridescent iris
    iron ironic irradiate irrational irregular irrelevant irrespective irresponsible irreverent irrigate irritant
    irritate irritation is island isle isolate isolation issue isthmus it italic italicize itch itchier itchiest
    item itemize iterate iterative itinerant itinerary itself ivory jabber jack jackal jackass jackdaw jacket
    jackknife jackpot jade jaguar jail jalopy jam jamb jamboree jangle janitor jargon jaundice jaunt jauntier
    jauntiest javelin jawbone jaywalk jazz jealous jeans jeer jell jellyfish jeopardize jeopardy jerk jerkier
    jerkiest jersey jest jet jettison jewel jewelry jibe jiffy jiggle jigsaw jilt jingle jinx jitterier jitteriest
    jittery job jockey jocular jogger join joint joke jollier jolliest jolly jolt jostle journal journalist journey
    jovial joy joystick jubilant jubilee judge judgment judicial judiciary judo juggernaut juggle jugular juice
    juicier juiciest jumble jumbo jump jumpier jumpiest junction juncture jungle junior juniper junk junket junkie
    junta jurisdiction juror jury just justice justifiable justification justify jute juvenile juxtapose
    kaleidoscope kangaroo karat karate kayak keel keen keep keepsake kelp ken kennel kept kerchief kernel kerosene
    ketchup kettle key keyboard keyhole keynote keystone keystroke keyword khaki kick kickback kickoff kid kidnap
    kidney kill kiln kilo kilobyte kilogram kilometer kilowatt kilt kimono kind kinda kindergarten kindle kindlier
    kindliest kinfolk king kingdom kingfisher kink kinkier kinkiest kiosk kipper kiss kit kitchen kitchenette kite
    kitten kiwi knack knapsack knead knee kneecap kneel knelt knew knife knight knighthood knit knob knock knockout
    knoll knot knottier knottiest know knowledge known knuckle koala kosher kowtow kudos lab label labor laboratory
    labyrinth lace lacerate lacier laciest lack lackluster lacquer lacrosse lad lade laden ladle ladybug ladylike
    lag laggard lagoon laid lain lair lake lamb lambda lame lamp lampoon land landlady landlord landmark landowner
    landscape landslid landslide lane language languid languish languor lankier lankiest lanky lantern lapel lapse
    larceny lard large lark larva larvae laryngitis larynx laser lash lass last latch late latent lateral latex lath
    lathe latitude latrine latter lattice laud laugh laughingstock laughter launch launder laundry laureate laurel
    lava lavatory lavender lavish law lawmaker lawn lawsuit lawyer laxative laxer laxest lay layman laymen layout
    lazier laziest laziness lazy leach lead leaden leadership leaf leafier leafiest leaflet league leak leakage lean
    leap leapfrog leapt learn lease leash least leather leave lectern lecture led ledge leech leek leer leerier
    leeriest leeway left leftmost leg legacy legal legalistic legalize legend legendary legible legion legislate
    legislation legislative legislator legislature legitimacy legitimate legume leisure lemme lemon lemonade lend
    length lengthen lengthier lengthiest lengthwise leniency lenient lens lent lentil leopard leotard leper leprosy
    lesbian less lessen lesson lest let letdown lethal lethargic lethargy letterhead lettuce letup leukemia levee
    level lever leverage levy lewd lexical lexicon liability liable liaison liar libel liberal liberalize liberate
    libertarian liberty librarian library libretto lice license lichen lick licorice lid lie lieu lieutenant life
    lifeboat lifeguard lifelike lifeline lifelong lifespan lifestyle lifetime lift ligature light lighten lighthouse
    lightning lightweight like likelier likeliest likelihood liken likewise lilac lilt limb limbo lime limelight
    limerick limestone limit limitation limousine limp linchpin line lineage linear linefeed linen linger lingerie
    lingo linguist linguistic link linkage linoleum lint lion lip lipstick liquefy liqueur liquid liquidate liquor
    lisp list listen lit litany literacy literal literary literate literature lithe lithium litterbug little
    liturgical liturgy live livelier liveliest livelihood liven livestock livid lizard llama load loaf loam loan
    loath loathe loathsome lobby lobbyist lobe lobotomy lobster local locale localize locate location lock locket
    locksmith locomotive locust lodge loft loftier loftiest log logarithm logarithmic logic logical logician logo
    loin loincloth loiter loll lollipop lone lonelier loneliest lonesome long longhand longish longitude
    longitudinal longshoreman longshoremen look lookout loom loon loonie loop loophole loose loosen loot lope lord
    lore lorry lose loss lost lot lottery lotus loud loudspeaker lounge louse lousier lousiest love lovelier
    loveliest low lowdown lowlier lowliest loyal loyalty lozenge lubricant lubricate lucid luck luckier luckiest
    lucrative ludicrous luggage lukewarm lull lullaby lumber lumberjack luminary lump lumpier lumpiest lunacy lunar
    lunatic lunch luncheon lunchtime lung lunge lupine lurch lure lurid lurk lush lust lustier lustiest lute
    luxuriant luxuriate luxury lying lymph lymphatic lynch lyre lyric lyrical macabre macaroni mace machete machine
    machinery machinist macho mackerel macroscopic mad madam madame madcap madden made madhouse madman madmen
    maelstrom magazine magenta maggot magic magical magician magistrate magnate magnesium magnet magnetic magnetize
    magnificent magnify magnitude magnolia magnum magpie mahogany maid maiden mail mailbox mailman mailmen maim main
    mainframe mainland mainline mainstay mainstream maintain maintenance maize majestic majesty major majority make
    makeshift makeup malady malaria male malevolent malfunction malice malicious malign malignancy malignant mall
    mallard mallet malpractice malt maltreat mama mamma mammal mammalian mammoth man manacle manage management
    managerial mandate mandatory mandolin mane maneuver mange mangier mangiest mangle mango mangrove manhandle
    manhole manhood mania maniac maniacal manic manicure manicurist manifest manifestation manifesto manifold
    manipulate manipulation mankind manlier manliest mannequin mannish manor manpower manslaughter mantel
    mantelpiece mantle manual manufacture manure manuscript map maple marathon marble march mare margarine margin
    marginal maria marigold marijuana marina marinate marine marionette marital maritime mark market marketplace
    marksman marksmen marmalade maroon marquee marriage marrow marry marsh marshal marshier marshiest marshmallow
    marsupial mart martial martin martyr martyrdom marvel marvelous mascara mascot masculine mash mask masochist
    mason masonry masquerade mass massacre massage massive mast mastermind masterpiece masticate matador match
    matchbook matchmaker mate material materialist materialistic materialize maternal math mathematical
    mathematician mathematics matriarch matriarchal matrices matriculate matrimonial matrimony matrix matron matte
    mattress mature maudlin maul mausoleum mauve maverick maxim maxima maximal maximize maximum may maybe mayhem
    mayonnaise mayor maze me meadow meager meal mealier mealiest mean meander meaningful meaningless meant meantime
    meanwhile measlier measliest measly measure measurement meat mechanic mechanical mechanism mechanize medal
    medallion meddle meddlesome media median mediate mediator medical medicate medicinal medicine medieval mediocre
    meditate medium medley meek meet megabyte megalomaniac megaphone megaton melancholy mellow melodic melodrama
    melodramatic melody melon melt member membership membrane memento memo memoir memorable memorandum memorial
    memorize memory men menace menagerie mend menial menopause menstrual menstruate mental mentality menthol mention
    mentor menu meow mercantile mercenary merchandise merchant mercury mercy mere merge meridian meringue merit
    mermaid merrier merriest merry mesh mess message messenger messier messiest met metabolic metal metallic
    metallurgy metamorphose metamorphosis metaphor metaphorical metaphysical mete meteor meteoric meteorite
    meteorologist meteorology method methodical methodology metric metro metropolis metropolitan mettle mezzanine
    mice microbe microbiology microcode microcomputer microfiche microfilm micrometer microphone microprocessor
    microscope microscopic microsecond microwave midday middle middleman middlemen midget midnight midriff midst
    midstream midsummer midway midwife mien might mightier mightiest migraine migrant migrate migration migratory
    mike mild mildew mile mileage milestone militancy militant military militate militia milk milkier milkiest
    milkman milkmen mill milligram millimeter milliner million millionaire millionth millisecond mime mimic mimicry
    mince mincemeat mind mindbogglingly mindless mine minefield mineral mingle miniature minibus minicomputer
    minimal minimalist minimize minimum minion minister ministerial ministry mink minnow minor minority minstrel
    mint minuet minus minuscule minute miracle miraculous mirage mire mirror mirth miscellaneous misdirect miserable
    misfortune misguide misinterpret mislead misled misplace misprint misread misrepresent miss missile mission mist
    mistake mistaken mistook misunderstand misunderstood misuse mite mitigate mitt mitten mix mixture mnemonic moan
    moat mob mobile mobilize moccasin mock mockery mockingbird mod modal mode model moderate moderation moderator
    modern modernize modicum modification modifier modify modular modulate module mohair moist moisten moisture
    molar mold moldier moldiest mole molecular molecule mollify mollusk molt molten mom moment momentary momentum
    monarch monastery monastic monetary money mongoose mongrel monitor monk monkey monochrome monogamy monogram
    monolithic monologue monopolize monopoly monorail monotony monsoon monster month monumental mood moodier
    moodiest mooed moon moonbeam moonlight moor moos moose moot mope moral morale moralist morality morass
    moratorium morbid more moreover morgue morn moron moronic morose morphine morphology morsel mortal mortality
    mortar mortgage mortify mortuary mosaic mosque mosquito moss mossier mossiest most motel moth mothball
    motherhood motif motion motivate motivation motive motley motlier motliest motor motorbike motorcade motorcycle
    motorist motorize motorway motto mound mount mountain mountaineer mourn mouse mousier mousiest mousse mouth
    mouthpiece move movement movie mower much muck mucus mud muddier muddiest muddle muff muffin muffle mug muggier
    muggiest mulch mule mull multi multinational multiple multiplication multiplicative multitude mum mumble mummify
    munch mundane municipal mural murder murkier murkiest murky murmur muscle muscular muse museum mush mushier
    mushiest mushroom music musical musician musk musket muss mussel must mustache mustang mustard mustier mustiest
    mutant mutate mute mutilate mutiny mutt mutton mutual muzzle my myopic myriad myself mysterious mystery mystic
    mystical mystify myth mythical mythological mythology nail naive naivety naked name nameless namesake napalm
    nape napkin nappy narcotic narrate narrative narrator narrow nasal nastier nastiest nasty nation national
    nationalist nationalistic nationalize nationwide native nattier nattiest natty natural naturalist naturalize
    nature naught naughtier naughtiest nausea nauseate nautical naval navel navigate navigator navy nay near nearby
    neat nebula nebulae necessary necessitate necessity neck neckerchief necklace neckline necktie necrophilia
    nectar nectarine need needier neediest needle needlework negate negative neglect negligee negligent negligible
    negotiable negotiate negotiation negotiator neigh neighbor neighborhood neither neon neophyte nephew nerve
    nervous nest nestle net nether nettle network neural neurologist neurology neuron neurosis neurotic neuter
    neutral neutralize neutron never nevertheless new newbie newborn newcomer newscast newsier newsiest newsletter
    newspaper newsprint newsstand newt newton next nibble nice nicety niche nick nickel nickname nicotine niece
    niftier niftiest nifty nigh night nightclub nightfall nightgown nightingale nightmare nightmarish nighttime nil
    nimble nincompoop nine nineteen nineteenth ninetieth ninety ninny ninth nippier nippiest nipple nippy nitrate
    nitrogen nitwit no noble nobleman noblemen noblewoman noblewomen nobody nocturnal node noise noisier noisiest
    nomad nomadic nomenclature nominal nominate nominative nominee none nonetheless nonsense noodle nook noon noose
    nor norm normal normality north northeast northeasterly northeastern northerly northern northward northwest
    northwestern nose nosebleed nosier nosiest nostalgia nostalgic nostril not notable notation notch note notebook
    noteworthy nothing notice noticeable noticeboard notification notify notion notional notoriety notorious
    notwithstanding nougat noun nourish nova novel novelist novelty novice now nowadays nowhere nozzle nuclear
    nuclei nucleus nude nudge nugget nuisance null nullify numb numeral numerate numerator numeric numerical
    numerous nun nuptial nurse nursemaid nursery nurture nut nutcracker nutmeg nutrient nutritional nutshell nuttier
    nuttiest nuzzle nylon nymph oar oasis oath oatmeal obedient obelisk obese obey obituary object objection
    objectionable objective objector obligate obligation obligatory oblige oblique obliterate oblivion oblong
    obnoxious oboe obscene obscure obscurity observant observation observatory observe obsess obsession obsessive
    obsolescent obsolete obstacle obstetrician obstinacy obstinate obstruct obstruction obstructive obtain
    obtainable obtrusive obtuse obvious occasion occasional occupancy occupant occupation occupational occupy occur
    occurrence ocean oceanic oceanography octagon octagonal octal octave octopus ocular odd odometer odor of off
    offbeat offend offense offensive offhand office official officiate offload offset offshoot offshore offspring
    offstage often ogle ogre oh oil oilier oiliest okay okra old olden olfactory olive omega omelet omen omission
    omit omnibus omnipotent omnipresent omniscient on once one oneself ongoing onion onlooker onomatopoeia onrush
    onset onslaught onto onus onward ooze opal opaque open opera operand operate operatic operation operational
    operative operator ophthalmology opinion opium opossum opponent opportune opportunist opportunity oppose
    opposite opposition oppress oppression oppressive oppressor opt optic optical optician optima optimal optimist
    optimistic optimization optimize optimum option optional optometrist opulent opus or oracle oral orange
    orangutan orator orbit orbital orchard orchestra orchestral orchestrate orchid ordain ordeal order ordinary
    organ organic organist organization organizational organize orgasm orgy orient oriental orientate orientation
    orifice origin original originate originator ornamental ornate ornithologist ornithology orphan orphanage
    orthodontist orthodox orthogonal orthography oscillate oscilloscope osmosis ostracize ostrich other otherwise
    otter ouch ought ounce our ourselves oust out outcome outcry outdated outgoing outline outlook output outrage
    outrageous outright outset outside outstanding outweigh oval ovary oven over overall overcame overcome overdraft
    overdue overflow overhead overlap overload overlong overlook overnight overprice overridden override overrode
    overseas overtime overtone overview overwhelm overwritten ovum owe own ownership oxen oxide oxidize oxygen
    oyster ozone pace pacemaker pacific pacifier pacifist pacify pack package packet pact pad paddle paddock padlock
    pagan page pageant pageantry pagoda paid pail pain painful painless paint pair pajamas palace palate palatial
    pale paleontologist paleontology palette pall pallbearer pallid pallor palm palomino paltrier paltriest paltry
    pamper pamphlet pan panacea pancake pancreas pancreatic panda pandemonium pander pane panel pang panhandle panic
    panicky panorama panoramic pant panther pantie pantomime pantry papa papacy papal papaya paper paperback
    paperweight paperwork paprika papyri papyrus par parachute parade paradigm paradise paradox paradoxical paraffin
    paragon paragraph parakeet parallel paralysis paralytic paralyze parameter paramount paranoia paranoid
    paraphernalia paraphrase paraplegic parasite parasitic parasol paratrooper parcel parch pardon pare parent
    parentage parental parentheses parenthesis parenthetical parenthood parish parishioner parity park parka parkway
    parliament parliamentary parlor parochial parody parole parrot parse parsec parsley parsnip parson parsonage
    part partake partaken partial participant participate participle particle particular partisan partition partner
    partook partridge pass passage passageway passbook passenger passion passionate passive passport password past
    pasta paste pastel pasteurize pastiche pastier pastiest pastime pastor pastoral pastry pasture pat patch
    patchwork pate patent paternal path pathetic pathological pathologist pathology pathos pathway patience patient
    patio patriarch patriarchal patrimony patriot patriotic patrol patron patronage patronize pattern paunch
    paunchier paunchiest pauper pause pave pavement pavilion pawn pawnbroker pay payload payment payoff payroll
    peace peaceful peacemaker peach peacock peak peal peanut pear pearl peas peasant peat pebble pecan peck peculiar
    pedagogy pedal pedant pedantic pedantry peddle pedestal pedestrian pediatrician pedigree peek peel peep peer
    peeve peevish pelican pellet pelt pelvic pelvis pen penal penalize penalty pence penchant pencil pendant pended
    pending pends pendulum penetrate penguin penicillin peninsula penis penitent penitentiary penknife pennant
    pensive pentagon pentagonal penthouse penultimate peon people pepper peppermint per perceive percent percentage
    perception perceptive perch percolate percolator peremptory perennial perfect perfection perfectionist perforate
    perform performance perfume perfunctory perhaps peril perimeter period periodic periodical peripheral periphery
    periscope perish perjure perk perkier perkiest permanent permeate permissible permission permissive permit
    peroxide perpendicular perpetrate perpetrator perpetual perpetuate perplex persecute persecutor persevere
    persist persistent person persona personal personality personalize personify personnel perspective perspire
    persuade persuasion persuasive pert pertain pertinent perturb perusal peruse pervade pervasive perverse pervert
    peskier peskiest pesky pessimist pessimistic pest pesticide pet petal petite petrify petrol petroleum petticoat
    pettier pettiest petulant petunia pewter phantom pharmaceutical pharmacist pharmacy phase pheasant phenomena
    phenomenal phenomenon philanthropic philanthropist philanthropy philosopher philosophical philosophize
    philosophy phlegm phlegmatic phobia phoenix phone phonetic phonier phoniest phonograph phosphor phosphorescent
    phosphorus photo photocopier photocopy photogenic photograph photographic photon photosynthesis phrase
    phraseology physic physical physician physicist physiological physiology physique pi pianist piano piccolo pick
    pickax picket pickier pickiest pickle pickpocket pickup picnic pictorial picture picturesque piddle pie piece
    piecemeal piecework pierce piety pig pigeon pigeonhole piggish piggyback pigpen pigtail pike pile pilfer pilgrim
    pilgrimage pill pillage pillar pillow pillowcase pilot pimple pimplier pimpliest pin pinch pincushion pine
    pineapple pinion pink pinnacle pinpoint pint pioneer pipe pipeline pique piracy piranha pirate pirouette
    pistachio pistol piston pit pitch pitchfork pitfall pithier pithiest pithy pivot pivotal pixie pizza placard
    placate place placenta placid plagiarist plagiarize plague plaice plaid plain plaintiff plaintive plan planar
    plane planet planetarium planetary plank plankton plant plantain plaque plasma plaster plastic plate plateau
    platform platinum platitude platoon platter plausible play playback playground playhouse playmate playpen
    playwright plaza plea plead pleasant pleasantry please pleasure pleat pledge plenty plethora pliant plied plight
    plod plop plot plow ploy pluck plug plum plumage plumb plume plummet plump plunder plunge plural plus plush
    plutonium plywood pneumatic pneumonia poach pocket pocketbook pockmark podium poem poet poetic poetical poetry
    poignancy poignant poinsettia point pointless poise poison poke pokier pokiest polar polarize pole polemic
    police policeman policemen policewoman policewomen polio polish polite political politician politics polka poll
    pollen pollinate pollster pollutant pollute pollution polo polygamy polygon polynomial polyp polytechnic
    pomegranate pomp pompous poncho pond pontoon pony poodle pool poop poor pop popcorn pope poplar populace popular
    popularity popularize populate population porcelain porch porcupine pore pork pornographic pornography porpoise
    porridge port portability portable portal portend portent portfolio porthole portico portion portlier portliest
    portrait portray portrayal pose position positional positive possess possession possessive possessor possibility
    possible possum post postage postal postbox postcard postcode posterior postgraduate postman postmark postmaster
    postmen postpone postscript postulate posture pot potassium potato potency potent potential pothole pouch
    poultry pounce pound pour pout poverty powder power powerful powerhouse powwow practicable practical practice
    practitioner pragmatic prairie praise praiseworthy pram prank prattle prawn pray preach preamble precaution
    precautionary precede precedence precedent precinct precious precipice precipitate precise precision preclude
    preconceive preconception precursor predator predecessor predicate predict predictable prediction predictor
    predominant predominate preeminent preempt preen prefab preface prefect prefer preferable preference
    preferential prefix pregnancy pregnant prehistoric prejudice prejudicial preliminary prelude premature premier
    premiere premise premium prenatal preoccupy prepaid preparation preparatory prepare prepay prepositional
    prerequisite prerogative prescribe prescription presence present presentation preservative preserve preside
    presidency president presidential press pressure prestige presto presumably presume presumption presuppose
    pretend pretense pretentious pretext prettier prettiest pretty pretzel prevail prevalent prevent prevention
    preventive preview previous prey price prick prickle pricklier prickliest pride pried priest priestess
    priesthood prim primal primary primate prime primeval primitive primp primrose prince principal principle print
    printout prior priority prison privacy private privatization privatize privier priviest privilege privy prize
    pro probabilistic probability probable probe problem problematic procedural procedure proceed process
    processional processor proclaim procrastinate procure prod prodigal prodigy produce product production
    productive productivity profane profess profession professional professor proffer proficiency proficient profile
    profit profitable profiteer profound profuse progeny prognosis program programmable progress progressive
    prohibit prohibitive project projectile projection projector proletarian proletariat proliferate proliferation
    prolific prologue prolong prom promenade prominent promise promontory promote promotion prompt promulgate prone
    prong pronoun pronounce pronunciation proof proofread prop propaganda propagate propel property prophecy
    prophesy prophet prophetic proponent proportion proportional proportionate proposal propose proposition
    propositional proprietary proprietor propriety prose prosecute prosecution prosecutor prospect prospective
    prospector prospectus prosper prostitute prostrate protagonist protect protection protective protector protein
    protest protestant protocol proton prototype protract protractor protrude proud prove proven proverb proverbial
    provide province provincial provision provisional proviso provocative provoke prow prowess prowl proximity proxy
    prude prudent prudish prune psalm pseudo pseudonym psych psyche psychedelic psychiatric psychiatrist psychiatry
    psychic psychoanalysis psychoanalyst psychological psychologist psychology psychopath psychosis psychotherapy
    psychotic pub puberty public publication publicity publicize publish puck pudding puddle pudgier pudgiest pudgy
    pueblo puff puffier puffiest puke pull pulley pullover pulmonary pulp pulpit pulsate pulse pulverize puma pumice
    pummel pump pumpernickel pumpkin pun punch punchline punctual punctuate punctuation puncture pundit pungent
    punier puniest punish punishment punitive punk punt pupil puppet puppy purchase pure puree purgatory purge
    purify puritanical purity purple purport purpose purr purse pursue pursuit purveyor push pushier pushiest
    pushover puss pussier pussiest put putative putrid putt puzzle pyramid pyre python quack quadrangle quadrant
    quadratic quadrilateral quadruple quadruplet quagmire quail quaint quake qualification qualifier qualify
    qualitative quality qualm quandary quantifier quantify quantitative quantity quantum quarantine quark quarrel
    quarrelsome quarry quart quarterback quartet quartz quash quaver quay queasier queasiest queasy queen queenlier
    queenliest queer quell quench query quest question questionable questionnaire queue quibble quiche quick quicken
    quicksand quiet quill quilt quinine quintet quintuplet quip quirk quit quite quiver quiz quizzical quorum quota
    quotation quote quotient rabbi rabbit rabble rabid raccoon race racetrack racial racier raciest racism racist
    rack racket racketeer radar radial radiant radiate radiation radiator radical radii radio radioactive radish
    radium radius raffle raft rag ragamuffin rage ragtime raid rail railroad railway rain rainbow raincoat raindrop
    rainfall rainier rainiest rainstorm rainwater raise raisin rake ram ramble ramp rampage rampant ramrod
    ramshackle ran ranch rancid rancor random rang range rank rankle ransack ransom rant rape rapid rapist rapport
    rapt rapture rare rascal rash rasp raspberry raster rat rate rather ratify ratio rational rationale rationalize
    rattle rattlesnake ravage rave ravel raven ravine ravish raw ray rayon raze razor re reach react reaction
    reactionary reactor read readable readership real realistic reality realization realize realm rear rearrange
    reason reasonable reassure rebuild rebuilt recall receipt receive recent reception recipe recipient reckless
    reckon reclaim recognition recognizable recognize recollection recommend recommendation reconcile reconsider
    record recover recreational recruit recruitment rectangle rectangular rectify recursion recursive recycle red
    redefine redirect reduce reduction redundancy redundant refer reference referendum refine reflect reflection
    reflex reform reformat refrain refresh refund refusal refuse refute regain regard regardless regime region
    regional register registration regret regular regulation reign reinstate reiterate reject rejection relate
    relation relationship relative relativity relax relay release relevance relevant reliability reliable relief
    relieve religion religious relocation reluctance reluctant remain remainder remark remarkable remedy remember
    remind reminiscent remote removal remove rename rend rendition renew rent repair repeat repeatable repent
    repertoire repetition repetitive rephrase replace replacement reply report represent representation
    representative reproduce reproduction repulsive reputation request require requirement requisite reread rescue
    research resemblance resemble resent reservation reserve reset reside residence resident resign resignation
    resist resistance resolution resolve resort resource respect respectable respective respond response
    responsibility responsible rest restart restaurant restore restrain restrict restriction restrictive result
    resume resurrection retail retain retire retirement retract retrieval retrieve return reuse reveal revelation
    revenge revenue reverse revert review revise revision revolt revolution revolutionary reward rewrite rewritten
    rewrote rhapsody rhetoric rhetorical rhino rhinoceros rhododendron rhubarb rhyme rhythm rhythmic ribbon rice
    rich ricketier ricketiest rickety rickshaw ricochet rid ridden riddle ride ridge ridicule ridiculous rife rifle
    rift right rightmost rigid rigor rigorous rile rind ring ringleader ringlet ringworm rink rinse riot rip ripe
    ripen riposte ripple rise risen risk riskier riskiest rite ritual rival rivalry river rivet roach road roadblock
    roadside roam roar roast robber robe robin robot robust rock rocket rockier rockiest rod rode rodent rodeo rogue
    roguish role roll roman romance romantic romp roof rook rookie room roomier roomiest roommate roost root rope
    rosary rose rosemary rosier rosiest roster rostrum rot rotary rotate rotation rote rotisserie rotor rotten
    rotund rotunda rouge rough roughage roughen roughhouse roulette round roundabout rouse rout route routine row
    rowboat rowdier rowdiest rowdy royal royalty rub rubbish rubble rubier rubiest rubric rucksack ruckus rudder
    ruddier ruddiest ruddy rude rudimentary rued ruff ruffian ruffle rugby ruin rule rumble ruminate rummage rummer
    rummest rummy rumor rump rumple run runaway rundown rune rung runnier runniest runt runway rupture rural ruse
    rush rust rustic rustier rustiest rustle sabbatical saber sabotage saboteur sack sacred sacrifice sacrificial
    sacrilege sad sadden saddle sadist sadistic safari safe safeguard safety saffron saga sage sagebrush said sail
    sailboat sailor saint saintlier saintliest sake salad salami salary sale salesman salesmen salespeople
    salesperson saleswoman saleswomen salient saliva salivate sallow salmon salon saloon salt saltier saltiest
    salute salvage salvation salve same sample sanatorium sanctify sanction sanctuary sand sandal sandbag sandier
    sandiest sandman sandmen sandpaper sandstone sandstorm sandwich sane sang sanitarium sanitary sanity sank
    sanserif sapphire sarcasm sarcastic sardine sari sash sassier sassiest sassy sat satanic satchel satellite satin
    satire satirical satirist satirize satisfaction satisfactory satisfy saturate sauce saucepan saucier sauciest
    sauerkraut sauna saunter sausage savage save savior savor savorier savoriest savvier savviest savvy saw sawdust
    saxophone say scab scaffold scalar scald scale scalier scaliest scallop scalp scalpel scamper scan scandal
    scandalize scant scantier scantiest scapegoat scar scarce scare scarecrow scarf scarier scariest scarlet scatter
    scatterbrain scavenger scenario scene scenery scenic scent scepter schedule scheme schizophrenia schizophrenic
    scholar scholastic school schoolboy schoolchild schoolchildren schoolteacher schooner science scientific
    scientifically scientist scissor scoff scold scoop scoot scope scorch score scorn scorpion scotch scoundrel
    scour scourge scout scowl scrabble scram scramble scrap scrapbook scrape scratch scratchier scratchiest scrawl
    scrawnier scrawniest scrawny scream screech screen screw screwdriver screwier screwiest scribble scribe script
    scripture scriptwriter scroll scrounge scrub scruff scruffier scruffiest scruple scrutinize scrutiny scuff
    scuffle sculptor sculpture scum scurry scuttle scythe sea seafood seal seam seaman seamen seamstress seaport
    sear search searchlight seashell seashore seasick seaside season seasonal seat seaweed secede seclude second
    secondary secrecy secret secretarial secretary secrete secretive sect section sector secular secure security
    sedan sedate sedative sedentary sedimentary seduce seduction seductive see seedier seediest seek seem seen seep
    seepage seesaw seethe segment segregate seize seizure seldom select selection selective selector self selfish
    sell semantic semen semester semicircle semicolon semiconductor semifinal seminar senate senator send senile
    senior sensation sensational sense sensible sensitive sensitivity sensor sensual sent sentence sentient
    sentiment sentimental sentry separate separation separator sepulcher sequel sequence sequential sequin serenade
    serene sergeant serial series serious sermon serpent serum servant serve service serviceman servicemen serviette
    servile servitude session set setback settle seven seventeen seventeenth seventh seventy sever several severe
    severity sewage sewer sewn sex sexist sexual sexuality shabbier shabbiest shabby shack shackle shade shadier
    shadiest shadow shadowier shadowiest shaft shaggier shaggiest shaggy shake shaken shakier shakiest shall shallow
    sham shamble shame shampoo shamrock shanty shape shapelier shapeliest share shareholder shark sharp sharpen
    shatter shave shaven shawl she sheaf shear sheath sheathe sheave sheen sheep sheepish sheet sheikh shelf shell
    shellfish shelter shelve shepherd sherbet sheriff sherry shield shift shiftier shiftiest shimmer shin shine
    shingle shinier shiniest ship shipshape shipwreck shire shirk shirt shiver shoal shock shod shoddier shoddiest
    shoe shoelace shone shoo shook shoot shop shopkeeper shoplifter shore short shortage shorten shortfall shorthand
    shortlist shot shotgun should shout shove shovel show showcase showdown showier showiest showman showmen shown
    shrank shrapnel shrew shrewd shriek shrill shrimp shrine shrink shrinkage shrivel shroud shrub shrubbery shrug
    shrunk shrunken shuck shudder shuffle shun shunt shut shutdown shuttle sic sick sicken sickle sicklier sickliest
    side sideline sidelong sideshow sidestep sidetrack sidewalk sideways sidle siege sierra siesta sieve sift sigh
    sight sigma sign signal signature significance significant signify signpost silence silent silhouette silicon
    silk silken sill sillier silliest silo silt silver silversmith similar similarity simile simmer simple simplex
    simplicity simplify simplistic simulate simulation simulator simultaneous sin since sincere sine sinew sinful
    sing singe single singular sinister sink sinus siphon sir sire siren sirloin sissier sissiest sissy sister
    sisterhood sit site situate situation six sixteen sixteenth sixth sixtieth sixty size sizzle skate skateboard
    skein skeleton skeptic skeptical sketch sketchier sketchiest skew skid skill skillet skim skimp skimpier
    skimpiest skin skinflint skinnier skinniest skip skirmish skirt skis skit skittish skulk skull skunk sky
    skylight skyline skyrocket skyscraper slab slack slacken slag slain slake slam slander slang slant slap
    slapstick slash slat slate slaughter slave slavery slavish slay sleazier sleaziest sleazy sledgehammer sleek
    sleep sleepier sleepiest sleet sleeve sleigh slender slept slew slice slick slid slide slier sliest slight slim
    slime slimier slimiest slingshot slink slip slipperier slipperiest slipshod slit slither sliver slob slog slogan
    slop slope sloppier sloppiest slosh slot sloth slouch slovenlier slovenliest slovenly slow sludge slug sluggish
    sluice slum slumber slump slung slunk slur slush slut slyly smack small smallish smallpox smart smash smear
    smell smellier smelliest smelt smidgen smile smirk smite smith smitten smock smog smoke smokestack smokier
    smokiest smolder smooth smote smother smudge smug smuggle smut snack snag snail snake snap snappier snappiest
    snapshot snare snarl snatch sneak sneakier sneakiest sneer sneeze snicker snide sniff sniffle snip snipe snippet
    snitch snob snobbery snobbish snooker snoop snootier snootiest snooty snooze snore snorkel snort snot snout snow
    snowball snowdrift snowfall snowflake snowier snowiest snowplow snowstorm snub snuff snug snuggle so soak soap
    soapier soapiest soar sober sobriety soccer social socialism socialist socialize society sociological
    sociologist sociology sock socket sod soda sodden sodium sodomy sofa soft softball soften software soggier
    soggiest soggy soil sojourn solace solar sold soldier sole solemn solicit solicitor solid solidify solitaire
    solitary solitude solo soloist soluble solution solve solvent somber some somebody someday somehow someone
    someplace somersault something sometime somewhat somewhere son sonata song sonic sonnet soon soot soothe sootier
    sootiest sophisticate sophistry sophomore soprano sorcerer sorceress sorcery sordid sore sorrier sorriest sorrow
    sorry sort sorta sought soul sound soundproof soundtrack soup sour source south southeast southeastern southerly
    southern southpaw southward southwest southwestern souvenir sovereign sovereignty sown space spacecraft spacial
    spade spaghetti span spangle spaniel spank spar spare spark sparkle sparrow sparse spas spasm spasmodic spat
    spate spatial spatula spawn spay speak spear spearhead spearmint special specialist specialize specialty species
    specific specifically specification specifier specify specimen speck spectacle spectacular spectator specter
    spectra spectrum speculate speculation speculative speculator sped speech speed speedboat speedier speediest
    speedometer spell spellbind spellbound spend spendthrift spent sperm spew sphere spherical sphinx spice spicier
    spiciest spider spigot spike spill spin spinach spinal spindlier spindliest spindly spine spinster spiral spire
    spirit spiritual spit spite spittle splash splat spleen splendid splendor splice splint split splurge spoil
    spoke spoken spokesman spokesmen spokespeople spokesperson spokeswoman spokeswomen sponge spongier spongiest
    sponsor spontaneous spoof spook spookier spookiest spool spoon sporadic spore sporran sport spot spotlight
    spottier spottiest spouse spout sprain sprang sprawl spray spread spreadsheet spree sprier spriest sprig spring
    springboard springier springiest springtime sprinkle sprint sprout spruce sprung spry spud spun spunk spur
    spurious spurn spurt sputter spy squabble squad squadron squalid squall squalor squander square squash squat
    squawk squeak squeakier squeakiest squeal squeamish squeeze squelch squid squint squire squirm squirrel squirt
    stab stability stabilize stable stack stadium staff stag stage stagecoach stagnant stagnate staid stain stair
    staircase stairway stake stale stalemate stalk stall stallion stalwart stamina stammer stamp stampede stance
    stanch stand standard standardize standby standoff standpoint standstill stank stanza staple star starboard
    starch starchier starchiest stardom stare starfish stark starlight starrier starriest start startle starve state
    statelier stateliest statement statesman statesmen static station stationary stationery statistic statistical
    statistician statue stature status statute statutory staunch stave stay steadfast steadier steadiest steady
    steak steal stealth stealthier stealthiest steam steamier steamiest steamroller steel steep steeple steer
    stellar stem stench stencil stenographer stenography step stepladder stereo stereotype sterile sterilize
    sterling stern stethoscope stew steward stewardess stick stickier stickiest stickler stiff stiffen stifle stigma
    stigmata still stillborn stimulant stimulate stimulation stimuli stimulus stingier stingiest stink stint
    stipulate stir stirrup stitch stock stockade stockbroker stockholder stockier stockiest stockpile stockyard
    stodgier stodgiest stodgy stoical stoke stole stolen stolid stomach stomp stone stonier stoniest stood stool
    stoop stop stopgap stopover stoppage stopwatch storage store storehouse storekeeper storeroom stork storm
    stormier stormiest stout stove stow stowaway straddle straggle straight straighten straightforward strain strait
    straitjacket strand strange strangle strap strata stratagem strategic strategy stratify stratosphere stratum
    straw strawberry stray streak stream streamline street streetcar strength strengthen stress stretch strew strewn
    stricken strict stridden stride strife strike string stringent stringier stringiest strip stripe strive striven
    strode stroke stroll strong stronghold strove struck structural structuralist structure struggle strum strung
    strut stub stubbier stubbiest stubble stubborn stuck stud student studio stuff stuffier stuffiest stumble stump
    stun stung stunk stunt stupefy stupid stupidity stupor sturdier sturdiest sturdy stutter style stylish stylistic
    stylus suave subcommittee subdivide subdue subgroup subject subjective subjugate subjunctive sublet sublime
    submarine submerge submission submissive submit subnormal subordinate subprogram subroutine subscribe subscript
    subscription subsection subsequent subservient subset subside subsidiary subsidize subsist substance substandard
    substantial substantiate substitute substitution subsystem subterfuge subterranean subtle subtlety subtract
    subtraction suburb suburban subversive subvert subway succeed success successful succession successive successor
    succinct succor succulent succumb such suck suckle suction sudden sue suede suffer suffice sufficient suffix
    suffocate suffrage sugar sugarier sugariest suggest suggestion suggestive suicidal suicide suit suitability
    suitable suitcase suite suitor sulfur sulk sulkier sulkiest sullen sultan sultrier sultriest sultry sum
    summarize summary summit summon sun sunbathe sunburn sundae sundial sundown sundry sunflower sung sunk sunken
    sunlight sunlit sunnier sunniest sunrise sunscreen sunset sunshine suntan sunup super superb supercomputer
    superficial superfluous superhuman superimpose superintendent superior superiority superlative supermarket
    supernatural superscript supersede supersonic superstar superstructure supervise supervision supervisor supper
    supplant supple supplement supplementary supplier support supportive suppose suppress suppression supremacy
    supreme surcharge sure surf surface surfboard surge surgeon surgery surgical surlier surliest surmise surmount
    surname surpass surplus surprise surreal surrender surround survey surveyor survival survive survivor
    susceptible suspect suspend suspense suspension suspicion suspicious sustain swab swagger swallow swam swamp
    swampier swampiest swan swap swarm swarthier swarthiest swarthy swat swathe sway swear sweat sweep sweet sweeten
    sweetheart swell swept swerve swift swig swill swim swindle swine swing swipe swirl swish switch switchboard
    swivel swollen swoon swoop sword swordfish swore sworn swum swung syllabus symbol symbolic symbolize symmetric
    symmetrical symmetry sympathetic sympathize sympathy symphonic symphony symptom symptomatic synagogue synapse
    synchronize syndicate syndrome synonym synonymous synopsis syntactic syntactically syntax synthesis synthesize
    synthetic syphilis syringe syrup system systematic tab tabernacle table tablecloth tablespoon tablet tabloid
    taboo tabulate tacit taciturn tack tackier tackiest tackle taco tact tactic tactical tactless tadpole tag tail
    tailgate taillight tailor tailspin taint take taken takeoff takeover talc tale talent talisman talk talkative
    tall tallow talon tambourine tame tamper tandem tang tangent tangential tangerine tangle tango tank tankard
    tanner tannest tantalize tantamount tantrum tap tape tapestry tarantula tardier tardiest tardy target tariff
    tarnish tarpaulin tarrier tarriest tarry tart tartan tartar task tassel taste tasteless tastier tastiest tattle
    tattoo tatty taught taunt taut tautology tavern tawdrier tawdriest tawdry tawnier tawniest tawny tax taxation
    taxi taxicab taxpayer tea teach teacup teak team teammate teamster teamwork teapot tear teardrop tease teaspoon
    teat technical technician technique technological technology tedious tedium teed teem teen teenage teeter teeth
    teethe teetotal telegram telegraph telepathic telepathy telephone telescope teletype televise television tell
    telltale temper temperamental temperate temperature tempest template temple tempo temporal temporary tempt
    temptation ten tenancy tenant tend tendency tenderize tendon tendril tenet tennis tenor tense tension tent
    tentacle tentative tenth tenure tepee tepid term terminal terminate termination terminator termini terminology
    terminus termite terrace terrain terrestrial terrible terrier terrific terrify territorial territory terror
    terrorism terrorist terrorize terse test testicle testify testimonial testimony testis tetanus tether text
    textbook textile textual texture than thank thankful that thatch thaw the theater theatrical thee theft their
    theist them theme themselves then theologian theological theology theorem theoretic theoretical theorist
    theorize theory therapeutic therapist therapy there thereabouts thereafter thereby therefore therein thereof
    thereon thereupon thermal thermometer thermostat thesauri thesaurus these thesis theta thick thicken thicket
    thief thieve thigh thimble thin think third thirst thirstier thirstiest thirteen thirteenth thirtieth thirty
    this thistle thong thorn thornier thorniest thorough thoroughfare those thou though thought thousand thousandth
    thrash thread threadbare threat threaten three thresh threshold threw thrice thrift thriftier thriftiest thrill
    thrive throat throb throne throng throttle through throughout throughput throw throwaway throwback thrown thrust
    thud thug thumb thumbtack thump thunder thunderbolt thunderstorm thunderstruck thus thwart thyme thyroid tiara
    tick ticket tickle ticklish tidal tidbit tide tidier tidiest tie tiff tiger tight tighten tightrope tightwad
    tilde tile till tilt timber time timekeeper timelier timeliest timescale timetable timezone timid tin tinder
    tinge tingle tinier tiniest tinker tinkle tinnier tinniest tinsel tint tip tipsier tipsiest tiptoe tirade tire
    tiresome tissue titillate title titter to toad toadstool toast tobacco toboggan today toddle toe toenail toffee
    toga together toggle toil toilet token told tolerance tolerant tolerate toll tomahawk tomato tomb tomboy
    tombstone tomcat tome tomorrow ton tonal tone tong tongue tonic tonight tonnage tonne tonsil tonsillitis too
    took tool toolkit toot tooth toothache toothbrush toothpaste toothpick top topaz topic topical topography
    topology topple torch tore tormentor torn tornado torpedo torque torrent torrential torrid torso tortilla
    tortoise torture toss total totalitarian tote totem totter toucan touch touchdown touchier touchiest tough
    toughen toupee tour tourist tourniquet tousle tout toward towel tower town townspeople toxic toxin trace track
    tract traction tractor trade trademark tradition traditional traditionalist traffic tragedy tragic trail train
    trainee trait traitor tramp trample trampoline tranquil tranquilize transact transaction transatlantic transcend
    transcribe transcript transcription transfer transform transformation transgress transient transistor transit
    transition transitional transitive transitory translate translation translator translucent transmission transmit
    transparency transparent transpire transplant transport transpose transverse trap trapdoor trapeze trapezoid
    trash trashcan trashier trashiest trauma traumatic traumatize travel traverse travesty trawl tray treachery
    treacle tread treadmill treason treasure treat treatise treatment treble tree trek trellis tremble tremendous
    tremor trench trend trendier trendiest trespass trestle trial triangle triangular tribal tribe tribunal
    tributary tribute trick trickery trickier trickiest trickle trickster tricycle trifle trigger trigonometry trill
    trillion trilogy trim trimester trinity trinket trio trip tripe triple triplet triplicate tripod tripos trite
    triumph triumphant trivia trivial trod trodden troll trolley trombone troop trophy tropical trot trouble
    troublemaker troublesome trough trounce troupe trouser trout trowel truancy truant truce truck trudge true
    truffle trump trumpet truncate trunk trust trustee trustier trustiest trustworthier trustworthiest trustworthy
    truth try tryout tuba tube tuberculosis tubular tuck tuft tulip tumble tummy tumor tumult tuna tundra tune tunic
    tunnel turban turbine turbulent tureen turf turgid turkey turmoil turn turnaround turnip turnout turnover
    turnpike turnstile turntable turpentine turquoise turret turtle turtleneck tusk tussle tutor tutorial tuxedo
    twang tweak twee tweet twelfth twelve twentieth twenty twice twiddle twig twilight twin twine twinge twinkle
    twirl twist twitch twitter two tycoon tying type typeface typescript typeset typewriter typhoid typhoon typhus
    typical typify typist typographic typographical tyrannical tyrannize tyranny tyrant udder ugh uglier ugliest
    ugly ulcer ulterior ultimate ultimatum ultra ultrasonic ultraviolet umbrella umpire umpteen unable unacceptable
    unaffected unambiguous unattended unauthorized unavailable unavoidable unaware unbalanced unbearable
    unbelievable unbiased uncertain uncertainty unchanged uncle unclear uncomfortable uncommon unconnected
    unconscious unconvincing undefined under underestimate undergo undergone undergraduate underground underlain
    underlay underlie underline underlying underneath understand understandable understood undertake undertaken
    undertook underwent undesirable undid undo undocumented undone uneasy unemployed unemployment unexpected
    unexplained unfair unfamiliar unfinished unfortunate unfounded unfriendly unhappy unhealthy unhelpful uniform
    unify unimportant uninteresting union unique unit unite universal universe university unjustified unknown unless
    unlike unlimited unload unlock unlucky unnatural unnecessary unobtainable unofficial unpleasant unpopular
    unpredictable unread unreadable unrealistic unreasonable unrelated unreliable unsafe unsatisfactory unseen unset
    unsolicited unsound unspecified unstable unsuccessful unsuitable unsupported unsure unsuspecting untidy until
    unto untrue unusable unused unusual unwanted unwelcome unwilling unwise unworkable up upbeat upbringing update
    upend upgrade upheaval upheld uphill uphold upholster upkeep uplift upload upon upper uppermost upright uproar
    uproot upset upshot upside upstairs upstart upstream uptake uptight uptown upturn upward uranium urban urbane
    urchin urge urgency urgent urinate urine us usable usage use useful useless usher usual usurp utensil uteri
    uterus utilitarian utility utilize utmost utter vacancy vacant vacate vacation vaccinate vaccine vacillate
    vacuum vagabond vagary vagina vaginae vaginal vagrant vague vain valentine valet valiant valid validate validity
    valise valley valor valuable value valve vampire van vandal vandalism vandalize vane vanguard vanilla vanish
    vanquish vapor vaporize variable variance variant variation variety various varnish vary vase vast vat vault
    veal vector veer vegetable vegetarian vehicle veil vein velocity velour velvet vend vendor veneer venerate
    venison venom vent ventilate ventilator ventricle ventriloquist venture venue veranda verb verbal verbatim
    verbiage verbose verdict verge verier veriest verification verify vermin vernacular versatile verse version
    versus vertebra vertebrae vertebrate vertical vertigo verve very vessel vest vestibule vestige vet veteran
    veterinarian veterinary veto via viable viaduct vial vibrant vibrate vicar vice vicinity vicious victim
    victimize victor video videotape vied view viewpoint vigil vigilant vigilante vigor vile vilify villa village
    villain vindicate vindictive vine vinegar vineyard vintage vinyl viola violate violation violence violent violet
    violin viper viral virgin virile virtual virtue virtuoso virulent virus visa vise visible vision visionary visit
    visitor visor vista visual visualize vital vitamin vitriolic vivid vivisection vocabulary vocal vocalist
    vocational vodka vogue voice void volatile volcanic volcano volley volleyball volt voltage volume voluntary
    volunteer vomit voodoo vortex vote vouch vowel voyage vulgar vulnerable vulture waddle wade wafer waffle waft
    wage wagon waif wail waist waistline wait waitress waive wake waken walk walkout wall wallet wallop wallow
    wallpaper walnut walrus waltz wand wane wanna wanner wannest want wanton war warble ward warden wardrobe
    warehouse warfare warhead warier wariest warlike warm warmth warn warp warpath warrant warren warrior wart
    wartime was wash washcloth washout washroom wasp wastage waste wastebasket wasteful wasteland watch watchdog
    watchman watchmen watchword water watercolor waterfall waterfront waterier wateriest watermark watermelon
    waterproof watertight waterway watt wave waveform wavelength wavier waviest waxier waxiest waxy way waylaid
    waylay wayside wayward we weak weaken wealth wealthier wealthiest wean weapon weaponry wear wearier weariest
    wearisome weasel weather weave wed wedge wedlock wee weedier weediest week weekday weekend weep weigh weight
    weightier weightiest weird weirdo welcome weld welfare well wellington welt went wept were werewolf west
    westerly western westward wet whack whale wharf what whatever whatsoever wheat wheedle wheel wheelbarrow
    wheelchair wheeze when whence whenever where whereas whereby wherein whereupon wherever wherewithal whet whether
    whew which whichever whiff while whilst whim whimper whimsical whine whinny whip whir whirl whirlpool whirlwind
    whisk whiskey whisper whistle white whiten whitewash whittle whiz who whoa whoever whole wholesale wholesome
    whom whoop whopper whore whose why wick wicket wide widen widespread widow width wield wife wiggle wigwam wild
    wildcat wildfire wildlife wilier wiliest will willow willpower wilt wily win wince winch wind windfall windier
    windiest windmill window windowpane windpipe windscreen windshield wine wing wink winsome winter wintertime
    wintrier wintriest wintry wipe wire wirier wiriest wisdom wise wisecrack wish wishbone wisp wispier wispiest
    wist wit witch witchcraft with withdraw withdrawal withdrawn withdrew withheld withhold within without withstand
    withstood wittier wittiest wive wizard wobble wobblier wobbliest woke woken wolf woman womanhood womankind womb
    wombat women won wonder wonderful wonderland wondrous wont wood woodchuck wooden woodier woodiest woodland
    woodpecker woodsman woodsmen woodwind woodwork wooed woof wool woolen woollier woolliest woos word wordier
    wordiest wore work workable workbench workbook workforce workload workman workmen workout workplace workshop
    workstation world worldlier worldliest worldwide worm wormhole worn worrisome worry worse worsen worship worst
    worth worthier worthiest worthless worthwhile would wound wove woven wow wrangle wrap wrath wreak wreath wreathe
    wreck wreckage wren wrench wrest wrestle wretch wriggle wright wrinkle wrist wristwatch writ write writhe
    written wrong wrongdoer wrote wrought wrung wryer wryest xenophobia xylophone yacht yank yard yardstick yarn
    yawn year yearn yeast yell yellow yelp yes yesterday yet yeti yield yodel yoga yogurt yoke yokel yolk yonder you
    young youngster your yourself yourselves youth yowl yuck zanier zaniest zany zeal zebra zenith zero zest zeta
    zigzag zillion zinc zipper zodiac zombie zone zoological zoologist zoology zoom zoos zucchini"""
BASE: Final = frozenset(_BASE.split())
