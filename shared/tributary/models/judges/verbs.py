"""Verbs: which words state, instruct and choose, and which state one value only. Plain data, read once by `words`."""

from __future__ import annotations

# Verbs as they occur as a sentence's predicate. A noun of the same form is told apart by its place (see `reading`).
VERBS = """
run listen live sit reside store keep write own take last use support accept reject return answer reply respond
expire start begin fire trigger go authenticate connect depend export emit expose log hold serve belong point
resolve default fail succeed break work block lock cache retry restart reload evict drop lose cause make mean help
fix receive get send read expect allow deny ignore honour terminate issue cost exceed contain include have handle
scale notify panic reboot crash grow shrink increase decrease raise lower lag show display give set reach open close
enable disable remove delete clear create add build deploy migrate upgrade stop pause resume drain promote check
verify rotate revoke sign push pull fetch copy move lead cure solve carry consume produce publish subscribe
replicate sync mount bind ship land house change forward route proxy page announce schedule poll scrape sample
compress encrypt cut hang stall leak spike stay become appear wait finish complete refuse require need lack want
speed slow stream ask call hit miss match apply enforce limit cap evaluate parse print recover survive fall flap pin
throttle buffer batch flush commit roll back count measure report update install warm lengthen timeout handover
arrive leave squash merge tag detect discover choke bail touch kill validate sanitize strip split join render draw
fill empty refresh renew regenerate recreate synchronise mirror archive rename swap replace convert translate encode
decode hash query insert select filter sort group aggregate index reindex vacuum analyze explain profile trace debug
inject intercept rewrite redirect normalise flatten expand collapse elect vote ack acknowledge nack requeue prefetch
shed tolerate degrade heal repair rebuild rebalance reassign relocate evacuate suspend wake sleep idle spin bump
tweak tune adjust override import embed link attach detach isolate quarantine corrupt overwrite duplicate skip
accelerate decelerate test load provide define assign grant inherit propagate persist accumulate retain delay
"""

# Verbs that are as often nouns: before another verb they are one ("the service restarts take 40 s").
NOUNISH = """
restart log deploy retry alert backup call run read write build release request report test cache block lock limit
name update upgrade change set copy dump export import load store cost cause drop fix hit issue leak list match
mount move page patch ping poll post print process probe proxy pull push query queue record refresh reset route
scale scan schedule ship show sign spike sync tag timeout trace transfer trigger view watch work crash start stop
merge commit check delay lag panic reboot
"""

# Verbs that open an instruction.
IMPERATIVES = """
use set run clear restart reboot reload create add build remove delete drop stop start pause resume drain promote
check verify rotate revoke sign push pull fetch copy move upgrade downgrade install uninstall enable disable
increase decrease raise lower reduce keep put send pass give make wait roll retry scale deploy migrate lock unlock
open close mount unmount apply ignore warm connect disconnect configure call ask page notify escalate log store read
write turn switch avoid prefer choose pick pin test dump restore back snapshot flush purge wipe cordon evict kill
terminate repoint announce take tag merge rebase squash recycle prune deregister register publish sleep acknowledge
requeue rebalance tune adjust override replace archive rename swap convert query insert select filter sort profile
trace debug redirect rewrite import link rerun renew refresh regenerate recreate suspend shrink widen narrow try
talk tell file mark label annotate taint patch contact load fix extend shorten quote escape encrypt decrypt compress
schedule skip include exclude remember ensure treat expect grant assign limit cap allow deny block throttle bump
bounce redeploy rebuild reindex vacuum analyze inspect look find search export upload download update change edit
validate review approve point declare specify define
"""

# Verbs whose object is one value: "listens on 80" and "listens on 81" can't both hold. Others may have several objects.
FUNCTIONAL_VERBS = """
run listen live own belong store go start fire default point resolve authenticate expire take last cost announce
handover schedule deploy route forward limit lifetime lag retain replicate sit reside bind begin trigger finish
write cap name timeout
"""

# Verbs that may stand with several objects behind their preposition: "depends on Redis" and "depends on Kafka" go together.
MULTIPLE_VERBS = """
depend page notify alert support fail connect subscribe apply listen_for work grant give add assign deny allow break
crash conflict integrate interfere available roll deploy talk react complain respond match compare share start read
use consume call access watch
"""

# Instructions whose object is the value chosen, not the thing spoken of.
CHOOSING_VERBS = "use pick prefer choose pin ask contact page notify"

# Verbs that say little of how a thing serves its purpose, so that two names behind them are two values.
HANDLING_VERBS = """
is are was use run go handle manage serve provide do store keep hold host live come route send process build schedule
authenticate back power deliver render scan collect ship
"""

# Forms that no suffix rule finds, as form:base; a form that stands for itself is kept from the rules.
IRREGULAR = dict(
    pair.split(":")
    for pair in """
ran:run lost:lose loss:lose losing:lose kept:keep sent:send written:write wrote:write writing:write took:take
taken:take taking:take built:build held:hold broke:break broken:break went:go led:lead met:meet froze:freeze
frozen:freeze chose:choose chosen:choose drove:drive gave:give given:give giving:give got:get found:find grew:grow
grown:grow fell:fall fallen:fall hid:hide hidden:hide rose:rise risen:rise shrank:shrink shrunk:shrink stuck:stick
thrown:throw threw:throw made:make making:make meant:mean began:begin begun:begin overridden:override lives:live
living:live settings:setting setting:config concurrently:parallel deleting:remove replica:replica replicas:replica
index:index indexes:index indices:index dies:kill die:kill died:kill dying:kill caches:cache using:use used:use
uses:use retention:retain expiry:expire expiration:expire storage:storage removal:remove retrieval:retrieve
approval:approve approvals:approve decision:decide analysis:analyze analyse:analyze tables:table signed:sign
signing:sign said:say paid:pay busy:busy bus:bus buses:bus aliases:alias dns:dns tls:tls news:news less:less
unless:unless this:this does:do goes:go is:is has:have was:was entries:entry responses:response response:response
certification:certification permission:permission permissions:permission version:version versions:version
session:session sessions:session extension:extension extensions:extension region:region regions:region
signature:sign signatures:sign renewal:renew submission:submit resubmission:resubmit transmission:transmit
conversion:convert suspension:suspend revocation:revoke resumption:resume verification:verify cancellation:cancel
recovery:recover classification:classify erasure:erase rebuilt:rebuild rewritten:rewrite
partition:partition partitions:partition production:production function:function functions:function
""".split()
)
