"""A writer and its replica as one thing to read from: who is asked, in which order, and whose word is final."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tributary.core.errors import InvalidRequest, NotFound, TributaryError, Unavailable
from tributary.store import Database, Replicated, Target, Watched
from tributary.store.database import Parameters
from tributary.store.patience import AWAY_S

Said = object | TributaryError


class Saying(Database):
    """A database that says one thing, and notes how often it may be tried for it."""

    def __init__(self, says: Said, asked: list[tuple[str, int | None]], name: str) -> None:
        super().__init__(Target(url="postgresql://127.0.0.1:1/none"), name=name)
        self.says = says
        self._asked = asked

    def value(self, query: str, parameters: Parameters, *, attempts: int | None = None) -> object:
        self._asked.append((self._name, attempts))
        if isinstance(self.says, TributaryError):
            raise self.says
        return self.says


class Scene:
    """A pair, who was asked, and a clock that stands."""

    def __init__(self, *, writer: Said, replica: Said, replica_first: bool = True) -> None:
        self.asked: list[tuple[str, int | None]] = []
        self.now = 100.0
        self.writer, self.replica = Saying(writer, self.asked, "writer"), Saying(replica, self.asked, "replica")
        watched: Callable[[Saying, bool], Watched] = lambda database, is_writer: Watched(  # noqa: E731  (the clock is ours)
            database, is_writer=is_writer, clock=lambda: self.now
        )
        self.pair = Replicated(
            writer=watched(self.writer, True), replica=watched(self.replica, False), replica_first=replica_first
        )

    def value(self) -> object:
        return self.pair.value("SELECT 1", {})

    def order(self) -> list[str]:
        self.asked.clear()
        try:
            self.value()
        except TributaryError:
            return [*[name for name, _ in self.asked], "refused"]
        return [name for name, _ in self.asked]


@pytest.mark.parametrize(
    ("replica_first", "writer", "replica", "asked"),
    [
        (True, "w", "r", ["replica"]),
        (True, "w", None, ["replica", "writer"]),
        (True, None, None, ["replica", "writer"]),
        (True, "w", NotFound(), ["replica", "writer"]),
        (True, "w", Unavailable(), ["replica", "writer"]),
        (True, InvalidRequest("as_of", "no"), InvalidRequest("as_of", "no"), ["replica", "writer", "refused"]),
        (True, Unavailable(), None, ["replica", "writer", "refused"]),
        (False, "w", "r", ["writer"]),
        (False, None, "r", ["writer"]),
        (False, NotFound(), "r", ["writer", "refused"]),
        (False, Unavailable(), "r", ["writer", "replica"]),
        (False, Unavailable(), None, ["writer", "replica", "refused"]),
        (False, Unavailable(), NotFound(), ["writer", "replica", "refused"]),
    ],
)
def test_a_replicas_answer_will_do_but_what_is_not_there_only_the_writer_can_say(
    replica_first: bool, writer: Said, replica: Said, asked: list[str]
) -> None:
    assert Scene(writer=writer, replica=replica, replica_first=replica_first).order() == asked


@pytest.mark.parametrize("replica", [None, NotFound(), Unavailable()])
def test_nobody_is_told_that_there_is_nothing_while_the_writer_is_away(replica: Said) -> None:
    scene = Scene(writer=Unavailable("the writer"), replica=replica)
    with pytest.raises(Unavailable, match="the writer"):
        scene.value()


def test_what_was_away_is_asked_last_and_once_for_a_while_and_first_again_when_it_is_back() -> None:
    scene = Scene(writer=Unavailable(), replica="r", replica_first=False)
    assert scene.order() == ["writer", "replica"]
    assert scene.order() == ["replica"]
    scene.replica.says = None
    assert scene.order() == ["replica", "writer", "refused"]
    assert scene.asked == [("replica", None), ("writer", 1)]
    scene.writer.says, scene.now = "w", scene.now + AWAY_S
    assert scene.order() == ["writer"]
    assert scene.asked == [("writer", None)]
