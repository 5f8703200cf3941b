"""What becomes of the labelled pairs in a real memory, and what two agents make of one world with and without it.

Each pair gets a tribe of its own: one writer learns the old side, then the new side is learned, and the outcome must be the one
that the label demands. Then a reader asks for the new side's situation: what holds must be among the hits, and what was
superseded must not be. A conflict is tried twice, by the author of the old side and by another writer.

The gauntlet's scripted agent then crosses worlds with the memory, one agent after another in one tribe, and without any. Where
the run is kept in a database, generations of them follow, for the curve that its history shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from evals.bench import Bench, evenly
from evals.curve import generations
from evals.figures import Confusion, Measured, Metric, Sheet, Wrong, share
from evals.gauntlet.agent import report_of
from evals.gauntlet.diagnosis import Stuck
from evals.gauntlet.policy import Agent
from evals.gauntlet.results import AgentReport
from evals.gauntlet.tribe import Counted, Forgetful, Tribe
from evals.gauntlet.world import Names, World
from evals.here import TribeHere
from evals.suites.classification import Pair, load_pairs
from tributary.core.agent import Principal
from tributary.core.decision import Learned, Outcome
from tributary.core.errors import TributaryError
from tributary.core.evaluation import Better
from tributary.core.lesson import Draft, How, Source
from tributary.core.ports import JudgedText
from tributary.core.requests import Question
from tributary.service import Memory

NAME = "end-to-end"
PAIRS = 150
"""As many pairs of the split `test`, evenly by label: each takes a tribe, two learns and a recall."""
SEEDS = (7, 11, 23)
LIMIT = 5
OUTCOMES = ("reinforced", "superseded", "disputed", "learned", "other")


@dataclass(frozen=True, kw_only=True)
class Script:
    """A pair and who says the new side: the author of the old one, or another writer."""

    pair: Pair
    by_author: bool

    @property
    def expected(self) -> Outcome:
        if self.pair.label == "same":
            return Outcome.REINFORCED
        if self.pair.label == "unrelated":
            return Outcome.LEARNED
        return Outcome.SUPERSEDED if self.by_author else Outcome.DISPUTED


@dataclass(frozen=True, kw_only=True)
class Played:
    """`outcome` None: the memory refused or failed, as `error` says. `found`: what holds is shown; `stale`: what does not."""

    script: Script
    outcome: Outcome | None
    found: bool
    stale: bool
    error: str = ""

    @property
    def right(self) -> bool:
        return self.outcome is self.script.expected


def scripts_of(pairs: Sequence[Pair]) -> list[Script]:
    """Returns what is played of each pair."""
    return [
        Script(pair=pair, by_author=by_author)
        for pair in pairs
        for by_author in ((True, False) if pair.label == "conflicts" else (False,))
    ]


def run(bench: Bench) -> Measured:
    pairs = evenly([pair for pair in load_pairs() if pair.split == "test"], lambda pair: pair.label, bench.limit or PAIRS)
    scripts = scripts_of(pairs)
    models = bench.models
    with bench.ground.memory(models.embedder, connections=4, judge=models.judge, screen=models.screen) as memory:
        played = [_played(bench, memory, script, at) for at, script in enumerate(bench.each(scripts, "playing pairs"))]
        crossed = [_crossed(bench, memory, seed) for seed in bench.each(SEEDS, "crossing worlds")]
        curve = generations(bench, memory) if bench.keeps else ()
    return Measured(
        suite=NAME,
        metrics=(*_metrics(played), *_gauntlet(crossed)),
        kept=curve,
        confusions=(_confusion(played),) if played else (),
        sheets=(_worlds(crossed),) if crossed else (),
        wrong=tuple(_wrong(one) for one in played if not (one.right and one.found) or one.stale),
        notes=(f"{len(pairs)} of the pairs of the split test, evenly by label; each in a tribe of its own.",),
    )


def _played(bench: Bench, memory: Memory, script: Script, at: int) -> Played:
    tribe = bench.ground.create_tribe(f"pair-{at}")
    author = bench.ground.create_writer(tribe, "author")
    other = author if script.by_author else bench.ground.create_writer(tribe, "other")
    try:
        first = memory.learn(author, _draft(script.pair.old, "first"))
        second = memory.learn(other, _draft(script.pair.new, "second"))
        hits = memory.recall(tribe.curator, Question(query=script.pair.new.situation, limit=LIMIT)).hits
    except TributaryError as error:
        return Played(script=script, outcome=None, found=False, stale=False, error=f"{error.code}: {error}")
    shown = {hit.lesson.lesson_id for hit in hits}
    holds = _holding(first, second)
    return Played(script=script, outcome=second.outcome, found=holds in shown, stale=bool(shown & set(second.replaced)))


def _holding(first: Learned, second: Learned) -> UUID | None:
    """Returns what is believed after both: the old lesson where the new one only disputes it."""
    standing = first if second.outcome is Outcome.DISPUTED else second
    return standing.lesson.lesson_id if standing.lesson else None


def _draft(side: JudgedText, ref: str) -> Draft:
    source = Source(how=How.OBSERVED, ref=f"eval:{ref}")
    return Draft(text=side.text, situation=side.situation, subject=side.subject, source=source)


def _metrics(played: Sequence[Played]) -> list[Metric]:
    metrics = [
        share("outcome", sum(one.right for one in played), len(played), tolerance=0.02),
        share("found", sum(one.found for one in played), len(played), tolerance=0.02),
        share("stale_shown", sum(one.stale for one in played), len(played), better=Better.LOWER, tolerance=0.0),
        share("failed", sum(one.outcome is None for one in played), len(played), better=Better.LOWER, tolerance=0.0),
    ]
    for expected in (Outcome.REINFORCED, Outcome.SUPERSEDED, Outcome.DISPUTED, Outcome.LEARNED):
        of = [one for one in played if one.script.expected is expected]
        if of:
            metrics.append(share(f"outcome_{expected}", sum(one.right for one in of), len(of), tolerance=0.02))
    return metrics


def _confusion(played: Sequence[Played]) -> Confusion:
    def said(one: Played) -> str:
        return one.outcome.value if one.outcome is not None and one.outcome.value in OUTCOMES else "other"

    pairs = [(one.script.expected.value, said(one)) for one in played]
    return Confusion.of("outcomes of the second learn", OUTCOMES[:4], OUTCOMES, pairs)


def _wrong(one: Played) -> Wrong:
    pair = one.script.pair
    by = "its author" if one.script.by_author else "another"
    said = f"{pair.label}, by {by}: {one.script.expected} -> {one.outcome or one.error}"
    shown = "" if one.found else "; what holds is not shown"
    return Wrong(id=pair.id, split=pair.split, said=f"{said}{shown}{'; superseded shown' if one.stale else ''}")


@dataclass(frozen=True, kw_only=True)
class Crossed:
    """One world, crossed by two agents of one tribe, and by one without memory."""

    seed: int
    first: AgentReport
    second: AgentReport
    alone: AgentReport


def _crossed(bench: Bench, memory: Memory, seed: int) -> Crossed | None:
    """Returns how a world was crossed, None when an agent got stuck or the memory failed it."""
    tribe = bench.ground.create_tribe(f"world-{seed}")

    def cross(name: str, agent: Principal | None) -> AgentReport:
        shared: Tribe = TribeHere(memory, agent) if agent else Forgetful()
        world, counted = World(Names.of_seed(seed)), Counted(shared)
        account = Agent(terminal=world, tribe=counted, run=f"eval-{seed}-{name}", say=lambda _line: None).work()
        return report_of(account, world, name=name, memory_calls=counted.calls, seconds=0.0)

    try:
        first, second = (cross(name, bench.ground.create_writer(tribe, name)) for name in ("agent-a", "agent-b"))
        return Crossed(seed=seed, first=first, second=second, alone=cross("alone", None))
    except (TributaryError, Stuck):
        return None


def _gauntlet(tried: Sequence[Crossed | None]) -> list[Metric]:
    crossed = [one for one in tried if one is not None]
    n = len(crossed)
    done = share("gauntlet_done", sum(one.first.done and one.second.done for one in crossed), len(tried), tolerance=0.0)
    if not n:
        return [done]
    traps = sum(len(one.alone.traps_hit) for one in crossed)
    kept = sum(one.second.steps for one in crossed) / sum(one.alone.steps for one in crossed)
    return [
        Metric(name="gauntlet_steps_kept", value=kept, n=n, better=Better.LOWER, tolerance=0.0),
        share("gauntlet_traps_hit", sum(len(one.second.traps_hit) for one in crossed), traps, better=Better.LOWER, tolerance=0.0),
        done,
    ]


def _worlds(crossed: Sequence[Crossed | None]) -> Sheet:
    rows = tuple(
        (str(one.seed), *(f"{of.steps} steps, {len(of.traps_hit)} traps" for of in (one.alone, one.first, one.second)))
        for one in crossed
        if one is not None
    )
    heads = ("world", "without memory", "first agent of a tribe", "second agent of a tribe")
    return Sheet(title="The gauntlet", heads=heads, rows=rows)
