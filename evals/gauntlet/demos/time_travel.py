"""What was believed at each moment of a fact's life, asked for later; and what somebody hears who asks only now."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from evals.gauntlet.crew import Say
from evals.gauntlet.demos import time_travel_shown as shown
from evals.gauntlet.demos.base import Demo, claim
from evals.gauntlet.demos.time_travel_results import MomentReport, TimeTravelReport
from evals.gauntlet.names import Draw
from evals.gauntlet.results import ClaimReport
from evals.gauntlet.server import Server
from evals.gauntlet.terminal import quoted
from evals.gauntlet.world import Names
from tributary.client import Hits, Learned, Memory, Receipt, TributaryError, observed

ROUNDS = 2
"""Of changes, in an order that the seed draws; each is a few moments."""
HOSTS = 5 * ROUNDS + 2
"""More than the changes can name."""
NOTHING = "nothing"


@dataclass
class Fact:
    """One fact's life: who says what, and what is believed after it, by the script and not by the memory.

    `holder` wrote what is believed, and may replace it; what `other` says against it is disputed.
    """

    about: str
    holder: Memory
    other: Memory
    curator: Memory
    values: Iterator[str]
    """Never the same twice: what a curator rejected once would not be believed the second time."""
    lesson: str | None = None
    value: str = NOTHING

    def text(self, value: str) -> str:
        return f"The primary database of {self.about} is `{value}`."

    def learn(self) -> tuple[str, int]:
        """Has one agent say where the primary is, when nobody knows; returns what happened, and the tick."""
        value = next(self.values)
        learned = self.holder.learn(
            self.text(value),
            situation=f"Finding the primary database of {self.about}",
            subject=f"{self.about} primary",
            source=observed("run:inventory"),
            kind="entity_fact",
        )
        self._believe(learned, value)
        return f"learned: {value}", learned.tick

    def replace(self) -> tuple[str, int]:
        """Has the one who wrote what is believed say that it moved: its own lesson is replaced."""
        value = next(self.values)
        said = self.holder.contest(self._known, self.text(value), source=observed("run:failover"))
        self._believe(said, value)
        return f"its author: moved to {value}", said.tick

    def dispute(self) -> tuple[str, int, str, str]:
        """Has another agent contradict: what was believed stays so. Returns the dispute and what it claims, too."""
        value = next(self.values)
        said = self.other.contest(self._known, self.text(value), source=observed("run:incident"))
        assert said.dispute is not None, said.outcome
        return f"another disputes: {value}", said.tick, said.dispute, value

    def accept(self, dispute: str, value: str) -> tuple[str, int]:
        resolved = self.curator.curation.accept(dispute, rationale="seen on the host")
        contender = self.curator.curation.dispute(dispute).contender
        self.lesson, self.value = contender.id, value
        self.holder, self.other = self.other, self.holder
        return f"curator accepts {value}", resolved.tick

    def reject(self, dispute: str, value: str) -> tuple[str, int]:
        resolved = self.curator.curation.reject(dispute, "a replica, seen on the host")
        return f"curator rejects {value}", resolved.tick

    def retire(self) -> tuple[str, int]:
        retired = self.curator.retire(self._known)
        self.lesson, self.value = None, NOTHING
        return "curator retires it", retired.tick

    @property
    def _known(self) -> str:
        assert self.lesson is not None, "nothing is believed that could be spoken of"
        return self.lesson

    def _believe(self, said: Learned, value: str) -> None:
        assert said.lesson is not None
        assert said.lesson.status == "active", f"{said.outcome}: {said.reason}"
        self.lesson, self.value = said.lesson.id, value


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A moment as it was lived: what happened, what the script says was believed then, and the recall of then."""

    happened: str
    tick: int
    at: datetime
    truth: str
    asked: Hits


def run(seed: int, server: Server, *, say: Say) -> TimeTravelReport:
    about = Names.of_seed(seed).service
    draw = Draw(seed)
    hosts = draw.distinct(HOSTS, lambda: f"db-{draw.number(2, 97)}")
    query = f"Which is the primary database of {about}?"
    tribe = server.found(f"time-travel-{seed}")
    seats = [tribe.seat(name) for name in ("author", "other")]
    with (
        Memory(seats[0].url, seats[0].token) as author,
        Memory(seats[1].url, seats[1].token) as other,
        Memory(tribe.curator.url, tribe.curator.token) as curator,
    ):
        author.learn(  # so that there is something else to find
            f"The failover of {about} takes 40 seconds.", situation="planning a failover", source=observed("run:drill")
        )
        fact = Fact(about=about, holder=author, other=other, curator=curator, values=iter(hosts))
        say("living through a fact's life, moment by moment")
        lived = _live(fact, curator, query, random.Random(f"time travel {seed}"))
        say("asking for each moment again, now")
        moments = [_looked_back(moment, curator, query) for moment in lived]
        forged = _verify_forged(lived, curator, query)
    report = TimeTravelReport(seed=seed, about=about, query=query, moments=moments, forged=forged, claims=[], passed=False)
    claims = check(report)
    return report.model_copy(update={"claims": claims, "passed": all(one.holds for one in claims)})


