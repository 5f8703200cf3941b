"""The words that names are made of, and how a seed draws from them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

AREAS = """billing catalog checkout claims consent courier customs fleet freight fraud grading harvest identity inventory
invoice ledger loyalty mailing metering notary orders parcel payments payroll pricing quota refunds rental returns routing
search seating settlement shipping stock subsidy tariff tickets tolls transit treasury vouchers warranty wallet""".split()
ROLES = "api broker engine gateway ingest mirror planner relay scheduler sync watcher worker".split()
PLACES = """alder amber aspen basalt birch cedar cobalt copper coral cypress delta dune ember fjord flint garnet granite harbor
hazel heath indigo juniper kelp larch lagoon linden maple marsh mesa nickel onyx opal osprey pebble quartz reef ridge saffron
slate spruce tundra umber willow zinc""".split()

CACHE_ROOTS = "/var/cache /srv/cache /opt/build/cache /mnt/scratch /var/lib/builder /data/tmp /home/ci/.cache /run/build".split()
CACHE_TOOLS = """bazel buck ccache cargo conan gradle incremental ivy lld llvm maven meson ninja nix objects pants sccache
thinlto vcpkg wheels""".split()
CACHE_PARTS = "artifacts blobs chunks disk index layers objects pool shards snapshots store units".split()

KEY_THINGS = "BACKEND CLUSTER DATABASE DATASTORE LEDGER PRIMARY PERSISTENCE RECORDS REPLICA STATE STORAGE STORE".split()
KEY_NAMES = "ADDRESS BINDING CONNECTION DSN ENDPOINT HOST LINK LOCATOR NODE ORIGIN ROUTE SERVER TARGET URI URL".split()
KEY_STYLES = ("{area}_{thing}_{name}", "{area}_{name}_{thing}", "{thing}_{name}_{area}", "{area}_{thing}_{name}_V2")

HEADER_FRONTS = """Batch Budget Burst Capacity Cohort Flight Intent Lane Origin Pool Priority Queue Release Ring Shift Slot
Tier Track Traffic Train Wave Window""".split()
HEADER_ENDS = "Class Code Group Hint Key Kind Label Mark Mode Name Pass Tag".split()
HEADER_VALUES = """ahead alpha anchor bronze bulk canary charter dawn dusk ebb express flood gold harvest idle ivory lull
midnight neap night noon owl patient planned quiet scarlet silver slow steady surplus tide vesper weekend yield""".split()

MIGRATION_VERBS = "adjust align backfill carve extend fold harden merge prepare rework settle split tidy untangle".split()
TABLE_OWNERS = """account agreement batch carrier claim contract credit customer delivery discount invoice item journal ledger
meter offer order parcel payout permit quote receipt refund region session shipment statement tariff ticket voucher""".split()
TABLE_PARTS = "audits balances events holds lines notes outbox parts rates refs snapshots states totals versions".split()

WORDINGS = (
    {
        "build": "Build the service {service}",
        "configure": "Configure the database address of {service}",
        "deploy": "Deploy the service {service}",
        "roll_out": "Roll out the service {service}",
    },
    {
        "build": "Compile {service} and make its artifact",
        "configure": "Point {service} at its database",
        "deploy": "Ship {service} through the deploy API",
        "roll_out": "Release {service} to every host",
    },
    {
        "build": "Make a fresh build of {service}",
        "configure": "Tell {service} where its database is",
        "deploy": "Get {service} deployed",
        "roll_out": "Bring the new {service} live on all hosts",
    },
    {
        "build": "Produce the binary of {service}",
        "configure": "Set up the database connection of {service}",
        "deploy": "Hand {service} to the deploy API",
        "roll_out": "Put {service} into production everywhere",
    },
    {
        "build": "Run the build job of {service}",
        "configure": "Give {service} the address of its database",
        "deploy": "Push {service} out to the cluster",
        "roll_out": "Start the rollout of {service}",
    },
    {
        "build": "Assemble {service} from source",
        "configure": "Wire {service} to its database",
        "deploy": "Send {service} to deployment",
        "roll_out": "Switch all hosts over to the new {service}",
    },
)
"""The goals of a runbook in six people's words."""


class Draw:
    """Draws names; the same seed gives the same ones in the same order on every machine."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"gauntlet {seed}")

    def one(self, words: Sequence[str]) -> str:
        return self._random.choice(words)

    def some(self, words: Sequence[str], count: int) -> tuple[str, ...]:
        return tuple(self._random.sample(words, count))

    def number(self, lowest: int, highest: int) -> int:
        return self._random.randint(lowest, highest)

    def distinct(self, count: int, make: Callable[[], str]) -> tuple[str, ...]:
        """Returns `count` different names out of `make`, in the order in which they came."""
        made: dict[str, None] = {}
        while len(made) < count:
            made[make()] = None
        return tuple(made)
