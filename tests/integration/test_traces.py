"""What traces tell of learning, recalling and gardening, and that they tell nothing that somebody wrote."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from tests.doubles import BrokenJudge, RuledJudge, SwitchedEmbedder, WordScreen, within_a_subject
from tests.integration.test_log_secrets import MARK, TOKEN, marked, planted
from tests.logs import logger_as_it_was
from tests.tribes import Tribal, open_tribal
from tests.unit.test_docs import by_name, dotted
from tributary.client import Memory as Client
from tributary.client import observed
from tributary.core.agent import Role
from tributary.core.errors import Forbidden, ModelFailed, ModelTimedOut
from tributary.core.ids import Prefix, show
from tributary.core.requests import Question
from tributary.core.spending import Purpose
from tributary.edges.gateway import running
from tributary.models.embedders import HashedEmbedder
from tributary.models.metering import metering
from tributary.models.prices import Prices
from tributary.telemetry import Attribute, Span, log

EVERYWHERE = {Attribute.OPERATION.value, Attribute.ERROR.value}


class Recorded:
    """The spans that ended since, each checked against docs/traces.md when it is asked for."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def all(self) -> list[ReadableSpan]:
        spans = sorted(self._exporter.get_finished_spans(), key=lambda one: one.start_time or 0)
        ours = [one for one in spans if one.name in list(Span)]
        for one in ours:
            documented = dotted(by_name("traces.md", "Span")[one.name]["Attributes"])
            assert set(one.attributes or {}) <= documented | EVERYWHERE, one.name
        return ours

    def one(self, name: Span) -> ReadableSpan:
        (found,) = [one for one in self.all() if one.name == name]
        return found

    def inside(self, parent: ReadableSpan) -> list[str]:
        assert parent.context is not None
        return [one.name for one in self.all() if one.parent is not None and one.parent.span_id == parent.context.span_id]

    def forget(self) -> None:
        self._exporter.clear()


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """What a host sees that has a tracer provider of its own. There can be but one a process, so it stays."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
    provider = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield Recorded(exporter)
    exporter.shutdown()


def said(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_learn_has_a_span_for_each_of_its_steps_and_tells_what_it_came_to(database_url: str, recorded: Recorded) -> None:
    with open_tribal(database_url, judge=RuledJudge(within_a_subject)) as tribal:
        writer = tribal.agent("writer")
        tribal.learn(writer, "The port is 5432", subject="port")
        recorded.forget()
        with log.operation() as operation_id:
            learned = tribal.learn(writer, "The port is 6543", subject="port")
    whole = recorded.one(Span.LEARN)
    assert recorded.inside(whole) == [Span.SCREEN, Span.EMBED, Span.CANDIDATES, Span.JUDGE, Span.COMMIT]
    assert learned.lesson is not None
    waited = said(whole).pop("tributary.gate_wait_ms")
    assert waited >= 0
    assert said(whole) == {
        "tributary.operation": operation_id,
        "tributary.tribe": str(tribal.tribe_id),
        "tributary.agent": "writer",
        "tributary.lesson": show(Prefix.LESSON, learned.lesson.lesson_id),
        "tributary.outcome": "superseded",
        "tributary.tick": learned.tick,
        "tributary.candidates": 1,
        "tributary.replans": 0,
        "tributary.gate_wait_ms": waited,
        "tributary.decision": show(Prefix.DECISION, learned.decision_id),
        "tributary.replayed": False,
    }
    assert whole.parent is None
    assert whole.status.status_code is StatusCode.UNSET
    assert said(recorded.one(Span.JUDGE)) == {
        "tributary.operation": operation_id,
        "tributary.judge": "ruled/1",
        "tributary.pairs": 1,
    }
    assert said(recorded.one(Span.COMMIT))["tributary.committed"] is True
    assert {one.context.trace_id for one in recorded.all() if one.context} == {whole.context and whole.context.trace_id}


def test_a_replan_shows_as_a_second_round_of_steps_and_as_a_count(database_url: str, recorded: Recorded) -> None:
    judge = RuledJudge(within_a_subject)
    with open_tribal(database_url, judge=judge) as tribal:
        writer, other = tribal.agent("writer"), tribal.agent("other")
        tribal.learn(writer, "The port is 5432", subject="port")

        def meanwhile() -> None:
            judge.before = None
            with log.operation("meanwhile"):
                thread = threading.Thread(target=lambda: tribal.learn(other, "The port of all is 7777", subject="port"))
                thread.start()
                thread.join()

        judge.before = meanwhile
        recorded.forget()
        with log.operation() as operation_id:
            tribal.learn(writer, "The port is 6543", subject="port")
    (whole,) = [one for one in recorded.all() if one.name == Span.LEARN and said(one).get("tributary.operation") == operation_id]
    assert said(whole)["tributary.replans"] == 1
    steps = recorded.inside(whole)
    assert steps.count(Span.CANDIDATES) == steps.count(Span.COMMIT) == 2
    refused = [said(one) for one in recorded.all() if one.name == Span.COMMIT and not said(one)["tributary.committed"]]
    assert len(refused) == 1
    assert refused[0]["tributary.fresh"] + refused[0]["tributary.changed"] > 0


def test_the_wait_at_the_gate_is_told_and_is_not_kept_with_the_reply(database_url: str, recorded: Recorded) -> None:
    import psycopg

    with open_tribal(database_url) as tribal:
        writer = tribal.agent("writer")
        with psycopg.connect(database_url) as holder, psycopg.connect(database_url, autocommit=True) as watcher:
            holder.execute("SELECT FROM tributary.tribe WHERE tribe_id = %s FOR NO KEY UPDATE", (tribal.tribe_id,))
            thread = threading.Thread(target=lambda: tribal.learn(writer, "It waits"))
            thread.start()
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%learn_commit%'"
            while watcher.execute(waiting).fetchone() != (1,):
                assert thread.is_alive()
            began = watcher.execute("SELECT clock_timestamp()").fetchone()
            watcher.execute("SELECT pg_sleep(0.05)")
            ended = watcher.execute("SELECT clock_timestamp()").fetchone()
            holder.rollback()
            thread.join()
        assert began is not None
        assert ended is not None
        waited = said(recorded.one(Span.LEARN))["tributary.gate_wait_ms"]
        assert waited >= (ended[0] - began[0]).total_seconds() * 1000
        assert waited == said(recorded.one(Span.COMMIT))["tributary.gate_wait_ms"]
        assert "gate_wait_ms" not in str(tribal.rows("SELECT reply FROM tributary.idempotency"))


def test_a_repeated_learn_is_marked_as_replayed(tribal: Tribal, recorded: Recorded) -> None:
    writer = tribal.agent("writer")
    tribal.memory.learn(writer, marked(), idempotency_key="one")
    recorded.forget()
    tribal.memory.learn(writer, marked(), idempotency_key="one")
    assert said(recorded.one(Span.LEARN))["tributary.replayed"] is True
    assert recorded.inside(recorded.one(Span.LEARN)) == []


def test_a_batch_has_a_span_for_each_lesson_in_it(tribal: Tribal, recorded: Recorded) -> None:
    writer = tribal.agent("writer")
    tribal.memory.learn_all(writer, [marked(text="one"), marked(text="two")])
    batch = recorded.one(Span.LEARN_BATCH)
    assert said(batch)["tributary.lessons"] == 2
    assert recorded.inside(batch) == [Span.EMBED, Span.LEARN, Span.LEARN]


def test_a_recall_has_a_span_for_each_of_its_steps_and_tells_how_it_was_answered(tribal: Tribal, recorded: Recorded) -> None:
    tribal.learn(tribal.agent("writer"), "The deploy API needs a header", subject="deploy-api")
    recorded.forget()
    found = tribal.recall("deploy API header")
    whole = recorded.one(Span.RECALL)
    steps = recorded.inside(whole)
    assert steps == [Span.RECALL_EMBED, Span.RECALL_DATABASE, Span.RECALL_SCORE, Span.RECALL_DATABASE, Span.RECALL_RECEIPT]
    assert said(whole) == {
        "tributary.tribe": str(tribal.tribe_id),
        "tributary.agent": tribal.curator.name,
        "tributary.receipt": show(Prefix.RECEIPT, found.receipt.receipt_id),
        "tributary.coverage": "complete",
        "tributary.path": "vector:exact",
        "tributary.hits": 1,
        "tributary.tick": found.receipt.searched[0].tick,
    }


def test_a_run_of_the_gardener_has_a_span_for_each_tribe_and_rule(tribal: Tribal, recorded: Recorded) -> None:
    writer = tribal.agent("writer")
    tribal.memory.learn(writer, marked(), wait=False)
    recorded.forget()
    tribal.memory.gardener.run(tribal.tribe_id)
    run, turn = recorded.one(Span.GARDEN), recorded.one(Span.GARDEN_TRIBE)
    assert recorded.inside(run) == [Span.GARDEN_TRIBE]
    rules = {said(one)["tributary.rule"]: one for one in recorded.all() if one.name == Span.GARDEN_RULE}
    assert len(recorded.inside(turn)) == len(rules)
    assert said(rules["settle"])["tributary.done"] == 1
    assert recorded.inside(rules["settle"]) == [Span.RECONSIDER]
    assert said(recorded.one(Span.RECONSIDER))["tributary.outcome"] == "learned"


def test_a_failed_step_has_the_code_of_its_error_and_the_rest_goes_on(database_url: str, recorded: Recorded) -> None:
    with open_tribal(database_url, judge=BrokenJudge()) as tribal:
        writer = tribal.agent("writer")
        tribal.learn(writer, "The port is 5432", subject="port")
        recorded.forget()
        tribal.learn(writer, "The port is 6543", subject="port")
    judging, whole = recorded.one(Span.JUDGE), recorded.one(Span.LEARN)
    assert (judging.status.status_code, said(judging)["error.type"]) == (StatusCode.ERROR, "model_failed")
    assert whole.status.status_code is StatusCode.UNSET


def test_a_failed_learn_is_marked_with_its_code_and_without_a_message(database_url: str, recorded: Recorded) -> None:
    embedder = SwitchedEmbedder(HashedEmbedder())
    with open_tribal(database_url, embedder=embedder) as tribal:
        writer, reader = tribal.agent("writer"), tribal.agent("reader", Role.READER)
        tribal.learn(writer, "One that goes well")
        embedder.fails = True
        recorded.forget()
        with pytest.raises(ModelFailed):
            tribal.learn(writer, "One that does not")
        failed = recorded.one(Span.LEARN)
        recorded.forget()
        with pytest.raises(Forbidden):
            tribal.learn(reader, "One that is not allowed")
        forbidden = recorded.one(Span.LEARN)
    assert said(failed)["error.type"] == "model_failed"
    assert said(forbidden)["error.type"] == "forbidden"
    for one in (failed, forbidden):
        assert (one.status.status_code, one.status.description, list(one.events)) == (StatusCode.ERROR, None, [])


def test_log_lines_name_the_trace_and_span_that_they_were_made_in(tribal: Tribal, recorded: Recorded, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    writer = tribal.agent("writer")
    recorded.forget()
    with logger_as_it_was():
        log.configure(form="json", file=path, stream_too=False)
        tribal.learn(writer, "One line tells of it")
    whole = recorded.one(Span.LEARN)
    (line,) = [one for one in map(json.loads, path.read_text().splitlines()) if one["event"] == "learn.committed"]
    assert whole.context is not None
    assert line["trace_id"] == trace.format_trace_id(whole.context.trace_id)
    assert line["span_id"] == trace.format_span_id(whole.context.span_id)


def test_a_request_joins_the_trace_of_the_caller_that_the_sdk_names(tribal: Tribal, recorded: Recorded) -> None:
    token = tribal.token("writer")
    with running(tribal.memory) as server, Client(url=server.url, token=token) as memory:
        with trace.get_tracer("a caller").start_as_current_span("calling") as calling:
            learned = memory.learn("The SDK says where it was called from", situation="tracing", source=observed("run:1"))
        memory.recall("outside")
    inner, outer = calling.get_span_context(), [one for one in recorded.all() if one.name == Span.REQUEST]
    first, second = outer
    assert first.parent is not None
    assert (first.parent.trace_id, first.parent.span_id) == (inner.trace_id, inner.span_id)
    assert first.kind is SpanKind.SERVER
    about = said(first)
    assert about.pop("tributary.operation")
    assert about == {
        "http.request.method": "POST",
        "http.route": "/v1/lessons",
        "http.response.status_code": 200,
        "tributary.tribe": str(tribal.tribe_id),
        "tributary.agent": "writer",
    }
    assert recorded.inside(first) == [Span.LEARN]
    assert learned.tick
    assert second.parent is None


@pytest.mark.parametrize("traceparent", ["", "nonsense", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "ff" * 500])
def test_a_traceparent_that_is_none_begins_a_trace_of_its_own(tribal: Tribal, recorded: Recorded, traceparent: str) -> None:
    import httpx

    with running(tribal.memory) as server:
        assert httpx.get(f"{server.url}/health", headers={"traceparent": traceparent}).status_code == 200
    assert recorded.one(Span.REQUEST).parent is None


def test_a_call_of_a_model_tells_what_it_was_for_and_what_it_took(recorded: Recorded) -> None:
    prices = Prices.shipped()
    with metering(Purpose.STRONG_JUDGE, "bedrock:some.model-v1:0", prices) as meter:
        meter.input_tokens, meter.output_tokens, meter.cost_usd = 120, 8, Decimal("0.25")
    with (
        pytest.raises(ModelTimedOut),
        metering(Purpose.EMBED, "openai:other", prices),
    ):
        raise ModelTimedOut(planted("message"))
    answered, failed = recorded.all()
    assert answered.kind is SpanKind.CLIENT
    assert said(answered) == {
        "tributary.purpose": "strong_judge",
        "gen_ai.provider.name": "aws.bedrock",
        "gen_ai.request.model": "some.model-v1:0",
        "tributary.end": "answered",
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 8,
        "tributary.cost_usd": 0.25,
    }
    assert said(failed)["tributary.end"] == "timed_out"
    assert said(failed)["error.type"] == "model_failed"
    assert MARK not in failed.to_json()


def test_nothing_that_somebody_wrote_gets_into_a_span(database_url: str, recorded: Recorded) -> None:
    screen = WordScreen()
    with open_tribal(database_url, judge=RuledJudge(within_a_subject), screen=screen) as tribal:
        memory, writer, other = tribal.memory, tribal.agent("writer"), tribal.agent("other")
        memory.learn(writer, marked(), idempotency_key=planted("key"))
        memory.learn(writer, marked(), idempotency_key=planted("key"))
        memory.learn(other, marked(text=planted("dispute")))
        memory.learn(writer, marked(text=f"HIJACK {planted('attack')}"))
        memory.learn_all(writer, [marked(text=planted("batch"))])
        memory.learn(writer, marked(text=planted("later")), wait=False)
        memory.recall(writer, Question(query=planted("query"), subject=planted("subject"), tags={planted("t"): "v"}))
        memory.gardener.run(tribal.tribe_id)
        screen.fails = True
        memory.learn(writer, marked(text=planted("unscreened")))
        with running(memory) as server, Client(url=server.url, token=tribal.token("third")) as client:
            client.learn(planted("http"), situation=planted("situation"), source=observed(planted("ref")))
        with running(memory) as server, Client(url=server.url, token=TOKEN) as client, pytest.raises(Exception, match="token"):
            client.recall(planted("query"))
    spans = recorded.all()
    assert {one.name for one in spans} >= {Span.REQUEST, Span.LEARN, Span.RECALL, Span.RECONSIDER, Span.GARDEN}
    assert not [one for one in spans if MARK in one.to_json()]