def check(report: TimeTravelReport) -> list[ClaimReport]:
    """Returns what is claimed, with whether it holds."""
    moments = report.moments
    by_tick = sum(one.as_of_tick == one.truth for one in moments)
    by_time = sum(one.as_of_time == one.truth for one in moments)
    then = sum(one.then == one.truth for one in moments)
    agreed = sum(one.verified == "agrees" for one in moments)
    past = [one for one in moments if one.truth != moments[-1].truth]
    wrong_now = sum(one.now != one.truth for one in moments)
    n = len(moments)
    return [
        claim("each moment believed what the record says", then == n, f"{then} of {n}"),
        claim("recall as of a moment's tick answers what was believed then", by_tick == n, f"{by_tick} of {n}"),
        claim("so does recall as of its time", by_time == n, f"{by_time} of {n}"),
        claim("the receipt of each moment agrees with what was believed at its tick", agreed == n, f"{agreed} of {n}"),
        claim(
            "a receipt that names another lesson than it was signed for is found out",
            bool(report.forged) and "agrees" not in report.forged,
            f"{len(report.forged)} forged: {', '.join(sorted(set(report.forged)))}",
        ),
        claim(
            "the fact changed on the way",
            len({one.truth for one in moments}) >= 3,
            f"{len({one.truth for one in moments})} beliefs in {n} moments",
        ),
        claim(
            "control: asking now gives another answer for every moment that believed another thing",
            bool(past) and wrong_now == len(past) and all(one.now == moments[-1].truth for one in moments),
            f"wrong for {wrong_now} of {n} moments",
        ),
    ]


def _live(fact: Fact, curator: Memory, query: str, drawn: random.Random) -> list[Moment]:
    """Returns the moments in order: before anything, then each change with what is believed after it."""
    lived: list[Moment] = []

    def note(happened: str, tick: int | None) -> None:
        asked = curator.recall(query, at_least=tick, subject=f"{fact.about} primary")
        searched = asked.receipt.searched[0]
        when = searched.tick if tick is None else tick
        lived.append(Moment(happened=happened, tick=when, at=searched.at, truth=fact.value, asked=asked))

    note("nobody has said anything", None)
    note(*fact.learn())
    for _ in range(ROUNDS):
        for change in drawn.sample(("replace", "accept", "reject", "retire"), 4):
            if fact.lesson is None:
                note(*fact.learn())
            if change == "replace":
                note(*fact.replace())
            elif change == "retire":
                note(*fact.retire())
            else:
                happened, tick, dispute, value = fact.dispute()
                note(happened, tick)
                note(*(fact.accept if change == "accept" else fact.reject)(dispute, value))
    if fact.lesson is None:
        note(*fact.learn())
    return lived


def _looked_back(moment: Moment, memory: Memory, query: str) -> MomentReport:
    subject = moment.asked.receipt.filters.get("subject")
    subject = subject if isinstance(subject, str) else None
    verified = memory.verify(moment.asked.receipt, query=query)
    return MomentReport(
        happened=moment.happened,
        tick=moment.tick,
        at=moment.at.isoformat(),
        truth=moment.truth,
        then=_answer(moment.asked),
        as_of_tick=_answer(memory.recall(query, as_of=moment.tick, subject=subject)),
        as_of_time=_answer(memory.recall(query, as_of=moment.at, subject=subject)),
        now=_answer(memory.recall(query, subject=subject)),
        verified=verified.verdict,
    )


def _verify_forged(lived: list[Moment], memory: Memory, query: str) -> list[str]:
    """Returns what comes of receipts in which one moment's hit was put into another's."""
    found = [moment.asked.receipt for moment in lived if moment.asked]
    verdicts: list[str] = []
    for mine, others in pairwise(found):
        forged = _forged(mine, others)
        if forged is None:
            continue
        try:
            verdicts.append(memory.verify(forged, query=query).verdict)
        except TributaryError as error:
            verdicts.append(f"refused ({error.code})")
    return verdicts


def _forged(mine: Receipt, others: Receipt) -> dict[str, object] | None:
    """Returns the receipt with the other one's hits, None where these are the same lessons."""
    document, other = mine.document(), others.document()
    if {hit.id for hit in mine.hits} == {hit.id for hit in others.hits}:
        return None
    return document | {"hits": other["hits"]}


def _answer(hits: Hits) -> str:
    """Returns the value that the best hit names; `nothing` when there is none."""
    return quoted(hits[0].text)[0] if hits else NOTHING


DEMO = Demo(
    name="time-travel",
    summary="what was believed at each moment, asked for later",
    run=lambda options, server, say: run(options.seed, server, say=say),
    show=shown.show,
    draw=shown.draw,
)
