"""From a report to what a reader gets: tables for the terminal, one JSON document, and the questions that went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from evals.retrieval.measures import FIRST, Figures, figures
from evals.retrieval.questions import SPLITS
from evals.retrieval.suite import HYBRID, Changed, Emptiness, Report
from tributary.core.ranking import VERSION

KINDS = {"answerable": "answerable", "near": "not answerable, from operations", "far": "not answerable, from elsewhere"}


def tables(report: Report) -> list[RenderableType]:
    """Returns the three tables: searches compared, questions that the corpus cannot answer, answers that were superseded."""
    return [_compared(report), _emptiness(report), _changed(report)]


def _compared(report: Report) -> Table:
    drawn = _table(f"{report.sections} sections, ranking {VERSION}, {report.space}")
    drawn.add_column("search", no_wrap=True)
    for split in SPLITS:
        drawn.add_column(f"{split}: questions", justify="right")
        drawn.add_column(f"recall@{FIRST}", justify="right")
        drawn.add_column("MRR", justify="right")
    for name in report.compared.places:
        cells: list[str | Text] = []
        for split in SPLITS:
            found = report.compared.of(name, split)
            cells += [str(found.questions), _bold(found.recall, name), _bold(found.mrr, name)]
        drawn.add_row(name, *cells)
    return drawn


def _emptiness(report: Report) -> Table:
    drawn = _table(f"came back empty, floor {report.floor:.2f}")
    drawn.add_column("questions", no_wrap=True)
    for split in SPLITS:
        drawn.add_column(split, justify="right")
    for kind, said in KINDS.items():
        of = {one.split: one for one in report.emptiness if one.kind == kind}
        drawn.add_row(said, *(f"{of[split].empty} of {of[split].questions}" if split in of else "" for split in SPLITS))
    return drawn


def _changed(report: Report) -> Table:
    drawn = _table("answers that a curator replaced")
    for name in ("split", "asked", "expected", f"recall@{FIRST}", "MRR", "the other one shown"):
        drawn.add_column(name, justify="left" if name in ("split", "asked", "expected") else "right")
    for split in SPLITS:
        of = [one for one in report.changed if one.asked.split == split]
        for said, expected, found, wrong in (
            ("now", "the new one", _now(of), sum(one.old_now is not None for one in of)),
            ("as of before", "the old one", _before(of), sum(one.new_before is not None for one in of)),
        ):
            drawn.add_row(split, said, expected, f"{found.recall:.3f}", f"{found.mrr:.3f}", f"{wrong} of {len(of)}")
    return drawn


def document(report: Report) -> dict[str, object]:
    """Returns all figures, and for each question where its answer stood."""
    compared = report.compared
    return {
        "sections": report.sections,
        "ranking": VERSION,
        "space": report.space,
        "floor": report.floor,
        "searches": {name: {split: compared.of(name, split).document() for split in SPLITS} for name in compared.places},
        "empty": [_empty(one) for one in report.emptiness],
        "superseded": {
            split: {
                "now": _now(of).document() | {"old_shown": sum(one.old_now is not None for one in of)},
                "before": _before(of).document() | {"new_shown": sum(one.new_before is not None for one in of)},
            }
            for split in SPLITS
            for of in [[one for one in report.changed if one.asked.split == split]]
        },
        "places": {
            asked.id: {name: places[number] for name, places in compared.places.items()}
            for number, asked in enumerate(compared.asked)
        },
        "holds": report.holds,
    }


def errors(report: Report, split: str) -> list[str]:
    """Returns a line for each question of the split whose right answer recall did not show among the first FIRST."""
    return [
        f"{asked.id} at {found or '-'}: {asked.question}  [{', '.join(asked.right)}]"
        for asked, found in zip(report.compared.asked, report.compared.places[HYBRID], strict=True)
        if asked.split == split and (found is None or found > FIRST)
    ]


def _now(of: Sequence[Changed]) -> Figures:
    return figures([one.new_now for one in of])


def _before(of: Sequence[Changed]) -> Figures:
    return figures([one.old_before for one in of])


def _empty(one: Emptiness) -> dict[str, object]:
    return {"kind": one.kind, "split": one.split, "questions": one.questions, "empty": one.empty}


def _bold(value: float, name: str) -> Text:
    return Text(f"{value:.3f}", style="bold" if name == HYBRID else "")


def _table(title: str) -> Table:
    return Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
