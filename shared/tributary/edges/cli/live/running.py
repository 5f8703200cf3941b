"""Running the steps: each is tried once what it needs held, and what the run made is ended whatever happened."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tributary.client import TributaryError
from tributary.edges.cli.live.cleaning import Revoke, cleaned
from tributary.edges.cli.live.stage import Stage
from tributary.edges.cli.live.step import NotTried, State, Step, Unexpected


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
        left = cleaned(stage, revoke)
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
