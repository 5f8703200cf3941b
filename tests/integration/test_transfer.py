"""A tribe goes out of one database and into another, and is the same tribe there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import psycopg
import pytest

from tests.conftest import new_database
from tests.doubles import RuledJudge
from tests.lived import by_number, live
from tests.spaces import Projected, operating
from tests.tribes import SEEN, Tribal, open_tribal
from tributary.core.agent import Principal
from tributary.core.errors import InvalidRequest, NotFound, TributaryError, WrongStanding
from tributary.core.lesson import Draft
from tributary.core.requests import Question
from tributary.core.verification import Verdict
from tributary.service import Memory, Settings, open_memory, open_operator
from tributary.service.operator import Operator
from tributary.transfer.tribes.form import MOST_LINE_BYTES
from tributary.transfer.tribes.tables import COLUMNS_LEFT_OUT, EXPORTED, LEFT_OUT, SPACE


@pytest.fixture(scope="module")
def rich(server_url: str, template: str) -> Iterator[Tribal]:
    """A tribe to which all that can happen did happen."""
    with (
        new_database(server_url, template) as url,
        open_tribal(url, judge=RuledJudge(by_number), next_embedder=Projected(dimension=512)) as tribal,
    ):
        live(tribal)
        yield tribal


@dataclass(frozen=True, kw_only=True)
class Other:
    """Another database of the same cluster, into which tribes are restored."""

    url: str
    source: Tribal

    @contextmanager
    def operating(self) -> Iterator[Operator]:
        with open_operator(self._settings, adapters=self.source.adapters) as operator:
            yield operator

    def restore(self, lines: Sequence[bytes], name: str | None = None) -> None:
        with self.operating() as operator:
            operator.restore(lines, name=name)

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        with open_memory(self._settings, adapters=self.source.adapters) as memory:
            yield memory

    def agent(self, memory: Memory, name: str, tribe: str | None = None) -> Principal:
        with self.operating() as operator:
            return memory.authenticate(operator.rotate(tribe or self.source.name, name).secret)

    def tribes(self) -> list[str]:
        with self.operating() as operator:
            return [one.name for one in operator.tribes()]

    @property
    def _settings(self) -> Settings:
        return self.source.settings.model_copy(update={"database_url": self.url})


@pytest.fixture
def other(database_url: str, rich: Tribal) -> Other:
    return Other(url=database_url, source=rich)


@pytest.fixture(scope="module")
def refusing(server_url: str, template: str, rich: Tribal) -> Iterator[Other]:
    """One database for all that is refused: nothing stays of it."""
    with new_database(server_url, template) as url:
        yield Other(url=url, source=rich)


@pytest.fixture(scope="module")
def lines(rich: Tribal) -> list[bytes]:
    return exported(rich)


def exported(tribal: Tribal | Other, name: str | None = None) -> list[bytes]:
    lines: list[bytes] = []
    opened = tribal.operating() if isinstance(tribal, Other) else operating(tribal)
    with opened as operator:
        source = tribal.source if isinstance(tribal, Other) else tribal
        operator.export(name or source.name, lines.append)
    return lines


def test_restored_tribe_is_exported_to_the_same_lines(rich: Tribal, other: Other) -> None:
    lines = exported(rich)
    other.restore(lines)
    assert exported(other) == lines
    statuses = {json.loads(line)["row"]["status"] for line in lines if line.startswith(b'{"table":"lesson","')}
    assert statuses == {"active", "disputed", "quarantined", "superseded", "retired", "evicted", "erased"}
    rows = json.loads(lines[-1])["end"]["rows"]
    assert set(rows) == set(EXPORTED)  # none of them went untried


def test_restored_tables_are_equal_to_the_last_row_with_the_counters_that_triggers_keep(rich: Tribal, other: Other) -> None:
    other.restore(exported(rich))
    tables = [*(name for name in EXPORTED if name != SPACE), "tribe_count"]
    assert [_stored(other.url, rich, name) for name in tables] == [_stored(rich.url, rich, name) for name in tables]


def _stored(url: str, rich: Tribal, table: str) -> list[str]:
    """Returns a tribe's rows as the database shows them, NULL and a JSON null told apart."""
    left = {"space_id", "indexed", "tribe_space"} if table in ("tribe_space", "lesson_vector") else set()
    with psycopg.connect(url) as connection:
        names = [
            str(name)
            for (name,) in connection.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum",
                (f"tributary.{table}",),
            )
            if name not in left
        ]
        space = ", (SELECT s.name FROM tributary.space s WHERE s.space_id = t.space_id)" if left else ""
        query = (
            f"SELECT ROW({', '.join(f't.{name}' for name in names)}{space})::text FROM tributary.{table} t WHERE tribe_id = %s"
        )
        return sorted(row for (row,) in connection.execute(query.encode(), (rich.tribe_id,)))


