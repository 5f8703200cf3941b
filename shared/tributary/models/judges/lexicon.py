"""What the local judge knows of English and of operations: plain data, read once by `words` and `reading`."""

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
big large huge
small tiny little
biggest largest
old stale outdated
check verify inspect confirm examine
store save live reside hold house home land locate put write sit find exist lie
lifetime ttl valid
limit cap quota maximum max ceiling restrict
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
start begin launch kickoff boot fire trigger
finish complete done end completion
take last
use utilise utilize employ
set send provide pass supply give present include define specify
create generate recreate regenerate
block prevent stop halt
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
let allow permit
pick choose select prefer
expire expiry expiration lapse
cpu core vcpu processor
login logon signin
pullrequest pr mr
immediate instantly immediately
watch monitor observe
receive get
get
wait
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
increase raise grow rise growth higher bigger larger longer expand climb bump lengthen extend prolong widen high | decrease reduce lower shrink smaller shorter shorten fall narrow low
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
available | unavailable
reach reachable | unreachable
support supported | unsupported
honour honor respect obey effective | ignore disregard
accept | reject refuse deny decline
warm | cold
upgrade | downgrade
include | exclude omit
help fix cure solve resolve remedy mitigate | useless
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
retain retention keep preserve survive | remove delete erase prune lose loss lost drop discard gone disappear vanish
same identical | different
correct valid | wrong incorrect invalid
clean | dirty
centralised centralized | distributed decentralised
sorted ordered | unsorted unordered
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
opt-in | opt-out
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
busy | idle inactive inactivity
vertical vertically | horizontal horizontally
single | multiple several
voluntary | involuntary
guaranteed guarantee | unguaranteed
elastic | fixed
"""

# Axes whose negative side says "it does not": a fact may put it as "fails" or as "does not", as "disabled" or as "no".
NEGATING_AXES = "enable succeed support available include accept help honour reach compatible tolerate"

# A phrase (case-folded, contractions opened) becomes the words after the arrow; words in capitals are marks for `reading`.
PHRASES = """
no longer => NOT
not yet => NOT
not any more => NOT
not anymore => NOT
under no circumstances => NOT
not forget to => NEED
never forget to => NEED
not only => also
no need to => OPTIONAL
no need for => OPTIONAL
not need to => OPTIONAL
not needed => OPTIONAL
not need => OPTIONAL
need not => OPTIONAL
not have to => OPTIONAL
not has to => OPTIONAL
not require => OPTIONAL
not required to => OPTIONAL
not required => OPTIONAL
not be required => OPTIONAL
not necessary to => OPTIONAL
not necessary => OPTIONAL
not mandatory => OPTIONAL
not obligatory => OPTIONAL
not compulsory => OPTIONAL
not essential => OPTIONAL
unnecessary => OPTIONAL
optional => OPTIONAL
not optional => NEED
can be omitted => OPTIONAL
can be skipped => OPTIONAL
may be omitted => OPTIONAL
may be skipped => OPTIONAL
have to be => NEED be
has to be => NEED be
had to be => NEED be
have to => NEED
has to => NEED
needs to be => NEED be
need to be => NEED be
needs to => NEED
need to => NEED
is to be => NEED be
are to be => NEED be
is needed => NEED
are needed => NEED
must => NEED
should => NEED
shall => NEED
required => NEED
requires => NEED
require => NEED
mandatory => NEED
obligatory => NEED
compulsory => NEED
essential => NEED
necessary => NEED
needs => NEED
need => NEED
needed => NEED
be sure to => NEED
make sure to => NEED
make sure that =>
make sure =>
ensure that =>
ensure =>
must not => NOT
must never => NOT
should not => NOT
should never => NOT
shall not => NOT
may not => NOT
can not => NOT
cannot => NOT
could not => NOT
not possible => NOT
impossible => NOT
unable to => NOT
not able to => NOT
not allowed => NOT
not permitted => NOT
not safe => NOT
not advisable => NOT
not recommended => NOT
not ok => NOT
not okay => NOT
not fine => NOT
not a good idea => NOT
bad idea => NOT
forbidden => NOT
forbids => NOT
forbid => NOT
prohibited => NOT
prohibits => NOT
banned => NOT
disallowed => NOT
not acceptable => NOT
off limits => NOT
unsafe => NOT
dangerous => NOT
risky => NOT
harmful => NOT
avoid => NOT
avoids => NOT
avoiding => NOT
refrain from => NOT
stop using => NOT use
exempt from => OPTIONAL
exempted from => OPTIONAL
possible => MAY
possible to => MAY
not exceed => BOUND-DOWN
may not exceed => BOUND-DOWN
must not exceed => BOUND-DOWN
can not exceed => BOUND-DOWN
should not exceed => BOUND-DOWN
no larger than => BOUND-DOWN
no longer than => BOUND-DOWN
not longer than => BOUND-DOWN
no bigger than => BOUND-DOWN
no later than => BOUND-DOWN
no less than => BOUND-UP
no fewer than => BOUND-UP
not less than => BOUND-UP
at the most => BOUND-DOWN
at the least => BOUND-UP
maximum of => limit BOUND-DOWN
a maximum of => limit BOUND-DOWN
at least once => BOUND-UP 1 times
at most once => BOUND-DOWN 1 times
exactly once => 1 times
only once => 1 times
once per => 1 times per
once every => 1 times every
twice => 2 times
more than once => 2 times
has run out of => NOT have
have run out of => NOT have
runs out of => NOT have
run out of => NOT have
ran out of => NOT have
is out of => NOT have
throw away => discard
throws away => discard
thrown away => discard
with no => WITHOUT
of no => WITHOUT
stops working => fail
stop working => fail
stopped working => fail
does not work => fail
not work => fail
not working => fail
allowed => MAY
permitted => MAY
acceptable => MAY
it is safe to => MAY
is safe to => MAY
safe to => MAY
is safe => MAY
are safe => MAY
safe => MAY
is fine => MAY
are fine => MAY
fine => MAY
can => MAY
may => MAY
never => NOT
not => NOT
no => NOT
nobody may => NOT
nobody => NOT
no one => NOT
none => NOT
neither => NOT
nor => NOT
nothing => NOT
lacks => NOT have
lack => NOT have
lacking => NOT have
missing => NOT present
absent => NOT present
unset => NOT set
undefined => NOT set
unless => UNLESS
except when => UNLESS
except if => UNLESS
without => WITHOUT
if not => IF NOT
if => IF
when => IF
whenever => IF
while => IF
during => IF
as long as => IF
as soon as => AFTER
in case of => IF
in case => IF
only if => IF
only when => IF
provided that => IF
once => AFTER
after => AFTER
afterwards => THEN
only after => AFTER
following => AFTER
must follow => AFTER
follows => AFTER
before => BEFORE
prior to => BEFORE
ahead of => BEFORE
earlier than => BEFORE
later than => AFTER
must precede => BEFORE
precedes => BEFORE
until => UNTIL
till => UNTIL
and then => THEN
then => THEN
first => FIRST
because of => BECAUSE
because => BECAUSE
since the => since the
since => BECAUSE
so that => BECAUSE
so => BECAUSE
in order to => BECAUSE
to avoid => BECAUSE NOT
due to => BECAUSE
thanks to => BECAUSE
which => BECAUSE
otherwise => ELSE
or else => ELSE
only => ONLY
solely => ONLY
exclusively by => ONLY
anyone => ANYONE
anybody => ANYONE
everyone => ANYONE
everybody => ANYONE
all users => ANYONE
instead of => INSTEAD
rather than => INSTEAD
in place of => INSTEAD
at least => BOUND-UP
at minimum => BOUND-UP
a minimum of => BOUND-UP
minimum of => BOUND-UP
more than => BOUND-UP
greater than => BOUND-UP
longer than => BOUND-UP
over => over
above => BOUND-UP
exceeds => BOUND-UP
beyond => BOUND-UP
past => BOUND-UP
or more => BOUND-UP
or later => BOUND-UP
or newer => BOUND-UP
at most => BOUND-DOWN
up to => BOUND-DOWN
no more than => BOUND-DOWN
not more than => BOUND-DOWN
fewer than => BOUND-DOWN
less than => BOUND-DOWN
below => BOUND-DOWN
under => BOUND-DOWN
or less => BOUND-DOWN
or older => BOUND-DOWN
roll out => deploy
rolls out => deploy
rolled out => deploy
rolling out => deploy
roll back => revert
rolls back => revert
rolled back => revert
rolling back => revert
schema change => migration
schema migration => migration
schema changes => migration
cut off => timeout
cuts off => timeouts
time out => timeout
times out => timeouts
timed out => timeout
timing out => timeout
time limit => timeout
kick off => start
kicks off => start
kicked off => start
goes off => start
go off => start
handed over => handover
hand over => handover
hands over => handover
changes hands => handover
change hands => handover
on call => oncall
pager rotation => oncall
pager duty => oncall
by hand => manual
by itself => automatic
by themselves => automatic
on their own => automatic
on its own => automatic
plain text => plaintext
clear text => plaintext
back up => backup
backed up => backup
backs up => backup
drops below => decrease BOUND-DOWN
drop below => decrease BOUND-DOWN
falls below => decrease BOUND-DOWN
fall below => decrease BOUND-DOWN
falls under => decrease BOUND-DOWN
fall under => decrease BOUND-DOWN
every night => nightly
each night => nightly
every day => daily
each day => daily
once a day => daily
every hour => hourly
once an hour => hourly
every week => weekly
once a week => weekly
end of life => deprecated
dropped support => unsupported
drops support => unsupported
drop support => unsupported
no effect => useless
no difference => useless
no influence => useless
no impact => useless
go away => fix
goes away => fix
went away => fix
gone away => fix
gets rid of => fix
get rid of => fix
got rid of => fix
concurrent => parallel
takes effect => honour
take effect => honour
goes up => increase
go up => increase
went up => increase
goes down => decrease
go down => decrease
went down => decrease
scale up => increase scale
scale down => decrease scale
scale out => increase scale
scale in => decrease scale
slower => latency increase
faster => latency decrease
slow => latency increase
fast => latency decrease
speeds up => accelerates
speed up => accelerate
slows down => decelerates
slow down => decelerate
read only => readonly
crash loops => crashloop
crash loop => crashloop
out of memory => oom
oom killed => kill
environment variable => envvar
environment variables => envvar
env var => envvar
env vars => envvar
load balancer => loadbalancer
signed off => approve
sign off => approve
looked after by => owned by
responsible for => owner
belongs to => owner
in charge of => owner
valid for => lifetime
live for => lifetime
lives for => lifetime
has its home in => is in
have their home in => are in
can be found in => is in
is to be found in => is in
in may => in maymonth
of may => of maymonth
by may => by maymonth
since may => since maymonth
good for => lifetime
turned on => enabled
turned off => disabled
switched on => enabled
switched off => disabled
turn on => enable
turn off => disable
switch on => enable
switch off => disable
by default => default
per default => default
consists of => contains
as well as => and
shut down => stop
shuts down => stop
shutting down => stop
spin up => start
spins up => start
come up => start
comes up => start
bring up => start
tear down => remove
set up => configure
fall back => fallback
falls back => fallback
fail over => failover
fails over => failover
log in => login
logs in => login
log into => login
sign in => login
fall behind => lag
falls behind => lag
fall behind => lag
is behind => lag
are behind => lag
time to live => ttl
response time => latency
response times => latency
dead letter queue => dead-letter queue
dlq => dead-letter queue
pull request => pullrequest
pull requests => pullrequest
merge request => pullrequest
availability zone => az
single sign on => sso
two factor => mfa
multi factor => mfa
out of date => outdated
up to date => current
at night => nightly
right away => immediate
at once => immediate
one at a time => sequential
one by one => sequential
one after another => sequential
one after the other => sequential
in parallel => parallel
at the same time => parallel
two at a time => parallel
simultaneously => parallel
concurrently => parallel
crash looping => crashloop
picks up => notice
pick up => notice
in front of => front
rate limit => limit
rate limited => limit
rate limiting => limit
limited to => limit
lives in => live in
point in time => pit
such as => like
for example =>
for instance =>
in fact =>
note that =>
be careful =>
keep in mind =>
remember to =>
remember that =>
please =>
"""

# Words that carry nothing by themselves.
STOP = """
a an the this that these those it its is are was were be been being am do does did done doing have has had having will
would and or but as of for on in at to from by with per into onto than too also just still already currently really
actually there here their they them he she his her our your you we i who whom whose what where how why any all each every
some such very quite about around roughly approximately near even yet again both either own same so up down out off itself
themselves get gets got getting gotten go goes going gone well via both another other else under over against between
within across upon towards along silently simply whether exactly possible quickly easily usually normally typically always generally often through etc eg ie
e.g i.e vs
"""

# Verbs that fit any statement; they count a little, so that "stored in" and "are in" meet.
LIGHT = """
store set use take come keep work run let cause mean show want try happen seem appear become stay remain make note look see
know turn careful occur serve front involve concern kind sort thing way case time default currently need available
"""

# Nouns so general that sharing them says little.
VAGUE = """
service system server cluster api job key value header flag setting variable config tool process component resource
environment instance host node file data request alert team number name
"""

# Nouns that a name stands before ("the payments service") or after ("team falcon").
KIND_NOUNS = """
service system server cluster api job database table queue topic bucket worker pipeline host node pod container key flag
header alert metric dashboard repository branch proxy gateway broker cache index image chart stack module namespace role
user group team channel endpoint webhook cron script runbook volume disk replica shard partition function stream registry
environment region zone vpc subnet firewall certificate secret token app application store store bus provider policy rule
plugin extension driver library package sdk client console portal site page app bot agent daemon timer workflow project
account permission scope parameter variable option
"""

# Nouns that name an attribute with one value: "the default branch of X is Y" and "... is Z" can't both hold.
ATTRIBUTES = """
branch owner region port limit default address url location path name format engine language password timeout leader primary
master version bus type mode level size count threshold interval retention ttl lifetime schedule time date channel home
maintainer contact endpoint protocol algorithm cipher encoding timezone zone vendor provider backend storage database broker
registry domain hostname ip user account method strategy policy class tier priority order capacity concurrency replica
duration latency delay quota maximum minimum cost price rate status state colour color root parent upstream base image
"""

# Verbs as they occur as a sentence's predicate. A noun of the same form is told apart by its place (see `reading`).
VERBS = """
run listen live sit reside store keep write own take last use support accept reject return answer reply respond expire start
begin fire trigger go authenticate connect depend export emit expose log hold serve belong point resolve default fail succeed
break work block lock cache retry restart reload evict drop lose cause make mean help fix receive get send read expect allow
deny ignore honour terminate issue cost exceed contain include have handle scale notify panic reboot crash grow shrink
increase decrease raise lower lag show display give set reach open close enable disable remove delete clear create add build
deploy migrate upgrade stop pause resume drain promote check verify rotate revoke sign push pull fetch copy move lead cure
solve carry consume produce publish subscribe replicate sync mount bind ship land house change forward route proxy page
announce schedule poll scrape sample compress encrypt cut hang stall leak spike stay become appear wait finish complete
refuse require need lack want speed slow stream return ask call hit miss match apply enforce limit cap evaluate parse print
recover survive fall flap pin throttle buffer batch flush commit roll back count measure report update install warm lengthen
timeout handover arrive leave squash merge tag detect discover choke bail touch kill schedule validate sanitize strip split join render draw
print fill empty refresh renew regenerate recreate synchronise mirror archive rename swap replace convert parse translate encode
decode hash query insert select filter sort group aggregate index reindex vacuum analyze explain profile trace debug inject
intercept rewrite redirect resolve normalise flatten expand collapse join leave elect vote ack acknowledge nack requeue
prefetch throttle shed reject tolerate survive degrade heal repair rebuild rebalance reassign relocate evacuate migrate
suspend wake sleep idle spin scale bump tweak tune adjust override import embed link attach detach isolate quarantine
corrupt overwrite duplicate skip accelerate decelerate test load provide define assign grant inherit propagate persist accumulate retain delay
"""

# Verbs that are as often nouns: before another verb they are one ("the service restarts take 40 s").
NOUNISH = """
restart log deploy retry alert backup call run read write build release request report test cache block lock limit name update
upgrade change set copy dump export import load store cost cause drop fix hit issue leak list match mount move page patch ping
poll post print process probe proxy pull push query queue record refresh reset route scale scan schedule ship show sign spike
sync tag timeout trace transfer trigger view watch work crash start stop merge commit check delay lag panic reboot
"""

# Verbs that open an instruction.
IMPERATIVES = """
use set run clear restart reboot reload create add build remove delete drop stop start pause resume drain promote check verify
rotate revoke sign push pull fetch copy move upgrade downgrade install uninstall enable disable increase decrease raise lower
reduce keep put send pass give make wait roll retry scale deploy migrate lock unlock open close mount unmount apply ignore
warm lower connect disconnect configure call ask page notify escalate log store read write turn switch avoid prefer choose
pick pin test dump restore back snapshot flush purge wipe cordon evict kill terminate repoint announce take tag merge rebase
squash recycle prune deregister register publish escalate sleep acknowledge requeue rebalance tune adjust override replace
archive rename swap convert query insert select filter sort profile trace debug redirect rewrite import link rerun renew refresh
regenerate recreate suspend shrink widen narrow try connect talk ask tell file raise open mark label annotate taint patch contact load fix
increase extend shorten quote escape encrypt decrypt compress schedule skip include exclude remember ensure treat expect grant
assign limit cap allow deny block throttle bump bounce redeploy rerun rebuild reindex vacuum analyze inspect look find search
export import upload download replace update change edit validate review approve point set declare specify define pause
"""

# Verbs whose object is one value: "listens on 80" and "listens on 81" can't both hold. Others may have several objects.
FUNCTIONAL_VERBS = """
run listen live own belong store go start fire default point resolve authenticate expire take last cost announce handover
schedule deploy route forward limit lifetime lag retain replicate sit reside bind begin trigger finish write answer cap
name timeout
"""

# Verbs that may stand with several objects behind their preposition: "depends on Redis" and "depends on Kafka" go together.
MULTIPLE_VERBS = """
depend page notify alert support fail connect subscribe apply listen_for work grant give add assign deny allow break crash
conflict integrate interfere available roll deploy talk react complain respond match compare share start read use consume call
access watch
"""

# Instructions whose object is the value chosen, not the thing spoken of.
CHOOSING_VERBS = "use pick prefer choose pin ask contact page notify"

IRREGULAR = {
    "ran": "run", "lost": "lose", "loss": "lose", "losing": "lose", "kept": "keep", "sent": "send", "written": "write",
    "wrote": "write", "writing": "write", "took": "take", "taken": "take", "taking": "take", "built": "build", "held": "hold",
    "broke": "break", "broken": "break", "went": "go", "led": "lead", "met": "meet", "froze": "freeze", "frozen": "freeze",
    "chose": "choose", "chosen": "choose", "drove": "drive", "gave": "give", "given": "give", "giving": "give",
    "got": "get", "found": "find", "grew": "grow", "grown": "grow", "fell": "fall", "fallen": "fall", "hid": "hide",
    "hidden": "hide", "rose": "rise", "risen": "rise", "shrank": "shrink", "shrunk": "shrink", "stuck": "stick",
    "thrown": "throw", "threw": "throw", "made": "make", "making": "make", "meant": "mean", "began": "begin", "begun": "begin",
    "overridden": "override", "lives": "live", "living": "live", "settings": "setting", "setting": "config",
    "concurrently": "parallel", "deleting": "remove", "replica": "replica", "replicas": "replica", "index": "index", "indexes": "index", "indices": "index",
    "dies": "kill", "die": "kill", "died": "kill", "dying": "kill", "caches": "cache", "using": "use", "used": "use",
    "uses": "use", "retention": "retain", "expiry": "expire", "expiration": "expire", "storage": "storage", "removal": "remove", "retrieval": "retrieve", "approval": "approve",
    "approvals": "approve", "decision": "decide", "analysis": "analyze", "analyse": "analyze", "tables": "table",
    "signed": "sign", "signing": "sign", "said": "say", "paid": "pay", "busy": "busy", "bus": "bus", "buses": "bus",
    "aliases": "alias", "dns": "dns", "tls": "tls", "news": "news", "less": "less", "unless": "unless", "this": "this",
    "does": "do", "goes": "go", "is": "is", "has": "have", "was": "was", "entries": "entry",
    "responses": "response", "response": "response", "certification": "certification", "permission": "permission",
    "permissions": "permission", "version": "version", "versions": "version", "session": "session", "sessions": "session",
    "extension": "extension", "extensions": "extension", "region": "region", "regions": "region", "partition": "partition",
    "partitions": "partition", "production": "production", "function": "function", "functions": "function",
}  # fmt: skip

# Contractions and curly apostrophes are opened before anything else.
CONTRACTIONS = {
    "can't": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not", "let's": "let", "it's": "it is",
    "that's": "that is", "there's": "there is", "you'll": "you will", "it'll": "it will", "we're": "we are",
    "they're": "they are", "you're": "you are", "we've": "we have", "you've": "you have", "cannot": "can not",
}  # fmt: skip

ENVIRONMENTS = {
    "production": "production", "prod": "production", "prd": "production", "staging": "staging", "stage": "staging",
    "stg": "staging", "development": "development", "dev": "development", "qa": "qa", "uat": "uat", "sandbox": "sandbox",
    "preprod": "preproduction", "preproduction": "preproduction", "pre-production": "preproduction",
    "pre-prod": "preproduction", "localhost": "local", "demo": "demo",
}  # fmt: skip

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
