"""What the local judge knows of English and of operations: plain data, read once by `words` and `tokens`."""

from __future__ import annotations

# One line a concept: words that say the same in lessons about operations. The first names the concept.
SYNONYMS = """
deploy deployment redeploy rollout ship
restart reboot bounce relaunch
clear flush purge wipe invalidate
answer reply respond return
memory ram
kill oomkilled oomkill terminate sigkill
crash segfault panic coredump
timeout cutoff
biggest largest
old outdated
check verify inspect confirm examine
store save live reside hold house home land locate put write sit find exist lie
lifetime ttl valid
lag delay behind
oncall pager pagerduty rota
deprecated obsolete eol sunset
build compile rebuild
connect connection reconnect
config configuration conf configure setting
certificate cert
repo repository
db database
envvar variable
kubernetes k8s
postgresql postgres pg
authenticate authentication auth
authorize authorization authorise
app application
directory dir folder
doc documentation document
request call
host machine box node vm
alert alarm
page notify
start begin launch kickoff boot fire trigger startup
finish complete done end completion
take last
use utilise utilize employ
set send provide pass supply give present include define specify
create generate recreate regenerate
stop halt
error exception
problem issue trouble
crashloop crashloopbackoff
migration migrate
approve approval signoff
permission privilege
owner own maintain responsible belong
cause result lead make
mean imply
email mail
user
person people engineer
change modify edit alter update adjust
replace swap substitute
move switch
queue backlog
record row entry
secret credential
password passphrase
fetch pull download retrieve obtain
push upload
copy clone duplicate
show display render print
blank empty
latency speed
hang stuck stall freeze
mismatch disagree differ diverge
announce post
repoint redirect
pause suspend
resume continue unpause
restore recover
isolate cordon quarantine
throttle ratelimit
emit export expose
pick choose select prefer
expire expiry expiration lapse
cpu core vcpu processor
login logon signin
pullrequest pr mr
watch monitor observe
receive get
get
acknowledge ack
alive
mfa 2fa totp
load
fetcher
js javascript
developer programmer
read readable
contain
rotate
"""

# Axes: on the left of the bar the positive words, on the right their opposites. The first names the axis.
AXES = """
enable activate enabled active | disable deactivate disabled
succeed successful pass works okay | fail failure break broken unsuccessful bail
increase raise grow rise higher bigger larger longer expand climb lengthen extend widen high large big
    huge | decrease reduce lower shrink smaller shorter shorten fall narrow low small tiny little
more | less fewer
open opened | close closed shut
public publicly | private privately
internal | external
inbound incoming ingress | outbound outgoing egress
automatic auto | manual
synchronous sync synchronously | asynchronous async asynchronously
encrypt encrypted encryption | plaintext unencrypted cleartext
install | uninstall
mount | unmount
attach | detach
register enroll | deregister unregister
writable writeable | readonly
stateful | stateless
online | offline
revert reversible revertible rollback undo | irreversible
compatible | incompatible
available left | unavailable exhausted exhausts
reach reachable | unreachable
support supported | unsupported
honour honor respect obey effective | ignore disregard
accept | reject refuse decline
allow permit let | block prevent deny
warm | cold
upgrade | downgrade
include | exclude omit skip bypass waive
help fix cure solve resolve remedy mitigate improve | useless worsen worse aggravate
persistent durable | ephemeral transient volatile
mutable | immutable
strict | lenient lax
stable | unstable flaky
healthy | unhealthy
static | dynamic
cheap cheaper | expensive pricey
lock locked | unlock unlocked
early earlier | late later
exact precise | approximate
idempotent | nonidempotent
sequential serially serial | parallel concurrent
compress compressed | uncompressed
ascending | descending
trust trusted | untrusted distrust
retain retention keep preserve survive | remove delete erase prune strip lose loss lost drop discard gone disappear vanish
same identical | different
correct valid | wrong incorrect invalid
clean | dirty
centralised centralized | distributed decentralised
sorted | unsorted
unique | duplicate
tolerate | choke
known | unknown
case-sensitive | case-insensitive
lazy lazily | eager eagerly
accelerate | decelerate
hard | soft
full | partial incremental
dense | sparse
positive | negative
optin | optout
allowlist whitelist | denylist blocklist blacklist
signed | unsigned
verified | unverified
authenticated | anonymous unauthenticated
shared | dedicated
global | local
strong strongly | weak weakly eventual eventually
visible | hidden invisible
blocking | nonblocking
tight | loose
busy activity | idle inactive inactivity
vertical vertically | horizontal horizontally
single | multiple several multi
voluntary | involuntary
guaranteed guarantee | unguaranteed
limit cap quota maximum max ceiling restrict limited | unlimited uncapped unbounded
immediate instantly immediately | wait delayed
aggressive | conservative
upstream | downstream
reliable | unreliable
secure | insecure
inclusive | exclusive
absolute | relative
foreground | background
deterministic | nondeterministic
earliest | latest
odd | even
optimistic | pessimistic
"""

