"""What the local models cost: screening a lesson, and judging a new one against as many candidates as a learn reads.

The lessons are those of the evals, short and long as people write them; the longest texts that are taken are measured beside.
One thread, in this process; embedding is apart (see `embedding`).
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from benchmarks.figures import Figure, Measured, Samples, Target, best_of
from benchmarks.progress import Progress
from tributary.core.limits import TEXT_BYTES
from tributary.core.ports import JudgedText
from tributary.models.judges import LocalJudge
from tributary.models.screens import LocalScreen

PAIRS = Path(__file__).resolve().parents[1] / "evals" / "data" / "judge_pairs.jsonl"
CANDIDATES = 8
LESSONS = 400
ROUNDS = 3
SCREENED = Target(bound=2.0)
"""Milliseconds a lesson."""
JUDGED = Target(bound=20.0)
"""Milliseconds for a new lesson against CANDIDATES."""


def measure(progress: Progress) -> Measured:
    progress.step("screening and judging with the local models")
    lessons = _lessons()
    screen, judge = LocalScreen(), LocalJudge()
    longest = _longest(lessons)

    def screened(lesson: JudgedText) -> Callable[[], object]:
        return lambda: screen.screen({"text": lesson.text, "situation": lesson.situation})

    def judged(lesson: JudgedText, candidates: list[JudgedText]) -> Callable[[], object]:
        return lambda: judge.judge(lesson, candidates, timeout_s=None)

    screening = _samples([screened(lesson) for lesson in lessons])
    judging = _samples([judged(lessons[at], lessons[at + 1 : at + 1 + CANDIDATES]) for at in range(len(lessons) - CANDIDATES)])
    longest_ms = {
        "screening": _samples([screened(longest)]).median,
        "judging": _samples([judged(longest, [longest] * CANDIDATES)]).median,
    }
    return Measured(
        figures=(
            _figure("judging: screening a lesson", screening, SCREENED, longest_ms["screening"]),
            _figure(f"judging: a lesson against {CANDIDATES} candidates", judging, JUDGED, longest_ms["judging"]),
        ),
        distributions={"screening a lesson": screening.values, f"judging {CANDIDATES} candidates": judging.values},
    )


def _figure(name: str, samples: Samples, target: Target, longest_ms: float) -> Figure:
    return Figure(
        name=name,
        value=samples.median,
        p95=samples.p95,
        unit="ms",
        target=target,
        note=f"one thread, embedding apart; of the longest texts that are taken: {longest_ms:.0f} ms",
        details={"samples": samples.document()},
    )


def _lessons() -> list[JudgedText]:
    """Returns lessons of the evals in an order that is the same at each run, so that candidates are of all kinds."""
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    sides = [side for row in rows for side in (row["old"], row["new"])]
    random.Random(7).shuffle(sides)
    return [
        JudgedText(lesson_id=UUID(int=at), text=side["text"], situation=side["situation"], subject=side.get("subject"))
        for at, side in enumerate(sides[: LESSONS + CANDIDATES])
    ]


def _longest(lessons: list[JudgedText]) -> JudgedText:
    text = " ".join(lesson.text for lesson in lessons)[:TEXT_BYTES]
    return JudgedText(lesson_id=UUID(int=0), text=text, situation="operating all of it", subject=None)


def _samples(acts: list[Callable[[], object]]) -> Samples:
    """Returns each act's quickest time of some rounds, in milliseconds, after one that warms up."""
    rounds = [[_milliseconds(act) for act in acts] for _ in range(ROUNDS + 1)]
    return best_of(rounds[1:])


def _milliseconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000
