"""A gardener's run: every rule in every tribe, as far as the time goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from tributary.access import Ledger
from tributary.core.clock import Now, utc_now
from tributary.core.errors import NotFound, TributaryError, Unavailable
from tributary.core.evidence import EvidenceStore
from tributary.core.garden import GardenReport, Rule, TribeReport
from tributary.garden.budget import Budget, never
from tributary.garden.doubt import doubt
from tributary.garden.embed import embed
from tributary.garden.ended import keep
from tributary.garden.evict import evict
from tributary.garden.index import index
from tributary.garden.prune import prune, prune_files
from tributary.garden.quiet import Quiet
from tributary.garden.rejudge import rejudge
from tributary.garden.rescreen import rescreen
from tributary.garden.settle import settle
from tributary.garden.stamp import stamp
from tributary.garden.visit import Keeping, Tools, Visit, survey
from tributary.learn import Learner
from tributary.store import Database, statement
from tributary.telemetry import Event, Span, log, traces

Tribe = tuple[UUID, str]
"""Id and name."""
BUDGET_S = 60.0
Stopped = Callable[[], bool]
"""Tells that the process is about to end."""


class Gardener:
    """Tends tribes. Each rule is idempotent and safe beside learners and other gardeners; how often it runs changes no belief."""

    def __init__(
        self,
        *,
        database: Database,
        learner: Learner,
        exact_limit: int,
        ledger: Ledger,
        keeping: Keeping | None = None,
        evidence: EvidenceStore | None = None,
        now: Now = utc_now,
    ) -> None:
        self._tools = Tools(
            database=database,
            learner=learner,
            exact_limit=exact_limit,
            keeping=keeping or Keeping(),
            ledger=ledger,
            database_time=now is utc_now,
            evidence=evidence,
        )
        self._now = now
        self._quiet = Quiet()

    def run(
        self, tribe_id: UUID, *, dry_run: bool = False, budget_s: float | None = BUDGET_S, stopped: Stopped = never
    ) -> GardenReport:
        """Tends one tribe, and begins nothing after `budget_s` seconds (None: until all is done) or once `stopped`.

        Raises NotFound, and Unavailable when the database is away from the start.
        """
        known = [tribe for tribe in self._tribes() if tribe[0] == tribe_id]
        if not known:
            raise NotFound("there is no such tribe")
        return self._sweep(known, dry_run=dry_run, budget=Budget(budget_s, stopped=stopped))

    def run_named(self, name: str, *, dry_run: bool = False, budget_s: float | None = BUDGET_S) -> GardenReport:
        """Tends the tribe of this name, as `run` does."""
        known = [tribe for tribe in self._tribes() if tribe[1] == name]
        if not known:
            raise NotFound(f"there is no tribe named '{name}'")
        return self._sweep(known, dry_run=dry_run, budget=Budget(budget_s))

    def run_all(self, *, dry_run: bool = False, budget_s: float | None = BUDGET_S, stopped: Stopped = never) -> GardenReport:
        """Tends every tribe, each within its share of the time that is left."""
        return self._sweep(self._tribes(), dry_run=dry_run, budget=Budget(budget_s, stopped=stopped))

    def _tend(self, visit: Visit) -> None:
        with visit.working(Rule.SETTLE) as tally:
            settle(visit, tally)
        with visit.working(Rule.RESCREEN) as tally:
            rescreen(visit, tally)
        with visit.working(Rule.REJUDGE) as tally:
            rejudge(visit, tally)
        if visit.busy and not visit.dry_run:
            visit.look_again()
        with visit.working(Rule.STAMP) as tally:
            stamp(visit, tally, self._quiet)
        with visit.working(Rule.EVICT) as tally:
            evict(visit, tally, self._quiet)
        with visit.working(Rule.EMBED) as tally:
            embed(visit, tally)
        with visit.working(Rule.INDEX) as tally:
            index(visit, tally)
        with visit.working(Rule.DOUBT) as tally:
            doubt(visit, tally)
        with visit.working(Rule.PRUNE) as tally:
            prune(visit, tally)
            prune_files(visit, tally)

    def _sweep(self, tribes: Sequence[Tribe], *, dry_run: bool, budget: Budget) -> GardenReport:
        began = time.monotonic()
        reports: list[TribeReport] = []
        failed: str | None = None
        with log.operation(), traces.span(Span.GARDEN, tribes=len(tribes)) as span:
            for number, tribe in enumerate(tribes):
                report = self._visited(tribe, dry_run=dry_run, budget=budget.share(len(tribes) - number))
                reports.append(report)
                if report.failed == Unavailable.code:  # each of the others would wait for the database as long, and in vain
                    failed = report.failed
                    span.failed(failed)
                    break
            result = GardenReport(
                dry_run=dry_run,
                tribes=tuple(reports),
                waiting=len(tribes) - len(reports),
                failed=failed,
                ms=(time.monotonic() - began) * 1000,
            )
            _log(result)
        return result

    def _visited(self, tribe: Tribe, *, dry_run: bool, budget: Budget) -> TribeReport:
        tribe_id, name = tribe
        began = time.monotonic()
        visit: Visit | None = None
        failed: str | None = None
        with (
            log.operation(tribe=name),
            self._tools.ledger.on(tribe_id),
            traces.span(Span.GARDEN_TRIBE, tribe=tribe_id) as span,
        ):
            try:
                now: datetime = self._now()
                found = survey(self._tools, tribe_id, now)
                visit = Visit(
                    tools=self._tools,
                    tribe_id=tribe_id,
                    name=name,
                    now=now,
                    budget=budget,
                    dry_run=dry_run,
                    survey=found,
                )
                self._tend(visit)
            except TributaryError as error:
                failed = error.code
                span.failed(failed)
                log.event(Event.GARDEN_FAILED, level=log.WARNING, error=error, rule=None, code=error.code)
            ms = (time.monotonic() - began) * 1000
            if visit is None:
                report = TribeReport(tribe_id=tribe_id, name=name, rules=(), failed=failed, ms=ms)
            else:
                report = visit.report(failed=failed, ms=ms)
            if not dry_run:
                keep(self._tools, report)
        return report

    def _tribes(self) -> list[Tribe]:
        return [(row[0], row[1]) for row in self._tools.database.rows(statement("garden", "tribes"), {})]


def _log(report: GardenReport) -> None:
    total = report.total
    log.event(
        Event.GARDEN_SWEPT,
        dry_run=report.dry_run,
        tribes=len(report.tribes),
        waiting=report.waiting,
        done=sum(one.done for one in total),
        left=sum(one.left for one in total),
        refused=sum(sum(one.refused.values()) for one in total),
        failed=",".join(one.rule for one in total if one.failed) or None,
        code=report.failed,
        ms=round(report.ms, 1),
    )