def test_restored_tribe_answers_as_it_did_and_learns_on_from_the_next_tick(rich: Tribal, other: Other) -> None:
    other.restore(exported(rich))
    with other.memory() as memory:
        ann, curator = other.agent(memory, "ann"), other.agent(memory, "curator")
        clock = rich.memory.history.changes(rich.curator, after=0).clock
        for tick in [None, *range(0, clock + 1, 3)]:
            question = Question(query="the pool of orders holds connections", limit=50, as_of=tick)
            here, there = memory.recall(curator, question), rich.memory.recall(rich.curator, question)
            assert [(one.lesson, one.score, one.challenges) for one in here.hits] == [
                (one.lesson, one.score, one.challenges) for one in there.hits
            ]
        assert memory.history.changes(curator, after=0) == rich.memory.history.changes(rich.curator, after=0)
        for (lesson_id,) in _lessons(rich):
            then, now = (of.history.timeline(who, lesson_id) for of, who in ((memory, curator), (rich.memory, rich.curator)))
            assert replace(then, receipt=now.receipt) == now
        again = memory.learn(ann, _draft("The pool of orders holds 6 connections"))
        assert (again.outcome, again.tick) == ("unchanged", clock)
        contested = memory.learn(other.agent(memory, "bob"), _draft("The pool of orders holds 8 connections"))
        assert (contested.outcome, contested.tick) == ("disputed", clock + 1)


def test_receipts_of_before_agree_where_their_signing_key_is_and_are_strangers_elsewhere(rich: Tribal, other: Other) -> None:
    asked = "the pool of orders"
    signed = rich.recall(asked).receipt
    receipt = {**signed.document(), "signature": signed.signature}
    other.restore(exported(rich))
    with other.memory() as memory:  # the databases of tests are copies of one, with one key
        assert memory.verify(other.agent(memory, "curator"), receipt, asked).verdict is Verdict.AGREES
    with psycopg.connect(other.url, autocommit=True) as connection:
        connection.execute("UPDATE tributary.signing_key SET secret = sha256('another')")
    with other.memory() as memory:
        assert memory.verify(other.agent(memory, "curator"), receipt, asked).verdict is Verdict.DIVERGES


def _lessons(tribal: Tribal) -> list[tuple[Any]]:
    return [(row["lesson_id"],) for row in tribal.rows("SELECT lesson_id FROM tributary.lesson")]


def _draft(text: str) -> Draft:
    return Draft(text=text, situation="operating the service", source=SEEN, subject="pool")


