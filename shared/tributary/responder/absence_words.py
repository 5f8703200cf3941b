"""The words by which a claim of absence is told: what memory is called, what it would hold, how it is denied.

These are classes of words, not phrases: a claim is told by how words of several classes stand to each other (`absence.py`).
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATORS = _words("no not never nothing nobody none neither nor without zero cannot hardly scarcely barely")
DETERMINERS = _words("no zero any single without lack lacks lacked lacking absence devoid none nor neither nil 0")
"""What denies the noun behind it; `any` and `single` only behind a negator."""
ALWAYS_DENY = DETERMINERS - {"any", "single"}

STORES = _words(
    "memory memories history archive archives records notes knowledge lesson lessons recall recalls recollection experience"
    " tribe institutional runbooks postmortems past team team's tribe's"
)
"""What the team knows, remembers or keeps, and who does."""
MEMORY = STORES - {"team", "team's", "past", "runbooks"}
"""What is searched when the memory is."""
SEARCHED = _words("recalled recalling recall recalls memory lessons learned history archive records notes")

KNOWLEDGE = _words("lesson lessons precedent precedents recollection experience art expertise")
"""Their absence is a claim by itself."""
RECORDS = _words(
    "record records knowledge memory entry entries mention trace traces report reports documentation hit hits match matches"
    " result results guidance sign account reference references note notes finding findings information clue"
    " clues advice hint hints evidence"
    " indication indications answer answers"
)
"""Their absence is one where it is about what is remembered, and not about a live system."""
CASES = _words(
    "incident incidents case cases occurrence occurrences outage outages failure failures event events instance instances"
    " example examples crash crashes time times problem problems issue issues fix fixes solution solutions parallel one agent"
)
"""Their absence is one where they are said to be of the past, or alike."""
PRIOR = _words(
    "prior previous previously past earlier before similar comparable related such kind sort same alike ever hitherto"
    " known recorded documented remembered history matching formerly already like beforehand"
)
COMPOUNDS = _words("pressure usage leak leaks table tables set sets lock limit limits consumption footprint size page pages")
"""Behind `memory` or `record` they make it one of a machine's."""
SYSTEM = _words(
    "table tables log logs dns proxy replica replicas connection connections error errors alarm alarms backup backups reader"
    " readers writer storage lag metric metrics cpu freeable free endpoint snapshot snapshots hour hours minutes today since"
    " restart restarted parameter query queries column row rows maintenance port subnet disk iops permission"
    " password data action snapshot usage"
)
"""What live systems are made of, and the stretch of time that a look at them covers."""
LIFECYCLE = _words(
    "superseded learned retired disputed quarantined lost updated needed required applied tried contradicts contradict wrong"
    " amiss broken down unusual open connected pending active changed"
)
"""What is said of things that are there."""

PEOPLE = _words("nobody noone no-one")
PERSONS = _words("one us them agent agents responder responders engineer engineers teammate colleague member person")
KNOWERS = _words("we i team tribe us anyone anybody nobody one ones agent agents memory you engineers people they") | PEOPLE
SUBJECTS = _words("this it that such kind failure problem issue error situation symptom crash deadlock incident fault behaviour")
MEETING = _words(
    "met meet meets encountered encounter faced face experienced experience dealt deal handled handle heard remember remembered"
    " recall told taught informed remembers recalls recognises recognizes recognised recognized"
)
"""Denied of somebody who knows, they say that it was never met."""
SEEING = _words(
    "seen saw see known know knows recorded record documented document reported report noted observed logged happened happen"
    " occurred occur arisen run ran come came cropped solve solved fixed hit had written described noticed learned left"
)
"""Denied, they say the same where what was not seen is this, or where it is about the past."""
TELLING = _words(
    "mention mentions mentioned hold holds contain contains cover covers include includes know knows show shows list lists say"
    " says speak speaks offer offers address addresses describe describes match matches remember remembers find found have has"
    " help helps return returned turn"
)
EMPTY = _words(
    "empty silent blank mute quiet bare nothing zero clueless empty-handed non-existent nonexistent none nil ignorant unaware"
)
ABSENT = _words("absent missing spared void alien foreign untried unexplored unlike beyond outside escaped gap gaps hole")
"""Said of what somebody remembers, they deny it as a negator does."""
PREPOSITIONS = _words(
    "of to in on with for from about at by over across into within that which who where did has have was is are"
)
"""End what a negator denies directly."""
CHECKING = _words(
    "search searched check checked complete completed reach reached read confirm verify cite repeat apply applies finish wait"
    " fully completely whole entirely reboot fail act trust follow run vector vectors"
)
"""Denied, they say what was not done or could not be looked at: no claim of absence."""
TIMES = _words("hour hours minute minutes day days week weeks month months few two three 24 60 10")
NOVEL = _words(
    "unprecedented unheard unheard-of uncharted novel undocumented unrecorded unfamiliar unencountered brand-new unparalleled"
    " first-of-its-kind unseen never-before-seen"
)
FIRSTS = _words(
    "to time occurrence instance incident case such encounter sighting appearance ever report of for one outage failure"
)
SORTS = _words("kind sort type class problem issue failure one situation fault phenomenon incident error mode")
SOMEBODY = _words("us me team tribe everyone everybody anyone memory agents")
SINCE = _words("today since week hour after monday tuesday wednesday thursday friday saturday sunday")

SAYING = _words(
    "say said says claim claims claimed assume assumes conclude mean means meant show shows prove imply implies suggest call"
    " confirm state assert answer answering think believe sure certain true case tell told write wrote reads warns rule argue"
    " pretend proof guarantee treat"
)
DENYING = _words("deny denying doubt question denied")
REPORTING = _words(
    "said says claimed claims wrote writes reads states stated reported asserts claim noted warns warned answering"
)
FALSE = _words("wrong false incorrect untrue premature mistaken misleading rash unfounded")
OPENERS = _words(
    "has have had is are was were do does did can could should shall will would who what when where why how which whose may"
    " might must isn't aren't haven't hasn't didn't am"
)
CONDITIONS = _words("if unless whether should when whenever until once")
