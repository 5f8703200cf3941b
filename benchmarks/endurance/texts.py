"""What agents teach and ask, drawn at random: new lessons, equal ones, contradicting ones, and questions about them."""

from __future__ import annotations

import random

from benchmarks.corpus import CURES, EVENTS, OCCASIONS, SUBJECTS, SYLLABLES

SHARED = 40
"""Different lessons that many agents of a tribe come to, each by itself."""
DISPUTED = 12
"""Different things of which each agent finds another value."""


def new_lesson(rng: random.Random) -> str:
    name = "".join(rng.choices(SYLLABLES, k=6))
    return f"{rng.choice(SUBJECTS)} {rng.choice(EVENTS)} after {rng.choice(OCCASIONS)}: {rng.choice(CURES)} in {name}"


def shared_lesson(rng: random.Random) -> str:
    number = rng.randrange(SHARED)
    return f"{SUBJECTS[number % len(SUBJECTS)]} {EVENTS[number % len(EVENTS)]} after {OCCASIONS[number % len(OCCASIONS)]}"


def disputed_lesson(rng: random.Random) -> tuple[str, str]:
    """Returns a subject and a claim about it that other claims contradict."""
    subject = f"{SUBJECTS[rng.randrange(DISPUTED)]}-pool"
    return subject, f"The pool of {subject} must be set to {rng.randrange(1, 9) * 16} connections"


def question(rng: random.Random) -> str:
    return f"what to do when {rng.choice(SUBJECTS)} {rng.choice(EVENTS)} during {rng.choice(OCCASIONS)}"
