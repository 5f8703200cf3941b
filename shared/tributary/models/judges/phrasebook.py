"""Phrases and what they come down to: plain data, read once by `phrases`."""

from __future__ import annotations

# Words <= the phrases (case-folded, contractions opened) that become them; "-" is nothing. An indented line goes on.
# Words in capitals are marks of logic:
#   NOT  NEED  OPTIONAL  MAY  IF  UNLESS  WITHOUT  UNTIL  BEFORE  AFTER  THEN  FIRST  BECAUSE  ELSE  ONLY  ANYONE  INSTEAD
#   EXCEPT (other than)  ASIDE (an example, an explanation)  BOUND-UP (at least)  BOUND-DOWN (at most)
# The longest phrase that begins at a word wins.
PHRASES = """
NOT <= no longer | not yet | not any more | not anymore | under no circumstances | must not | must never | should
    not | should never | shall not | may not | can not | cannot | could not | not possible | impossible | unable to
    | not able to | not allowed | not permitted | not safe | not advisable | not recommended | not ok | not okay |
    not fine | not a good idea | bad idea | forbidden | forbids | forbid | prohibited | prohibits | banned |
    disallowed | not acceptable | off limits | unsafe | dangerous | risky | harmful | avoid | avoids | avoiding |
    refrain from | never | not | no | nobody may | nobody | no one | none | neither | nor | nothing
NEED <= not forget to | never forget to | not optional | have to | has to | needs to | need to | is needed | are
    needed | must | should | shall | required | requires | require | mandatory | obligatory | compulsory | essential
    | necessary | needs | need | needed | be sure to | make sure to
also <= not only
OPTIONAL <= no need to | no need for | not need to | not needed | not need | need not | not have to | not has to |
    not require | not required to | not required | not be required | not necessary to | not necessary | not
    mandatory | not obligatory | not compulsory | not essential | unnecessary | optional | can be omitted | can be
    skipped | may be omitted | may be skipped | exempt from | exempted from
NEED be <= have to be | has to be | had to be | needs to be | need to be | is to be | are to be
ASIDE <= for example | for instance | e.g | e.g. | as agreed | as decided | as described | as documented | as noted |
    as mentioned | in other words | that is to say
- <= make sure that | make sure | ensure that | ensure | in fact | in general | in principle | in
    practice | in short | as a rule | of course | by the way | at the moment | at present | for now | from now on | note that | be
    careful | keep in mind | remember to | remember that | please
NOT use <= stop using
MAY <= possible | possible to | allowed | permitted | acceptable | it is safe to | is safe to | safe to | is safe |
    are safe | safe | is fine | are fine | fine | can | may
BOUND-DOWN <= not exceed | may not exceed | must not exceed | can not exceed | should not exceed | no larger than |
    no longer than | not longer than | no bigger than | no later than | at the most | at most | up to | no more than
    | not more than | fewer than | less than | smaller than | lower than | shorter than | older than | below | under |
    or less | or older
BOUND-UP <= no less than | no fewer than | not less than | at the least | at least | at minimum | a minimum of |
    minimum of | more than | greater than | longer than | larger than | bigger than | higher than | newer than | above
    | exceeds | beyond | past | or more | or later | or newer
limit BOUND-DOWN <= maximum of | a maximum of
BOUND-UP 1 times <= at least once
BOUND-DOWN 1 times <= at most once
1 times <= exactly once | only once
1 times per <= once per
1 times every <= once every
2 times <= twice | more than once
exhausted <= has run out of | have run out of | run out of | ran out of | is out of
exhausts <= runs out of
BECAUSE NOT <= a missing | the missing | an absent
NOT have <= lacks | lack | lacking
caused by <= came from | comes from | come from | stems from | stemmed from | resulted from | results from | is due to |
    was due to | is down to | was down to | traced to | traced back to
cause <= root cause
timeout <= runs into its timeout | runs into a timeout | ran into its timeout | ran into a timeout | hits its timeout |
    hit its timeout
parallel <= all at once
forward <= passes through | pass through | passed through | let through | lets through
limited BOUND-DOWN <= limited to | capped at | top out at
limits BOUND-DOWN <= caps at | tops out at | maxes out at
offline <= requires downtime | needs downtime | causes downtime | requires a maintenance window | needs a maintenance
    window
online <= without downtime | with no downtime | without a maintenance window
letsencrypt <= let encrypt
read-committed <= read committed
repeatable-read <= repeatable read
database team <= dba | dbas
run NOT <= run without
runs NOT <= runs without
works NOT <= works without
work NOT <= work without
is NOT <= is without
are NOT <= are without
discard <= throw away | throws away | thrown away
WITHOUT <= with no | of no | without
fails <= stops working | stopped working | does not work
fail <= stop working | not work | not working
NOT present <= missing | absent
NOT set <= unset | undefined
UNLESS <= unless | except when | except if | except while | except where | except
    during | but not if | but not when | but not while | but not during
UNLESS <= outside
from outside <= from outside
EXCEPT <= except | except for | excepting | excluding | apart from | aside from | other than | with the exception of |
    save for | barring
EXCEPT the <= but not the
EXCEPT in <= but not in
EXCEPT on <= but not on
EXCEPT at <= but not at
EXCEPT for <= but not for
EXCEPT from <= but not from
EXCEPT to <= but not to
EXCEPT between <= but not between
EXCEPT across <= but not across
EXCEPT with <= but not with
EXCEPT within <= but not within
EXCEPT under <= but not under
ONLY IF <= only if | only when | only while | only during
IF NOT <= if not
IF <= if | when | whenever | while | during | as long as | in case of | in case | provided
    that
WITHOUT <= that lack | which lack | who lack | that lacks | that have no | which have no | who have no | that has no | that do
    not have | that does not have
ordered guaranteed <= in order | in sequence | in the right order
dedicated <= its own | their own
pii <= personal data | personally identifiable information
AFTER <= right after | directly after | immediately after | just after | shortly after | as soon as | once | after |
    only after | following | must follow | follows | later than
THEN <= afterwards | and then | then
BEFORE <= before | prior to | ahead of | earlier than | must precede | precedes
UNTIL <= until | till
FIRST <= first
BECAUSE <= because of | because | since | so that | so | in order to | due to | thanks to | which
since the <= since the
from <= as of
BECAUSE NOT <= to avoid
ELSE <= otherwise | or else
ONLY <= nobody except | nobody but | no one except | no one but | none except | none but | nobody other than | no one
    other than | only | solely | exclusively by
ONLY MAY <= alone can | alone may
ANYONE <= any | anyone | anybody | everyone | everybody | all users
INSTEAD <= instead of | rather than | in place of
over <= over
deploy <= roll out | rolls out | rolled out | rolling out
revert <= rollback | rollbacks | roll back | rolls back | rolled back | rolling back
migration <= schema change | schema migration | schema changes
timeout <= cut off | time out | timed out | timing out | time limit
timeouts <= cuts off | times out
start <= kick off | kicks off | kicked off | goes off | go off | spin up | spins up | come up | comes up | bring up
handover <= handed over | hand over | hands over | changes hands | change hands
oncall <= on call | pager rotation | pager duty
manual <= by hand
automatic <= by itself | by themselves | on their own | on its own
plaintext <= plain text | clear text
backup <= back up | backed up | backs up
decrease BOUND-DOWN <= drops below | drop below | falls below | fall below | falls under | fall under
nightly <= every night | each night | at night
daily <= every day | each day | once a day
hourly <= every hour | once an hour
weekly <= every week | once a week
monthly <= every month | once a month | each month
yearly <= every year | once a year | each year
writable access <= write access
readonly access <= read access
deprecated <= end of life
unsupported <= dropped support | drops support | drop support
NOT influence <= no effect | no difference | no influence | no impact
fix <= go away | goes away | went away | gone away | gets rid of | get rid of | got rid of
parallel <= concurrent | in parallel | at the same time | two at a time | simultaneously | concurrently
honour <= takes effect | take effect
increase <= goes up | go up | went up
decrease <= goes down | go down | went down
increase scale <= scale up | scale out | scaling up | scaling out
decrease scale <= scale down | scale in | scaling down
latency increase <= slower | slow | slowly
latency decrease <= faster | fast
accelerates <= speeds up
accelerate <= speed up
decelerates <= slows down
decelerate <= slow down
readonly <= read only
crashloop <= crash loops | crash loop | crash looping
oom <= out of memory
optin <= opt in
optout <= opt out
happens <= takes place
happen <= take place
happened <= took place
kill <= oom killed
envvar <= environment variable | environment variables | env var | env vars
loadbalancer <= load balancer
approve <= signed off | sign off
owned by <= looked after by
owner <= responsible for | belongs to | in charge of
points to <= resolves to
point to <= resolve to
lifetime <= valid for | live for | lives for | good for
is in <= has its home in | can be found in | is to be found in
are in <= have their home in
in maymonth <= in may
of maymonth <= of may
by maymonth <= by may
since maymonth <= since may
enabled <= turned on | switched on
disabled <= turned off | switched off
enable <= turn on | switch on
disable <= turn off | switch off
default <= by default | per default
contains <= consists of
and <= as well as
stop <= shut down | shuts down | shutting down
remove <= tear down
configure <= set up
fallback <= fall back | falls back
failover <= fail over | fails over
login <= log in | logs in | log into | sign in
lag <= fall behind | falls behind | is behind | are behind
ttl <= time to live
latency <= response time | response times
dead-letter queue <= dead letter queue | dlq
pullrequest <= pull request | pull requests | merge request
az <= availability zone | availability zones
sso <= single sign on
mfa <= two factor | multi factor
outdated <= out of date
current <= up to date
immediate <= right away | at once
sequential <= one at a time | one by one | one after another | one after the other
notice <= picks up | pick up
front <= in front of
limit <= rate limit | rate limited | rate limiting
live in <= lives in
pit <= point in time
like <= such as
deliberately <= on purpose | by design | by intention
access <= way in
"""
