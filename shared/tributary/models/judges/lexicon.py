"""What the local judge knows of English and of operations: plain data, read once by `words` and `reading`."""

from __future__ import annotations

# One line a concept: words that say the same in lessons about operations. The first names the concept.
SYNONYMS = """
deploy deployment redeploy rollout ship
restart reboot bounce relaunch
clear flush purge wipe empty invalidate
remove delete erase prune
answer reply respond return
memory ram
kill oomkilled oomkill terminate abort sigkill
timeout cutoff
big large huge
biggest largest
old stale outdated
check verify inspect confirm examine validate
store keep save live reside hold house home land locate put write sit find exist lie
retain retention
lifetime ttl valid
limit cap quota maximum max ceiling restrict
lag delay behind
handover
oncall pager pagerduty rota
deprecated obsolete eol sunset
build compile rebuild
connect connection reconnect
config configuration conf configure setting
certificate cert
repository repo
database db
variable envvar
kubernetes k8s
postgresql postgres pg
authenticate authentication auth
authorize authorization authorise
application app
directory dir folder
documentation doc document
request call
host machine box node vm
alert alarm
page notify
start begin launch kickoff fire trigger
finish complete done end completion
take last
use utilise utilize via through employ
set send provide pass supply give present include define receive specify
create add
block prevent stop halt
error exception
crashloop crashloopbackoff
migration migrate schemachange
revert rollback undo
approve approval signoff
permission privilege right
owner own maintain responsible belong
backup
nightly
daily
hourly
weekly
cause result lead make
mean imply
lose loss lost
image
hot
parameter param argument arg option
key
need
email mail
user
person people engineer someone
reclaim free
switch change move
repair
queue backlog
region
record row entry
ssd nvme
loadbalancer lb elb alb nlb
secret credential
password passphrase
token
pull fetch download
push upload publish
copy clone duplicate
slowness
wait
sign
schedule
idle inactivity inactive
announce post
authoritative
exclusive
commit
merge
review
rotate
renew
repoint redirect
point
pause suspend
resume continue unpause
drain
promote
isolate cordon quarantine
unreplicated underreplicated
register enroll
throttle ratelimit
emit export expose
limitless unlimited
pick choose select prefer
expire expiry expiration
initial initially
require
"""

# Axes: on the left of the bar the positive words, on the right their opposites. The first names the axis.
AXES = """
enable activate enabled | disable deactivate disabled
succeed success successful pass works okay | fail failure break broken unsuccessful
increase raise grow rise growth higher bigger larger expand climb bump | decrease reduce lower shrink fewer smaller shorten drop
open opened | close closed shut
public | private
automatic auto | manual
synchronous sync synchronously | asynchronous async asynchronously
encrypt encrypted encryption | plaintext unencrypted cleartext
install | uninstall
mount | unmount
attach | detach
writable writeable | readonly
stateful | stateless
online | offline
reversible revertible | irreversible
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
sequential serially serial | parallel
compress compressed | uncompressed
ascending | descending
known | unknown
trust trusted | untrusted distrust
"""

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
not help => useless
not fix => useless
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
speeds up => latency decrease
speed up => latency decrease
slows down => latency increase
slow down => latency increase
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
is on => is enabled
is off => is disabled
are on => are enabled
are off => are disabled
at rest => at rest
by default => default
per default => default
looks like => resembles
consists of => contains
is served by => served by
as well as => and
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
within across upon towards along silently simply quickly easily usually normally typically always generally often etc eg ie
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
timeout handover corrupt overwrite duplicate skip load provide define assign grant inherit propagate persist accumulate retain delay
"""

# Verbs that open an instruction.
IMPERATIVES = """
use set run clear restart reboot reload create add build remove delete drop stop start pause resume drain promote check verify
rotate revoke sign push pull fetch copy move upgrade downgrade install uninstall enable disable increase decrease raise lower
reduce keep put send pass give make wait roll retry scale deploy migrate lock unlock open close mount unmount apply ignore
warm lower connect disconnect configure call ask page notify escalate log store read write turn switch avoid prefer choose
pick pin test dump restore back snapshot flush purge wipe cordon evict kill terminate repoint announce take tag merge rebase
increase extend shorten quote escape encrypt decrypt compress schedule skip include exclude remember ensure treat expect grant
assign limit cap allow deny block throttle bump bounce redeploy rerun rebuild reindex vacuum analyze inspect look find search
export import upload download replace update change edit validate review approve point set declare specify define pause
"""

# Verbs whose object is one value: "listens on 80" and "listens on 81" can't both hold. Others may have several objects.
FUNCTIONAL_VERBS = """
run listen live own belong store go start fire default point resolve authenticate expire take last cost announce handover
schedule deploy route forward limit lifetime lag retain replicate sit reside bind begin trigger finish write answer cap
name call timeout
"""

# Instructions whose object is the value chosen, not the thing spoken of.
CHOOSING_VERBS = "use set pick prefer choose send configure pin limit make"

IRREGULAR = {
    "ran": "run", "lost": "lose", "loss": "lose", "losing": "lose", "kept": "keep", "sent": "send", "written": "write",
    "wrote": "write", "writing": "write", "took": "take", "taken": "take", "taking": "take", "built": "build", "held": "hold",
    "broke": "break", "broken": "break", "went": "go", "led": "lead", "met": "meet", "froze": "freeze", "frozen": "freeze",
    "chose": "choose", "chosen": "choose", "drove": "drive", "gave": "give", "given": "give", "giving": "give",
    "got": "get", "found": "find", "grew": "grow", "grown": "grow", "fell": "fall", "fallen": "fall", "hid": "hide",
    "hidden": "hide", "rose": "rise", "risen": "rise", "shrank": "shrink", "shrunk": "shrink", "stuck": "stick",
    "thrown": "throw", "threw": "throw", "made": "make", "making": "make", "meant": "mean", "began": "begin", "begun": "begin",
    "overridden": "override", "lives": "live", "living": "live", "settings": "setting", "setting": "config",
    "replica": "replica", "replicas": "replica", "index": "index", "indexes": "index", "indices": "index",
    "dies": "kill", "die": "kill", "died": "kill", "dying": "kill", "caches": "cache", "using": "use", "used": "use",
    "uses": "use", "retention": "retain", "expiry": "expire", "expiration": "expire", "storage": "storage",
    "failure": "fail", "failures": "fail", "removal": "remove", "retrieval": "retrieve", "approval": "approve",
    "approvals": "approve", "decision": "decide", "analysis": "analyze", "analyse": "analyze", "tables": "table",
    "signed": "sign", "signing": "sign", "said": "say", "paid": "pay", "busy": "busy", "bus": "bus", "buses": "bus",
    "aliases": "alias", "dns": "dns", "tls": "tls", "news": "news", "less": "less", "unless": "unless", "this": "this",
    "does": "do", "goes": "go", "is": "is", "has": "have", "was": "was", "deleted": "delete", "entries": "entry",
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
