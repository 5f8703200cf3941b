"""What happened to one lesson: its events, the lessons before and after it, and the receipts that led to each decision."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from tests.doubles import RuledJudge, within_a_subject
from tests.tribes import SEEN, Tribal, id_of, open_tribal
from tributary.core.agent import Principal, Role
from tributary.core.curation import Ending, RetireCause
from tributary.core.decision import Learned, Outcome
from tributary.core.errors import IdempotencyConflict, InvalidRequest, NotFound
from tributary.core.history import Happening, Timeline
from tributary.core.lesson import Draft, Status
from tributary.core.requests import Question
from tributary.edges.lambda_http.translate import receipt as shown_receipt
from tributary.store import statement

ONE = "the port is 80"


@pytest.fixture
def ruled(database_url: str) -> Iterator[Tribal]:
    """A tribe whose lessons of one subject conflict unless they say the same."""
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as opened:
        yield opened


def timeline(
    tribal: Tribal, lesson_id: UUID, agent: Principal | None = None, *, limit: int = 100, before: int | None = None
) -> Timeline:
    return tribal.memory.history.timeline(agent or tribal.curator, lesson_id, limit=limit, before=before)


def happened(found: Timeline) -> list[Happening]:
    return [one.event for one in found.events]


def served(tribal: Tribal, agent: Principal, query: str) -> dict[str, object]:
    """Returns the document of a recall's receipt, as a caller has it."""
    receipt = tribal.memory.recall(agent, Question(query=query)).receipt
    return shown_receipt(receipt).model_dump(mode="json")


def test_a_lesson_tells_what_happened_to_it_in_order(ruled: Tribal) -> None:
    writer, other = ruled.agent("writer"), ruled.agent("other")
    old = ruled.learn(ruled.curator, ONE, subject="port")
    new = ruled.learn(writer, "the port is 81", subject="port")
    receipt = served(ruled, other, "port")
    confirmed = ruled.memory.reinforce(other, id_of(old), receipt=receipt)
    assert new.dispute_id is not None
    ended = ruled.memory.curate.resolve(ruled.curator, new.dispute_id, Ending.ACCEPTED)
    found = timeline(ruled, id_of(old))
    assert happened(found) == [Happening.LEARNED, Happening.CHALLENGED, Happening.REINFORCED, Happening.SUPERSEDED]
    assert [one.tick for one in found.events] == [old.tick, new.tick, confirmed.tick, ended.tick]
    assert [one.by for one in found.events] == ["curator", "writer", "other", "curator"]
    learned, challenged, reinforced, superseded = found.events
    assert (learned.status, superseded.status) == (Status.ACTIVE, Status.SUPERSEDED)
    assert challenged.disputes == (new.dispute_id,)
    assert reinforced.receipt == receipt["id"]
    assert (superseded.successor, superseded.disputes, superseded.ending) == (id_of(new), (new.dispute_id,), "accepted")
    assert {one.decision_id for one in found.decisions} == {old.decision_id, new.decision_id, ended.decision_id}
    assert [one.outcome for one in found.decisions] == [Outcome.LEARNED, Outcome.DISPUTED, Outcome.SUPERSEDED]
    assert [one.lesson_id for one in found.after.links] == [id_of(new)]
    assert found.receipt.searched[0].tick == ended.tick
    assert found.next_before is None


def test_the_chain_is_told_both_ways_and_at_every_remove(ruled: Tribal) -> None:
    chain = [id_of(ruled.learn(ruled.curator, f"the port is {number}", subject="port")) for number in range(5)]
    found = timeline(ruled, chain[2])
    assert [one.lesson_id for one in found.before.links] == chain[:2]
    assert [one.lesson_id for one in found.after.links] == chain[3:]
    assert [one.text for one in found.before.links] == ["the port is 0", "the port is 1"]
    assert [one.superseded_by for one in found.before.links] == chain[1:3]
    assert [one.status for one in found.after.links] == [Status.SUPERSEDED, Status.ACTIVE]
    first, second = found.before.links
    assert first.deactivated == second.activated
    assert not found.before.more
    assert not found.after.more


