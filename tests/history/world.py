"""The small world that the agents of a history speak about, and the rule by which its judge compares what they say.

Everything said has the form "<matter> <aspect> is <value> (<form>)". The world is small, so that contradictions, repeats and
rejected values that come again are frequent; the rule is a function of the two texts, so that every verdict can be derived anew.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tributary.core.decision import VerdictKind
from tributary.core.lesson import CounterClaim, Draft, Evidence, How, Source
from tributary.core.policy import Equals, Policy, Precedence
from tributary.core.ports import JudgedText

DENIAL = ("setting", "nothing")
"""Contradicts every aspect of its matter, while the aspects go together: one lesson may replace several."""
PERHAPS = "perhaps"
"""A form that the judge is unsure of beside another value."""
HELD_BACK = "HIJACK"
"""A form that the screen catches."""
FORMS = ("seen", "told", "in short", "seen", "told", PERHAPS, HELD_BACK)
_SAID = re.compile(r"(?P<matter>\S+) (?P<aspect>\S+) is (?P<value>\S+) \((?P<form>[^)]+)\)")


@dataclass(frozen=True)
class Claim:
    matter: str
    aspect: str
    value: str
    form: str

    @classmethod
    def read(cls, text: str) -> Claim | None:
        """Returns what a text claims, None for the empty text of an erased lesson."""
        found = _SAID.fullmatch(text)
        return None if found is None else cls(**found.groupdict())

    def __str__(self) -> str:
        return f"{self.matter} {self.aspect} is {self.value} ({self.form})"


def verdict(new: str, old: str) -> VerdictKind:
    """Returns the rule's verdict on two texts; it is the same the other way round."""
    a, b = Claim.read(new), Claim.read(old)
    if a is None or b is None or a.matter != b.matter:
        return VerdictKind.UNRELATED
    if (a.aspect, a.value) == (b.aspect, b.value):
        return VerdictKind.SAME
    if a.aspect != b.aspect and DENIAL[0] not in (a.aspect, b.aspect):
        return VerdictKind.UNRELATED
    return VerdictKind.UNSURE if PERHAPS in (a.form, b.form) else VerdictKind.CONFLICTS


def rule(new: JudgedText, old: JudgedText) -> VerdictKind:
    return verdict(new.text, old.text)


@dataclass(frozen=True, kw_only=True)
class World:
    matters: int = 5
    aspects: int = 2
    values: int = 3

    def claim(self, chance: random.Random, matter: str | None = None) -> Claim:
        said = matter or f"service-{chance.randrange(self.matters)}"
        form = chance.choice(FORMS)
        if chance.random() < 0.12:
            return Claim(said, *DENIAL, form)
        return Claim(said, f"aspect-{chance.randrange(self.aspects)}", f"value-{chance.randrange(self.values)}", form)

    def draft(self, chance: random.Random) -> Draft:
        """Returns something to learn. Few name no subject, and few hold for a moment only."""
        claim = self.claim(chance)
        brief = datetime.now(UTC) + timedelta(seconds=chance.uniform(0.2, 2.0))
        return Draft(
            text=str(claim),
            situation=chance.choice(("running it", "running it", f"deploying {claim.matter}")),
            source=Source(how=chance.choice(tuple(How)), ref="run:1"),
            subject=chance.choice((*spellings(claim.matter), None)),
            evidence=(Evidence(type="log", ref="line:1"),) if chance.random() < 0.3 else (),
            valid_until=brief if chance.random() < 0.04 else None,
        )

    def counter_claim(self, chance: random.Random, text: str) -> CounterClaim:
        known = Claim.read(text)
        return CounterClaim(
            text=str(self.claim(chance, known.matter if known else None)),
            source=Source(how=chance.choice(tuple(How)), ref="run:2"),
        )


def spellings(matter: str) -> tuple[str, ...]:
    """Returns ways to write a matter that all count as one subject."""
    return (matter, matter, matter.replace("-", "_"), matter.replace("-", " ").title())


POLICIES = (
    Policy(),
    Policy(equals=Equals.NEWEST_OBSERVATION),
    Policy(precedence=(Precedence(how=How.DERIVED, with_evidence=False, over=frozenset({How.TOLD, How.OBSERVED})),)),
)


class Hesitation:
    """How long a judge takes: random times, so that commits interleave."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._lock = threading.Lock()

    def __call__(self) -> None:
        with self._lock:
            taken = self._chance.choice((0.0, 0.0, self._chance.uniform(0, 0.01), self._chance.uniform(0, 0.03)))
        if taken:
            time.sleep(taken)


@dataclass(frozen=True)
class Beat:
    """A judge that answers on the beat: those that are asked between two beats answer at once, and their commits meet."""

    seconds: float = 0.04

    def __call__(self) -> None:
        time.sleep(self.seconds - time.monotonic() % self.seconds)


Pause = Callable[[], None]
