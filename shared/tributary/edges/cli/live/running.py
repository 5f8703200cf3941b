"""Running the steps: each is tried once what it needs held, and what the run made is ended whatever happened."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tributary.client import TributaryError
from tributary.edges.cli.live.stage import Stage
from tributary.edges.cli.live.step import NotTried, State, Step, Unexpected

_ENDED = ("not_found", "wrong_standing")
"""What ending something says that has ended, or never was."""

Revoke = Callable[[str], None]
"""Ends an agent by its name."""


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """How a step ended. `expected` and `found` tell of a failed one, `reason` of one that was not tried."""

    name: str
    covers: tuple[str, ...]
    state: State
    ms: float
    expected: str | None = None
    found: str | None = None
    reason: str | None = None

    def document(self) -> dict[str, object]:
        return {
            "step": self.name,
            "covers": list(self.covers),
            "state": self.state.value,
            "ms": self.ms,
            "expected": self.expected,
            "found": self.found,
            "reason": self.reason,
        }


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a run found. `left` is what it could not clean up."""

    steps: tuple[StepResult, ...]
    left: tuple[str, ...]
    warnings: tuple[str, ...]
    version: str | None
    interrupted: bool

    @property
    def held(self) -> bool:
        """Tells whether all that was tried held, and nothing was cut short."""
        return not self.interrupted and all(one.state is not State.FAILED for one in self.steps)


def checked(stage: Stage, steps: Sequence[Step], *, revoke: Revoke, told: Callable[[StepResult], None]) -> Report:
    """Tries the steps in their order, calls `told` after each, and cleans up; Ctrl-C ends the trying, not the cleaning."""
    results: dict[str, StepResult] = {}
    interrupted = False
    left: tuple[str, ...] = ()
    try:
        for step in steps:
            result = _tried(step, stage, results)
            results[step.name] = result
            told(result)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        left = _cleaned(stage, revoke)
    return Report(
        steps=tuple(results.values()),
        left=left,
        warnings=tuple(stage.warnings),
        version=stage.version,
        interrupted=interrupted,
    )


def _tried(step: Step, stage: Stage, before: dict[str, StepResult]) -> StepResult:
    result = StepResult(name=step.name, covers=step.covers, state=State.OK, ms=0.0)
    wanting = [name for name in step.needs if name not in before or before[name].state is not State.OK]
    if wanting:
        return replace(result, state=State.SKIPPED, reason=f"needs {', '.join(wanting)}")
    began = time.perf_counter()
    try:
        step.does(stage)
    except NotTried as why:
        result = replace(result, state=State.SKIPPED, reason=str(why))
    except Unexpected as failure:
        result = replace(result, state=State.FAILED, expected=failure.expected, found=failure.found)
    except TributaryError as error:
        result = replace(result, state=State.FAILED, expected="an answer", found=f"{error.code}: {error.detail}")
    except Exception as error:  # a reply that is not of the shape that the contract promises
        result = replace(result, state=State.FAILED, expected="a reply as the contract has it", found=type(error).__name__)
    return replace(result, ms=round((time.perf_counter() - began) * 1000, 1))


def _cleaned(stage: Stage, revoke: Revoke) -> tuple[str, ...]:
    """Retires the lessons, takes the cases off the review queue and revokes the agents; returns what could not be ended."""
    waiting: list[tuple[str, Callable[[], object]]] = []
    curator = stage.curator.memory
    waiting += [(f"lesson {one}", partial(curator.retire, one)) for one in reversed(stage.lessons)]
    waiting.append(("cases of the review queue", partial(_reviews_closed, stage)))
    waiting += [(f"agent {name}", partial(revoke, name)) for name in reversed(stage.names)]
    left: list[str] = []
    try:
        while waiting:
            what, end = waiting[0]
            try:
                end()
            except Exception as error:
                code = getattr(error, "code", None)
                if code not in _ENDED:
                    left.append(f"{what} ({code or type(error).__name__})")
            waiting.pop(0)
    except KeyboardInterrupt:
        left += [what for what, _ in waiting]
    return tuple(left)


def _reviews_closed(stage: Stage) -> None:
    ours = set(stage.lessons)
    curation = stage.curator.memory.curation
    for one in [review for review, _ in zip(curation.reviews(), range(200), strict=False) if ours & set(review.lessons)]:
        curation.reject_review(one.id, reason=f"verify-live {stage.word}")
