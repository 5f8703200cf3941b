"""Sessions at the dashboard: who is let in and for how long, what is counted against whom, and what the audit says of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest

from tests.gardens import garden, kinds
from tests.tribes import Tribal
from tributary.access.sessions import LASTS, MOST_FAILURES, MOST_SESSIONS, MOST_SOURCES, WITHIN, source_hash
from tributary.access.tokens import new_token, token_hash
from tributary.core.agent import NewToken, Role, SignedIn
from tributary.core.errors import TooManyTries, TributaryError, Unauthenticated, UnknownCell
from tributary.core.garden import Rule
from tributary.service import open_operator

HOME = "192.0.2.7"
ELSEWHERE = "198.51.100.9"


def create(tribal: Tribal, name: str = "worker", role: Role = Role.WRITER, *, days: int = 365) -> NewToken:
    return tribal.memory.agents.create(tribal.curator, name, role, days=days)


def sign_in(tribal: Tribal, token: str | None = None, *, source: str = HOME) -> SignedIn:
    return tribal.memory.sign_in(tribal.curator_token if token is None else token, source=source)


def outcome(call: Callable[[], object]) -> str:
    """Returns the code of what was raised, else `let_in`."""
    try:
        call()
    except TributaryError as error:
        return error.code
    return "let_in"


def fail(tribal: Tribal, times: int = MOST_FAILURES, *, source: str = HOME) -> list[str]:
    return [outcome(lambda: sign_in(tribal, new_token(), source=source)) for _ in range(times)]


def signed_in(tribal: Tribal, session: SignedIn) -> bool:
    return outcome(lambda: tribal.memory.session(session.secret)) == "let_in"


def audited(tribal: Tribal) -> list[tuple[object, ...]]:
    """Returns agent, action, code and detail of what the audit has of sign-ins, oldest first."""
    rows = tribal.rows(
        """SELECT a.name, u.action, u.code, u.detail FROM tributary.audit u JOIN tributary.agent a USING (tribe_id, agent_id)
           WHERE u.action LIKE 'dashboard.%%' ORDER BY u.audit_id"""
    )
    return [tuple(row.values()) for row in rows]


def everything(tribal: Tribal) -> str:
    """Returns all that the database keeps of sign-ins, row versions included: what was written again is another one."""
    tables = ("session", "failed_sign_in", "token", "audit")
    return str([tribal.rows(f"SELECT xmin::text, * FROM tributary.{table} ORDER BY 2, 3") for table in tables])


# who is let in


@pytest.mark.parametrize("role", Role)
def test_a_token_signs_its_agent_in_by_another_secret(tribal: Tribal, role: Role) -> None:
    made = create(tribal, role=role)
    session = sign_in(tribal, made.secret)
    assert session.principal == tribal.memory.session(session.secret) == tribal.memory.authenticate(made.secret)
    assert session.ends_at - LASTS - tribal.clock() < timedelta(seconds=0) < session.ends_at - tribal.clock()
    assert session.secret not in (made.secret, sign_in(tribal, made.secret).secret)
    assert outcome(lambda: tribal.memory.authenticate(session.secret)) == "unauthenticated", "a session is no token"
    assert outcome(lambda: tribal.memory.session(made.secret)) == "unauthenticated", "nor is a token a session"
    assert tribal.memory.desk.agents(tribal.curator).items[0].last_used_at is not None


def test_a_token_that_is_unknown_expired_or_revoked_signs_nobody_in(tribal: Tribal) -> None:
    expired, revoked, of_revoked = create(tribal, "expired", days=1), create(tribal, "a"), create(tribal, "b")
    tribal.memory.agents.revoke_token(tribal.curator, revoked.token_id)
    tribal.memory.agents.revoke(tribal.curator, of_revoked.agent.agent_id)
    tribal.clock.advance(days=1)
    for token in (new_token(), expired.secret, revoked.secret, of_revoked.secret):
        with pytest.raises(Unauthenticated, match="unknown, expired or revoked"):
            sign_in(tribal, token)
    assert tribal.rows("SELECT * FROM tributary.session") == []


@pytest.mark.parametrize(
    "secret", ["", "trs_", "trs_" + "a" * 42, "trs_" + "a" * 44, "trb_" + "a" * 43, "trs_" + "é" * 43, "\ud800"]
)
def test_what_cannot_be_a_session_is_refused_and_signs_nobody_out(tribal: Tribal, secret: str) -> None:
    for call in (tribal.memory.session, tribal.memory.sign_out):
        with pytest.raises(Unauthenticated, match="sign in"):
            call(secret)
    with pytest.raises(UnknownCell, match="mars"):
        tribal.memory.session("trs_mars_" + "a" * 43)


def test_a_session_ends_after_its_hours_or_with_its_token_whichever_comes_first(tribal: Tribal) -> None:
    short = create(tribal, days=1)
    tribal.clock.advance(hours=20)
    by_long, by_short = sign_in(tribal), sign_in(tribal, short.secret)
    assert by_short.ends_at == short.expires_at < by_long.ends_at
    tribal.clock.advance(hours=4)
    assert (signed_in(tribal, by_long), signed_in(tribal, by_short)) == (True, False)
    tribal.clock.advance(hours=8)
    assert not signed_in(tribal, by_long)


def test_a_token_that_comes_to_expire_earlier_takes_its_sessions_along(tribal: Tribal) -> None:
    made = create(tribal)
    session = sign_in(tribal, made.secret)
    tribal.rows("UPDATE tributary.token SET expires_at = %s WHERE token_id = %s", tribal.clock(), made.token_id)
    assert not signed_in(tribal, session)


def test_revoking_a_token_ends_its_sessions_at_once_and_those_of_no_other(tribal: Tribal) -> None:
    old = create(tribal)
    new = tribal.memory.agents.new_token(tribal.curator, old.agent.agent_id)
    by_old, by_new, of_curator = sign_in(tribal, old.secret), sign_in(tribal, new.secret), sign_in(tribal)
    tribal.memory.agents.revoke_token(tribal.curator, old.token_id)
    assert [signed_in(tribal, one) for one in (by_old, by_new, of_curator)] == [False, True, True]
    tribal.memory.agents.revoke(tribal.curator, old.agent.agent_id)
    assert [signed_in(tribal, one) for one in (by_old, by_new, of_curator)] == [False, False, True]


def test_a_change_of_role_is_seen_by_a_session_that_was_begun_before(tribal: Tribal) -> None:
    made = create(tribal, role=Role.CURATOR)
    session = sign_in(tribal, made.secret)
    assert tribal.memory.session(session.secret).role is Role.CURATOR
    tribal.memory.agents.set_role(tribal.curator, made.agent.agent_id, Role.READER)
    assert tribal.memory.session(session.secret).role is Role.READER


def test_signing_out_ends_one_session_for_good_and_may_be_asked_for_again(tribal: Tribal) -> None:
    one, other = sign_in(tribal), sign_in(tribal)
    tribal.memory.sign_out(one.secret)
    tribal.memory.sign_out(one.secret)
    assert (signed_in(tribal, one), signed_in(tribal, other)) == (False, True)
    assert [line[1] for line in audited(tribal)] == ["dashboard.sign_in", "dashboard.sign_in", "dashboard.sign_out"]


def test_looking_who_is_signed_in_writes_nothing_and_works_where_nothing_can_be_written(tribal: Tribal) -> None:
    session = sign_in(tribal)
    before = everything(tribal)
    assert signed_in(tribal, session)
    assert everything(tribal) == before
    with psycopg.connect(tribal.url) as connection:
        connection.execute("SET TRANSACTION READ ONLY")
        found = connection.execute("SELECT tributary.session_v1(%s, NULL)", (token_hash(session.secret),)).fetchone()
    assert found is not None
    assert found[0]["name"] == "curator"


def test_a_token_has_so_many_sessions_and_one_more_ends_the_oldest(tribal: Tribal) -> None:
    other = sign_in(tribal, create(tribal).secret)
    sessions = [sign_in(tribal) for _ in range(MOST_SESSIONS + 1)]
    assert [signed_in(tribal, one) for one in sessions] == [False] + [True] * MOST_SESSIONS
    assert signed_in(tribal, other)


# what is counted


def test_after_so_many_failures_a_source_waits_whatever_its_token_and_no_other_does(tribal: Tribal) -> None:
    assert fail(tribal) == ["unauthenticated"] * MOST_FAILURES
    for token in (new_token(), tribal.curator_token):
        with pytest.raises(TooManyTries) as caught:
            sign_in(tribal, token)
        assert 0 < caught.value.retry_after_s <= WITHIN.total_seconds()
    assert sign_in(tribal, source=ELSEWHERE).principal == tribal.curator


def test_time_lets_a_source_in_again_as_soon_as_it_was_told(tribal: Tribal) -> None:
    fail(tribal, 1)
    tribal.clock.advance(minutes=2)
    fail(tribal, MOST_FAILURES - 1)
    with pytest.raises(TooManyTries) as caught:
        sign_in(tribal)
    assert caught.value.retry_after_s <= 180
    tribal.clock.advance(seconds=caught.value.retry_after_s)
    assert fail(tribal, 2) == ["unauthenticated", "too_many_tries"], "the first failure is long enough ago, the others are not"
    tribal.clock.advance(seconds=WITHIN.total_seconds())
    assert fail(tribal) == ["unauthenticated"] * MOST_FAILURES
    tribal.clock.advance(seconds=WITHIN.total_seconds())
    assert sign_in(tribal).principal == tribal.curator


def test_signing_in_forgives_no_failure_and_is_none(tribal: Tribal) -> None:
    for _ in range(MOST_FAILURES):
        sign_in(tribal)
    fail(tribal, MOST_FAILURES - 1)
    sign_in(tribal)
    assert fail(tribal, 2) == ["unauthenticated", "too_many_tries"]


def test_a_source_that_waits_writes_nothing_however_often_it_comes(tribal: Tribal) -> None:
    revoked = create(tribal)
    tribal.memory.agents.revoke_token(tribal.curator, revoked.token_id)
    fail(tribal)
    before = everything(tribal)
    for token in (new_token(), revoked.secret, tribal.curator_token):
        assert outcome(lambda token=token: sign_in(tribal, token)) == "too_many_tries"  # type: ignore[misc]  # a bound token
    assert everything(tribal) == before


def test_a_source_that_waits_does_not_queue_behind_its_own_tries(tribal: Tribal) -> None:
    fail(tribal)
    with psycopg.connect(tribal.url) as other:
        query = "SELECT pg_advisory_xact_lock(hashtextextended('sign_in:' || encode(tributary.sign_in_source_v1(%s), 'hex'), 0))"
        other.execute(query.encode(), [source_hash(HOME)])
        assert outcome(lambda: sign_in(tribal)) == "too_many_tries"
        assert outcome(lambda: sign_in(tribal, source=ELSEWHERE)) == "let_in"


def test_of_tries_that_come_at_once_from_one_source_no_more_than_the_limit_are_looked_at(tribal: Tribal) -> None:
    with ThreadPoolExecutor(24) as pool:
        found = list(pool.map(lambda _: fail(tribal, 1)[0], range(24)))
    assert (found.count("unauthenticated"), found.count("too_many_tries")) == (MOST_FAILURES, 24 - MOST_FAILURES)


def test_a_right_guess_that_comes_at_once_with_the_wrong_ones_waits_for_their_count(tribal: Tribal) -> None:
    fail(tribal, MOST_FAILURES - 1)
    with psycopg.connect(tribal.url) as other, ThreadPoolExecutor(1) as pool:
        given = (token_hash(new_token()), token_hash("x"), MOST_FAILURES, WITHIN, LASTS, tribal.clock())
        query = "SELECT tributary.begin_session_v1(%s, %s, %s, gen_random_uuid(), %s, %s, 10, %s, 10, %s)"
        other.execute(query.encode(), (source_hash(HOME), *given))
        guess = pool.submit(outcome, lambda: sign_in(tribal))
        while not guess.done() and not tribal.rows("SELECT FROM pg_locks WHERE NOT granted"):
            pass
        other.commit()
        assert guess.result() == "too_many_tries"


@pytest.mark.parametrize(
    ("one", "same", "another"),
    [
        ("2001:db8:1:2:3::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"),
        ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
        ("proxy-a", "proxy-a", "proxy-b"),
    ],
)
def test_a_source_is_an_address_or_what_one_network_has_of_them(tribal: Tribal, one: str, same: str, another: str) -> None:
    fail(tribal, source=one)
    assert outcome(lambda: sign_in(tribal, source=same)) == "too_many_tries"
    assert outcome(lambda: sign_in(tribal, source=another)) == "let_in"


def test_sources_are_kept_by_no_hash_that_could_be_made_without_the_databases_secret(tribal: Tribal) -> None:
    fail(tribal, 1)
    kept = tribal.rows("SELECT source_hash FROM tributary.failed_sign_in")
    made = "SELECT tributary.sign_in_source_v1(%s) AS source_hash"
    assert kept == tribal.rows(made, source_hash(HOME))
    assert kept != [{"source_hash": source_hash(HOME)}]
    with open_operator(tribal.settings, adapters=tribal.adapters) as operator:
        operator.rotate_signing_key()
    assert kept == tribal.rows(made, source_hash(HOME)), "a new key for receipts forgets no failure"
    tribal.rows("UPDATE tributary.signing_key SET secret = sha256(secret)")
    assert kept != tribal.rows(made, source_hash(HOME))


def test_no_more_sources_are_kept_than_so_many_and_those_that_failed_last_are(tribal: Tribal) -> None:
    tribal.rows(
        """INSERT INTO tributary.failed_sign_in
           SELECT sha256(n::text::bytea), ARRAY[t.at], t.at
           FROM generate_series(1, %s) n CROSS JOIN LATERAL (SELECT %s - n * interval '1 millisecond' AS at) t""",
        MOST_SOURCES + 4,
        tribal.clock(),
    )
    fail(tribal)
    left = "SELECT count(*) AS n, bool_or(source_hash = sha256(%s)) AS oldest FROM tributary.failed_sign_in"
    assert tribal.rows(left, str(MOST_SOURCES + 4).encode()) == [{"n": MOST_SOURCES, "oldest": False}]
    assert outcome(lambda: sign_in(tribal)) == "too_many_tries"


# what is left of it


def test_the_audit_tells_who_signed_in_and_out_and_of_a_dead_token_once_a_day(tribal: Tribal) -> None:
    made = create(tribal)
    session = sign_in(tribal, made.secret)
    tribal.memory.sign_out(session.secret)
    tribal.memory.agents.revoke_token(tribal.curator, made.token_id)
    fail(tribal, 1)
    for source in (HOME, HOME, ELSEWHERE):
        assert outcome(lambda source=source: sign_in(tribal, made.secret, source=source)) == "unauthenticated"  # type: ignore[misc]  # bound
    token = f"tok_{made.token_id.hex}"
    assert audited(tribal) == [
        ("worker", "dashboard.sign_in", "done", f"by {token} until {session.ends_at:%Y-%m-%dT%H:%M:%SZ}"),
        ("worker", "dashboard.sign_out", "done", f"by {token}"),
        ("worker", "dashboard.sign_in", "unauthenticated", f"{token} is revoked or expired"),
    ]
    tribal.clock.advance(days=1)
    assert outcome(lambda: sign_in(tribal, made.secret)) == "unauthenticated"
    assert len(audited(tribal)) == 4


def test_no_secret_and_no_address_is_kept_or_shown(tribal: Tribal) -> None:
    session = sign_in(tribal)
    fail(tribal, 1)
    tribal.memory.sign_out(sign_in(tribal).secret)
    kept = everything(tribal) + str(tribal.rows("SELECT encode(session_hash, 'escape') AS e FROM tributary.session"))
    for said in (kept, repr(session)):
        assert session.secret.removeprefix("trs_") not in said
        assert HOME not in said
    assert tribal.rows("SELECT FROM tributary.session WHERE session_hash = %s", token_hash(session.secret)) == [{}]


def test_a_sign_in_whose_reply_was_lost_is_sent_again_without_a_second_session(tribal: Tribal) -> None:
    given = (token_hash(tribal.curator_token), token_hash("trs_x"), MOST_FAILURES, WITHIN, LASTS, tribal.clock())
    query = "SELECT tributary.begin_session_v1(sha256('x'), %s, %s, gen_random_uuid(), %s, %s, 10, %s, 10, %s) AS found"
    first, second = tribal.rows(query, *given), tribal.rows(query, *given)
    assert first == second
    assert tribal.rows("SELECT count(*) AS n FROM tributary.session") == [{"n": 1}]
    assert len(audited(tribal)) == 1


def test_the_gardener_forgets_ended_sessions_and_old_failures_and_keeps_the_others(tribal: Tribal) -> None:
    sign_in(tribal)
    fail(tribal, 2)
    tribal.clock.advance(hours=30)
    sign_in(tribal)
    fail(tribal, 1, source=ELSEWHERE)
    assert kinds(garden(tribal, dry_run=True).rule(Rule.PRUNE)) == {"failed_sign_in": 1}
    tribal.clock.advance(hours=8)
    assert kinds(garden(tribal).rule(Rule.PRUNE)) == {"failed_sign_in": 1, "session": 1}
    assert garden(tribal).idle
    counted = (
        "SELECT (SELECT count(*) FROM tributary.session) AS sessions, (SELECT count(*) FROM tributary.failed_sign_in) AS sources"
    )
    assert tribal.rows(counted) == [{"sessions": 1, "sources": 1}]
