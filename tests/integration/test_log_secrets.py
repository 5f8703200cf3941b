"""What others wrote never gets into the logs: each text, token, key and password carries a mark, and none may be found."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.doubles import RuledJudge, WordScreen, within_a_subject
from tests.logs import logger_as_it_was
from tests.tribes import Tribal, open_tribal
from tributary.core import errors, ids
from tributary.core.agent import Role
from tributary.core.decision import ScreenFinding, Verdict
from tributary.core.errors import ModelFailed, TributaryError
from tributary.core.lesson import Draft, Evidence, How, Kind, Source
from tributary.core.ports import JudgedText, SpaceDefinition, Vector
from tributary.core.requests import Question, Require
from tributary.edges.gateway import running
from tributary.models.embedders import HashedEmbedder
from tributary.store import Database, Target
from tributary.telemetry import Event, log

MARK = "PLANTED"
TOKEN = f"trb_{MARK}" + "x" * (43 - len(MARK))


class Indiscreet:
    """A judge, a screen and an embedder that quote all they were given in their errors, while told to fail."""

    version = "indiscreet/1"

    def __init__(self) -> None:
        self.failure: type[Exception] | None = None
        self._embedder = HashedEmbedder()
        self._judge = RuledJudge(within_a_subject)

    @property
    def space(self) -> SpaceDefinition:
        return self._embedder.space

    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        return self._embedder.embed(texts)

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        self._fail(f"{new} {candidates}")
        return self._judge.judge(new, candidates, timeout_s=timeout_s)

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        self._fail(str(fields))
        return WordScreen().screen(fields)

    def _fail(self, quoted: str) -> None:
        if self.failure is not None:
            raise self.failure(quoted) from KeyError(quoted)

    @contextmanager
    def failing(self, failure: type[Exception]) -> Iterator[None]:
        self.failure = failure
        try:
            yield
        finally:
            self.failure = None


class IndiscreetEmbedder(Indiscreet):
    def embed(self, texts: Sequence[str], *, timeout_s: float | None = None) -> list[Vector]:
        self._fail(str(texts))
        return super().embed(texts)

    def judge(self, new: JudgedText, candidates: Sequence[JudgedText], *, timeout_s: float | None) -> Sequence[Verdict]:
        return self._judge.judge(new, candidates, timeout_s=timeout_s)

    def screen(self, fields: Mapping[str, str], *, timeout_s: float | None = None) -> ScreenFinding:
        return WordScreen().screen(fields)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """The file of our log, as JSON with all that DEBUG shows."""
    path = tmp_path / "log.jsonl"
    with logger_as_it_was():
        log.configure(form="json", level="DEBUG", file=path, stream_too=False)
        yield path


@pytest.fixture
def discreet(file: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[Path]:
    """Runs the test, then looks for the mark in our log, in those of our libraries, and in what was printed."""
    caplog.set_level(logging.DEBUG)
    yield file
    assert MARK not in file.read_text(encoding="utf-8")
    of_ours = [one for one in caplog.records if not one.name.startswith(("httpx", "httpcore"))]  # the test's own client
    assert not [one for one in of_ours if MARK in f"{one.getMessage()} {one.exc_text} {one.__dict__}"]
    assert MARK not in "".join(capfd.readouterr())


def planted(name: str) -> str:
    return f"{MARK}-{name}"


def marked(**fields: Any) -> Draft:
    """Returns a draft with the mark in each of its texts."""
    whole = Draft(
        text=planted("text"),
        situation=planted("situation"),
        source=Source(how=How.OBSERVED, ref=planted("source-ref")),
        kind=Kind.GOTCHA,
        subject=planted("subject"),
        tags={planted("tag-key"): planted("tag-value")},
        evidence=(Evidence(type=planted("type"), ref=planted("evidence-ref"), note=planted("note")),),
        rationale=planted("rationale"),
    )
    return replace(whole, **fields)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def check(file: Path, *, happened: set[Event], outside: frozenset[Event] = frozenset()) -> None:
    """Checks that these events were logged, that no name is unknown, and that each line but `outside` names its operation."""
    found = lines(file)
    names = {line["event"] for line in found}
    assert names <= {event.value for event in Event}
    assert {event.value for event in happened} <= names
    assert [line for line in found if not line.get("operation") and line["event"] not in outside] == []


def refused(kind: type[TributaryError], call: Callable[..., object], *arguments: object, **keywords: object) -> None:
    with pytest.raises(kind):
        call(*arguments, **keywords)


def test_learning_and_confirming_leave_no_text_and_no_key_in_the_log(database_url: str, discreet: Path) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        memory, writer, other = tribal.memory, tribal.agent("writer"), tribal.agent("other")
        with log.operation() as operation_id:
            lesson = memory.learn(writer, marked(), idempotency_key=planted("key")).lesson
            assert lesson is not None
            assert memory.learn(writer, marked(), idempotency_key=planted("key")).replayed
            outcomes = [
                memory.learn(writer, marked()).outcome,
                memory.learn(other, marked()).outcome,
                memory.learn(other, marked(text=planted("dispute"))).outcome,
                memory.learn(writer, marked(text=planted("own"))).outcome,
                memory.learn(tribal.curator, marked(text=planted("curators"))).outcome,
                memory.learn(writer, marked(text=f"HIJACK {planted('attack')}")).outcome,
            ]
            memory.reinforce(writer, _believed(tribal), idempotency_key=planted("reinforce-key"))
            memory.recall(writer, Question(query=planted("query"), subject=planted("subject"), tags={planted("t"): "v"}))
            memory.lessons(writer, status=None)
    assert outcomes == ["unchanged", "reinforced", "disputed", "superseded", "superseded", "quarantined"]
    check(discreet, happened={Event.LEARNED, Event.LEARN_REPLAYED, Event.REINFORCED, Event.RECALLED})
    assert {line["operation"] for line in lines(discreet)} == {operation_id}


def _believed(tribal: Tribal) -> Any:
    return tribal.rows("SELECT lesson_id FROM tributary.lesson WHERE status = 'active'")[0]["lesson_id"]


def test_what_is_refused_leaves_no_text_no_key_and_no_token_in_the_log(tribal: Tribal, discreet: Path) -> None:
    memory, writer, reader = tribal.memory, tribal.agent("writer"), tribal.agent("reader", Role.READER)
    with log.operation():
        memory.learn(writer, marked(), idempotency_key=planted("key"))
        refused(
            errors.IdempotencyConflict,
            memory.learn,
            writer,
            marked(text=planted("other")),
            idempotency_key=planted("key"),
        )
        refused(errors.InvalidRequest, memory.learn, writer, marked(), idempotency_key=planted("bad\nkey"))
        for fields in ({"text": planted("\x00")}, {"tags": {planted("tag"): ""}}, {"situation": planted("x" * 3000)}):
            refused(errors.InvalidRequest, memory.learn, writer, marked(**fields))
        refused(errors.InvalidRequest, memory.recall, reader, Question(query=planted("\x00")))
        refused(errors.InvalidRequest, memory.lessons, reader, before=planted("cursor"))
        refused(errors.Forbidden, memory.learn, reader, marked())
        refused(errors.NotFound, memory.reinforce, writer, ids.new_id(), idempotency_key=planted("lost"))
        for token in (TOKEN, planted("token"), f"trb_{planted('token')}"):
            refused(errors.Unauthenticated, memory.authenticate, token)
    check(discreet, happened={Event.LEARNED})


@pytest.mark.parametrize("failure", [ModelFailed, ValueError])
def test_models_that_quote_what_they_were_given_are_not_quoted(
    database_url: str, discreet: Path, failure: type[Exception]
) -> None:
    models = Indiscreet()
    with open_tribal(database_url, judge=models, screen=models) as tribal, log.operation():
        tribal.memory.learn(tribal.curator, marked())
        with models.failing(failure):
            tribal.memory.learn(tribal.curator, marked(text=planted("second")))
        judge_only = RuledJudge(within_a_subject, before=lambda: models._fail(planted("judge")))
    with open_tribal(database_url, name="two", judge=judge_only) as tribal, log.operation():
        tribal.memory.learn(tribal.curator, marked())
        with models.failing(failure):
            tribal.memory.learn(tribal.curator, marked(text=planted("second")))
    check(discreet, happened={Event.SCREEN_UNAVAILABLE, Event.JUDGE_UNAVAILABLE})
    told = [line for line in lines(discreet) if line["event"] in (Event.SCREEN_UNAVAILABLE, Event.JUDGE_UNAVAILABLE)]
    assert {line["error"] for line in told} == {failure.__name__}
    assert {"traceback" in line for line in told} == {failure is ValueError}


def test_an_embedder_that_cannot_be_reached_degrades_recall_without_a_word_of_the_query(
    database_url: str, discreet: Path
) -> None:
    models = IndiscreetEmbedder()
    with open_tribal(database_url, embedder=models) as tribal, log.operation():
        tribal.memory.learn(tribal.curator, marked())
        with models.failing(ModelFailed):
            tribal.memory.recall(tribal.curator, Question(query=planted("query")))
            refused(
                ModelFailed,
                tribal.memory.recall,
                tribal.curator,
                Question(query=planted("query"), require=Require.VECTOR),
            )
            refused(ModelFailed, tribal.memory.learn, tribal.curator, marked(text=planted("second")))
    check(discreet, happened={Event.RECALL_DEGRADED, Event.RECALLED})


def test_a_database_that_goes_away_leaves_no_password_and_no_parameter_in_the_log(tribal: Tribal, discreet: Path) -> None:
    with log.operation():
        tribal.memory.learn(tribal.curator, marked())
        with psycopg.connect(tribal.url, autocommit=True) as connection:
            connection.execute(
                """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid()"""
            )
        tribal.memory.learn(tribal.curator, marked(text=planted("second")))
        nowhere = Database(Target(url=f"postgresql://{planted('user')}:{planted('password')}@127.0.0.1:1/{planted('name')}"))
        refused(errors.Unavailable, nowhere.rows, "SELECT %(x)s", {"x": planted("parameter")})
    check(discreet, happened={Event.DATABASE_RETRIED, Event.DATABASE_UNAVAILABLE})


def test_a_row_that_the_database_refuses_is_not_quoted(tribal: Tribal, discreet: Path) -> None:
    tribal.rows("ALTER TABLE tributary.lesson ADD CONSTRAINT never CHECK (text NOT LIKE 'PLANTED%%')")
    with log.operation():
        with pytest.raises(errors.Corrupt) as caught:
            tribal.memory.learn(tribal.curator, marked())
        assert MARK in str(caught.value.__cause__), "the driver does quote the row"
        assert MARK not in caught.value.detail
        log.event(Event.REQUEST_FAILED, level=log.ERROR, error=caught.value)
    check(discreet, happened={Event.REQUEST_FAILED})


def test_requests_over_http_leave_nothing_of_theirs_in_the_log(database_url: str, discreet: Path) -> None:
    models = IndiscreetEmbedder()
    with open_tribal(database_url, embedder=models) as tribal, running(tribal.memory) as started:
        reader = tribal.token("reader", Role.READER)
        with httpx.Client(base_url=started.url, trust_env=False, timeout=30) as client:
            statuses = [response.status_code for response in _requests(client, tribal.curator_token, reader)]
            with models.failing(ValueError):
                failed = client.post("/v1/lessons", json=_body(text=planted("fails")), headers=_bearer(tribal.curator_token))
    assert statuses == [200, 200, 200, 404, 405, 401, 401, 403, 409, 400, 400, 400, 415]
    assert failed.status_code == 500
    assert MARK not in failed.text
    check(
        discreet,
        happened={Event.REQUEST_SERVED, Event.REQUEST_REFUSED, Event.REQUEST_FAILED},
        outside=frozenset({Event.SERVICE_STARTED, Event.SERVICE_STOPPED}),
    )
    (told,) = [line for line in lines(discreet) if line["event"] == Event.REQUEST_FAILED]
    assert told["operation"] == failed.headers["x-operation-id"]
    assert "builtins.ValueError" in told["traceback"]
    for token in (tribal.curator_token, reader):
        assert token not in discreet.read_text(encoding="utf-8")


def _requests(client: httpx.Client, curator: str, reader: str) -> Iterator[httpx.Response]:
    key = {"Idempotency-Key": planted("key")}
    learn, ask = "/v1/lessons", "/v1/recall"
    yield client.post(learn, json=_body(), headers={**_bearer(curator), **key})
    yield client.post(learn, json=_body(), headers={**_bearer(curator), **key, "X-Other": planted("header")})
    yield client.post(ask, json={"query": planted("query")}, headers=_bearer(curator))
    yield client.get(f"/{planted('path')}?{planted('name')}={planted('value')}", headers=_bearer(curator))
    yield client.put(learn, content=planted("body"))
    yield client.post(ask, json={"query": planted("query")}, headers=_bearer(TOKEN))
    yield client.post(ask, json={"query": planted("query")}, headers={"Authorization": planted("scheme")})
    yield client.post(learn, json=_body(), headers=_bearer(reader))
    yield client.post(learn, json=_body(text=planted("other")), headers={**_bearer(curator), **key})
    yield client.post(learn, json=_body(**{planted("field"): 1}), headers=_bearer(curator))
    yield client.post(learn, content=f'{{"text": "{planted("broken")}', headers={**_bearer(curator), **_JSON})
    yield client.get(f"{learn}?before={planted('cursor')}", headers=_bearer(curator))
    yield client.post(learn, content=planted("plain"), headers={**_bearer(curator), "Content-Type": "text/plain"})


_JSON = {"Content-Type": "application/json"}


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _body(**fields: Any) -> dict[str, Any]:
    return {
        "text": planted("text"),
        "situation": planted("situation"),
        "source": {"how": "observed", "ref": planted("ref")},
        "subject": planted("subject"),
        "tags": {planted("tag"): planted("value")},
        "evidence": [{"type": planted("type"), "ref": planted("ref"), "note": planted("note")}],
        "rationale": planted("rationale"),
        **fields,
    }
