"""Accepting and rejecting cases, in an order in which a crash doubles nothing and leaves nothing behind.

    note what is begun -> write the row -> tell the queue -> forget the note

The row's id follows from the case, so it is never there twice. When the case is gone by the time that the queue is told (it was
erased, or somebody rejected it), the row is taken out again. What a run that died has left is set right by the next one: the row
stays only if the queue had taken the case off for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from evals.review.effect import effect_lines, standing
from evals.review.golden import Begun, Golden
from evals.review.rows import CannotAccept, Row, Wanted, row_id, row_of
from tributary.client import NotFound, Review, ReviewClosed, WrongStanding
from tributary.client.curation_calls import ReviewFilter

Confirm = Callable[[Row], bool]
"""Shows a person what goes into the repository and asks whether it may."""


class Queue(Protocol):
    """The part of the SDK's curation that is used."""

    def reviews(self, state: ReviewFilter = ...) -> Iterable[Review]: ...

    def accept_review(self, review: str, *, golden: str, idempotency_key: str | None = ...) -> ReviewClosed: ...

    def reject_review(self, review: str, *, reason: str | None = ..., idempotency_key: str | None = ...) -> ReviewClosed: ...


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A curator's queue, and the golden files of a checkout."""

    queue: Queue
    golden: Golden

    def find(self, review: str) -> Review:
        """Returns a case in whatever state; raises CannotAccept when there is none."""
        for case in self.queue.reviews("any"):
            if case.id == review:
                return case
        raise CannotAccept(f"there is no case {review}; what it was about may have been erased")

    def accept(self, review: str, wanted: Wanted, confirm: Confirm) -> list[str]:
        """Makes a case a row of a golden set and takes it off the queue; returns what to say of it. Raises CannotAccept."""
        case = self.find(review)
        if case.state == "rejected" or (case.state == "accepted" and case.golden != row_id(case)):
            raise CannotAccept(f"the case was {case.state} already")
        row = row_of(case, wanted)
        there = self.golden.find(row.id)
        if there is not None:
            return self._again(case.id, row, *there)
        twin = self.golden.alike(row)
        if twin is not None:
            raise CannotAccept(f"{twin} says the very same; reject the case with --reason 'as {twin}'")
        if not confirm(row):
            raise CannotAccept("nothing was changed")
        split = str(row.fields["split"])
        before = standing(row.file, self.golden.rows(row.file), split)
        self._write(case.id, row)
        after = standing(row.file, self.golden.rows(row.file), split)
        return [f"accepted: {case.id} as {row.id} in {row.file}", *effect_lines(row.file, split, before, after)]

    def reject(self, review: str, reason: str | None) -> list[str]:
        """Takes a case off the queue; returns what to say of it. Raises the SDK's errors."""
        closed = self.queue.reject_review(review, reason=reason)
        return [f"{closed.state}: {closed.review}"]

    def set_right(self) -> list[str]:
        """Ends what an earlier run began: its row stays if the queue has the case as accepted so, and goes otherwise."""
        begun = self.golden.begun()
        if begun is None:
            return []
        case = next((one for one in self.queue.reviews("any") if one.id == begun.review), None)
        said = [] if case is not None and case.golden == begun.golden else self._take_back(begun)
        self.golden.end()
        return said

    def _again(self, review: str, row: Row, file: str, fields: Mapping[str, object]) -> list[str]:
        """Tells the queue of a row that is there already: accepted before, or for the same case of another tribe."""
        if fields["label"] != row.fields["label"]:
            raise CannotAccept(f"{row.id} is in {file} already, as '{fields['label']}'; if that is wrong, change it there")
        self._tell(review, row.id)
        return [f"accepted: {review} as {row.id}, which is in {file} already"]

    def _write(self, review: str, row: Row) -> None:
        begun = Begun(review=review, golden=row.id, file=row.file)
        self.golden.begin(begun)
        self.golden.add(row)
        try:
            self._tell(review, row.id)
        except (NotFound, WrongStanding) as error:
            said = self._take_back(begun)
            self.golden.end()
            raise CannotAccept("; ".join([f"the case is gone meanwhile: {error.detail}", *said])) from error
        self.golden.end()

    def _tell(self, review: str, row: str) -> None:
        self.queue.accept_review(review, golden=row, idempotency_key=f"golden:{review}:{row}")

    def _take_back(self, begun: Begun) -> list[str]:
        taken = self.golden.take_out(begun.golden)
        return [f"the row {begun.golden}, which was begun for {begun.review}, was taken out of {begun.file}"] if taken else []
