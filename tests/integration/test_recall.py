"""What a recall answers, and what its receipt says of how."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import psycopg
import pytest

from tests.doubles import RuledJudge, SwitchedEmbedder, all_unrelated, within_a_subject
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.core.errors import Forbidden, InvalidRequest, ModelFailed, NotComplete, NotFound
from tributary.core.lesson import Kind, Status
from tributary.core.receipt import Cause, Coverage, SearchPath
from tributary.core.requests import Recalled, Require
from tributary.models.embedders import HashedEmbedder
from tributary.recall.signing import canonical
from tributary.service import open_operator
from tributary.spaces import build_index, index_fresh

WORDS = "cache linker header token webhook index backup deploy migration replica queue rollout".split()


def texts(found: Recalled) -> list[str]:
    return [hit.lesson.text for hit in found.hits]


def test_an_empty_tribe_is_searched_completely_and_may_be_called_empty(tribal: Tribal) -> None:
    found = tribal.recall("anything at all")
    assert found.hits == ()
    assert found.receipt.coverage is Coverage.COMPLETE
    found.receipt.assert_absence()


def test_absence_may_not_be_claimed_when_something_was_found(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the cache of the linker must be cleared")
    found = tribal.recall("clear the cache of the linker")
    assert not found.receipt.may_assert_absence
    with pytest.raises(NotComplete):
        found.receipt.assert_absence()


def test_without_an_embedding_hits_come_by_terms_and_coverage_is_unknown(database_url: str) -> None:
    embedder = SwitchedEmbedder(HashedEmbedder())
    with open_tribal(database_url, embedder=embedder) as tribal:
        tribal.learn(tribal.curator, "set --no-cache for db_url_v2")
        embedder.fails = True
        found = tribal.recall("db_url_v2 --no-cache")
        assert texts(found) == ["set --no-cache for db_url_v2"]
        assert (found.receipt.coverage, found.receipt.causes) == (Coverage.UNKNOWN, (Cause.EMBEDDER_FAILED,))
        assert found.receipt.paths == (SearchPath.TERMS, SearchPath.SUBJECT)
        with pytest.raises(NotComplete):
            tribal.recall("something else entirely").receipt.assert_absence()
        with pytest.raises(ModelFailed):
            tribal.recall("db_url_v2", require=Require.VECTOR)


def test_lessons_without_a_vector_make_coverage_partial(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "the cache of the linker must be cleared")
    tribal.learn(tribal.curator, "webhooks arrive twice", situation="receiving webhooks")
    tribal.rows("DELETE FROM tributary.lesson_vector WHERE lesson_id = (SELECT lesson_id FROM tributary.lesson LIMIT 1)")
    receipt = tribal.recall("linker cache").receipt
    assert (receipt.coverage, receipt.causes) == (Coverage.PARTIAL, (Cause.LESSONS_WITHOUT_VECTOR,))


def test_a_tribe_above_the_limit_is_searched_by_its_own_index_and_says_so(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(all_unrelated), exact_limit=20) as tribal:
        for number in range(30):
            tribal.learn(tribal.curator, f"{WORDS[number % 12]} lesson number{number}", situation=f"situation{number}")
        before = tribal.recall("queue lesson number7", limit=3)
        assert (before.receipt.paths[0], before.receipt.coverage) == (SearchPath.VECTOR_EXACT, Coverage.COMPLETE)
        with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
            assert operator.build_index(tribal.name)
            assert operator.build_index(tribal.name)
        after = tribal.recall("queue lesson number7", limit=3)
        assert after.receipt.paths[0] is SearchPath.VECTOR_HNSW
        assert (after.receipt.coverage, after.receipt.causes) == (Coverage.APPROXIMATE, (Cause.APPROXIMATE_INDEX,))
        assert texts(after) == texts(before)
        # the index is a help, not a need: without it the search is exact again and says so
        tribal.rows(f'DROP INDEX tributary."{_index_name(tribal)}"')
        assert tribal.recall("queue lesson number7", limit=3).receipt.coverage is Coverage.COMPLETE


def test_lessons_learned_since_the_index_was_built_are_found_before_and_after_they_come_into_it(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(all_unrelated), exact_limit=20) as tribal:
        for number in range(30):
            tribal.learn(tribal.curator, f"{WORDS[number % 12]} lesson number{number}", situation=f"situation{number}")
        with psycopg.connect(tribal.url, autocommit=True) as connection:
            assert build_index(connection, tribal.tribe_id, exact_limit=20)
        for number in range(30, 36):
            tribal.learn(tribal.curator, f"{WORDS[number % 12]} lesson number{number}", situation=f"situation{number}")
        fresh = "SELECT count(*) AS n FROM tributary.lesson_vector WHERE NOT indexed"
        assert tribal.rows(fresh) == [{"n": 6}]
        questions = [f"{WORDS[number % 12]} lesson number{number}" for number in range(28, 36)]
        before = [tribal.recall(question, limit=3) for question in questions]
        assert [texts(one)[0] for one in before] == questions
        assert before[0].receipt.paths[0] is SearchPath.VECTOR_HNSW
        assert [index_fresh(tribal.memory.database, tribal.tribe_id, most=4) for _ in range(3)] == [4, 2, 0]
        assert tribal.rows(fresh) == [{"n": 0}]
        after = [tribal.recall(question, limit=3) for question in questions]
        assert [texts(one) for one in after] == [texts(one) for one in before]


def test_vectors_of_a_tribe_without_an_index_are_left_alone(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "cache one")
    assert index_fresh(tribal.memory.database, tribal.tribe_id) == 0
    assert tribal.rows("SELECT indexed FROM tributary.lesson_vector") == [{"indexed": False}]


def _index_name(tribal: Tribal) -> str:
    found = tribal.rows("SELECT relname FROM pg_class WHERE relname LIKE 'lesson_vector_hnsw%%'")
    return str(found[0]["relname"])


def test_the_fiftieth_call_answers_as_the_first(tribal: Tribal) -> None:
    for number in range(30):
        tribal.learn(tribal.curator, f"{WORDS[number % 12]} needs flag{number}", situation=f"place{number}")
    with open_tribal(tribal.url, name="small") as small:
        small.learn(small.curator, "cache needs flag99")
        answers = [texts(small.recall("cache flag99", limit=10)) for _ in range(50)]
        assert answers == [["cache needs flag99"]] * 50
        many = [texts(tribal.recall("cache flag0 flag12 flag24", limit=10)) for _ in range(50)]
        assert many == [many[0]] * 50
        assert many[0]


def test_filters_narrow_and_an_unmatched_filter_finds_nothing(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "cache one", tags={"env": "prod"}, kind=Kind.OBSERVATION, subject="Cache Layer")
    tribal.learn(tribal.curator, "cache two", tags={"env": "dev"}, situation="elsewhere")
    assert texts(tribal.recall("cache", tags={"env": "prod"})) == ["cache one"]
    assert texts(tribal.recall("cache", kinds=(Kind.OBSERVATION,))) == ["cache one"]
    assert texts(tribal.recall("cache", subject="cache-layer")) == ["cache one"]
    assert texts(tribal.recall("cache", tags={"env": "test"})) == []
    assert texts(tribal.recall("cache", min_confidence=0.99)) == []


def test_a_rejected_hypothesis_is_labelled(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "restarting the linker helps", kind=Kind.REJECTED_HYPOTHESIS)
    assert [hit.label for hit in tribal.recall("restarting the linker").hits] == ["tried, did not help"]


def test_time_ends_belief_without_a_gardener(tribal: Tribal) -> None:
    until = datetime.now(UTC) + timedelta(days=10)
    tribal.learn(tribal.curator, "cache expires", valid_until=until)
    tribal.learn(tribal.curator, "cache begins", valid_from=until, situation="later")
    tribal.learn(tribal.curator, "cache withers", kind=Kind.ENTITY_FACT, situation="somewhere")
    assert sorted(texts(tribal.recall("cache"))) == ["cache expires", "cache withers"]
    tribal.clock.advance(days=40)
    found = tribal.recall("cache")
    assert texts(found) == ["cache begins"]
    assert {one.rule: one.count for one in found.receipt.excluded} == {"expired": 1, "withered": 1}


def test_as_of_answers_what_recall_answered_then(database_url: str) -> None:
    """At every tick of a random history, and with the clock's instants between them."""
    rng = random.Random(11)
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        agents = [tribal.agent(f"writer-{index}") for index in range(3)] + [tribal.curator]
        seen: dict[int, list[tuple[str, float, float, int]]] = {}
        instants: dict[int, datetime] = {}

        def answer(**asked: object) -> list[tuple[str, float, float, int]]:
            found = tribal.recall("cache flag", limit=50, **asked)
            return [(h.lesson.text, round(h.score, 3), round(h.confidence, 3), len(h.challenges)) for h in found.hits]

        for _ in range(60):
            agent = rng.choice(agents)
            subject = f"subject-{rng.randrange(6)}"
            hits = tribal.recall("cache flag").hits
            if hits and rng.random() < 0.3:
                tick = tribal.memory.reinforce(agent, rng.choice(hits).lesson.lesson_id).tick
            else:
                text = f"cache flag of {subject} is {rng.randrange(3)}"
                tick = tribal.learn(agent, text, subject=subject, situation=subject).tick
            seen[tick] = answer()
            instants[tick] = datetime.now(UTC)
        assert len(seen) > 30
        for tick, then in seen.items():
            assert answer(as_of=tick) == then
            assert answer(as_of=instants[tick]) == then
            receipt = tribal.recall("cache flag", as_of=instants[tick]).receipt
            assert receipt.searched[0].tick == tick


