"""Ending what a run made, whatever came of it: also lessons that were committed while their replies were lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice

from tributary.contract.models import LessonReply, Status
from tributary.edges.cli.live.stage import Stage

_ENDED = ("not_found", "wrong_standing")
"""What ending something says that has ended, or never was."""
_STANDING: tuple[Status, ...] = ("disputed", "pending", "active")
"""In the order in which a lesson goes through them by itself: one that moves while they are listed is met all the same."""
_NEWEST = 1000
"""So many lessons of each standing are looked through."""

Revoke = Callable[[str], None]
"""Ends an agent by its name."""
_Waiting = deque[tuple[str, Callable[[], object]]]


def cleaned(stage: Stage, revoke: Revoke) -> tuple[str, ...]:
    """Revokes the agents, retires the lessons, ends the actions and takes the cases off the review queue.

    Returns what could not be ended.

    The agents go first: what one of them has under way when the run is interrupted is refused from then on, so that no lesson
    comes after the look for those that no reply told of. Nothing is asked for that this run cannot have made.
    """
    waiting: _Waiting = deque((f"agent {name}", partial(revoke, name)) for name in reversed(stage.names))
    if stage.began_at is not None:
        waiting.extend(_lesson(stage, one) for one in reversed(stage.lessons))
        waiting.append(("lessons that no reply told of, if there are any", partial(_found, stage, waiting)))
        waiting.append(("cases of the review queue", partial(_reviews_closed, stage)))
    waiting.extend((f"action {action}", partial(_action, stage, action, lease)) for action, lease in stage.actions.values())
    if stage.own_curator is not None:
        waiting.append((f"agent {stage.own_curator}", partial(revoke, stage.own_curator)))
    left: list[str] = []
    try:
        while waiting:
            what, end = waiting[0]
            try:
                end()
            except Exception as error:
                code = getattr(error, "code", None)
                if code not in _ENDED:
                    left.append(f"{what} ({code or type(error).__name__})")
            waiting.popleft()
    except KeyboardInterrupt:
        left += [what for what, _ in waiting]
    return tuple(left)


def _lesson(stage: Stage, lesson: str) -> tuple[str, Callable[[], object]]:
    return f"lesson {lesson}", partial(stage.curator.memory.retire, lesson)


def _action(stage: Stage, action: str, lease: str) -> None:
    """Ends what is still under way or in doubt: nothing that these actions speak of ever happened."""
    stage.curator.memory.actions.fail(action, lease, f"verify-live {stage.word} was ended")


def _found(stage: Stage, waiting: _Waiting) -> None:
    """Has lessons of this run that still stand, and that no reply told of, ended next."""
    for one in [one for one in _standing(stage) if stage.made(one) and one.id not in stage.lessons]:
        stage.lessons.append(one.id)
        waiting.insert(1, _lesson(stage, one.id))


def _standing(stage: Stage) -> Iterator[LessonReply]:
    """Yields the newest lessons that are believed, may come to be, or are held back."""
    memory = stage.curator.memory
    listed = (islice(memory.lessons(status=status, page_size=100), _NEWEST) for status in _STANDING)
    held = (one.lesson for one in islice(memory.curation.quarantine(page_size=100), _NEWEST))
    return chain(held, chain.from_iterable(listed))


def _reviews_closed(stage: Stage) -> None:
    ours = set(stage.lessons)
    curation = stage.curator.memory.curation
    for one in [review for review in islice(curation.reviews(), 200) if ours & set(review.lessons)]:
        curation.reject_review(one.id, reason=f"verify-live {stage.word}")
