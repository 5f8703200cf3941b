"""A database that did not answer is spared for a while, and then looked after by one caller at a time."""

from __future__ import annotations

import psycopg
import pytest

from tributary.core.errors import Unavailable
from tributary.store.patience import AWAY_S, Absence, OutOfTime


class Scene:
    def __init__(self) -> None:
        self.now = 100.0
        self.absence = Absence(clock=lambda: self.now)

    def dials(self, raising: Exception | None = None) -> bool:
        """Tells whether the database was dialled, which raised that."""
        dialled = False
        try:
            with self.absence.dialing():
                dialled = True
                if raising is not None:
                    raise raising
        except (psycopg.Error, Unavailable):
            pass
        return dialled


TIMED_OUT = psycopg.errors.ConnectionTimeout()


def test_after_a_time_out_nobody_dials_for_a_while_and_after_each_further_one() -> None:
    scene = Scene()
    for _ in range(2):
        assert scene.dials(TIMED_OUT)
        assert not scene.dials()
        scene.now += AWAY_S
    assert scene.dials()
    assert scene.dials()


def test_one_caller_at_a_time_looks_whether_it_is_back_and_then_all_dial() -> None:
    scene = Scene()
    scene.absence.begin()
    scene.now += AWAY_S
    with scene.absence.dialing():
        assert not scene.dials()
    assert scene.dials()
    with scene.absence.dialing():
        assert scene.dials()


@pytest.mark.parametrize("error", [OutOfTime(), ValueError()])
def test_a_caller_who_did_not_wait_for_the_answer_leaves_the_looking_to_the_next(error: Exception) -> None:
    scene = Scene()
    scene.absence.begin()
    scene.now += AWAY_S
    with pytest.raises(type(error)), scene.absence.dialing():
        raise error
    with scene.absence.dialing():
        assert not scene.dials()


def test_a_server_that_refuses_is_dialled_again_at_once() -> None:
    scene = Scene()
    scene.absence.begin()
    scene.now += AWAY_S
    assert scene.dials(psycopg.OperationalError())
    assert scene.dials(psycopg.OperationalError())
