"""A curator who takes nobody's word: both sides of a dispute are tried in a copy of the world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evals.gauntlet.advice import read_advice
from evals.gauntlet.diagnosis import Stuck
from evals.gauntlet.policy import holds
from evals.gauntlet.terminal import Terminal
from tributary.client import Dispute, Memory


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """How a dispute ended: `accepted` or `rejected`, or `left open` where a trial told nothing; and about what it was."""

    dispute: str
    ending: str
    contender: str
    replaced: tuple[str, ...]
    rationale: str


def settle(memory: Memory, copy_of_the_world: Callable[[str], Terminal]) -> list[Ruling]:
    """Rules on every open dispute, oldest first, each side tried in a fresh copy of the world that its text is about."""
    return [_rule(memory, dispute, copy_of_the_world) for dispute in reversed(list(memory.curation.disputes()))]


def is_true(text: str, world: Terminal) -> bool:
    """Tells whether the advice in `text` holds in the world, fresh until then; what gives none does not."""
    advice = read_advice(text)
    try:
        return advice is not None and holds(world, advice)
    except Stuck:
        return False


def _rule(memory: Memory, dispute: Dispute, copy_of_the_world: Callable[[str], Terminal]) -> Ruling:
    right = is_true(dispute.contender.text, copy_of_the_world(dispute.contender.text))
    wrong = [one.id for one in dispute.about if not is_true(one.text, copy_of_the_world(one.text))]
    rationale = f"Tried in a copy: the contender {_word(right)}, {len(wrong)} of {len(dispute.about)} believed ones fail."
    if right and len(wrong) == len(dispute.about):
        memory.curation.accept(dispute.id, rationale=rationale)
        ending = "accepted"
    elif not right:
        memory.curation.reject(dispute.id, rationale)
        ending = "rejected"
    else:
        ending = "left open"
    return Ruling(dispute=dispute.id, ending=ending, contender=dispute.contender.id, replaced=tuple(wrong), rationale=rationale)


def _word(right: bool) -> str:
    return "works" if right else "fails"
