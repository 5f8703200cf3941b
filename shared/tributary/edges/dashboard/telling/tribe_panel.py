"""The tribe's part of the status panel: what a recall of it needs, from what the memory said of itself. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tributary.core.status import State
from tributary.edges.dashboard.panel import ADVICE, Lamp

if TYPE_CHECKING:
    from tributary.contract.status import GardeningReply, ObservationReply, StatusReply


@dataclass(frozen=True, kw_only=True)
class _Check:
    """What is observed, the lamp's title, and the cause of a lamp that is not lit well."""

    check: str
    title: str
    failing: str


_CHECKS = (
    _Check(check="recall", title="A recall is answered", failing="no_vector_search"),
    _Check(check="embedder", title="Model: texts are embedded", failing="embedder_failed"),
    _Check(check="serving_space", title="Model: fits the tribe's space", failing="other_space"),
    _Check(check="without_vector", title="Every believed lesson has a vector", failing="without_vector"),
    _Check(check="index", title="Index: there if it is needed", failing="no_index"),
    _Check(check="planned_with", title="Index: used by recalls", failing="index_unused"),
    _Check(check="clock_ahead_s", title="The tribe's clock is right", failing="clock_ahead"),
    _Check(check="last_gardening", title="Gardener: came by when it was due", failing="gardener_absent"),
    _Check(check="gardening_failed", title="Gardener: none of its rules failed", failing="gardener_failing"),
)
_RENAMED = {"unreachable": "no_answer", "not_recorded": "never_gardened"}
"""Causes that mean something else of a tribe than they do of a database."""


_RULES = {
    "settle": "Pending lessons are judged and settled",
    "rescreen": "Lessons that no screen had looked at are screened",
    "rejudge": "Pairs that no judge had answered are judged",
    "stamp": "Lessons that time ended are marked so",
    "evict": "Lessons beyond the tribe's room are evicted",
    "embed": "Lessons without a vector get one",
    "index": "Vectors are put into the tribe's index",
    "doubt": "Actions whose lease ran out are put in doubt",
    "prune": "What is old enough is forgotten",
}
"""What each rule of the gardener is for."""


@dataclass(frozen=True, kw_only=True)
class Tended:
    """What one rule came to in the gardener's last run."""

    rule: str
    means: str
    done: int
    left: int
    refused: str
    failed: str | None


def tended(gardening: GardeningReply | None) -> tuple[Tended, ...]:
    """Returns a row for each rule that the gardener's last run reached."""
    return tuple(
        Tended(
            rule=one.rule,
            means=_RULES.get(one.rule, ""),
            done=one.done,
            left=one.left,
            refused=", ".join(f"{code} {count}" for code, count in sorted(one.refused.items())),
            failed=one.failed,
        )
        for one in (gardening.rules if gardening else ())
    )


def lamps_of(status: StatusReply | None) -> tuple[Lamp, ...]:
    """Returns a lamp each for what a recall of the tribe needs; all unknown when the memory could not be asked."""
    observations = () if status is None else status.observations
    seen = {one.check: one for one in observations if one.about in ("tribe", "process")}
    return tuple(_lamp(one, seen) for one in _CHECKS)


def facts_of(status: StatusReply) -> Sequence[tuple[str, str]]:
    """Returns what is seen of the tribe that is neither good nor bad, in words."""
    seen = {one.check: one.value for one in status.observations if one.value is not None}
    facts: list[tuple[str, str]] = []
    if "tick" in seen:
        facts.append(("Tick", str(seen["tick"])))
    facts.append(("Paths of a recall", ", ".join(one.path for one in status.paths if one.usable) or "none is usable"))
    if isinstance(spaces := seen.get("spaces"), list):
        facts.append(("Spaces", "; ".join(spaces) or "none"))
    for check, title in (
        ("pending", "Pending lessons"),
        ("disputed", "Disputed lessons"),
        ("quarantined", "Quarantined lessons"),
    ):
        if check in seen:
            facts.append((title, str(seen[check])))
    return facts


def _lamp(one: _Check, seen: Mapping[str, ObservationReply]) -> Lamp:
    found = seen.get(one.check)
    if found is None:
        return Lamp(title=one.title, state=State.UNKNOWN, cause="not_asked")
    state = State(found.state)
    if state is State.OK:
        return Lamp(title=one.title, state=state)
    if state is State.NOT_OK:
        # A list is the paths that a recall went; anything else that it says is the code of its error.
        failed = one.check == "recall" and not isinstance(found.value, list)
        return Lamp(title=one.title, state=state, cause="recall_failed" if failed else one.failing)
    cause = _RENAMED.get(found.cause or "", found.cause or "internal")
    return Lamp(title=one.title, state=state, cause=cause if cause in ADVICE else "internal")