def test_every_table_of_tribes_is_exported_or_left_out_for_a_reason(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        found = connection.execute(
            """SELECT table_name, array_agg(column_name::text) FROM information_schema.columns
               JOIN information_schema.tables USING (table_schema, table_name)
               WHERE table_schema = 'tributary' AND table_type = 'BASE TABLE'
               GROUP BY 1 HAVING bool_or(column_name = 'tribe_id')"""
        ).fetchall()
    columns = {name: set(of) for name, of in found}
    assert set(columns) == ({*EXPORTED} - {SPACE}) | set(LEFT_OUT)
    assert not {*EXPORTED} & set(LEFT_OUT)
    assert all(column in columns[table] for table, column in COLUMNS_LEFT_OUT)


def test_a_tribe_goes_by_another_name_where_its_own_is_taken(rich: Tribal, other: Other) -> None:
    lines = exported(rich)
    with other.operating() as operator:
        operator.create_tribe(rich.name)
    with pytest.raises(WrongStanding, match="--as"):
        other.restore(lines)
    other.restore(lines, "restored")
    with pytest.raises(WrongStanding, match="in the database already"):
        other.restore(lines, "restored-again")
    assert other.tribes() == ["restored", rich.name]
    with other.memory() as memory:
        curator = other.agent(memory, "curator", "restored")
        assert curator.tribe_id == rich.tribe_id


def test_tokens_are_not_in_the_export(rich: Tribal, other: Other) -> None:
    lines = exported(rich)
    assert b"token" not in b"".join(lines).replace(b'"input_tokens"', b"").replace(b'"output_tokens"', b"")
    other.restore(lines)
    with other.operating() as operator:
        assert not operator.has_curator(rich.name)
        assert operator.tokens_of(rich.name, "curator") == ()


def test_export_is_of_one_instant_whatever_is_learned_meanwhile(rich: Tribal, other: Other) -> None:
    lines: list[bytes] = []

    def write(line: bytes) -> None:
        if not lines:
            rich.learn(rich.curator, "Meanwhile the tribe learned that bridges open at noon")
        lines.append(line)

    with operating(rich) as operator:
        done = operator.export(rich.name, write)
    assert b"bridges open at noon" not in b"".join(lines)
    other.restore(lines)
    assert done.tick + 1 == rich.memory.history.changes(rich.curator, after=0).clock


def test_unknown_tribe_is_not_exported(rich: Tribal) -> None:
    with pytest.raises(NotFound), operating(rich) as operator:
        operator.export("nobody", lambda _: None)


def resealed(lines: Sequence[bytes]) -> list[bytes]:
    """Returns lines with the last one made to fit them: an alteration by somebody who knows the form."""
    body = [*lines[:-1]]
    rows: dict[str, int] = {}
    for line in body[1:]:
        table = re.match(rb'\{"table":"(\w+)"', line)
        name = table[1].decode() if table else "?"
        rows[name] = rows.get(name, 0) + 1
    end = {"lines": len(body), "rows": rows, "sha256": sha256(b"".join(body)).hexdigest()}
    return [*body, json.dumps({"end": end}).encode() + b"\n"]


def altered(lines: Sequence[bytes], table: str, **values: object) -> list[bytes]:
    """Returns an export with other values in the first row of a table; with Ellipsis the column is taken out."""
    place = next(number for number, line in enumerate(lines) if line.startswith(f'{{"table":"{table}",'.encode()))
    row = json.loads(lines[place])["row"] | values
    row = {key: value for key, value in row.items() if value is not ...}
    line = f'{{"table":"{table}","row":{json.dumps(row)}}}\n'.encode()
    return resealed([*lines[:place], line, *lines[place + 1 :]])


def twice(lines: Sequence[bytes], table: str) -> list[bytes]:
    place = next(number for number, line in enumerate(lines) if line.startswith(f'{{"table":"{table}",'.encode()))
    return resealed([*lines[: place + 1], *lines[place:]])


def without(lines: Sequence[bytes], part: bytes) -> list[bytes]:
    return resealed([line for line in lines if part not in line])


def test_the_resealing_of_the_tests_themselves_is_taken(rich: Tribal, other: Other) -> None:
    other.restore(altered(exported(rich), "agent", name="someone-else"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda _: [], "line 1: is missing"),
        (lambda _: [b"{}\n"], "line 1: does not begin an export"),
        (lambda lines: [lines[0].replace(b'"version":1', b'"version":2'), *lines[1:]], "version 2"),
        (lambda lines: [lines[0].replace(b'"tick":', b'"more":1,"tick":'), *lines[1:]], "nothing else"),
        (lambda lines: [lines[0].replace(b'"id":"', b'"id":"x'), *lines[1:]], "as a UUID"),
        (lambda lines: lines[:-1], "is missing: the file was cut off"),
        (lambda lines: [*lines[:-1], lines[-1][:20]], "does not end"),
        (lambda lines: [*lines[:40], lines[40][:-10]], "line 41: does not end"),
        (lambda lines: [*lines[:40], *lines[41:]], "does not fit the lines before it"),
        (lambda lines: [*lines, b"{}\n"], "must not be there"),
        (lambda lines: [*lines[:5], b'{"table":"lesson","row":' + b"[" * 200_000 + b"\n"], "line 6: is not JSON"),
        (lambda lines: [*lines[:5], b'{"table":"agent","row":{"name":NaN}}\n'], "line 6: is not JSON"),
        (lambda lines: [*lines[:5], b'{"table":"agent","row":{"name":"a","name":"b"}}\n'], "line 6: is not JSON"),
        (lambda lines: [*lines[:5], b'{"table":"' + b"x" * MOST_LINE_BYTES + b'"}\n'], "line 6: is longer"),
        (lambda lines: [lines[0], b'{"table":"signing_key","row":{}}\n'], "line 2: names no table"),
        (lambda lines: [*lines[:-1], lines[1]], "whose turn is over"),
        (lambda lines: altered(lines, "agent", tribe_id="0199"), 'agent: has a column "tribe_id" that is none'),
        (lambda lines: altered(lines, "agent", **{'x") --': 1}), "has a column"),
        (lambda lines: altered(lines, "agent", revoked_at=...), "lacks the column 'revoked_at'"),
        (lambda lines: altered(lines, "agent", name=5), "agent.name: must be a string"),
        (lambda lines: altered(lines, "lesson", confidence="'0'; --"), "lesson.confidence: must be a number"),
        (lambda lines: altered(lines, "lesson", held="yes"), "lesson.held: must be true or false"),
        (lambda lines: altered(lines, "lesson", learned_tick=True), "lesson.learned_tick: must be a number"),
        (lambda lines: altered(lines, "lesson", learned_tick=2**64), "the database refuses"),
        (lambda lines: altered(lines, "lesson", confidence=1.5), "the database refuses lesson_confidence_check"),
        (lambda lines: altered(lines, "lesson", kind="'); DROP TABLE tributary.lesson; --"), "lesson_kind_check"),
        (lambda lines: altered(lines, "lesson", text=None), "lesson_has_text"),
        (lambda lines: altered(lines, "lesson", text="\0"), "SQLSTATE 22"),
        (
            lambda lines: altered(lines, "lesson", agent_id="01990000-0000-7000-8000-000000000000"),
            "lesson_tribe_id_agent_id_fkey",
        ),
        (lambda lines: altered(lines, "lesson", lesson_id="nobody"), "SQLSTATE 22P02"),
        (lambda lines: altered(lines, "lesson_vector", space="another"), "must be one of the spaces"),
        (lambda lines: altered(lines, "lesson_vector", embedding="AAAA"), "must be a vector, as base64"),
        (lambda lines: altered(lines, "lesson_vector", embedding="AAEAADwA"), "SQLSTATE TB500"),
        (lambda lines: altered(lines, "space", references={"a": "no vector"}), "space: the database refuses it (SQLSTATE 22P02)"),
        (lambda lines: altered(lines, "space", dimension=0), "space: the database refuses it"),
        (lambda lines: altered(lines, "review", lesson_ids=[1]), "must be a list of strings"),
        (lambda lines: altered(lines, "rival", a_on=True, b_on=True), "rival"),
        (lambda lines: altered(lines, "tribe", secret="\\x00"), "tribe_secret_check"),
        (lambda lines: altered(lines, "lesson", tags={"a": 1}), "lesson_tags_check"),
        (lambda lines: altered(lines, "lesson", evidence=[1]), "lesson_evidence_check"),
        (lambda lines: altered(lines, "lesson_event", details=17), "lesson_event_details_check"),
        (lambda lines: altered(lines, "tribe_event", details=["x"]), "tribe_event_details_check"),
        (lambda lines: altered(lines, "decision", draft="x"), "decision_draft_check"),
        (lambda lines: altered(lines, "decision", candidates=[[]]), "decision_candidates_check"),
        (lambda lines: altered(lines, "decision", verdicts={}), "decision_verdicts_check"),
        (lambda lines: altered(lines, "decision", screening=[]), "decision_screening_check"),
        (lambda lines: altered(lines, "review", inputs=17), "review_inputs_check"),
        (lambda lines: altered(lines, "idempotency", reply=17), "idempotency_reply_check"),
        (lambda lines: altered(lines, "tribe", policy=[]), "tribe_policy_check"),
        (lambda lines: altered(lines, "tribe", clock=1), "tick: the first line says"),
        (lambda lines: without(lines, b'{"table":"lesson_event","row":{"tick":1,'), "tick: the first line says"),
        (lambda lines: without(lines, b'{"table":"tribe",'), "line"),
        (lambda lines: twice(lines, "space"), "is there twice"),
        (lambda lines: twice(lines, "agent"), "agent: is there twice (agent_pkey)"),
    ],
)
def test_file_that_is_no_whole_export_is_refused_by_line_and_nothing_of_it_stays(
    lines: list[bytes], refusing: Other, change: Any, said: str
) -> None:
    before = _everything(refusing.url)
    with pytest.raises(InvalidRequest) as caught:
        refusing.restore(change(lines))
    assert said in caught.value.detail
    assert _everything(refusing.url) == before


