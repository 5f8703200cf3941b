"""Words that may stand for one another in a lesson about operations, though they are no synonyms: plain data.

Unlike a synonym, a word may be in several groups: idle connections are dropped, closed or killed, and a pod is killed or
terminated, while a drop of the error rate closes nothing. So these words meet last, when nothing better is left to meet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from tributary.models.judges.words import NEGATING, concept_of

# One line a group.
_GROUPS = """
drop close cut kill terminate sever disconnect abort reset
open allow permit
keep valid stay cache remain retain expire
attempt try delivery retry redelivery
chunk batch slice
start run happen execute occur
hit call use query probe poll ping contact target
listen answer serve expose run
page alert notify wake call
go page send
row tuple record entry document item
free available left remaining
function lambda
bug defect flaw issue problem fault
outage downtime incident disruption interruption
preserve guarantee keep ensure maintain
full fill exhausted
whole entire complete all
new further additional extra
lifetime expire keep
end expire finish lapse
leave ship export
serve run
limit open allow accept
personal private
delivered arrive come
ordered order sequence
stall hang block freeze wait
point repoint redirect switch
add increase grow expand enlarge
message event
job task
engineer developer
person someone human colleague
expire lapse invalid outdated
rotate renew replace refresh
stop pause suspend halt
stop block prevent hinder keep
delete remove clear truncate purge flush wipe empty
create add make provision build
replica replication
immediate parallel
miss lack absent
depend need require
crash fail die exit abort
publish announce emit produce send export ship push
consume read process handle
write store persist save
backup dump
replica standby secondary follower mirror
primary leader master writer
latest newest recent
permission right access
mask redact hide scrub strip
log record
quota limit cap
wait sleep delay
flag toggle switch option parameter argument setting
endpoint route path url
version release
verify validate test check
broken corrupt damage
lose drop discard vanish
request traffic load
spike surge peak burst
team group squad crew
rule policy
window period
shutdown stop terminate
limit throttle
exceed pass above
slow lag
old long
user customer
file object
dns record
merge land
apply run execute
refuse reject fail deny block
reach contact connect
mount attach
launch start create
move relocate migrate
query touch access read use call
differ skew drift deviate
forward pass relay proxy send
break harm damage corrupt crash
slow degrade delay hurt
improve accelerate help
require expect want demand
contain include carry
show display expose reveal report print
see observe notice detect find
repeat retry again
fetch load read get download pull
spin launch boot provision
scan check inspect analyze
authorize allow permit approve
manage handle own run maintain operate administer
locate live reside sit store run
raise increase bump
purge clear flush invalidate evict
evict kill terminate remove
occur happen fire appear
produce cause trigger create
trigger cause start fire launch
unhealthy failing down
error failure exception fault
reason cause problem
patch update upgrade
server host instance machine
service app application component
client consumer caller
sender producer publisher
receiver consumer subscriber
admin administrator
reviewer approver
approval review
ticket issue
request call query
option flag switch
folder directory path
column field attribute
field attribute property
label tag
region location place
address ip
latency delay lag duration
duration length period
interval period frequency
threshold limit
amount number count size
usage consumption utilization
space capacity room
disk volume storage
memory heap
process job task
step stage phase
night overnight
cleanup clean prune
restore recover
failover switchover
warn alert notify
notification alert message
silence mute suppress
skip omit bypass
postpone delay defer
cancel abort stop
unused idle
bad wrong
latest newest current
default standard usual normal
temporary transient
safe harmless
important critical
separate individual own
whole full
approximate rough
unreachable down unavailable
reject drop discard
throw raise return
recommend advise
forbid block
merge commit
compile build
acquire lock
deliver send publish
deliver process
copy replicate mirror
ask contact
own owner
"""


def _relations() -> dict[str, dict[str, int]]:
    """Returns, for each concept, which others may stand for it: +1 if both axes point the same way, -1 if not, 0 without axes."""
    groups = [[(concept_of(word).key, concept_of(word).sign) for word in line.split()] for line in _GROUPS.strip().splitlines()]
    # What "it does not" is said by: supported, accepted, allowed and available meet, and their opposites too.
    # "Fix the rules" is not against "the rules fail", though.
    groups.append([(key, 1) for key in sorted(NEGATING - {concept_of("fix").key})])
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for group in groups:
        for key, sign in group:
            for other, other_sign in group:
                if other != key:
                    known = found[key].setdefault(other, sign * other_sign)
                    found[key][other] = known if known == sign * other_sign else 0
    return dict(found)


_RELATIONS = _relations()
_NONE: dict[str, int] = {}


def like(key: str) -> Mapping[str, int]:
    """Returns the concepts that may stand for the one of `key`, each with how its axis lies to that of `key`."""
    return _RELATIONS.get(key, _NONE)
