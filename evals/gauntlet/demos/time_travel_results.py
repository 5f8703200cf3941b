"""What the time-travel demo reports."""

from __future__ import annotations

from evals.gauntlet.results import Claimed, Report


class MomentReport(Report):
    """One moment. `truth` is what the script recorded, `then` what a recall said at once; the others were asked at the end."""

    happened: str
    tick: int
    at: str
    truth: str
    then: str
    as_of_tick: str
    as_of_time: str
    now: str
    verified: str


class TimeTravelReport(Claimed):
    """`forged` are the verdicts on receipts into which other hits were put."""

    about: str
    query: str
    moments: list[MomentReport]
    forged: list[str]