# Axes of which only these forms are meant: a thing is indexed or unindexed, but an index is a thing.
EXACT_AXES = """
ordered | unordered
fresh | stale
leading | trailing
continuous | intermittent
normal | abnormal
consistent | inconsistent
versioned | unversioned
indexed | unindexed
documented | undocumented
planned | unplanned
monitored | unmonitored
tagged | untagged
cached | uncached
nullable | nonnullable
"""

# Axes whose negative side says "it does not": a fact may put it as "fails" or as "does not", as "disabled" or as "no".
NEGATING_AXES = "allow enable succeed support available include accept help honour reach compatible tolerate"

# Words that carry nothing by themselves.
STOP = """
a an the this that these those it its is are was were be been being am do does did done doing have has had having
will would and or but as of for on in at to from by with per into onto than too also just still already currently
really actually there here their they them he she his her our your you we i who whom whose what where how why any
all each every some such very quite about around roughly approximately near even yet again both either own same so
up down out off itself themselves get gets got getting gotten well via another other else under re over against between
within across upon towards along silently simply whether exactly possible quickly easily usually normally typically
always generally often through etc eg ie e.g i.e vs
"""

# Verbs that fit any statement; they count a little, so that "stored in" and "are in" meet.
LIGHT = """
store set use take come keep work run let cause mean show want try happen seem appear become stay remain go make
note look see know turn influence careful occur serve front involve concern kind sort thing way case time default
currently need available immediate immediately instantly
"""

# Nouns among them that name nothing, wherever they stand.
GENERIC = "kind sort thing way case time default look concern careful available use cause"

# Nouns so general that sharing them says little.
VAGUE = """
service system server cluster api job key value header flag setting variable config tool process component resource
environment instance host node file data request alert team number name
"""

# Nouns that a name stands before: in "the store service", "store" is a name, whatever it means elsewhere.
KIND_NOUNS = """
service system server cluster api job database db table queue topic bucket worker pipeline host node pod container dashboard
repository repo proxy gateway broker cache module namespace team channel endpoint webhook cron volume replica stream registry
firewall provider plugin extension driver library package sdk client console portal site app bot agent daemon project team
"""

# Abbreviations that stay what they abbreviate also where they are names.
ABBREVIATED = """
config configuration conf certificate cert repository repo database db kubernetes k8s postgresql postgres pg authentication
auth application app directory dir documentation doc docs
"""

# Nouns that name an attribute with one value: "the default branch of X is Y" and "... is Z" can't both hold.
ATTRIBUTES = """
branch owner region port limit default address url location path name format engine language password timeout leader
primary master version bus type mode level size count threshold interval retention ttl lifetime schedule time date
channel home maintainer contact endpoint protocol algorithm cipher encoding timezone zone vendor provider backend
storage database broker registry domain hostname ip user account method strategy policy class tier priority order
capacity concurrency replica duration latency delay quota maximum minimum cost price rate status state colour color
root parent upstream base image
"""

# Contractions that no rule opens, as form:words joined by dots. Opened before anything else.
CONTRACTIONS = {
    form: words.replace(".", " ")
    for form, words in (
        pair.split(":")
        for pair in """
can't:can.not won't:will.not shan't:shall.not ain't:is.not let's:let it's:it.is that's:that.is there's:there.is
you'll:you.will it'll:it.will we're:we.are they're:they.are you're:you.are we've:we.have you've:you.have
cannot:can.not
""".split()
    )
}

ENVIRONMENTS = dict(
    pair.split(":")
    for pair in """
production:production prod:production prd:production staging:staging stage:staging stg:staging
development:development dev:development qa:qa uat:uat sandbox:sandbox preprod:preproduction
preproduction:preproduction pre-production:preproduction pre-prod:preproduction localhost:local demo:demo
""".split()
)

# What opens a narrowing in a bracket.
NARROWING = frozenset(
    "for in at on from with within under between across inside outside only unless except excluding without if when while during "
    "until before after apart".split()
)

_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday weekday weekend january february april june july august "
    "september october november december maymonth"
).split()
DAY_WORDS = {word: day for day in _DAYS for word in (day, f"{day}s")}
BOOLEANS = frozenset({"true", "false", "yes"})
STOP_WORDS = frozenset(STOP.split())

# Hyphenated words whose first or last part is one of these are words, not names.
HYPHEN_PARTS = frozenset(
    "re non under over pre post auto multi cross self read write force oom crash fail rate long short on off in out "
    "up down per well end round hot cold full half single double to of and by only based free like level wide specific side "
    "time type back first last new old safe aware facing driven managed".split()
)
