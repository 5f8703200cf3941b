"""The suite: each set of questions put to the library, and what that amounts to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from evals.bench import Progress
from evals.retrieval.ages import ranked_as_mixed, ranked_as_new, score_now, score_v1
from evals.retrieval.baselines import Bm25Only, RarityOnly, VectorOnly
from evals.retrieval.floors import Floored, floored
from evals.retrieval.library import Library
from evals.retrieval.measures import Figures, figures, place
from evals.retrieval.pools import Pooled, pooled
from evals.retrieval.questions import SPLITS, Asked, Set
from tributary.core.clock import utc_now
from tributary.core.ports import Embedder
from tributary.core.ranking import VERSION

HYBRID = "hybrid (recall)"
Search = Callable[[str], list[UUID]]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """How the searches did on the answerable questions: by search, the place of the first right answer to each question.

    `alone` names the searches by one side of the search only.
    """

    asked: tuple[Asked, ...]
    places: Mapping[str, tuple[int | None, ...]]
    alone: tuple[str, ...]

    def of(self, search: str, split: str) -> Figures:
        return figures([one for asked, one in zip(self.asked, self.places[search], strict=True) if asked.split == split])


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """How a ranking orders what recall found: with all lessons of one day, and with lessons of mixed ages (see ages)."""

    name: str
    split: str
    new: Figures
    mixed: Figures


@dataclass(frozen=True, kw_only=True)
class Emptiness:
    """How many of the questions of one kind came back with nothing."""

    kind: str
    split: str
    questions: int
    empty: int

    @property
    def share(self) -> float:
        return self.empty / self.questions if self.questions else 0.0


@dataclass(frozen=True, kw_only=True)
class Changed:
    """One superseded question: places now and as of the tick before the change, of the new answer and of the old one."""

    asked: Asked
    new_now: int | None
    old_now: int | None
    new_before: int | None
    old_before: int | None


@dataclass(frozen=True, kw_only=True)
class Report:
    sections: int
    space: str
    floor: float
    compared: Compared
    rankings: tuple[Ranking, ...]
    floors: tuple[Floored, ...]
    emptiness: tuple[Emptiness, ...]
    changed: tuple[Changed, ...]


def run(library: Library, asked: Sequence[Asked], embedder: Embedder, progress: Progress) -> Report:
    """Puts all questions to the library. The superseded ones come last, since they change it."""
    progress.step("embedding the sections for the baselines")
    held = library.sections, library.ids
    alone = (VectorOnly(*held, embedder), RarityOnly(*held), Bm25Only(*held))
    searches: dict[str, Search] = {**{one.name: one.found for one in alone}, HYBRID: library.found}
    answerable = [one for one in asked if one.set is Set.ANSWERABLE]
    places: dict[str, tuple[int | None, ...]] = {}
    for name, search in searches.items():
        progress.step(f"asking {len(answerable)} questions: {name}")
        places[name] = tuple(place(search(one.question), library.ids_of(one.right)) for one in answerable)
    progress.step("ranking anew what is found, with lessons of mixed ages and with other floors")
    now = utc_now()
    pools = pooled(library, [one for one in asked if one.set is not Set.SUPERSEDED])
    rankings = _rankings(library, [one for one in pools if one.asked.set is Set.ANSWERABLE], now)
    floors = tuple(one for split in SPLITS for one in floored(pools, split=split, floor=embedder.space.floor, at=now))
    progress.step("asking what no section answers")
    emptiness = _emptiness(library, asked)
    progress.step("replacing sections and asking about them")
    changed = _changed(library, [one for one in asked if one.set is Set.SUPERSEDED])
    return Report(
        sections=len(library.sections),
        space=embedder.space.name,
        floor=embedder.space.floor,
        compared=Compared(asked=tuple(answerable), places=places, alone=tuple(one.name for one in alone)),
        rankings=rankings,
        floors=floors,
        emptiness=emptiness,
        changed=changed,
    )


def _rankings(library: Library, pools: Sequence[Pooled], at: datetime) -> tuple[Ranking, ...]:
    found = []
    for split in SPLITS:
        of = [one for one in pools if one.asked.split == split]
        for name, score in ((VERSION, score_now), ("v1, the control", score_v1)):
            new, mixed = ranked_as_new(of, score, at=at), ranked_as_mixed(of, library.ids, score, at=at)
            found.append(Ranking(name=name, split=split, new=new, mixed=mixed))
    return tuple(found)


def _emptiness(library: Library, asked: Sequence[Asked]) -> tuple[Emptiness, ...]:
    empty: dict[tuple[str, str], list[bool]] = {}
    for one in asked:
        if one.set is not Set.SUPERSEDED:
            empty.setdefault((one.kind, one.split), []).append(not library.found(one.question))
    return tuple(
        Emptiness(kind=kind, split=split, questions=len(of), empty=sum(of))
        for (kind, split), of in sorted(empty.items(), key=lambda item: (item[0][0], SPLITS.index(item[0][1])))
    )


def _changed(library: Library, superseded: Sequence[Asked]) -> tuple[Changed, ...]:
    replaced = [(one, library.ids_of(one.right), {library.replace(one)}) for one in superseded]
    changed = []
    for one, old, new in replaced:
        now, before = library.found(one.question), library.found(one.question, as_of=library.filled_at)
        changed.append(
            Changed(
                asked=one,
                new_now=place(now, new),
                old_now=place(now, old),
                new_before=place(before, new),
                old_before=place(before, old),
            )
        )
    return tuple(changed)
