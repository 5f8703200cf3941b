"""From a report to what a reader gets: tables, and the questions that went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from evals.figures import Sheet, Wrong
from evals.retrieval.measures import FIRST, Figures, figures
from evals.retrieval.questions import SPLITS
from evals.retrieval.suite import HYBRID, Changed, Report
from tributary.core.ranking import VERSION

KINDS = {"answerable": "answerable", "near": "not answerable, from operations", "far": "not answerable, from elsewhere"}


def sheets(report: Report) -> tuple[Sheet, ...]:
    """Returns the tables: searches, rankings, what came back empty, other floors, answers that were superseded."""
    return _compared(report), _rankings(report), _emptiness(report), _floors(report), _changed(report)


def _compared(report: Report) -> Sheet:
    heads = ["search"]
    for split in SPLITS:
        heads += [f"{split}: questions", f"recall@{FIRST}", "MRR"]
    rows = []
    for name in report.compared.places:
        cells = [name]
        for split in SPLITS:
            found = report.compared.of(name, split)
            cells += [str(found.questions), f"{found.recall:.3f}", f"{found.mrr:.3f}"]
        rows.append(tuple(cells))
    return Sheet(title=f"{report.sections} sections of foreign runbooks, ranking {VERSION}", heads=tuple(heads), rows=tuple(rows))


def _rankings(report: Report) -> Sheet:
    heads = ("split", "ranking", f"lessons of one day: recall@{FIRST}", "MRR", f"of mixed ages: recall@{FIRST}", "MRR")
    rows = []
    for one in report.rankings:
        shown = (one.new.recall, one.new.mrr, one.mixed.recall, one.mixed.mrr)
        rows.append((one.split, one.name, *(f"{value:.3f}" for value in shown)))
    return Sheet(title="The same hits, ranked", heads=heads, rows=tuple(rows), numbers=2)


def _emptiness(report: Report) -> Sheet:
    rows = []
    for kind, said in KINDS.items():
        of = {one.split: one for one in report.emptiness if one.kind == kind}
        rows.append((said, *(f"{of[split].empty} of {of[split].questions}" if split in of else "" for split in SPLITS)))
    return Sheet(title=f"Came back empty, floor {report.floor:.2f}", heads=("questions", *SPLITS), rows=tuple(rows))


def _floors(report: Report) -> Sheet:
    heads = ("split", "floor", "empty: answerable", "from operations", "from elsewhere", f"recall@{FIRST}", "MRR")
    rows = []
    for one in report.floors:
        shares = (f"{one.empty[kind]:.1%}" if kind in one.empty else "" for kind in KINDS)
        rows.append((one.split, f"{one.floor:.2f}", *shares, f"{one.answerable.recall:.3f}", f"{one.answerable.mrr:.3f}"))
    return Sheet(title="What another floor would do", heads=heads, rows=tuple(rows))


def _changed(report: Report) -> Sheet:
    heads = ("split", "asked", "expected", f"recall@{FIRST}", "MRR", "the other one shown")
    rows = []
    for split in SPLITS:
        of = [one for one in report.changed if one.asked.split == split]
        for said, expected, found, wrong in (
            ("now", "the new one", now(of), sum(one.old_now is not None for one in of)),
            ("as of before", "the old one", before(of), sum(one.new_before is not None for one in of)),
        ):
            rows.append((split, said, expected, f"{found.recall:.3f}", f"{found.mrr:.3f}", f"{wrong} of {len(of)}"))
    return Sheet(title="Answers that a curator replaced", heads=heads, rows=tuple(rows), numbers=3)


def now(of: Sequence[Changed]) -> Figures:
    """Returns how the new answers are found after the change."""
    return figures([one.new_now for one in of])


def before(of: Sequence[Changed]) -> Figures:
    """Returns how the old answers are found as of before it."""
    return figures([one.old_before for one in of])


def missed(report: Report) -> tuple[Wrong, ...]:
    """Returns each question whose right answer recall did not show among the first FIRST."""
    return tuple(
        Wrong(id=asked.id, split=asked.split, said=f"at {found or '-'}: {asked.question}  [{', '.join(asked.right)}]")
        for asked, found in zip(report.compared.asked, report.compared.places[HYBRID], strict=True)
        if found is None or found > FIRST
    )
