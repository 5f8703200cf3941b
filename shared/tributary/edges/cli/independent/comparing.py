"""What two roads say, field by field: it agrees, it diverges, or it cannot be told. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tributary.edges.cli.independent.catalogue import Value
from tributary.edges.cli.independent.roads import Cause


class Verdict(StrEnum):
    AGREES = "AGREES"
    DIVERGES = "DIVERGES"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One field. `cause` is there exactly when it is unknown; then at most one side is known, and that is said."""

    about: str
    """`tribe`, or the lesson's id."""
    field: str
    verdict: Verdict
    api: Value = None
    database: Value = None
    cause: Cause | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What the API, or a receipt, says of one thing at one tick; None for a side that could not say."""

    about: str
    fields: Mapping[str, Value]
    unknown: Mapping[str, Cause] = field(default_factory=dict)
    """Fields that the API's side could not say, and why."""


def compared(claim: Claim, found: Mapping[str, Value] | Cause) -> Iterator[Compared]:
    """Yields a verdict on each field of the claim. Where a road gave nothing it is unknown, and never agrees."""
    for name, cause in claim.unknown.items():
        known = None if isinstance(found, Cause) else found.get(name)
        yield Compared(about=claim.about, field=name, verdict=Verdict.UNKNOWN, database=known, cause=cause)
    for name, said in claim.fields.items():
        if isinstance(found, Cause):
            yield Compared(about=claim.about, field=name, verdict=Verdict.UNKNOWN, api=said, cause=found)
            continue
        there = found.get(name)
        same = name in found and type(said) is type(there) and said == there  # what is missing is not the same as nothing
        verdict = Verdict.AGREES if same else Verdict.DIVERGES
        yield Compared(about=claim.about, field=name, verdict=verdict, api=said, database=there)


def overall(fields: Iterable[Compared]) -> Verdict:
    """Returns DIVERGES if anything does, else UNKNOWN if anything is, or if nothing was compared, else AGREES."""
    verdicts = {one.verdict for one in fields}
    if Verdict.DIVERGES in verdicts:
        return Verdict.DIVERGES
    return Verdict.AGREES if verdicts == {Verdict.AGREES} else Verdict.UNKNOWN
