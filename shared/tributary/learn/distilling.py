"""Lessons proposed from a transcript. None is learned here: whoever wants them hands them to learn, as any others."""

from __future__ import annotations

from dataclasses import dataclass

from tributary.access import Admission
from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, left_of_day_s, utc_now
from tributary.core.errors import InvalidRequest, NotSetUp, RateLimited
from tributary.core.limits import DISTILLED_LESSONS
from tributary.core.ports import Distiller
from tributary.core.spending import account
from tributary.core.transcript import Distilled, Transcript
from tributary.telemetry import Event, log


@dataclass(frozen=True, kw_only=True)
class Distilling:
    """Asks the distiller that is set up, within the pace of writes and the budget of the day."""

    admission: Admission
    distiller: Distiller | None
    now: Now = utc_now

    def distill(
        self, principal: Principal, transcript: Transcript, *, most: int = DISTILLED_LESSONS, deadline_s: float | None = None
    ) -> Distilled:
        """Returns what may be worth learning from `transcript`.

        Counts as one write, whether or not anything comes of it. Raises Forbidden, InvalidRequest, NotSetUp, RateLimited (also
        when the budget of the day is spent) and ModelFailed.
        """
        principal.require(Role.WRITER)
        if not 1 <= most <= DISTILLED_LESSONS:
            raise InvalidRequest("most", f"must be from 1 to {DISTILLED_LESSONS}")
        transcript.check()
        if self.distiller is None:
            raise NotSetUp(
                "no language model is set up to distill transcripts; whoever runs the server can choose one: TRIBUTARY_DISTILLER"
            )
        self.admission.admit(principal, "distill", {}, None)
        if not account().may_spend():
            raise RateLimited(
                "the tribe's budget for models is spent for this day (UTC)", retry_after_s=left_of_day_s(self.now())
            )
        distilled = self.distiller.distill(transcript, most=most, timeout_s=deadline_s)
        log.event(
            Event.DISTILLED,
            model=distilled.model,
            turns=len(transcript.turns),
            lessons=len(distilled.lessons),
            dropped=sum(distilled.dropped.values()),
            unread=len(distilled.unread),
        )
        return distilled
