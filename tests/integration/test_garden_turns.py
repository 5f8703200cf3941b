"""In whose turn a missing model's work is done: nothing that fails for ever keeps others waiting, or is paid for for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests.doubles import RuledJudge, all_unrelated
from tests.gardens import dump, garden, kinds, learned, status, ticks
from tests.providers.thinking import Thinking, hazards, material_of, verdict
from tests.tribes import Tribal, open_tribal
from tributary.core.curation import RetireCause
from tributary.core.errors import ModelMalformed, ModelRefused, ModelThrottled, ModelTimedOut, ModelUnreachable
from tributary.core.garden import Rule
from tributary.core.lesson import Lesson
from tributary.core.ports import Prompt
from tributary.core.spending import Purpose
from tributary.garden.tries import TIME_OUTS, USELESS_REPLIES
from tributary.models.judges import AskedJudge, TieredJudge
from tributary.models.judges.asked import AWAY_AFTER
from tributary.models.screens import AskedScreen, LayeredScreen, LocalScreen
from tributary.spaces import MISSES

UNANSWERED = [
    (ModelRefused("a filter"), USELESS_REPLIES, "refused"),
    (ModelMalformed("prose"), USELESS_REPLIES, "malformed"),
    (ModelTimedOut("slow"), TIME_OUTS, "timed_out"),
]


@dataclass
class Model:
    """A model that is away, or fails for lessons with the word poison in them; for a pair of two such ones."""

    poison: Exception
    away: bool = False

    def __post_init__(self) -> None:
        self.mind = Thinking(self._think)

    def _think(self, prompt: Prompt) -> object:
        if self.away:
            raise ModelUnreachable("away")
        screening = prompt.purpose is Purpose.SCREEN
        material = material_of(prompt)
        if all("poison" in str(material[side]) for side in (("fields",) if screening else ("known", "new"))):
            raise self.poison
        return (hazards() if screening else verdict("unrelated"))(prompt)

    @property
    def calls(self) -> int:
        return len(self.mind.asked)


@contextmanager
def screened_by(url: str, model: Model) -> Iterator[Tribal]:
    screen = LayeredScreen(local=LocalScreen(), model=AskedScreen(model=model.mind))
    with open_tribal(url, screen=screen, judge=RuledJudge(all_unrelated)) as tribal:
        yield tribal


@contextmanager
def judged_by(url: str, model: Model) -> Iterator[Tribal]:
    with open_tribal(url, judge=AskedJudge(model=model.mind, purpose=Purpose.JUDGE, concurrency=4)) as tribal:
        yield tribal


def poison(tribal: Tribal, count: int) -> list[Lesson]:
    writer = tribal.agent("mallory")
    return [learned(tribal, writer, f"The poison gauge {number} shows {number}") for number in range(count)]


# -- the screen


@pytest.mark.parametrize(("error", "most", "why"), UNANSWERED)
def test_lessons_that_the_screen_never_answers_about_keep_no_others_waiting(
    database_url: str, error: Exception, most: int, why: str
) -> None:
    model = Model(error)
    with screened_by(database_url, model) as tribal:
        poison(tribal, MISSES)
        model.away = True
        good = [learned(tribal, tribal.curator, f"Service {name} has an owner") for name in ("one", "two", "three")]
        model.away = False
        for _ in range(2):  # time-outs may end a run, and the next one goes on behind them
            garden(tribal)
        assert {status(tribal, one) for one in good} == {"active"}
        assert tribal.status_counts() == {"active": 3, "quarantined": MISSES}


@pytest.mark.parametrize(("error", "most", "why"), UNANSWERED)
def test_a_lesson_that_the_screen_never_answers_about_is_left_to_the_curators(
    database_url: str, error: Exception, most: int, why: str
) -> None:
    model = Model(error)
    with screened_by(database_url, model) as tribal:
        (held,) = poison(tribal, 1)
        before = ticks(tribal)
        for _ in range(most - 1):
            report = garden(tribal).rule(Rule.RESCREEN)
            assert (report.done, report.left, report.refused) == (0, 1, {f"screen_{why}": 1})
        seen = dump(database_url)["decision"]
        assert garden(tribal, dry_run=True).rule(Rule.RESCREEN).left == 1
        assert dump(database_url)["decision"] == seen, "a dry run counts nothing, and takes no turn"
        report = garden(tribal).rule(Rule.RESCREEN)
        assert (kinds(report), report.left, report.refused) == ({"given_up": 1}, 0, {})
        calls = model.calls
        assert garden(tribal).idle
        assert model.calls == calls, "it is not paid for any more"
        assert ticks(tribal) == before
        (shown,) = tribal.memory.desk.quarantine(tribal.curator).items
        assert (shown.lesson.lesson_id, shown.reasons) == (held.lesson_id, (f"screen_{why}",))
        tribal.memory.curate.release(tribal.curator, held.lesson_id)
        assert status(tribal, held) == "active"


@pytest.mark.parametrize("error", [ModelUnreachable(), ModelThrottled(), KeyError("a bug")])
def test_a_screen_that_is_away_is_waited_for_as_long_as_it_takes(database_url: str, error: Exception) -> None:
    model = Model(error)
    with screened_by(database_url, model) as tribal:
        (held,) = poison(tribal, 1)
        before = dump(database_url, but_turns=True)["decision"]
        for _ in range(TIME_OUTS + 1):
            assert garden(tribal).rule(Rule.RESCREEN).refused == {"screen_unavailable": 1}
        assert dump(database_url, but_turns=True)["decision"] == before
        model.mind.brain = hazards()
        assert kinds(garden(tribal).rule(Rule.RESCREEN)) == {"released": 1}
        assert status(tribal, held) == "active"


def test_what_always_finds_the_screen_away_keeps_no_others_waiting_either(database_url: str) -> None:
    model = Model(ModelUnreachable("500"))
    with screened_by(database_url, model) as tribal:
        poison(tribal, MISSES)
        model.away = True
        good = learned(tribal, tribal.agent("alice"), "Service one has an owner")
        model.away = False
        for _ in range(2):
            garden(tribal)
        assert status(tribal, good) == "active"


def test_a_curator_who_decides_first_is_not_overruled_by_a_last_try(database_url: str) -> None:
    model = Model(ModelRefused())
    with screened_by(database_url, model) as tribal:
        (held,) = poison(tribal, 1)
        for _ in range(USELESS_REPLIES - 1):
            garden(tribal)

        def retire(_prompt: Prompt) -> object:
            tribal.memory.curate.retire(tribal.curator, held.lesson_id, RetireCause.INJECTION)
            raise ModelRefused

        model.mind.brain = retire
        assert garden(tribal).rule(Rule.RESCREEN).done == 0
        assert status(tribal, held) == "retired"
        assert garden(tribal).idle


# -- the judge


def pairs(tribal: Tribal, model: Model, count: int) -> None:
    """Leaves pairs open about which the model never answers, and one newer that it only was away for."""
    writer = tribal.agent("mallory")
    for number in range(count):
        subject = f"poison {number}"
        learned(tribal, writer, f"The poison gauge {number} is red", subject=subject)
        learned(tribal, writer, f"The poison gauge {number} is green", subject=subject)
    model.away = True
    alice = tribal.agent("alice")
    learned(tribal, alice, "The deploy API needs header X", subject="deploy")
    learned(tribal, alice, "The deploy API needs header Y", subject="deploy")
    model.away = False


def open_about(tribal: Tribal, word: str) -> int:
    found = tribal.rows(
        """SELECT count(*) AS n FROM tributary.decision d JOIN tributary.lesson l USING (tribe_id, lesson_id)
           WHERE d.unjudged AND l.text LIKE %s""",
        f"%{word}%",
    )
    return int(str(found[0]["n"]))


def answered(tribal: Tribal) -> int:
    """Returns how many pairs have an answer."""
    found = tribal.rows(
        "SELECT count(*) AS n FROM tributary.decision, jsonb_array_elements(verdicts) AS v WHERE v ->> 'cause' IS NULL"
    )
    return int(str(found[0]["n"]))


def test_pairs_that_always_time_out_keep_no_others_waiting(database_url: str) -> None:
    model = Model(ModelTimedOut("slow"))
    with judged_by(database_url, model) as tribal:
        pairs(tribal, model, MISSES)
        assert open_about(tribal, "deploy") == 2
        for _ in range(3):
            garden(tribal)
        assert open_about(tribal, "deploy") == 0
        assert open_about(tribal, "poison") > MISSES


def test_pairs_that_always_time_out_keep_no_others_of_their_lesson_waiting(database_url: str) -> None:
    model = Model(ModelTimedOut("slow"), away=True)
    with open_tribal(database_url, judge=AskedJudge(model=model.mind, purpose=Purpose.JUDGE, concurrency=1)) as tribal:
        for number in range(AWAY_AFTER):
            learned(tribal, tribal.curator, f"The poison gauge {number} is red", subject="gauge")
        learned(tribal, tribal.curator, "The gauge is red", subject="gauge")
        tribal.rows("UPDATE tributary.decision SET unjudged = false")
        learned(tribal, tribal.curator, "The poison gauge is green", subject="gauge")
        model.away = False
        for _ in range(TIME_OUTS - 1):  # in one order or another
            garden(tribal)
        assert answered(tribal) == 1


def test_a_pair_that_always_times_out_is_left_to_the_curators(database_url: str) -> None:
    model = Model(ModelTimedOut("slow"))
    with judged_by(database_url, model) as tribal:
        writer = tribal.agent("mallory")
        learned(tribal, writer, "The poison gauge is red", subject="gauge")
        lesson = learned(tribal, writer, "The poison gauge is green", subject="gauge")
        before = ticks(tribal)
        for _ in range(TIME_OUTS - 1):
            report = garden(tribal).rule(Rule.REJUDGE)
            assert (report.done, report.left, report.refused) == (0, 1, {"judge_timed_out": 1})
        seen = dump(database_url)["decision"]
        assert garden(tribal, dry_run=True).rule(Rule.REJUDGE).left == 1
        assert dump(database_url)["decision"] == seen
        assert kinds(garden(tribal).rule(Rule.REJUDGE)) == {"given_up": 1}
        calls = model.calls
        assert garden(tribal).idle
        assert (model.calls, ticks(tribal)) == (calls, before)
        assert len(tribal.memory.lesson(tribal.curator, lesson.lesson_id).challenges) == 1


def test_a_pair_for_which_both_judges_are_too_slow_is_left_to_the_curators_too(database_url: str) -> None:
    model = Model(ModelTimedOut("slow"))
    cheap, strong = (
        AskedJudge(model=model.mind, purpose=purpose, concurrency=4) for purpose in (Purpose.JUDGE, Purpose.STRONG_JUDGE)
    )
    with open_tribal(database_url, judge=TieredJudge(cheap=cheap, strong=strong)) as tribal:
        learned(tribal, tribal.curator, "The poison gauge is red", subject="gauge")
        learned(tribal, tribal.curator, "The poison gauge is green", subject="gauge")
        for _ in range(TIME_OUTS - 1):
            assert garden(tribal).rule(Rule.REJUDGE).refused == {"judge_timed_out": 1}
        assert kinds(garden(tribal).rule(Rule.REJUDGE)) == {"given_up": 1}


def test_a_pair_that_waits_for_a_budget_is_not_given_up_with_another_of_its_lesson(database_url: str) -> None:
    model = Model(ModelRefused())
    strong = AskedJudge(model=model.mind, purpose=Purpose.STRONG_JUDGE, concurrency=1)
    cheap = AskedJudge(model=Model(ModelRefused()).mind, purpose=Purpose.JUDGE, concurrency=1)
    with open_tribal(database_url, judge=TieredJudge(cheap=cheap, strong=strong, below=1.0), budget_calls_per_day=0) as tribal:
        learned(tribal, tribal.curator, "The poison gauge is red", subject="gauge")
        learned(tribal, tribal.curator, "The gauge is red", subject="gauge")
        tribal.rows("UPDATE tributary.decision SET unjudged = false")
        learned(tribal, tribal.curator, "The poison gauge is green", subject="gauge")
        for _ in range(USELESS_REPLIES + 1):
            report = garden(tribal).rule(Rule.REJUDGE)
            assert (report.done, report.refused) == (0, {"judge_refused": 1})
        assert tribal.rows("SELECT count(*) AS n FROM tributary.decision WHERE unjudged") == [{"n": 1}]


def test_a_question_that_the_runs_own_end_broke_off_is_not_counted(database_url: str) -> None:
    model = Model(ModelTimedOut("slow"))
    with judged_by(database_url, model) as tribal:
        learned(tribal, tribal.curator, "The poison gauge is red", subject="gauge")
        learned(tribal, tribal.curator, "The poison gauge is green", subject="gauge")
        ended = threading.Event()

        def late(_prompt: Prompt) -> object:
            ended.set()
            raise ModelTimedOut("slow")

        model.mind.brain = late
        tribal.memory.gardener.run(tribal.tribe_id, stopped=ended.is_set)
        assert tribal.rows("SELECT timed_out FROM tributary.decision WHERE unjudged") == [{"timed_out": 0}]


def test_of_two_gardeners_at_once_one_asks(database_url: str) -> None:
    model = Model(ModelRefused(), away=True)
    with judged_by(database_url, model) as tribal:
        learned(tribal, tribal.curator, "The gauge is red", subject="gauge")
        learned(tribal, tribal.curator, "The gauge is green", subject="gauge")
        take = """SELECT tributary.garden_try_v1(tribe_id, decision_id, %s) AS it FROM tributary.decision WHERE unjudged"""
        looked = tribal.rows("SELECT clock_timestamp() AS at")[0]["at"]
        assert [tribal.rows(take, looked)[0]["it"] for _ in range(2)] == [True, None]
        assert garden(tribal).rule(Rule.REJUDGE).left == 1, "a later run has its turn"