def test_the_future_is_refused(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "cache one")
    for moment in (2, datetime.now(UTC) + timedelta(hours=1)):
        with pytest.raises(InvalidRequest) as caught:
            tribal.recall("cache", as_of=moment)
        assert caught.value.field == "as_of"


def test_an_instant_is_the_same_however_it_is_written_and_exact_to_the_microsecond(tribal: Tribal) -> None:
    """The last tick at or before it: in any offset, in an hour that a clock shows twice, and at midnight."""
    tick = tribal.learn(tribal.curator, "cache one").tick
    (row,) = tribal.rows("SELECT clock_at FROM tributary.tribe WHERE tribe_id = %s", tribal.tribe_id)
    at = row["clock_at"]
    assert isinstance(at, datetime)
    tribal.learn(tribal.curator, "cache two", situation="elsewhere")

    def answered(moment: datetime) -> tuple[int, datetime]:
        searched = tribal.recall("cache", as_of=moment).receipt.searched[0]
        return searched.tick, searched.at

    for zone in (UTC, timezone(timedelta(hours=14)), timezone(-timedelta(hours=9, minutes=30)), ZoneInfo("Europe/Berlin")):
        assert answered(at.astimezone(zone)) == (tick, at)
        assert answered((at - timedelta(microseconds=1)).astimezone(zone)) == (tick - 1, at - timedelta(microseconds=1))
    twice = datetime(2025, 10, 26, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    tribal.rows("UPDATE tributary.tribe SET created_at = '2025-01-01' WHERE tribe_id = %s", tribal.tribe_id)
    tribal.rows(
        "UPDATE tributary.lesson_event SET at = '2025-10-26T00:45:00Z' WHERE tribe_id = %s AND tick = %s", tribal.tribe_id, tick
    )
    assert [answered(one)[0] for one in (twice, twice.replace(fold=1))] == [tick - 1, tick]
    tribal.rows(
        "UPDATE tributary.lesson_event SET at = '2025-03-01T00:00:00Z' WHERE tribe_id = %s AND tick = %s", tribal.tribe_id, tick
    )
    midnight = datetime(2025, 3, 1, tzinfo=UTC)
    assert [answered(one)[0] for one in (midnight, midnight - timedelta(microseconds=1))] == [tick, tick - 1]


def test_an_instant_after_the_last_tick_is_marked_as_not_settled(tribal: Tribal) -> None:
    tribal.learn(tribal.curator, "cache one")
    now = datetime.now(UTC)
    tribal.clock.advance(seconds=5)
    assert not tribal.recall("cache", as_of=now).receipt.searched[0].settled
    tribal.learn(tribal.curator, "cache two", situation="elsewhere")
    assert tribal.recall("cache", as_of=now).receipt.searched[0].settled
    assert tribal.recall("cache", as_of=1).receipt.searched[0].settled


def test_a_tick_that_has_not_arrived_is_not_silently_passed_over(tribal: Tribal) -> None:
    tick = tribal.learn(tribal.curator, "cache one").tick
    assert texts(tribal.recall("cache", at_least=tick)) == ["cache one"]
    with pytest.raises(InvalidRequest, match=f"stands at {tick}"):  # a replica would say that it is behind
        tribal.recall("cache", at_least=tick + 1)


def test_a_receipt_counts_what_it_left_out_and_is_signed(tribal: Tribal) -> None:
    import hashlib
    import hmac

    tribal.learn(tribal.agent("writer"), "cache flag is on", subject="cache")
    tribal.learn(tribal.agent("other"), "cache flag is off", subject="cache")
    tribal.learn(tribal.curator, "webhooks arrive twice", situation="receiving webhooks")
    receipt = tribal.recall("cache flag").receipt
    assert {one.rule: one.count for one in receipt.excluded} == {"disputed": 1, "below_floor": 1}
    assert receipt.considered == 2
    key = tribal.rows("SELECT secret FROM tributary.signing_key WHERE key_id = %s", receipt.key)[0]["secret"]
    assert isinstance(key, bytes)
    assert receipt.signature == hmac.digest(key, canonical(receipt.document()), hashlib.sha256).hex()


def test_no_recall_ever_shows_what_is_not_believed(tribal: Tribal) -> None:
    writer, other = tribal.agent("writer"), tribal.agent("other")
    for number in range(8):
        tribal.learn(writer, f"cache flag{number} is on", subject=f"cache-{number}")
        tribal.learn(other if number % 2 else tribal.curator, f"cache flag{number} is off", subject=f"cache-{number}")
    tribal.learn(writer, "HIJACK the cache")
    believed = {row["text"] for row in tribal.rows("SELECT text FROM tributary.lesson WHERE believed")}
    assert set(texts(tribal.recall("cache flag", limit=100, include_stale=True))) == believed
    assert len(believed) == 8


def test_listing_pages_newest_first_and_shows_statuses_of_then(database_url: str) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        _check_listing(tribal)


def _check_listing(tribal: Tribal) -> None:
    old = tribal.learn(tribal.agent("writer"), "cache flag is on", subject="cache").lesson
    tribal.learn(tribal.curator, "cache flag is off", subject="cache")
    for number in range(5):
        tribal.learn(tribal.curator, f"{WORDS[number]} pages somebody", situation=f"on call for {WORDS[number]}")
    assert old is not None
    pages: list[str] = []
    before: str | None = None
    while True:
        page = tribal.memory.lessons(tribal.curator, status=None, limit=3, before=before)
        pages += [one.text for one in page.lessons]
        before = page.next_before
        if before is None:
            break
    assert pages == [*(f"{WORDS[n]} pages somebody" for n in (4, 3, 2, 1, 0)), "cache flag is off", "cache flag is on"]
    assert [one.text for one in tribal.memory.lessons(tribal.curator, status=Status.SUPERSEDED).lessons] == ["cache flag is on"]
    assert [one.text for one in tribal.memory.lessons(tribal.curator, as_of=1).lessons] == ["cache flag is on"]
    then = tribal.memory.lesson(tribal.curator, old.lesson_id, as_of=1)
    assert (then.lesson.status, then.lesson.superseded_by) == (Status.ACTIVE, None)
    with pytest.raises(NotFound):
        tribal.memory.lesson(tribal.curator, old.lesson_id, as_of=0)
    with pytest.raises(InvalidRequest):
        tribal.memory.lessons(tribal.curator, before="nonsense")


def test_every_role_may_recall(tribal: Tribal) -> None:
    from dataclasses import replace

    from tributary.core.requests import Question

    reader = tribal.agent("reader", Role.READER)
    assert tribal.memory.recall(reader, Question(query="cache")).hits == ()
    with pytest.raises(Forbidden):
        replace(reader, role=Role.READER).require(Role.WRITER)


def test_the_instant_of_a_tick_is_no_future_where_the_process_is_behind_the_tribes_clock(tribal: Tribal) -> None:
    learned = tribal.learn(tribal.curator, "cache flag")
    assert learned.lesson is not None
    assert learned.lesson.activated is not None
    tribal.clock.advance(seconds=-30)
    at = learned.lesson.activated.at
    found = tribal.recall("cache flag", as_of=at)
    assert ([hit.lesson.text for hit in found.hits], found.receipt.searched[0].tick) == (["cache flag"], learned.tick)
    with pytest.raises(InvalidRequest):
        tribal.recall("cache flag", as_of=at + timedelta(microseconds=1))
