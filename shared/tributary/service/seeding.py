"""A tribe's demonstration: one incident, learned as agents learn, so that every gate has its say."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.core.agent import Principal, Role
from tributary.core.decision import Learned
from tributary.core.errors import WrongStanding
from tributary.service.demo_incident import INCIDENT, RUN, Told
from tributary.service.operator import Operator
from tributary.service.settings import Settings
from tributary.service.wiring import Adapters, open_memory, open_operator

SEED = "system:demo-seed"
"""Who tells the incident."""
WITNESS = "system:demo-witness"
"""Who contradicts one lesson of it: nobody disputes what is its own."""


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """A lesson of the incident, and what became of it."""

    told: Told
    learned: Learned


def seed_demo(settings: Settings, tribe: str, *, adapters: Adapters | None = None) -> tuple[Seeded, ...]:
    """Teaches a tribe the incident, once, and returns what became of each lesson, in the order of telling.

    The agents that tell it are revoked afterwards: what they taught stays, and nobody acts as one of them. A seeding that was
    interrupted goes on where it was. Raises WrongStanding when the tribe knows the incident already, NotFound without the tribe.
    """
    with open_operator(settings, adapters=adapters) as operator, open_memory(settings, adapters=adapters) as memory:
        if any(one.name == SEED and one.revoked_at is not None for one in operator.agents(tribe)):
            raise WrongStanding(f"the tribe '{tribe}' was taught the demo already; a tribe learns it once")
        seed, witness = (memory.authenticate(_token(operator, tribe, name)) for name in (SEED, WITNESS))
        told: list[Seeded] = []
        for number, one in enumerate(INCIDENT, start=1):
            who: Principal = witness if one.by_witness else seed
            learned = memory.learn(who, one.draft, idempotency_key=f"{RUN}#{number}")
            told.append(Seeded(told=one, learned=learned))
        for name in (WITNESS, SEED):  # the one by which the whole is known to be done comes last
            operator.revoke_agent(tribe, name)
    return tuple(told)


def _token(operator: Operator, tribe: str, name: str) -> str:
    if any(one.name == name for one in operator.agents(tribe)):
        return operator.rotate(tribe, name, days=1).secret
    return operator.create_agent(tribe, name, Role.WRITER, days=1, system=True).secret
