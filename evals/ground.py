"""The database of a run: one of its own that vanishes, or one that is given and keeps the history of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from uuid import UUID

from benchmarks.ground import Ground, open_ground
from tributary.core.errors import WrongStanding
from tributary.core.ports import Embedder

DATABASE = "tributary_evals"
PREFIX = "evals-"


@contextmanager
def lazy_ground(url: str | None, *, embedder: Embedder, run_id: UUID) -> Iterator[Callable[[], Ground]]:
    """Yields what gives the run's database, which is opened when it is first asked for.

    Raises WrongStanding for a given one that holds other tribes than those of runs: a run makes tribes by the hundred.
    """
    with ExitStack() as stack:
        opened: list[Ground] = []

        def ground() -> Ground:
            if not opened:
                opened.append(
                    _given(stack, url, embedder, run_id) if url else stack.enter_context(open_ground(DATABASE, embedder=embedder))
                )
            return opened[0]

        yield ground


def _given(stack: ExitStack, url: str, embedder: Embedder, run_id: UUID) -> Ground:
    ground = Ground(url, embedder=embedder, prefix=f"{PREFIX}{run_id.hex}-")
    stack.callback(ground.close)
    strangers = [tribe.name for tribe in ground.operator.tribes() if not tribe.name.startswith(PREFIX)]
    if strangers:
        raise WrongStanding(f"the database holds the tribe '{strangers[0]}', so it is not one for evals alone; make one for them")
    return ground