def test_a_chain_that_is_too_long_keeps_what_is_nearest(ruled: Tribal) -> None:
    chain = [id_of(ruled.learn(ruled.curator, f"the port is {number}", subject="port")) for number in range(6)]
    row = ruled.memory.database.value(
        statement("recall", "timeline"),
        {
            "tribe_id": ruled.tribe_id,
            "agent_id": ruled.curator.agent_id,
            "lesson_id": chain[3],
            "limit": 10,
            "before_tick": None,
            "chain": 1,
            "now": None,
        },
    )
    assert isinstance(row, dict)
    assert [one["lesson_id"] for one in row["before"]] == [str(chain[2])]
    assert [one["lesson_id"] for one in row["after"]] == [str(chain[4])]
    assert row["more_before"]
    assert row["more_after"]


def test_a_long_history_comes_in_pages_that_split_no_tick(ruled: Tribal) -> None:
    lesson = ruled.learn(ruled.curator, ONE, subject="port")
    for number in range(7):
        ruled.memory.reinforce(ruled.agent(f"agent-{number}"), id_of(lesson))
    whole = timeline(ruled, id_of(lesson)).events
    assert len(whole) == 8
    found: list[object] = []
    before = None
    while True:
        page = timeline(ruled, id_of(lesson), limit=3, before=before)
        assert len(page.events) <= 3
        found = [*page.events, *found]
        before = page.next_before
        if before is None:
            break
    assert tuple(found) == whole
    ruled.rows(  # two events of one tick
        "UPDATE tributary.lesson_event SET tick = 7, seq = 2 WHERE tribe_id = %s AND tick = 8", ruled.tribe_id
    )
    page = timeline(ruled, id_of(lesson), limit=1)
    assert [one.tick for one in page.events] == [7, 7]
    assert page.next_before == 7


def test_what_is_held_back_is_not_found_by_others(ruled: Tribal) -> None:
    author, reader = ruled.agent("author"), ruled.agent("reader", Role.READER)
    held = ruled.learn(author, "HIJACK every reader")
    assert held.outcome is Outcome.QUARANTINED
    for agent in (author, ruled.curator):
        assert timeline(ruled, id_of(held), agent).lesson.text == "HIJACK every reader"
    for agent in (reader, ruled.agent("other")):
        with pytest.raises(NotFound):
            timeline(ruled, id_of(held), agent)


def test_a_chain_shows_no_word_of_an_injection_to_those_who_may_not_see_it(ruled: Tribal) -> None:
    reader = ruled.agent("reader", Role.READER)
    author = ruled.agent("author")
    ruled.learn(author, "the port is 80", subject="port")
    second = ruled.learn(author, "the port is 81", subject="port")
    third = ruled.learn(author, "the port is 82", subject="port")
    assert third.outcome is Outcome.SUPERSEDED
    ruled.memory.curate.retire(ruled.curator, id_of(third), RetireCause.INJECTION)
    found = timeline(ruled, id_of(second), reader)
    assert [one.text for one in found.before.links] == ["the port is 80"]
    assert [(one.lesson_id, one.status, one.text) for one in found.after.links] == [(id_of(third), Status.RETIRED, None)]
    assert "the port is 82" not in repr(found)
    assert [one.text for one in timeline(ruled, id_of(second), author).after.links] == ["the port is 82"]


def test_an_erased_lesson_keeps_its_history_without_its_words(ruled: Tribal) -> None:
    old = ruled.learn(ruled.curator, ONE, subject="port")
    new = ruled.learn(ruled.curator, "the port is 81", subject="port")
    ruled.memory.curate.erase(ruled.curator, id_of(old))
    found = timeline(ruled, id_of(new))
    assert [(one.status, one.text) for one in found.before.links] == [(Status.ERASED, None)]
    erased = timeline(ruled, id_of(old))
    assert happened(erased) == [Happening.LEARNED, Happening.SUPERSEDED, Happening.ERASED]
    assert ONE not in repr((found, erased))


def test_a_lesson_of_another_tribe_is_not_found(ruled: Tribal) -> None:
    with open_tribal(ruled.url, name="other") as other:
        theirs = other.learn(other.curator, "theirs alone")
        with pytest.raises(NotFound):
            timeline(ruled, id_of(theirs))


@pytest.mark.parametrize(("name", "value"), [("limit", 0), ("limit", 101), ("before", -1), ("before", 2**63)])
def test_what_breaks_a_rule_is_refused_by_name(ruled: Tribal, name: str, value: int) -> None:
    lesson = ruled.learn(ruled.curator, ONE)
    with pytest.raises(InvalidRequest) as refused:
        ruled.memory.history.timeline(ruled.curator, id_of(lesson), **{name: value})
    assert refused.value.field == name


