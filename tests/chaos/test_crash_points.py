"""A learner is killed at each point of its way: its lesson is wholly there or wholly not, and every retry is told the same."""

from __future__ import annotations

import signal
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.chaos.books import OTHER_TERMS, complaints, state
from tests.chaos.crashing import Answer, Death
from tests.chaos.interception import Interceptor, When
from tests.chaos.scene import LEARNS, Child, Learn, Scene, gate_held, set_scene, socket_of, through
from tests.tribes import Tribal

KILLED = -signal.SIGKILL
every_learn = pytest.mark.parametrize("learn", LEARNS.values(), ids=LEARNS.keys())


IN_A_MODEL = [
    (name, death)
    for name in LEARNS
    for death in (Death.SCREENING, Death.EMBEDDING, Death.JUDGING)
    if (name, death) != ("quarantined", Death.JUDGING)  # what is held back is never judged
]


@pytest.mark.parametrize(("name", "death"), IN_A_MODEL)
def test_death_in_a_model_leaves_nothing(tribal: Tribal, child: Child, name: str, death: Death) -> None:
    scene = set_scene(tribal, LEARNS[name])
    child.is_told(scene.order(death=death))
    assert child.ends() == KILLED
    assert not scene.was_committed()
    scene.ends_well()


def _killed_on_the_wire(scene: Scene, child: Child, name: str, when: When) -> None:
    url = scene.tribal.url
    with (
        tempfile.TemporaryDirectory(prefix="relay") as folder,
        Interceptor(Path(folder), socket_of(url), name=name, when=when, act=child.dies) as relay,
    ):
        child.is_told(scene.order(url=through(folder, url)))
        assert child.ends() == KILLED
    assert relay.acted


@every_learn
@pytest.mark.parametrize("name", ["read", "commit"])
def test_death_before_a_statement_is_sent_on_leaves_nothing(tribal: Tribal, child: Child, learn: Learn, name: str) -> None:
    scene = set_scene(tribal, learn)
    _killed_on_the_wire(scene, child, name, When.BEFORE_IT_IS_SENT_ON)
    assert not scene.was_committed()
    scene.ends_well()


@every_learn
def test_death_before_the_reply_to_its_commit_leaves_all_of_it(tribal: Tribal, child: Child, learn: Learn) -> None:
    scene = set_scene(tribal, learn)
    _killed_on_the_wire(scene, child, "commit", When.ONCE_IT_IS_ANSWERED)
    assert scene.was_committed()
    scene.ends_well()


@every_learn
def test_death_while_its_backend_waits_at_the_gate_leaves_all_or_nothing(tribal: Tribal, child: Child, learn: Learn) -> None:
    scene = set_scene(tribal, learn)
    with gate_held(tribal) as gate:
        child.is_told(scene.order())
        orphan = gate.has_waiting(1)
        child.dies()
        assert not scene.was_committed()
        gate.opens_for(orphan)
    scene.ends_well()


@every_learn
def test_a_retry_beside_the_orphaned_backend_gets_one_answer_with_it(tribal: Tribal, child: Child, learn: Learn) -> None:
    scene = set_scene(tribal, learn)
    with gate_held(tribal) as gate, ThreadPoolExecutor(1) as pool:
        child.is_told(scene.order())
        orphan = gate.has_waiting(1)
        child.dies()
        retried = pool.submit(scene.retry)
        gate.has_waiting(1, besides=orphan)
        gate.opens_for(orphan)
        answer = Answer.of(retried.result())
    assert scene.ends_well() == answer


@every_learn
def test_a_learner_whose_waiting_backend_is_terminated_ends_well_by_itself(tribal: Tribal, child: Child, learn: Learn) -> None:
    scene = set_scene(tribal, learn)
    with gate_held(tribal) as gate:
        child.is_told(scene.order())
        terminated = gate.has_waiting(1)
        assert tribal.rows("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS pid", list(terminated))
        gate.has_waiting(1, besides=terminated)
        gate.opens()
        told = child.answer()
    assert told == scene.ends_well().document


@every_learn
def test_a_learner_that_loses_the_reply_to_its_commit_hears_it_by_its_own_retry(
    tribal: Tribal, child: Child, learn: Learn
) -> None:
    scene = set_scene(tribal, learn)
    before_it_was_cut: list[bool] = []
    with (
        tempfile.TemporaryDirectory(prefix="relay") as folder,
        Interceptor(
            Path(folder),
            socket_of(tribal.url),
            name="commit",
            when=When.ONCE_IT_IS_ANSWERED,
            act=lambda: before_it_was_cut.append(scene.was_committed()),
            lasting=True,
        ),
    ):
        child.is_told(scene.order(url=through(folder, tribal.url)))
        told = child.answer()
    assert before_it_was_cut == [True]
    assert told == scene.ends_well().document


def test_a_commit_that_was_split_in_two_is_found_half_there(tribal: Tribal, child: Child) -> None:
    scene = set_scene(tribal, LEARNS["fresh"])
    child.is_told(scene.order(death=Death.BETWEEN_TWO_COMMITS))
    assert child.ends() == KILLED
    assert complaints(tribal) == {
        "a lesson without the event that brought it in",
        "a lesson without its vector",
        "a lesson without the decision that brought it in",
        OTHER_TERMS,
    }
    assert state(tribal.url) != scene.before
    with pytest.raises(AssertionError):
        scene.was_committed()
