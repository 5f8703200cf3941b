"""Two judges in a learn: both are on record, nothing rests on a doubt, and past the budget it waits for a day that has one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.charging import ChargingJudge
from tests.doubles import RuledJudge, within_a_subject
from tests.gardens import HEADER, OTHER, dump, garden, kinds, learned, ticks
from tests.providers.thinking import Thinking, verdict
from tests.tribes import Tribal, open_tribal
from tributary.core.curation import DisputeKind, Review, Signal
from tributary.core.decision import NoAnswer, Outcome, VerdictKind
from tributary.core.garden import Rule
from tributary.core.spending import Purpose
from tributary.models.judges import AskedJudge, TieredJudge

SUBJECT = "deploy-api"
SAME, CONFLICTS, UNRELATED, UNSURE = VerdictKind.SAME, VerdictKind.CONFLICTS, VerdictKind.UNRELATED, VerdictKind.UNSURE


@dataclass
class Tiers:
    """A tribe with two judges that the test steers."""

    tribal: Tribal
    cheap: ChargingJudge
    strong: ChargingJudge

    def both_say(self, cheap: VerdictKind, strong: VerdictKind) -> None:
        self.cheap.rule = lambda _new, _old: cheap
        self.strong.rule = lambda _new, _old: strong

    def pair(self) -> Outcome:
        """Has two writers say what may be the same or the opposite; returns what came of the second."""
        learned(self.tribal, self.tribal.agent("first"), HEADER, subject=SUBJECT)
        return self.tribal.learn(self.tribal.agent("second"), OTHER, subject=SUBJECT).outcome

    def verdict(self) -> Mapping[str, Any]:
        """Returns the one verdict of the newest decision."""
        (found,) = self.tribal.memory.desk.decisions(self.tribal.curator).items[0].verdicts
        return found

    def challenges(self) -> int:
        return len(self.tribal.memory.desk.disputes(self.tribal.curator, kind=DisputeKind.UNSURE).items)

    def reviews(self) -> tuple[Review, ...]:
        return self.tribal.memory.desk.reviews(self.tribal.curator).items


def said(side: object) -> str:
    assert isinstance(side, Mapping)
    return str(side["text"])


@contextmanager
def opened(url: str, **settings: Any) -> Iterator[Tiers]:
    cheap = ChargingJudge("cheap/1", within_a_subject, cost="0.1")
    strong = ChargingJudge("strong/2", within_a_subject, Purpose.STRONG_JUDGE, cost="0.9")
    with open_tribal(url, judge=TieredJudge(cheap=cheap, strong=strong), **settings) as tribal:
        cheap.now = strong.now = tribal.clock
        yield Tiers(tribal, cheap, strong)


@pytest.fixture
def tiers(database_url: str) -> Iterator[Tiers]:
    with opened(database_url) as found:
        yield found


# -- on record


def test_both_tiers_are_on_record_with_their_versions(tiers: Tiers) -> None:
    tiers.both_say(CONFLICTS, UNRELATED)
    assert tiers.pair() is Outcome.LEARNED
    found = tiers.verdict()
    assert (found["verdict"], found["judge"], found["cause"]) == ("unrelated", "strong/2", None)
    assert found["first"] == {"verdict": "conflicts", "confidence": 0.9, "judge": "cheap/1", "cause": None}


def test_what_the_cheap_one_settled_names_no_second(tiers: Tiers) -> None:
    tiers.both_say(UNRELATED, CONFLICTS)
    assert tiers.pair() is Outcome.LEARNED
    assert (tiers.verdict()["judge"], "first" in tiers.verdict()) == ("cheap/1", False)


def test_calls_of_both_tiers_are_charged_to_the_decision(tiers: Tiers) -> None:
    tiers.both_say(CONFLICTS, UNRELATED)
    tiers.pair()
    newest = tiers.tribal.memory.desk.decisions(tiers.tribal.curator).items[0].decision_id
    found = tiers.tribal.rows("SELECT purpose, model FROM tributary.model_call WHERE decision_id = %s ORDER BY 1", newest)
    assert found == [{"purpose": "judge", "model": "wire:cheap/1"}, {"purpose": "strong_judge", "model": "wire:strong/2"}]


# -- a doubt that nobody settles


@pytest.mark.parametrize("said", [CONFLICTS, SAME, UNRELATED])
def test_a_doubt_that_nobody_settles_leaves_both_believed_with_a_challenge_until_the_strong_one_is_back(
    tiers: Tiers, said: VerdictKind
) -> None:
    tiers.both_say(said, CONFLICTS)
    tiers.cheap.confidence = 0.5
    tiers.strong.away = True
    assert tiers.pair() is Outcome.LEARNED
    assert (tiers.tribal.status_counts(), tiers.challenges()) == ({"active": 2}, 1)
    found = tiers.verdict()
    assert (found["verdict"], found["cause"], found["first"]["verdict"]) == ("unsure", "judge_unavailable", said.value)
    assert tiers.reviews() == (), "a tier that was away overrules nobody"
    tiers.strong.away = False
    tiers.both_say(said, UNRELATED)
    assert kinds(garden(tiers.tribal).rule(Rule.REJUDGE)) == {"cleared": 1}
    assert (tiers.challenges(), garden(tiers.tribal).idle) == (0, True)


def test_a_contradiction_that_nobody_confirmed_is_shown_however_little_the_two_are_alike(tiers: Tiers) -> None:
    tiers.both_say(CONFLICTS, CONFLICTS)
    tiers.strong.away = True
    terms = "zqx_flag"
    learned(tiers.tribal, tiers.tribal.agent("first"), f"{terms} alpha beta gamma", situation="somewhere")
    second = tiers.tribal.learn(tiers.tribal.agent("second"), f"{terms} delta epsilon zeta eta theta", "elsewhere quite")
    assert (second.outcome, len(second.challenges), tiers.challenges()) == (Outcome.LEARNED, 1, 1)


# -- overruled


@pytest.mark.parametrize(
    ("cheap", "confidence", "strong", "queued"),
    [
        (CONFLICTS, 0.9, SAME, True),
        (CONFLICTS, 0.9, UNRELATED, True),
        (SAME, 0.5, CONFLICTS, True),
        (UNRELATED, 0.5, SAME, True),
        (CONFLICTS, 0.9, CONFLICTS, False),
        (SAME, 0.5, SAME, False),
        (CONFLICTS, 0.9, UNSURE, False),
        (UNSURE, 0.5, CONFLICTS, False),
        (UNRELATED, 0.9, CONFLICTS, False),
    ],
)
def test_a_strong_answer_that_overrules_the_cheap_one_is_queued_for_review(
    tiers: Tiers, cheap: VerdictKind, confidence: float, strong: VerdictKind, queued: bool
) -> None:
    tiers.both_say(cheap, strong)
    tiers.cheap.confidence = confidence
    tiers.pair()
    if not queued:
        assert tiers.reviews() == ()
        return
    (review,) = tiers.reviews()
    assert (review.signal, review.suite, review.found, review.expected) == (Signal.OVERRULED, "judge", cheap.value, strong.value)
    assert review.inputs["old"] == {"text": HEADER, "situation": "operating the service", "subject": SUBJECT}
    assert review.inputs["new"] == {"text": OTHER, "situation": "operating the service", "subject": SUBJECT}
    assert review.by == "second"
    newest = tiers.tribal.memory.desk.decisions(tiers.tribal.curator).items[0]
    assert review.decision_id == newest.decision_id


def test_a_pair_that_is_overruled_again_is_queued_once(tiers: Tiers) -> None:
    tiers.both_say(CONFLICTS, UNRELATED)
    tiers.pair()
    tiers.both_say(CONFLICTS, SAME)
    tiers.tribal.learn(tiers.tribal.agent("third"), OTHER, subject=SUBJECT)
    tiers.tribal.learn(tiers.tribal.agent("fourth"), HEADER, subject=SUBJECT)
    pairs = [tuple(said(one.inputs[side]) for side in ("old", "new")) for one in tiers.reviews()]
    assert sorted(pairs) == sorted(set(pairs))
    assert pairs.count((HEADER, OTHER)) == 1


@pytest.mark.parametrize("which", ["old", "new"])
@pytest.mark.parametrize("strong", [UNRELATED, SAME])
def test_erasing_either_side_takes_the_case_with_it(tiers: Tiers, which: str, strong: VerdictKind) -> None:
    tiers.both_say(CONFLICTS, strong)
    tiers.pair()
    assert len(tiers.reviews()) == 1
    found = tiers.tribal.rows("SELECT lesson_id, text FROM tributary.lesson")
    wanted = HEADER if which == "old" or strong is SAME else OTHER
    (lesson_id,) = [row["lesson_id"] for row in found if row["text"] == wanted]
    tiers.tribal.memory.curate.erase(tiers.tribal.curator, lesson_id)  # type: ignore[arg-type]  # a uuid, as it is read
    assert tiers.tribal.rows("SELECT * FROM tributary.review") == []


# -- past the budget


def test_past_the_budget_learning_goes_on_and_what_the_strong_one_would_have_settled_becomes_a_challenge(
    database_url: str,
) -> None:
    with opened(database_url, budget_calls_per_day=0) as tiers:
        tiers.both_say(CONFLICTS, CONFLICTS)
        assert tiers.pair() is Outcome.LEARNED
        assert (tiers.tribal.status_counts(), tiers.challenges(), tiers.strong.asked) == ({"active": 2}, 1, [])
        found = tiers.verdict()
        assert (found["verdict"], found["cause"], found["judge"]) == ("unsure", "budget_spent", "strong/2")
        assert found["first"]["verdict"] == "conflicts"


def test_until_there_is_budget_again_nothing_is_asked_and_on_the_next_day_it_is_settled(database_url: str) -> None:
    with opened(database_url, budget_usd_per_day="0.1") as tiers:
        tiers.both_say(CONFLICTS, UNRELATED)
        learned(tiers.tribal, tiers.tribal.agent("zeroth"), "the rollout waits", subject=SUBJECT)
        assert tiers.pair() is Outcome.LEARNED
        asked = len(tiers.cheap.asked)
        before, tick = {**dump(database_url), "gardening": []}, ticks(tiers.tribal)
        for _ in range(3):
            report = garden(tiers.tribal).rule(Rule.REJUDGE)
            assert (report.done, report.left, report.refused) == (0, 2, {"budget_spent": 2})
        assert {**dump(database_url), "gardening": []} == before, "nothing but that it ran"
        assert (len(tiers.cheap.asked), ticks(tiers.tribal)) == (asked, tick)
        tiers.tribal.clock.advance(days=1)
        report = garden(tiers.tribal).rule(Rule.REJUDGE)
        assert (report.done, report.refused) == (0, {"budget_spent": 2}), "the cheap one alone used up the day, once"
        tiers.tribal.clock.advance(days=1)
        tiers.cheap.cost = tiers.strong.cost = "0.01"
        assert kinds(garden(tiers.tribal).rule(Rule.REJUDGE)) == {"cleared": 3}
        assert tiers.challenges() == 0
        assert garden(tiers.tribal).rule(Rule.REJUDGE).idle


def test_on_the_next_day_an_overruled_pair_is_queued_for_review_as_well(database_url: str) -> None:
    with opened(database_url, budget_usd_per_day="0.05") as tiers:
        tiers.both_say(CONFLICTS, UNRELATED)
        learned(tiers.tribal, tiers.tribal.agent("zeroth"), HEADER, subject=SUBJECT)
        tiers.cheap.cost = "0.05"
        second = learned(tiers.tribal, tiers.tribal.agent("second"), OTHER, subject=SUBJECT)
        assert (tiers.challenges(), tiers.reviews()) == (1, ())
        tiers.tribal.clock.advance(days=1)
        tiers.cheap.cost = "0"
        assert kinds(garden(tiers.tribal).rule(Rule.REJUDGE)) == {"cleared": 1}
        (review,) = tiers.reviews()
        assert (review.signal, review.found, review.expected, review.by) == (Signal.OVERRULED, "conflicts", "unrelated", "second")
        again = tiers.tribal.memory.desk.decisions(tiers.tribal.curator).items[0]
        assert (review.decision_id, tiers.verdict()["first"]["judge"]) == (again.decision_id, "cheap/1")
        calls = tiers.tribal.rows("SELECT purpose FROM tributary.model_call WHERE decision_id = %s", again.decision_id)
        assert sorted(str(row["purpose"]) for row in calls) == ["judge", "strong_judge"]
        tiers.tribal.memory.curate.erase(tiers.tribal.curator, second.lesson_id)
        assert tiers.reviews() == ()


def test_many_learns_at_once_do_not_overspend_the_budget_together(database_url: str) -> None:
    model = Thinking(verdict("unrelated"), delay_s=0.1)
    strong = AskedJudge(model=model, purpose=Purpose.STRONG_JUDGE, concurrency=4)
    judge = TieredJudge(cheap=RuledJudge(within_a_subject), strong=strong)
    with open_tribal(database_url, judge=judge, budget_calls_per_day=12) as tribal:
        writers = [tribal.agent(f"writer-{number}") for number in range(16)]
        texts = [f"Port {7000 + number} is the service's" for number in range(16)]
        with ThreadPoolExecutor(len(writers)) as pool:
            outcomes = list(pool.map(lambda of: tribal.learn(*of, subject=SUBJECT).outcome, zip(writers, texts, strict=True)))
        assert set(outcomes) == {Outcome.LEARNED}
        assert len(model.asked) == 12, "each pair was granted before it was asked about"
        assert len(tribal.rows("SELECT * FROM tributary.model_call")) == 12
        assert garden(tribal).rule(Rule.REJUDGE).refused.keys() == {"budget_spent"}


def test_a_pair_beyond_what_the_budget_grants_waits_and_the_others_of_the_lesson_are_settled(database_url: str) -> None:
    model = Thinking(verdict("unrelated"))
    strong = AskedJudge(model=model, purpose=Purpose.STRONG_JUDGE, concurrency=4)
    judge = TieredJudge(cheap=RuledJudge(within_a_subject), strong=strong)
    with open_tribal(database_url, judge=judge, budget_calls_per_day=4) as tribal:
        for number in range(3):  # one pair, then two
            learned(tribal, tribal.curator, f"Port {7000 + number} is the service's", subject=SUBJECT)
        learned(tribal, tribal.curator, "Port 8000 is the service's", subject=SUBJECT)
        found = tribal.memory.desk.decisions(tribal.curator).items[0].verdicts
        assert sorted(str(one["cause"]) for one in found) == ["None", "budget_spent", "budget_spent"]
        assert len(model.asked) == 4


def test_a_pair_that_an_absent_judge_left_waits_for_the_budget_once_the_cheap_one_is_back(database_url: str) -> None:
    """Its doubt is written down once, without a tick, so that the cheap one is not asked about it again and again."""
    with opened(database_url, budget_usd_per_day="0.05") as tiers:
        tiers.both_say(CONFLICTS, UNRELATED)
        tiers.cheap.away = tiers.strong.away = True
        tiers.cheap.cost = tiers.strong.cost = "0"
        assert tiers.pair() is Outcome.LEARNED
        tiers.cheap.away, tiers.cheap.cost = False, "0.05"
        tick = ticks(tiers.tribal)
        assert garden(tiers.tribal).rule(Rule.REJUDGE).refused == {"budget_spent": 1}
        asked = len(tiers.cheap.asked)
        assert (tiers.verdict()["cause"], tiers.verdict()["first"]["verdict"]) == ("budget_spent", "conflicts")
        assert garden(tiers.tribal).rule(Rule.REJUDGE).refused == {"budget_spent": 1}
        assert (len(tiers.cheap.asked), ticks(tiers.tribal), tiers.challenges()) == (asked, tick, 1)
        tiers.strong.away, tiers.cheap.cost = False, "0"
        tiers.tribal.clock.advance(days=1)
        assert kinds(garden(tiers.tribal).rule(Rule.REJUDGE)) == {"cleared": 1}
        assert tiers.tribal.rows("SELECT FROM tributary.decision WHERE unjudged") == []


def test_the_schema_knows_every_cause_of_no_answer_and_no_other(tiers: Tiers) -> None:
    for cause, known in [*((one.value, True) for one in NoAnswer), ("equal", False), (None, False)]:
        document = json.dumps({"verdict": "unsure", "cause": cause})
        assert tiers.tribal.rows("SELECT tributary.no_answer_v1(%s::jsonb) AS known", document) == [{"known": known}]
