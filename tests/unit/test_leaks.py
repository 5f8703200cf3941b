"""The detector of `make load`: it sees what leaks, in made series and in processes that leak for real, and not what is noise."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable

import psutil
import pytest

from benchmarks.endurance.leaks import FEWEST, Trend, trend_of

COUNT = 300
Series = Callable[[int, random.Random], float]

FLAT: dict[str, Series] = {
    "constant": lambda _at, _rng: 400.0,
    "noise": lambda _at, rng: 400 + rng.gauss(0, 10),
    "warm-up": lambda at, rng: 400 - 200 * 0.97**at + rng.gauss(0, 2),
    "one-step": lambda at, rng: (400 if at < 230 else 440) + rng.gauss(0, 1),
    "saw": lambda at, _rng: 400 + at % 40,
    "spikes": lambda _at, rng: 400 + (200 if rng.random() < 0.15 else 0),
    "falling": lambda at, rng: 500 - 0.3 * at + rng.gauss(0, 2),
}
RISING: dict[str, Series] = {
    "line": lambda at, _rng: 400 + 0.2 * at,
    "line-in-noise": lambda at, rng: 400 + 0.2 * at + rng.gauss(0, 6),
    "line-in-a-saw": lambda at, _rng: 400 + 0.2 * at + at % 20,
    "line-with-spikes": lambda at, rng: 400 + 0.2 * at + (200 if rng.random() < 0.15 else 0),
    "steps": lambda at, _rng: 400 + 5 * (at // 20),
}


def judged(series: Series, seed: int) -> Trend:
    rng = random.Random(seed)
    found = trend_of([series(at, rng) for at in range(COUNT)], least=12, share=0.04)
    assert found is not None
    return found


@pytest.mark.parametrize("name", FLAT)
def test_what_does_not_grow_is_no_leak(name: str) -> None:
    assert not any(judged(FLAT[name], seed).leaks for seed in range(30))


@pytest.mark.parametrize("name", RISING)
def test_what_grows_all_the_time_is_a_leak(name: str) -> None:
    assert all(judged(RISING[name], seed).leaks for seed in range(30))


def test_growth_is_told_in_the_unit_of_the_series() -> None:
    found = judged(RISING["line"], 0)
    assert found.growth == pytest.approx(0.2 * (COUNT // 2 - 1))
    assert found.tolerance == pytest.approx(0.04 * found.level)


def test_of_too_few_samples_nothing_is_said() -> None:
    assert trend_of([1.0] * (2 * FEWEST - 2), least=1, share=0) is None
    assert trend_of([], least=1, share=0) is None


HOARDERS = {
    "memory": "kept.append(bytearray(1_000_000))",
    "files": "kept.append(open('/dev/null'))",
    "threads": "kept.append(threading.Thread(target=threading.Event().wait, daemon=True)); kept[-1].start()",
    "nothing": "bytearray(1_000_000)",
}
LOOKS = 60


@pytest.mark.parametrize("hoarded", HOARDERS)
def test_a_process_that_leaks_is_found_by_what_it_leaks(hoarded: str) -> None:
    work = f"import sys, threading\nkept = []\nfor _ in sys.stdin:\n    {HOARDERS[hoarded]}\n    print(flush=True)"
    taken: dict[str, list[float]] = {"memory": [], "files": [], "threads": []}
    with subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        seen = psutil.Process(process.pid)
        for _ in range(LOOKS):
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
            taken["memory"].append(seen.memory_info().rss / 1_000_000)
            taken["files"].append(seen.num_fds())
            taken["threads"].append(seen.num_threads())
        process.stdin.close()
    found = {name: trend_of(series, least=12, share=0.04) for name, series in taken.items()}
    assert {name for name, trend in found.items() if trend is not None and trend.leaks} == {hoarded} - {"nothing"}