# -- citing


def test_a_decision_keeps_the_receipts_that_its_writer_cited(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    ruled.learn(ruled.curator, ONE, subject="port")
    first, second = served(ruled, writer, "port"), served(ruled, writer, "nothing of the sort")
    learned = ruled.learn(writer, "the load balancer listens on it too", receipts=(first, second, first))
    (decision,) = timeline(ruled, id_of(learned)).decisions
    assert decision.decision_id == learned.decision_id
    kept, empty = decision.receipts
    assert kept.document() == {
        "id": first["id"],
        "tick": 1,
        "coverage": "complete",
        "query_digest": first["query_digest"],
        "hits": [f"les_{id_of(ruled.learn(ruled.curator, ONE, subject='port')).hex}"],
    }
    assert (empty.document()["id"], empty.hits) == (second["id"], ())
    (record,) = ruled.memory.desk.decisions(ruled.curator, lesson_id=id_of(learned)).items
    assert record.receipts == decision.receipts
    (stored,) = ruled.rows("SELECT receipts::text AS kept FROM tributary.decision WHERE decision_id = %s", learned.decision_id)
    assert "filters" not in str(stored["kept"])
    assert ONE not in str(stored["kept"])


def test_a_confirmation_by_learning_shows_the_receipts_with_the_confirmed_lesson(ruled: Tribal) -> None:
    writer = ruled.agent("writer")
    known = ruled.learn(ruled.curator, ONE, subject="port")
    receipt = served(ruled, writer, "port")
    again = ruled.learn(writer, ONE, subject="port", receipts=(receipt,))
    assert again.outcome is Outcome.REINFORCED
    first, second = timeline(ruled, id_of(known)).decisions
    assert first.receipts == ()
    assert [one.document()["id"] for one in second.receipts] == [receipt["id"]]


@pytest.mark.parametrize("forge", ["tick", "hits", "key", "empty"])
def test_a_receipt_that_is_not_as_it_was_signed_is_refused(ruled: Tribal, forge: str) -> None:
    genuine = served(ruled, ruled.curator, "port")
    forged: dict[str, dict[str, object]] = {
        "tick": {**genuine, "searched": [{**genuine["searched"][0], "tick": 7}]},  # type: ignore[index]  # it is a list
        "hits": {**genuine, "hits": [{"id": "les_" + "1" * 32}]},
        "key": {**genuine, "key": "k2"},
        "empty": {},
    }
    with pytest.raises(InvalidRequest) as refused:
        ruled.learn(ruled.curator, ONE, receipts=(genuine, forged[forge]))
    assert (refused.value.field, refused.value.rule) == (
        "receipts.1",
        "is not as it was signed; send the receipt of a recall unchanged",
    )
    assert ruled.status_counts() == {}


def test_a_receipt_of_another_tribe_is_refused(ruled: Tribal) -> None:
    with open_tribal(ruled.url, name="other") as other:
        foreign = served(other, other.curator, "port")
    with pytest.raises(InvalidRequest) as refused:
        ruled.learn(ruled.curator, ONE, receipts=(foreign,))
    assert (refused.value.field, refused.value.rule) == ("receipts.0", "is of another tribe")


def test_at_most_eight_receipts_are_cited(ruled: Tribal) -> None:
    genuine = served(ruled, ruled.curator, "port")
    with pytest.raises(InvalidRequest, match="receipts: has 9 items; at most 8 are allowed"):
        ruled.learn(ruled.curator, ONE, receipts=(genuine,) * 9)


def test_a_repeated_key_with_other_receipts_is_another_request(ruled: Tribal) -> None:
    first, second = served(ruled, ruled.curator, "port"), served(ruled, ruled.curator, "port")
    draft = Draft(text=ONE, situation="s", source=SEEN, receipts=(first,))
    learned = ruled.memory.learn(ruled.curator, draft, idempotency_key="k")
    assert ruled.memory.learn(ruled.curator, draft, idempotency_key="k").decision_id == learned.decision_id
    other = Draft(text=ONE, situation="s", source=SEEN, receipts=(second,))
    with pytest.raises(IdempotencyConflict):
        ruled.memory.learn(ruled.curator, other, idempotency_key="k")


def test_one_forged_receipt_of_a_batch_sinks_its_own_lesson_alone(ruled: Tribal) -> None:
    genuine = served(ruled, ruled.curator, "port")
    good, bad = ruled.memory.learn_all(
        ruled.curator,
        [
            Draft(text=ONE, situation="s", source=SEEN, receipts=(genuine,)),
            Draft(text="another", situation="s", source=SEEN, receipts=({**genuine, "floor": 0.9},)),
        ],
    )
    assert isinstance(good, Learned)
    assert isinstance(bad, InvalidRequest)
    assert bad.field == "receipts.0"


def test_a_pending_lesson_keeps_what_its_writer_cited_when_it_is_settled(ruled: Tribal) -> None:
    genuine = served(ruled, ruled.curator, "port")
    pending = ruled.memory.learn(ruled.curator, Draft(text=ONE, situation="s", source=SEEN, receipts=(genuine,)), wait=False)
    assert ruled.memory.settle_pending() == 1
    kept, settled = timeline(ruled, id_of(pending)).decisions
    assert [one.document()["id"] for one in kept.receipts] == [genuine["id"]]
    assert settled.receipts == ()


# -- plans

READS = """
    SELECT relname::text AS relname, coalesce(seq_tup_read, 0)::int AS scanned FROM pg_stat_xact_user_tables
    WHERE schemaname = 'tributary' AND coalesce(seq_tup_read, 0) > 0 ORDER BY 1"""


def scanned(tribal: Tribal, call: str, *given: object) -> dict[str, int]:
    """Returns how many rows a call read by scanning tables from end to end, by table."""
    with psycopg.connect(tribal.url) as connection:
        connection.execute(call.encode(), given)
        return dict(connection.execute(READS).fetchall())


@pytest.fixture
def large(ruled: Tribal) -> Tribal:
    """A tribe with a long history, most of it of other lessons than the one that is asked about."""
    ruled.rows(
        """
        INSERT INTO tributary.lesson (
            tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how, confidence, content_hash,
            learned_tick, learned_at, activated_tick, activated_at, deactivated_tick, deactivated_at)
        SELECT %s, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, %s, 'gotcha', 'retired', 'lesson ' || n, 's',
               'told', 0.5, sha256(n::text::bytea), n, now(), n, now(), n + 1, now()
        FROM generate_series(1, 20000) AS n""",
        ruled.tribe_id,
        ruled.curator.agent_id,
    )
    ruled.rows(
        """
        INSERT INTO tributary.lesson_event (tribe_id, tick, seq, lesson_id, event, status, agent_id, at)
        SELECT tribe_id, learned_tick, 1, lesson_id, 'learned', 'active', agent_id, now()
        FROM tributary.lesson WHERE tribe_id = %s""",
        ruled.tribe_id,
    )
    ruled.rows("UPDATE tributary.tribe SET clock = 20001 WHERE tribe_id = %s", ruled.tribe_id)
    ruled.rows("VACUUM ANALYZE")
    return ruled


def test_history_is_read_by_indexes_in_a_large_tribe(large: Tribal) -> None:
    agent = large.curator.agent_id
    lesson = UUID("00000000-0000-7000-8000-000000010000")
    small = {"agent", "tribe", "decision", "dispute", "dispute_about", "tribe_event", "confirmation"}
    told = "SELECT tributary.timeline_v1(%s, %s, %s, 100, NULL, 1000, NULL)"
    assert set(scanned(large, told, large.tribe_id, agent, lesson)) <= small
    for after, newest in ((15000, False), (0, True)):
        feed = "SELECT tributary.changes_v1(%s, %s, %s, 100, %s)"
        assert set(scanned(large, feed, large.tribe_id, agent, after, newest)) <= small
    assert set(scanned(large, "SELECT tributary.clock_v1(%s)", large.tribe_id)) <= small


def test_without_its_index_the_chain_would_scan_the_tribe(large: Tribal) -> None:
    """The control: what the test above looks at does show it."""
    large.rows("DROP INDEX tributary.lesson_superseded_by")
    told = "SELECT tributary.timeline_v1(%s, %s, %s, 100, NULL, 1000, NULL)"
    found = scanned(large, told, large.tribe_id, large.curator.agent_id, UUID("00000000-0000-7000-8000-000000010000"))
    assert found["lesson"] >= 20_000
