"""What the local judge takes for the same, or for the opposite, though hardly a word of it is: one case a mechanism."""

from __future__ import annotations

import pytest

from tributary.core.decision import VerdictKind
from tributary.core.ids import new_id
from tributary.core.ports import JudgedText
from tributary.models.judges import LocalJudge

SAME, CONFLICTS, UNRELATED, UNSURE = VerdictKind


def kind(old: str, new: str) -> VerdictKind:
    """Returns the verdict on two texts of one situation, which must not depend on their order."""

    def lesson(text: str) -> JudgedText:
        return JudgedText(lesson_id=new_id(), text=text, situation="operations", subject=None)

    forth, back = (LocalJudge().judge(lesson(b), [lesson(a)], timeout_s=None)[0].kind for a, b in ((old, new), (new, old)))
    assert forth is back
    return forth


SAME_PAIRS = {
    "words alike": ("Delete in chunks of 5000 rows.", "Delete in batches of 5000 rows."),
    "alike in one sense only": ("The gateway drops idle sockets after 60 s.", "The gateway closes idle sockets after a minute."),
    "a nominalisation": ("Webhook deliveries are signed.", "Webhook deliveries carry a signature."),
    "a superlative before a noun that names": (
        "Shorten the retention of the largest topic.",
        "Shorten the retention of the biggest topic.",
    ),
    "requires, fails without": ("The pipeline requires a signed tag.", "Without a signed tag the pipeline refuses to run."),
    "needs at least, fails below": ("The build needs Node 20 or later.", "The build does not work with a Node older than 20."),
    "needs, fails below": ("The module needs Go 1.22.", "With Go older than 1.22 the module does not compile."),
    "first and second": ("Remove the proxy first and the target group second.", "Remove the proxy before the target group."),
    "blocked until": ("Merging is blocked until the linter passes.", "A failing linter blocks the merge."),
    "nobody except": ("Only auditors may open the vault.", "Nobody except auditors is allowed to open the vault."),
    "a missing thing": (
        "The report is slow because ix_orders has no index.",
        "A missing index on ix_orders makes the report slow.",
    ),
    "a relative clause": ("Pods without a budget are evicted first.", "Pods that lack a budget get evicted first."),
    "a relative clause that denies": (
        "Canaries are promoted after 15 minutes without errors.",
        "A canary that shows no errors for a quarter of an hour gets promoted.",
    ),
    "not for an hour, wait an hour": ("Wait an hour before retrying the import.", "Do not retry the import for one hour."),
    "each month": ("Passwords of the vault are rotated every 30 days.", "Passwords of the vault are rotated monthly."),
    "runs without": ("Do not set CPU limits on the relay.", "The relay should run without CPU limits."),
    "hyphenated measure": ("The mixer has a 30-day retention.", "The mixer has a retention of 30 days."),
    "plural of a name": ("We have a quota of 16 A100s in us-central1.", "The A100 quota in us-central1 is 16."),
}


@pytest.mark.parametrize("pair", SAME_PAIRS.values(), ids=SAME_PAIRS)
def test_the_same_in_other_words_is_the_same(pair: tuple[str, str]) -> None:
    assert kind(*pair) is SAME


CONFLICTING_PAIRS = {
    "first and second, reversed": ("Stop the proxy first and the mixer second.", "Stop the mixer before the proxy."),
    "strips, accepts": ("The proxy strips the X-Tenant header.", "The proxy accepts the X-Tenant header."),
    "another value behind another verb": ("The auth probe hits port 8081.", "The auth probe uses port 9090."),
    "accepts, does not work with": ("The operator supports Kubernetes 1.29.", "The operator does not work on Kubernetes 1.29."),
    "fixed, still has": ("The reconnect bug was fixed in client 3.4.", "Client 3.4 still has the reconnect bug."),
    "ruled out": (
        "The outage of the mixer was caused by a certificate.",
        "The outage of the mixer was caused by a disk, not by a certificate.",
    ),
    "does it, without doing it": (
        "Adding a nullable column locks the table.",
        "A nullable column can be added without locking the table.",
    ),
    "via, without": ("The bank is reached via the egress proxy.", "The bank is reached directly, without the egress proxy."),
    "may skip": ("Hotfixes of the mixer must be reviewed.", "Hotfixes of the mixer may skip the review."),
    "a noun that could instruct": ("The nodes of search run on spot.", "Search nodes run on reserved instances."),
    "of one class": ("The search nodes use G1GC.", "Search nodes run with ZGC as their garbage collector."),
    "named otherwise": ("Grafana uses Okta for login.", "Grafana logins are handled by Keycloak."),
    "done by another": ("Client certificates are issued by the Acme CA.", "Let's Encrypt issues the client certificates."),
    "a value of several words": (
        "The leak in the agent is caused by unclosed streams.",
        "The agent's leak comes from the metrics buffer.",
    ),
    "one superlative": (
        "Relay traffic is the largest part of the network bill.",
        "Mixer traffic is the largest part of the network bill.",
    ),
    "only, any": ("The CUDA images can only be built on gpu runners.", "The CUDA images can be built on any runner."),
    "only others": ("Writers can resolve disputes.", "Only curators can resolve disputes."),
    "a unit left out": ("The record api.example.com has a TTL of 30 seconds.", "The TTL of api.example.com is 3600."),
    "for and against": ("The proxy strips the X-Tenant header.", "The proxy passes the X-Tenant header."),
    "a stop word as value": ("Producers of the ledger topic use acks=all.", "Producers of the ledger topic use acks=1."),
    "an explanation beside": ("Prune the images on the runners.", "Do not prune images on the runners; it slows builds down."),
    "quota and none": ("The namespaces have a CPU quota.", "CPU in the namespaces is unlimited."),
    "kept without end": ("Artifacts of the mixer are deleted after 30 days.", "Artifacts of the mixer are kept forever."),
    "denied within a scope": ("In INC-412 the alert fired.", "In INC-412 no alert fired."),
}


@pytest.mark.parametrize("pair", CONFLICTING_PAIRS.values(), ids=CONFLICTING_PAIRS)
def test_the_opposite_in_other_words_conflicts(pair: tuple[str, str]) -> None:
    assert kind(*pair) is CONFLICTS


UNRELATED_PAIRS = {
    "bounds that can stand together": ("web has at least 3 replicas.", "web has at most 20 replicas."),
    "allowed one way": ("Traffic from vpc-a to vpc-b is allowed.", "Traffic from vpc-b to vpc-a is blocked."),
    "things counted": ("The search service runs with three replicas.", "The search service keeps 3 shards."),
    "in one place, but otherwise": ("The state is locked in DynamoDB.", "The state is stored in S3."),
    "names for different purposes": ("Grafana uses Okta for login.", "Grafana uses Postgres for its own data."),
    "asserted and supposed": ("An alert fires 14 days before a certificate expires.", "Certificates are valid for 90 days."),
    "services with alike names": ("The run service listens on port 80.", "The start service listens on port 80."),
    "client and server": ("Client certificates of the kubelet expire soon.", "Server certificates of the kubelet expire soon."),
    "a number that names and one that counts": ("The ledger cluster runs PostgreSQL 15.", "The ledger cluster has 15 nodes."),
}


@pytest.mark.parametrize("pair", UNRELATED_PAIRS.values(), ids=UNRELATED_PAIRS)
def test_what_only_looks_alike_is_unrelated(pair: tuple[str, str]) -> None:
    assert kind(*pair) is UNRELATED
