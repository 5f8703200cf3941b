"""`memory.once` against a real server: called once for all who ask, in doubt when nobody can tell."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from tests.tribes import Tribal
from tributary.client import Busy, InDoubt, InvalidRequest, LessonDraft, Memory, NotDone, Unavailable, WrongStanding, observed
from tributary.edges.gateway import running

KEY = "reboot:db-7:inc-12"


class Wire(httpx.HTTPTransport):
    """Loses the replies to the next requests whose path ends so; their effect remains."""

    def __init__(self) -> None:
        super().__init__()
        self.loses: dict[str, int] = {}
        self.fails: dict[str, int] = {}
        self.refuses: set[str] = set()
        self.seen: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        verb = request.url.path.rpartition("/")[2]
        self.seen.append(verb)
        if verb in self.refuses:
            raise httpx.ConnectError("nobody is there", request=request)
        if self.fails.get(verb, 0):
            self.fails[verb] -= 1
            return httpx.Response(500, json={"code": "internal", "detail": "something unexpected happened"})
        response = super().handle_request(request)
        if self.loses.get(verb, 0):
            self.loses[verb] -= 1
            response.close()
            raise httpx.ReadError("the reply was lost", request=request)
        return response


@pytest.fixture
def url(tribal: Tribal) -> Iterator[str]:
    with running(tribal.memory) as started:
        yield started.url


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def memory(tribal: Tribal, url: str, wire: Wire) -> Iterator[Memory]:
    with Memory(url, tribal.token("agent-a"), environment={}, transport=wire, sleep=lambda _: None) as memory:
        yield memory


@pytest.fixture
def curator(tribal: Tribal, url: str) -> Iterator[Memory]:
    with Memory(url, tribal.curator_token, environment={}) as memory:
        yield memory


def nested(levels: int) -> object:
    result: object = 1
    for _ in range(levels):
        result = {"in": result}
    return result


class Effect:
    """Counts how often it was had."""

    def __init__(self, result: object = None) -> None:
        self.times = 0
        self.result = result

    def __call__(self) -> object:
        self.times += 1
        return self.result


def test_a_function_is_called_once_and_all_who_ask_get_its_result(memory: Memory, curator: Memory) -> None:
    effect = Effect({"rebooted": ("db-7",), "after_s": None})
    first = memory.once(KEY, effect, description="reboot db-7 for incident 12")
    assert first == {"rebooted": ["db-7"], "after_s": None}
    assert memory.once(KEY, effect) == first == curator.once(KEY, effect)
    assert effect.times == 1
    (action,) = memory.actions.list("done")
    assert (action.key, action.description, action.agent) == (KEY, "reboot db-7 for incident 12", "agent-a")


def test_of_many_at_once_one_calls_and_the_others_wait_for_it(tribal: Tribal, url: str) -> None:
    effect = Effect("done")

    def slow() -> object:
        time.sleep(0.2)
        return effect()

    with Memory(url, tribal.token("many"), environment={}) as memory, ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: memory.once(KEY, slow), range(8))) == {"done"}
    assert effect.times == 1


def test_who_waits_too_long_is_told_that_another_is_busy(memory: Memory, curator: Memory) -> None:
    curator.actions.begin(KEY)
    effect = Effect()
    with pytest.raises(Busy) as told:
        memory.once(KEY, effect, wait_s=0)
    assert (told.value.action.key, told.value.action.agent, effect.times) == (KEY, "curator", 0)


def test_not_done_says_that_nothing_happened_so_the_next_may_try(memory: Memory) -> None:
    def refused() -> object:
        raise NotDone("the API said 403")

    with pytest.raises(NotDone):
        memory.once(KEY, refused)
    (action,) = memory.actions.list()
    assert (action.state, action.failure) == ("failed", "NotDone: the API said 403")
    effect = Effect("done")
    assert memory.once(KEY, effect) == "done"
    assert next(memory.actions.list()).attempt == 2


@pytest.mark.parametrize(
    "raised", [ValueError("timed out\x00\ud800" + "x" * 600), KeyboardInterrupt()], ids=["error", "interrupt"]
)
def test_whatever_else_a_function_raises_leaves_the_action_in_doubt_at_once(
    memory: Memory, curator: Memory, raised: BaseException
) -> None:
    def fails() -> object:
        raise raised

    with pytest.raises(type(raised)):
        memory.once(KEY, fails)
    effect = Effect("done")
    with pytest.raises(InDoubt) as told:
        curator.once(KEY, effect)
    assert (told.value.action.doubt, effect.times) == ("holder_unsure", 0)
    curator.actions.reconcile(told.value.action, happened=True, rationale="the console shows it", result="seen")
    assert memory.once(KEY, effect) == "seen"
    assert effect.times == 0


def test_a_lease_is_renewed_while_the_function_runs(memory: Memory, wire: Wire) -> None:
    def long() -> object:
        time.sleep(1.6)
        return "done"

    assert memory.once(KEY, long, lease_s=1) == "done"
    assert wire.seen.count("renew") >= 3
    assert next(memory.actions.list()).doubt is None


def test_a_holder_whose_lease_was_lost_still_says_what_happened(tribal: Tribal, memory: Memory, curator: Memory) -> None:
    def overtaken() -> object:
        tribal.clock.advance(seconds=61)
        with pytest.raises(InDoubt):
            curator.once(KEY, Effect())
        return "done"

    assert memory.once(KEY, overtaken) == "done"
    action = next(memory.actions.list())
    assert (action.state, action.doubt) == ("done", "lease_ran_out")
    assert curator.once(KEY, Effect()) == "done"


def test_a_holder_whom_a_curator_overruled_is_told(tribal: Tribal, memory: Memory, curator: Memory) -> None:
    def overruled() -> object:
        tribal.clock.advance(seconds=61)
        curator.actions.reconcile(next(curator.actions.list()), happened=False, rationale="it looked so")
        return "done"

    with pytest.raises(WrongStanding, match="failed already"):
        memory.once(KEY, overruled)


@pytest.mark.parametrize("lost", ["actions", "complete"])
def test_lost_replies_do_no_harm(memory: Memory, wire: Wire, lost: str) -> None:
    wire.loses[lost] = 7  # more than one conversation's tries, where that is tried again
    effect = Effect("done")
    if lost == "actions":
        wire.loses[lost] = 3
    assert memory.once(KEY, effect) == "done"
    assert effect.times == 1
    assert wire.loses[lost] == 0


def test_an_effect_that_could_not_be_told_is_in_doubt(tribal: Tribal, memory: Memory, url: str, wire: Wire) -> None:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    holder = Memory(
        url, tribal.token("holder"), environment={}, transport=wire, clock=lambda: now[0], sleep=sleep, jitter=lambda: 1.0
    )
    with holder, refused(wire, "complete"), pytest.raises(Unavailable) as told:
        holder.once(KEY, Effect("done"))
    assert "the effect of action act_" in told.value.__notes__[0]
    tribal.clock.advance(seconds=61)
    with pytest.raises(InDoubt):
        memory.once(KEY, Effect())


@contextmanager
def refused(wire: Wire, verb: str) -> Iterator[None]:
    """Lets no request of this kind through."""
    wire.refuses.add(verb)
    yield
    wire.refuses.remove(verb)


@pytest.mark.parametrize("result", [{1, 2}, float("nan"), "x" * 17_000, nested(300)], ids=["set", "nan", "large", "deep"])
def test_a_result_that_cannot_be_kept_is_left_out_and_told(memory: Memory, result: object) -> None:
    effect = Effect(result)
    with pytest.raises(InvalidRequest, match="result") as told:
        memory.once(KEY, effect)
    assert "kept without its result" in told.value.__notes__[0]
    assert memory.once(KEY, effect) is None
    assert effect.times == 1


def test_the_deepest_result_that_is_kept_is_read_again_by_itself_and_in_a_list(memory: Memory) -> None:
    deepest = nested(64)
    assert memory.once(KEY, Effect(deepest)) == deepest
    (listed,) = memory.actions.list()
    assert listed.result == memory.actions.get(listed).result == deepest


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class MuteNotDone(Mute, NotDone):
    pass


@pytest.mark.parametrize(("error", "state"), [(Mute(), "in_doubt"), (MuteNotDone(), "failed")])
def test_an_error_whose_text_cannot_be_had_ends_the_action_all_the_same(memory: Memory, error: Mute, state: str) -> None:
    def function() -> None:
        raise error

    with pytest.raises(Mute) as raised:
        memory.once(KEY, function)
    assert raised.value is error
    (action,) = memory.actions.list()
    assert (action.state, action.failure) == (state, f"{type(error).__name__}: its text cannot be had")


@pytest.mark.parametrize("ending", ["raises", "returns"])
def test_a_child_that_the_function_forks_says_nothing_of_it(memory: Memory, ending: str) -> None:
    """Its word would have the action begun again while its parent is still at it."""
    states: list[str] = []
    parent = os.getpid()

    def function() -> str:
        child = os.fork()
        if child == 0:
            if ending == "raises":
                raise NotDone
            return "the child's"
        os.waitpid(child, 0)
        states.extend(one.state for one in memory.actions.list())
        return "the parent's"

    try:
        result = memory.once(KEY, function)
    finally:
        if os.getpid() != parent:
            os._exit(0)
    assert (states, result) == (["begun"], "the parent's")


def test_a_lease_is_renewed_again_after_a_failure_of_the_server(memory: Memory, wire: Wire) -> None:
    wire.fails["renew"] = 2

    def function() -> None:
        await_until(lambda: wire.seen.count("renew") >= 3)

    memory.once(KEY, function, lease_s=1)


def await_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_no_thread_is_left_behind(memory: Memory) -> None:
    before = threading.active_count()
    memory.once(KEY, Effect())
    assert not [one for one in threading.enumerate() if one.name == "tributary-lease"]
    assert threading.active_count() <= before + 1  # the server's


def test_a_lesson_can_come_with_a_completion_step_by_step(memory: Memory) -> None:
    begun = memory.actions.begin(KEY)
    assert begun.lease is not None
    lesson = LessonDraft(text="db-7 comes back within a minute", situation="rebooting db-7", source=observed(begun.action.id))
    done = memory.actions.complete(begun, begun.lease, {"ok": None}, lesson=lesson)
    assert done.learned is not None
    assert done.learned.lesson is not None
    assert (done.action.result, done.learned.outcome, done.problem) == ({"ok": None}, "learned", None)
    assert memory.lesson(done.learned).lesson.text == lesson.text