def _everything(url: str) -> dict[str, int]:
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'tributary'").fetchall()
        return {
            name: connection.execute(f"SELECT count(*) FROM tributary.{name}".encode()).fetchall()[0][0] for (name,) in tables
        }


def test_two_believed_rivals_are_refused_though_each_lesson_alone_is_right(lines: list[bytes], refusing: Other) -> None:
    """The one that was disputed is made believed wherever the file says that it is not."""
    lessons = [json.loads(line)["row"] for line in lines if line.startswith(b'{"table":"lesson",')]
    disputed = next(one for one in lessons if one["status"] == "disputed")
    believed = {"status": "active", "activated_tick": disputed["learned_tick"], "activated_at": disputed["learned_at"]}
    changed = []
    for line in lines:
        row = json.loads(line).get("row", {})
        if line.startswith(b'{"table":"lesson",') and row["lesson_id"] == disputed["lesson_id"]:
            changed.append(f'{{"table":"lesson","row":{json.dumps(row | believed)}}}\n'.encode())
        elif line.startswith(b'{"table":"lesson_vector",') and row["lesson_id"] == disputed["lesson_id"]:
            changed.append(line.replace(b'"believed":false', b'"believed":true'))
        elif line.startswith(b'{"table":"rival",'):
            changed.append(line.replace(b'_on":false', b'_on":true'))
        else:
            changed.append(line)
    with pytest.raises(InvalidRequest, match="rival_not_both"):
        refusing.restore(resealed(changed))


