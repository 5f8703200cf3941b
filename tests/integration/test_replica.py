"""A read replica beside the writer: who answers, what an answer that is behind may claim, and that nothing is written there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.conftest import CHOSEN
from tests.doubles import RuledJudge, SwitchedEmbedder, all_unrelated
from tests.standby import Pair, copy_standby, replicating
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Role
from tributary.core.errors import BadSetting, InvalidRequest, ModelFailed, NotComplete, NotFound, Unauthenticated, Unavailable
from tributary.core.lesson import Status
from tributary.core.receipt import Cause, Coverage, SearchPath
from tributary.core.requests import Recalled, Require
from tributary.core.status import About, Observation, Unseen
from tributary.core.status import Status as MemoryStatus
from tributary.models.embedders import HashedEmbedder
from tributary.service import Memory, Settings, open_memory

REFUSED_WRITE = "cannot execute"
"""What a server writes into its log when something would be written in a read-only transaction."""


@pytest.fixture(scope="module")
def servers() -> Iterator[Pair]:
    with replicating(int(CHOSEN) if CHOSEN in ("16", "18") else 18) as pair:
        yield pair


@pytest.fixture
def pair(servers: Pair) -> Iterator[Pair]:
    """A primary and a standby that is up to date; afterwards, whatever was done, nothing was written on the standby."""
    servers.start()
    said_before = servers.standby.log.read_text().count(REFUSED_WRITE)
    yield servers
    assert servers.standby.log.read_text().count(REFUSED_WRITE) == said_before


@contextmanager
def beside(pair: Pair, **given: object) -> Iterator[Tribal]:
    """A tribe whose memory writes to the primary and reads from the standby."""
    name = pair.new_database()
    url = pair.primary.url(name)
    with open_tribal(
        url,
        judge=RuledJudge(all_unrelated),
        reader_url=pair.standby.url(name),
        **given,  # type: ignore[arg-type]  # settings and adapters, by name
    ) as tribal:
        pair.catch_up()
        yield tribal


def database_of(tribal: Tribal) -> str:
    return str(conninfo_to_dict(tribal.url)["dbname"])


def seen_by(tribal: Tribal, memory: Memory) -> Tribal:
    """Returns the tribe as another process sees it."""
    return replace(tribal, memory=memory)


def texts(found: Recalled) -> list[str]:
    return [hit.lesson.text for hit in found.hits]


def tick(found: Recalled) -> int:
    return found.receipt.searched[0].tick


def test_reads_go_to_the_replica_and_their_receipts_name_its_tick(pair: Pair) -> None:
    with beside(pair) as tribal:
        first = tribal.learn(tribal.curator, "the cache is warm")
        pair.catch_up()
        pair.pause()
        second = tribal.learn(tribal.curator, "the cache is cold")
        found = tribal.recall("cache")
        assert (texts(found), tick(found), found.receipt.coverage) == (["the cache is warm"], first.tick, Coverage.COMPLETE)
        listing = tribal.memory.lessons(tribal.curator)
        assert [one.text for one in listing.lessons] == ["the cache is warm"]
        assert listing.receipt.searched[0].tick == first.tick
        pair.resume()
        assert tick(tribal.recall("cache")) == second.tick


def test_whoever_asks_for_a_tick_that_the_replica_lacks_is_answered_by_the_writer(pair: Pair) -> None:
    with beside(pair) as tribal:
        pair.pause()
        learned = tribal.learn(tribal.curator, "the cache is warm")
        found = tribal.recall("cache", at_least=learned.tick)
        assert (texts(found), tick(found)) == (["the cache is warm"], learned.tick)
        assert (found.receipt.coverage, found.receipt.causes) == (Coverage.COMPLETE, ())
        assert texts(tribal.recall("cache")) == []  # the control: the replica alone does not have it
        pair.resume()
        assert texts(tribal.recall("cache", at_least=learned.tick)) == ["the cache is warm"]


def test_a_replica_that_has_not_heard_of_a_switch_of_spaces_leaves_the_answer_to_the_writer(pair: Pair) -> None:
    other = HashedEmbedder(dimension=128)
    with beside(pair) as tribal:
        tribal.learn(tribal.curator, "the cache is warm")
        pair.catch_up()
        pair.pause()
        space = other.space
        tribal.rows(
            """WITH made AS (INSERT INTO tributary.space (name, model, pooling, windowing, quantisation, dimension)
                             VALUES (%s, %s, %s, %s, %s, %s) RETURNING space_id),
                    old AS (UPDATE tributary.tribe_space SET state = 'retired' RETURNING tribe_id)
               INSERT INTO tributary.tribe_space (tribe_id, space_id, state)
               SELECT old.tribe_id, made.space_id, 'building' FROM made, old""",
            *(space.name, space.model, space.pooling, space.windowing, space.quantisation, space.dimension),
        )
        tribal.rows("UPDATE tributary.tribe_space SET state = 'serving' WHERE state = 'building'")
        with open_memory(tribal.settings, adapters=replace(tribal.adapters, embedder=other)) as memory:
            switched = seen_by(tribal, memory)
            assert switched.recall("cache").receipt.causes == (Cause.LESSONS_WITHOUT_VECTOR,)
            pair.primary.kill()
            assert switched.recall("cache").receipt.causes == (Cause.NO_SERVING_SPACE,)


def test_a_tick_that_nobody_reached_is_refused_by_the_writer(pair: Pair) -> None:
    with beside(pair) as tribal:
        learned = tribal.learn(tribal.curator, "the cache is warm")
        with pytest.raises(InvalidRequest, match=f"stands at {learned.tick}"):
            tribal.recall("cache", at_least=learned.tick + 1)


def test_a_replica_that_is_behind_while_the_writer_is_away_never_shows_that_there_is_nothing(pair: Pair) -> None:
    with beside(pair) as tribal:
        pair.catch_up()
        pair.pause()
        learned = tribal.learn(tribal.curator, "the cache is warm")
        pair.primary.kill()
        behind = tribal.recall("cache", at_least=learned.tick)
        assert (texts(behind), tick(behind)) == ([], learned.tick - 1)
        assert (behind.receipt.coverage, behind.receipt.causes) == (Coverage.PARTIAL, (Cause.REPLICA_BEHIND,))
        assert not behind.receipt.may_assert_absence
        with pytest.raises(NotComplete, match="replica_behind"):
            behind.receipt.assert_absence()
        unasked = tribal.recall("cache")  # the control: as of its own tick the replica's answer is whole
        assert unasked.receipt.may_assert_absence
        assert tick(unasked) == learned.tick - 1


def test_what_must_be_searched_by_vector_is_refused_whoever_answers(pair: Pair) -> None:
    embedder = SwitchedEmbedder(HashedEmbedder())
    with beside(pair, embedder=embedder) as tribal:
        pair.pause()
        learned = tribal.learn(tribal.curator, "the cache is warm")
        pair.primary.kill()
        embedder.fails = True
        with pytest.raises(ModelFailed):
            tribal.recall("cache", at_least=learned.tick, require=Require.VECTOR)
        found = tribal.recall("cache", at_least=learned.tick)
        assert found.receipt.coverage is Coverage.UNKNOWN
        assert found.receipt.causes == (Cause.EMBEDDER_FAILED, Cause.REPLICA_BEHIND)


def test_with_the_replica_killed_the_writer_answers_all(pair: Pair) -> None:
    with beside(pair) as tribal:
        learned = tribal.learn(tribal.curator, "the cache is warm")
        pair.catch_up()
        assert tribal.recall("cache").hits
        pair.standby.kill()
        assert texts(tribal.recall("cache")) == ["the cache is warm"]
        assert tick(tribal.recall("cache", at_least=learned.tick)) == learned.tick
        assert tribal.memory.lessons(tribal.curator).lessons
        assert tribal.memory.authenticate(tribal.curator_token) == tribal.curator
        pair.standby.start()


def test_with_the_writer_killed_recalls_go_on_and_writes_are_unavailable(pair: Pair) -> None:
    with beside(pair) as tribal:
        learned = tribal.learn(tribal.curator, "the cache is warm")
        assert learned.lesson is not None
        pair.catch_up()
        pair.primary.kill()
        assert tribal.memory.authenticate(tribal.curator_token) == tribal.curator
        assert texts(tribal.recall("cache")) == ["the cache is warm"]
        assert tribal.recall("cache", at_least=learned.tick).receipt.coverage is Coverage.COMPLETE
        assert tribal.memory.lesson(tribal.curator, learned.lesson.lesson_id).lesson.text == "the cache is warm"
        tribal.memory.health()
        with pytest.raises(Unavailable):
            tribal.learn(tribal.curator, "the cache is cold")
        pair.primary.start()
        assert tribal.learn(tribal.curator, "the cache is cold").tick == learned.tick + 1


def test_a_process_that_starts_while_the_writer_is_away_recalls_from_the_replica(pair: Pair) -> None:
    with beside(pair) as tribal:
        tribal.learn(tribal.curator, "the cache is warm")
        pair.catch_up()
        pair.primary.kill()
        with open_memory(tribal.settings, adapters=tribal.adapters) as late:
            assert late.authenticate(tribal.curator_token) == tribal.curator
            assert texts(seen_by(tribal, late).recall("cache")) == ["the cache is warm"]


def test_with_both_killed_a_recall_is_unavailable(pair: Pair) -> None:
    with beside(pair) as tribal:
        pair.standby.kill()
        pair.primary.kill()
        for call in (
            lambda: tribal.recall("cache"),
            lambda: tribal.recall("cache", at_least=0),
            lambda: tribal.memory.lessons(tribal.curator),
            lambda: tribal.memory.authenticate(tribal.curator_token),
        ):
            with pytest.raises(Unavailable):
                call()
        pair.primary.start()
        pair.standby.start()


def test_a_token_made_a_moment_ago_is_known_though_the_replica_has_not_heard_of_it(pair: Pair) -> None:
    with beside(pair) as tribal:
        pair.pause()
        secret = tribal.token("newcomer")
        who = tribal.memory.authenticate(secret)
        assert (who.name, who.role) == ("newcomer", Role.WRITER)
        with pytest.raises(Unauthenticated):
            tribal.memory.authenticate("trb_" + "x" * 43)
        pair.primary.kill()
        with pytest.raises(Unavailable):  # the replica does not know it, and whoever does is away: not a refusal
            tribal.memory.authenticate(secret)


def test_a_revoked_token_is_refused_at_once_though_the_replica_has_not_heard_of_it(pair: Pair) -> None:
    with beside(pair) as tribal:
        secret = tribal.token("leaver")
        leaver = tribal.memory.authenticate(secret)
        pair.catch_up()
        pair.pause()
        tribal.memory.agents.revoke(tribal.curator, leaver.agent_id)
        with pytest.raises(Unauthenticated):
            tribal.memory.authenticate(secret)


@pytest.mark.parametrize("variable", ["reader_url", "owner_url"])
def test_a_second_url_without_the_first_is_refused_by_name(variable: str) -> None:
    settings = Settings.model_validate({variable: "postgresql://db/x"})
    with pytest.raises(BadSetting, match=f"TRIBUTARY_{variable.upper()}: is set without TRIBUTARY_DATABASE_URL"):
        open_memory(settings)


def test_what_a_replica_does_not_know_yet_is_asked_of_the_writer(pair: Pair) -> None:
    with beside(pair) as tribal:
        pair.pause()
        learned = tribal.learn(tribal.curator, "the cache is warm")
        assert learned.lesson is not None
        lesson_id = learned.lesson.lesson_id
        assert tribal.memory.lesson(tribal.curator, lesson_id).lesson.status is Status.ACTIVE
        assert tick(tribal.recall("cache", as_of=learned.tick)) == learned.tick
        pair.primary.kill()
        with pytest.raises(Unavailable):  # rather than that there is no such lesson
            tribal.memory.lesson(tribal.curator, lesson_id)
        pair.primary.start()
        with pytest.raises(NotFound):
            tribal.memory.lesson(tribal.curator, tribal.tribe_id)


def test_a_replica_that_was_promoted_is_read_and_not_written(pair: Pair) -> None:
    with beside(pair) as tribal:
        tribal.rows("UPDATE tributary.token SET last_used_at = clock_timestamp() - interval '1 hour'")
        learned = tribal.learn(tribal.curator, "the cache is warm")
        pair.catch_up()
        pair.standby.promote()
        try:
            later = tribal.learn(tribal.curator, "the cache is cold")
            assert texts(tribal.recall("cache")) == ["the cache is warm"]  # from the fork, which says by its tick how old it is
            assert tick(tribal.recall("cache", at_least=later.tick)) == later.tick
            pair.primary.kill()
            fork = tribal.recall("cache", at_least=later.tick)
            assert (tick(fork), fork.receipt.causes) == (learned.tick, (Cause.REPLICA_BEHIND,))
            assert tribal.memory.authenticate(tribal.curator_token) == tribal.curator
            unnoted = "SELECT max(last_used_at) < clock_timestamp() - interval '30 minutes' FROM tributary.token"
            assert pair.standby.ask(unnoted, database_of(tribal))
        finally:
            pair.primary.start()
            copy_standby(pair.primary, pair.standby)


def seen(status: MemoryStatus, about: About, check: str) -> Observation:
    (found,) = [one for one in status.observations if (one.about, one.check) == (about, check)]
    return found


def test_reads_are_counted_on_the_writer_alone(pair: Pair) -> None:
    with beside(pair) as tribal:
        tribal.recall("cache")
        pair.primary.kill()
        tribal.recall("cache")
        tribal.memory.usage.flush()  # kept for later, and no error
        pair.primary.start()
        tribal.memory.usage.flush()
        assert tribal.rows("SELECT operation, calls FROM tributary.usage") == [{"operation": "recall", "calls": 2}]


def test_stats_and_status_are_read_from_a_replica_whose_lag_is_told(pair: Pair) -> None:
    with beside(pair) as tribal:
        tribal.learn(tribal.curator, "the cache is warm")
        pair.catch_up()
        well = tribal.memory.status(tribal.curator)
        assert well.warnings == ()
        assert seen(well, About.WRITER, "recovery").value is False
        assert seen(well, About.READER, "recovery").value is True
        assert seen(well, About.READER, "lag_s").value == 0.0
        pair.pause()
        tribal.learn(tribal.curator, "the cache is cold")
        behind = tribal.memory.status(tribal.curator)
        assert int(str(seen(behind, About.READER, "lag_bytes").value)) > 0
        assert float(str(seen(behind, About.READER, "lag_s").value)) > 0
        assert (seen(behind, About.TRIBE, "tick").value, tribal.memory.stats(tribal.curator).tick) == (1, 1)
        assert well.usable_paths == behind.usable_paths == (SearchPath.VECTOR_EXACT, SearchPath.TERMS)


def test_status_tells_which_of_the_two_is_away(pair: Pair) -> None:
    with beside(pair) as tribal:
        pair.primary.kill()
        found = tribal.memory.status(tribal.curator)
        assert {one.about for one in found.observations if one.cause is Unseen.UNREACHABLE} == {About.WRITER}
        assert seen(found, About.READER, "lag_bytes").value == 0
        assert found.usable
        pair.primary.start()
        pair.standby.kill()
        found = tribal.memory.status(tribal.curator)
        assert {one.about for one in found.observations if one.cause is Unseen.UNREACHABLE} == {About.READER}
        assert found.usable
        pair.standby.start()


def test_a_database_that_is_itself_a_replica_says_when_it_is_behind(pair: Pair) -> None:
    with beside(pair) as tribal:
        pair.pause()
        learned = tribal.learn(tribal.curator, "the cache is warm")
        alone = tribal.settings.model_copy(update={"database_url": tribal.settings.reader_url, "reader_url": None})
        with open_memory(alone, adapters=tribal.adapters) as memory:
            found = seen_by(tribal, memory).recall("cache", at_least=learned.tick)
            assert found.receipt.causes == (Cause.REPLICA_BEHIND,)
