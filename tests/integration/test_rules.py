"""The database's own rules, tried with SQL written by hand as the owner: they hold whoever writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from tests.doubles import RuledJudge
from tests.tribes import Tribal, open_tribal
from tributary.core.decision import VerdictKind

NOW = "clock_timestamp()"


@pytest.fixture
def tribal(database_url: str) -> Iterator[Tribal]:
    with open_tribal(database_url, judge=RuledJudge(lambda *_: VerdictKind.CONFLICTS)) as opened:
        yield opened


@pytest.fixture
def owner(tribal: Tribal) -> Iterator[psycopg.Connection]:
    with psycopg.connect(tribal.url, autocommit=True) as connection:
        connection.execute("SET ROLE tributary_owner")
        yield connection


def _rivals(tribal: Tribal) -> tuple[UUID, UUID]:
    """Gives a believed lesson and a disputed one that a verdict called conflicting."""
    first = tribal.learn(tribal.agent("one"), "alpha", subject="matter").lesson
    second = tribal.learn(tribal.agent("two"), "beta", subject="matter").lesson
    assert first is not None
    assert second is not None
    return first.lesson_id, second.lesson_id


def _activate(connection: psycopg.Connection, lesson_id: UUID) -> None:
    connection.execute(
        """UPDATE tributary.lesson SET status = 'active', activated_tick = 99, activated_at = clock_timestamp()
           WHERE lesson_id = %s""",
        (lesson_id,),
    )


def _retire(connection: psycopg.Connection, lesson_id: object, tick: int) -> None:
    connection.execute(
        """UPDATE tributary.lesson SET status = 'retired', deactivated_tick = %s, deactivated_at = clock_timestamp()
           WHERE lesson_id = %s""",
        (tick, lesson_id),
    )


def test_two_rivals_cannot_both_be_believed(tribal: Tribal, owner: psycopg.Connection) -> None:
    _, disputed = _rivals(tribal)
    with pytest.raises(psycopg.errors.CheckViolation, match="rival_not_both"):
        _activate(owner, disputed)


def test_without_the_rival_rule_both_would_be_believed(tribal: Tribal, owner: psycopg.Connection) -> None:
    _, disputed = _rivals(tribal)
    owner.execute("ALTER TABLE tributary.rival DROP CONSTRAINT rival_not_both")
    _activate(owner, disputed)
    assert tribal.status_counts() == {"active": 2}


def test_two_sessions_cannot_believe_one_rival_each(tribal: Tribal, owner: psycopg.Connection) -> None:
    believed, disputed = _rivals(tribal)
    _retire(owner, believed, 50)
    tribal.learn(tribal.agent("three"), "gamma", subject="another", situation="elsewhere")
    third = tribal.rows("SELECT lesson_id FROM tributary.lesson WHERE text = 'gamma'")[0]["lesson_id"]
    _retire(owner, third, 60)
    failures: list[BaseException] = []
    with psycopg.connect(tribal.url) as one, psycopg.connect(tribal.url) as two:
        _activate(one, disputed)

        def other_session() -> None:
            # a second believed lesson and the pair's rival row, while the first session has not committed
            try:
                two.execute(
                    """
                    INSERT INTO tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how,
                        confidence, content_hash, learned_tick, learned_at, activated_tick, activated_at)
                    SELECT tribe_id, gen_random_uuid(), agent_id, kind, 'active', 'delta', situation, source_how, confidence,
                        sha256('x'), 70, clock_timestamp(), 70, clock_timestamp()
                    FROM tributary.lesson WHERE lesson_id = %s
                    """,
                    (disputed,),
                )
                two.execute(
                    """
                    INSERT INTO tributary.rival (tribe_id, a, b, a_on, b_on, since_tick)
                    SELECT tribe_id, least(%s, l.lesson_id), greatest(%s, l.lesson_id),
                           l.lesson_id < %s, l.lesson_id > %s, 70
                    FROM tributary.lesson l WHERE l.text = 'delta'
                    """,
                    (disputed, disputed, disputed, disputed),
                )
                two.commit()
            except psycopg.Error as error:
                failures.append(error)

        thread = threading.Thread(target=other_session)
        thread.start()
        _until_blocked(tribal.url, thread)
        one.commit()
        thread.join(30)
    assert [type(one) for one in failures] in ([psycopg.errors.CheckViolation], [psycopg.errors.ForeignKeyViolation])
    assert tribal.status_counts()["active"] == 1


def _until_blocked(url: str, thread: threading.Thread) -> None:
    """Waits until the other session waits for a lock, which is what the race needs. A superuser sees that, the owner does not."""
    with psycopg.connect(url, autocommit=True) as connection:
        while thread.is_alive():
            found = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            ).fetchone()
            if found is not None and found[0]:
                return


def test_equal_content_cannot_be_believed_twice(tribal: Tribal, owner: psycopg.Connection) -> None:
    tribal.learn(tribal.curator, "alpha")
    with pytest.raises(psycopg.errors.UniqueViolation, match="lesson_believed_content"):
        owner.execute(
            """
            INSERT INTO tributary.lesson (tribe_id, lesson_id, agent_id, kind, status, text, situation, source_how, confidence,
                content_hash, learned_tick, learned_at, activated_tick, activated_at)
            SELECT tribe_id, gen_random_uuid(), agent_id, kind, status, text, situation, source_how, confidence, content_hash,
                9, clock_timestamp(), 9, clock_timestamp() FROM tributary.lesson
            """
        )


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("status = 'superseded'", "lesson_status_interval"),
        ("status = 'pending'", "lesson_status_interval"),
        ("deactivated_tick = 5, deactivated_at = clock_timestamp()", "lesson_status_interval"),
        ("status = 'retired', deactivated_tick = activated_tick, deactivated_at = activated_at", "lesson_interval"),
        ("status = 'retired', deactivated_tick = 5", "lesson_interval"),
        ("superseded_by = lesson_id", "lesson_successor_status"),
        ("status = 'erased'", "lesson_has_text"),
    ],
)
def test_status_and_interval_cannot_disagree(tribal: Tribal, owner: psycopg.Connection, change: str, rule: str) -> None:
    tribal.learn(tribal.curator, "alpha")
    with pytest.raises(psycopg.errors.CheckViolation, match=rule):
        owner.execute(f"UPDATE tributary.lesson SET {change}".encode())


@pytest.mark.parametrize(
    "change",
    ["text = 'other'", "situation = 'other'", "confidence = 1", "kind = 'observation'", "activated_tick = 0", "learned_tick = 0"],
)
def test_what_a_lesson_says_and_when_it_began_never_changes(tribal: Tribal, owner: psycopg.Connection, change: str) -> None:
    tribal.learn(tribal.curator, "alpha")
    with pytest.raises(psycopg.Error) as caught:
        owner.execute(f"UPDATE tributary.lesson SET {change}".encode())
    assert caught.value.sqlstate == "TB500"


def test_a_deactivated_lesson_cannot_be_believed_again(tribal: Tribal, owner: psycopg.Connection) -> None:
    tribal.learn(tribal.curator, "alpha")
    owner.execute(f"UPDATE tributary.lesson SET status = 'retired', deactivated_tick = 5, deactivated_at = {NOW}".encode())
    with pytest.raises(psycopg.Error) as caught:
        owner.execute("UPDATE tributary.lesson SET status = 'active', deactivated_tick = NULL, deactivated_at = NULL")
    assert caught.value.sqlstate == "TB500"


def test_a_successor_must_have_become_believed_at_the_tick_that_ended_the_old_one(
    tribal: Tribal, owner: psycopg.Connection
) -> None:
    old = tribal.learn(tribal.curator, "alpha", subject="one", situation="here").lesson
    new = tribal.learn(tribal.curator, "beta", subject="one", situation="here")
    assert old is not None
    assert new.replaced == (old.lesson_id,)
    assert new.lesson is not None
    # pointing the newer one back at the older one would close a cycle
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match="lesson_successor"):
        owner.execute(
            f"""UPDATE tributary.lesson SET status = 'superseded', superseded_by = %s, deactivated_tick = 7,
                deactivated_at = {NOW}
                WHERE lesson_id = %s""".encode(),
            (old.lesson_id, new.lesson.lesson_id),
        )


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO tributary.lesson_event SELECT * FROM tributary.lesson_event",
        "UPDATE tributary.lesson SET confidence = 1",
        "DELETE FROM tributary.lesson",
        "UPDATE tributary.tribe SET clock = 0",
        "SELECT secret FROM tributary.tribe",
        "SELECT token_hash FROM tributary.token",
        "UPDATE tributary.agent SET role = 'curator'",
        "DELETE FROM tributary.audit",
        "SELECT tributary.advance_v1(gen_random_uuid())",
        "SELECT tributary.learn_apply_v1('{}', 0, now())",
    ],
)
def test_the_runtime_role_changes_beliefs_through_the_functions_only(tribal: Tribal, statement: str) -> None:
    runtime = psycopg.connect(tribal.url, autocommit=True, options="-c role=tributary_runtime")
    with runtime as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement.encode())


def test_counters_agree_with_the_lessons(tribal: Tribal, owner: psycopg.Connection) -> None:
    _rivals(tribal)
    tribal.learn(tribal.curator, "gamma", subject="matter")
    counted = tribal.rows("SELECT status, lessons FROM tributary.tribe_count WHERE lessons > 0 ORDER BY status")
    found = tribal.rows("SELECT status, count(*) AS lessons FROM tributary.lesson GROUP BY status ORDER BY status")
    assert counted == found
    vectors = tribal.rows(
        "SELECT (SELECT count(*) FROM tributary.lesson_vector WHERE believed) = vectors AS equal FROM tributary.tribe_space"
    )
    assert vectors == [{"equal": True}]


def test_a_commit_refuses_any_isolation_but_read_committed(tribal: Tribal, owner: psycopg.Connection) -> None:
    owner.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    with owner.transaction(), pytest.raises(psycopg.Error) as caught:
        owner.execute("SELECT tributary.gate_v1(%s)", (tribal.tribe_id,))
    assert caught.value.sqlstate == "TB500"


# -- curation


def _dispute(tribal: Tribal) -> UUID:
    _rivals(tribal)
    (row,) = tribal.rows("SELECT dispute_id FROM tributary.dispute")
    return UUID(str(row["dispute_id"]))


def test_believed_lesson_cannot_be_marked_as_rejected(tribal: Tribal, owner: psycopg.Connection) -> None:
    believed, disputed = _rivals(tribal)
    for lesson_id in (believed, disputed):
        with pytest.raises(psycopg.errors.CheckViolation, match="lesson_rejected_status"):
            owner.execute("UPDATE tributary.lesson SET rejected_as = 'wrong' WHERE lesson_id = %s", (lesson_id,))
    with pytest.raises(psycopg.errors.CheckViolation, match="rejected_as"):
        owner.execute("UPDATE tributary.lesson SET rejected_as = 'dull', status = 'retired' WHERE lesson_id = %s", (disputed,))


@pytest.mark.parametrize(
    "change",
    [
        "ending = 'accepted'",
        "state = 'settled', closed_tick = 99, closed_at = clock_timestamp()",
        "state = 'settled', closed_tick = 99, closed_at = clock_timestamp(), ending = 'accepted'",
        "state = 'settled', closed_tick = 99, closed_at = clock_timestamp(), ending = 'moot', closed_by = lesson_id",
        "state = 'settled', closed_tick = 99, closed_at = clock_timestamp(), ending = 'moot', rationale = 'because'",
        "state = 'settled', closed_tick = opened_tick, closed_at = clock_timestamp(), ending = 'moot'",
        "rationale = 'because'",
    ],
)
def test_dispute_ends_wholly_or_not_at_all(tribal: Tribal, owner: psycopg.Connection, change: str) -> None:
    dispute = _dispute(tribal)
    with pytest.raises(psycopg.errors.CheckViolation, match=r"dispute_(ending|interval)"):
        owner.execute(f"UPDATE tributary.dispute SET {change} WHERE dispute_id = %s".encode(), (dispute,))
    owner.execute(
        """UPDATE tributary.dispute SET state = 'settled', closed_tick = 99, closed_at = clock_timestamp(), ending = 'moot'
           WHERE dispute_id = %s""",
        (dispute,),
    )


def test_erased_lesson_holds_no_text_and_others_hold_some(tribal: Tribal, owner: psycopg.Connection) -> None:
    _, disputed = _rivals(tribal)
    for change in ("status = 'erased'", "status = 'erased', text = NULL", "text = NULL, situation = NULL"):
        with pytest.raises(psycopg.errors.DatabaseError):
            owner.execute(f"UPDATE tributary.lesson SET {change} WHERE lesson_id = %s".encode(), (disputed,))


def test_two_sessions_cannot_accept_two_contenders_by_hand(tribal: Tribal) -> None:
    """The believed lesson ends in one session while a second one, too, puts a contender in its place."""
    believed, first = _rivals(tribal)
    third = tribal.learn(tribal.agent("three"), "gamma", subject="matter").lesson
    assert third is not None
    with psycopg.connect(tribal.url) as one, psycopg.connect(tribal.url) as two:
        for session in (one, two):
            session.execute("SET ROLE tributary_owner")
        _retire(one, believed, 98)
        _activate(one, first)
        refused: list[psycopg.Error] = []
        second = threading.Thread(target=_activate_and_note, args=(two, third.lesson_id, refused))
        second.start()
        _until_blocked(tribal.url, second)
        one.commit()
        second.join(30)
        assert [type(error) for error in refused] == [psycopg.errors.CheckViolation]


def _activate_and_note(connection: psycopg.Connection, lesson_id: UUID, refused: list[psycopg.Error]) -> None:
    try:
        _activate(connection, lesson_id)
        connection.commit()
    except psycopg.Error as error:
        refused.append(error)