def test_space_of_the_same_name_that_is_another_is_refused(rich: Tribal, other: Other) -> None:
    lines = exported(rich)
    other.restore(lines)
    renamed = altered(lines, "space", dimension=7)
    with psycopg.connect(other.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("DELETE FROM tributary.tribe")
    with pytest.raises(WrongStanding, match="is defined otherwise"):
        other.restore(renamed)


def test_schema_of_another_version_is_refused(rich: Tribal, other: Other) -> None:
    lines = exported(rich)
    with pytest.raises(WrongStanding, match=r"baseline\.0"):
        other.restore([re.sub(rb'"schema":"[^"]*"', b'"schema":"baseline.0"', lines[0]), *lines[1:]])


def test_error_is_ours_when_the_database_goes_away(rich: Tribal, other: Other) -> None:
    def cut(lines: Sequence[bytes]) -> Iterator[bytes]:
        yield from lines[:30]
        with psycopg.connect(other.url, autocommit=True) as connection:
            others = "datname = current_database() AND pid <> pg_backend_pid()"
            connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}".encode())
        yield from lines[30:]

    lines = exported(rich)
    with pytest.raises(TributaryError) as caught, other.operating() as operator:
        operator.restore(cut(lines))
    assert caught.value.code == "unavailable"
    assert other.tribes() == []
