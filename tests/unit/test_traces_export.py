"""Spans on their way out: delivered where they can be, lost without harm where not, and not even begun where nobody asks.

The process has one tracer provider for good, so each test runs a program of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SentSpan

from tests.providers.server import ProviderServer, Reply, unreachable
from tributary import __version__

HANGS = Reply(delay_s=3600)
SETUP = """
import logging, os, sys, time
from tributary.telemetry import Span, log, traces
log.configure(form="json", file=None)
def learn(times=1):
    for _ in range(times):
        with log.operation("op-1"), traces.span(Span.LEARN, agent="a", tribe=None) as span:
            span.note(outcome="learned", candidates=3)
"""


def ran(program: str, *, within_s: float = 60, **environment: str) -> tuple[list[dict[str, Any]], str]:
    """Runs a program after SETUP; returns the lines that it logged, and what it printed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "TRIBUTARY_"))}
    done = subprocess.run(
        [sys.executable, "-c", SETUP + program],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stderr.splitlines()], done.stdout


def collector() -> ProviderServer:
    return ProviderServer([("POST", "/v1/traces", lambda _: Reply(raw=b"", headers={"content-type": "application/x-protobuf"}))])


def sent(server: ProviderServer) -> tuple[list[SentSpan], dict[str, str]]:
    """Returns the spans that arrived, and what their resource says."""
    spans: list[SentSpan] = []
    resource: dict[str, str] = {}
    for asked in server.asked:
        request = ExportTraceServiceRequest.FromString(asked.body)
        for group in request.resource_spans:
            resource |= {one.key: one.value.string_value for one in group.resource.attributes}
            for scope in group.scope_spans:
                assert (scope.scope.name, scope.scope.version) == ("tributary", __version__)
                spans += scope.spans
    return spans, resource


def test_spans_arrive_at_a_collector_as_protobuf_under_our_name() -> None:
    with collector() as server:
        logged, printed = ran("traces.configure('otlp', url=os.environ['URL'])\nlearn()", URL=server.url)
    (span,), resource = sent(server)
    about = {one.key: one.value.string_value or one.value.int_value for one in span.attributes}
    assert span.name == "tributary.learn"
    assert about == {
        "tributary.operation": "op-1",
        "tributary.agent": "a",
        "tributary.outcome": "learned",
        "tributary.candidates": 3,
    }
    assert resource["service.name"] == "tributary"
    assert (logged, printed) == ([], "")
    assert server.asked[0].headers["content-type"] == "application/x-protobuf"


def test_opentelemetrys_own_variables_count() -> None:
    with collector() as server:
        ran(
            "traces.configure('otlp')\nlearn()",
            OTEL_EXPORTER_OTLP_ENDPOINT=server.url,
            OTEL_EXPORTER_OTLP_HEADERS="x-key=abc",
            OTEL_SERVICE_NAME="memory-of-ours",
        )
        assert sent(server)[1]["service.name"] == "memory-of-ours"
        assert server.asked[0].headers["x-key"] == "abc"
        server.forget()
        ran("traces.configure('otlp')\nlearn()", OTEL_EXPORTER_OTLP_ENDPOINT=server.url, OTEL_TRACES_SAMPLER="always_off")
        assert server.asked == []


@pytest.mark.parametrize("path", ["", "/", "/v1/traces"])
def test_an_endpoint_may_be_given_without_its_path(path: str) -> None:
    with collector() as server:
        ran("traces.configure('otlp', url=os.environ['URL'])\nlearn()", URL=server.url + path)
        assert [one.path for one in server.asked] == ["/v1/traces"]


def test_another_path_is_taken_as_it_is() -> None:
    with ProviderServer([("POST", "/mine", lambda _: Reply(raw=b""))]) as server:
        ran("traces.configure('otlp', url=os.environ['URL'])\nlearn()", URL=f"{server.url}/mine")
        assert [one.path for one in server.asked] == ["/mine"]


@pytest.mark.parametrize("broken", ["away", "refusing", "garbled"])
def test_a_broken_collector_is_told_of_once_and_nothing_fails(broken: str) -> None:
    program = """
traces.configure("otlp", url=os.environ["URL"])
for _ in range(3):
    learn(20)
    traces.flush(20)
"""
    with collector() as server:
        server.always({"away": None, "refusing": Reply(status=400), "garbled": Reply(cut=True)}[broken])
        url = unreachable() if broken == "away" else server.url
        logged, printed = ran(program, URL=url, OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert [(one["event"], one["level"]) for one in logged] == [("traces.lost", "warning")]
    assert printed == ""


def test_losses_are_told_of_again_when_it_had_worked_in_between() -> None:
    program = """
traces.configure("otlp", url=os.environ["URL"])
for _ in range(3):
    learn()
    traces.flush(20)
    time.sleep(0.2)
"""
    with collector() as server:
        server.script(Reply(status=400), Reply(raw=b""), Reply(status=400))
        logged, _ = ran(program, URL=server.url)
    assert [one["event"] for one in logged] == ["traces.lost", "traces.lost"]


def test_a_collector_that_hangs_holds_up_no_call_no_flush_and_no_end() -> None:
    """Without the bounds a flush, or the end, would wait longer than the program may run: for the exporter, or the SDK's 30 s."""
    program = """
traces.configure("otlp", url=os.environ["URL"])
learn(5000)
for _ in range(20):
    traces.flush(0.2)
print("went on")
"""
    with collector() as server:
        server.always(HANGS)
        logged, printed = ran(program, URL=server.url, OTEL_EXPORTER_OTLP_TIMEOUT="600", within_s=25)
    assert printed == "went on\n"
    assert [one["event"] for one in logged] == ["traces.lost"], "the queue is full, and is said to be"


def test_console_spans_are_lines_of_json_on_standard_error() -> None:
    logged, printed = ran("traces.configure('console')\nlearn()")
    assert [one["name"] for one in logged] == ["tributary.learn"]
    assert printed == ""


@pytest.mark.parametrize("broken", ["on_start", "on_end"])
def test_what_goes_wrong_in_opentelemetry_never_reaches_a_call(broken: str) -> None:
    program = """
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
class Broken(SpanProcessor):
    pass
def fail(*_, **__): raise RuntimeError
setattr(Broken, os.environ["BROKEN"], fail)
provider = TracerProvider()
provider.add_span_processor(Broken())
trace.set_tracer_provider(provider)
learn(3)
log.event(log.Event.LEARNED)
with traces.span(Span.LEARN) as span:
    span.note(outcome=object(), nonsense=1)
    span.failed("code")
print("went on")
"""
    logged, printed = ran(program, BROKEN=broken)
    assert [one["event"] for one in logged] == ["learn.committed"]
    assert printed == "went on\n"


def test_the_hosts_provider_goes_before_ours() -> None:
    program = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
traces.configure("otlp", url="http://127.0.0.1:9")
learn()
assert trace.get_tracer_provider() is provider
assert logging.getLogger("opentelemetry").propagate, "its logs are the host's, too"
print(*(one.name for one in exporter.get_finished_spans()))
"""
    assert ran(program) == ([], "tributary.learn\n")


@pytest.mark.parametrize("imported", ["pass", "traces.configure('off')"])
def test_off_imports_nothing_of_opentelemetry(imported: str) -> None:
    program = f"""
import tributary.service, tributary.client, tributary.edges.lambda_http.app, tributary.edges.gateway
from tributary.client.tracing import trace_headers
{imported}
learn()
with traces.continued({{"traceparent": "00-1-1-01"}}):
    log.event(log.Event.LEARNED)
assert trace_headers() == {{}}
print(*(one for one in sys.modules if one.startswith("opentelemetry")))
"""
    logged, printed = ran(program)
    assert printed == "\n"
    assert "trace_id" not in logged[0]


def test_imported_but_not_set_up_nothing_is_traced() -> None:
    program = """
import opentelemetry.trace
with traces.span(Span.LEARN) as span:
    print(type(span).__name__, opentelemetry.trace.get_current_span().get_span_context().is_valid)
"""
    assert ran(program)[1] == "Recording False\n"


@pytest.mark.parametrize("exporter", ["otlp", "console"])
def test_missing_packages_are_refused_with_the_name_of_the_extra(exporter: str) -> None:
    program = f"""
sys.modules["opentelemetry"] = None
from tributary.core.errors import BadSetting
try:
    traces.configure("{exporter}")
except BadSetting as error:
    print(error)
"""
    printed = ran(program)[1]
    assert "TRIBUTARY_TRACES" in printed
    assert "tributary-memory[traces]" in printed


def test_a_variable_that_opentelemetry_cannot_use_is_refused_without_its_value() -> None:
    program = """
from tributary.core.errors import BadSetting
try:
    traces.configure("otlp")
except BadSetting as error:
    print(error)
"""
    printed = ran(program, OTEL_BSP_MAX_QUEUE_SIZE="-77")[1]
    assert "OTEL_" in printed
    assert "77" not in printed


def test_a_program_that_serves_sets_traces_up_and_sends_them_when_it_ends(tmp_path: Path) -> None:
    program = """
from tributary.edges.cli.doors import real_doors
real_doors().load_settings(True)
learn()
"""
    with collector() as server:
        ran(program, TRIBUTARY_TRACES="otlp", TRIBUTARY_TRACES_URL=server.url, TRIBUTARY_HOME=str(tmp_path))
        assert [one.name for one in sent(server)[0]] == ["tributary.learn"]


def test_a_lambda_function_sends_the_spans_of_an_invocation_before_it_is_frozen(tmp_path: Path) -> None:
    """The program ends without any leave-taking, as a frozen process may."""
    program = """
import json
from pathlib import Path
from tributary.edges.lambda_http import handler_for
class Context:
    def get_remaining_time_in_millis(self): return 20_000
handler = handler_for("recall")
event = json.loads(Path(os.environ["EVENT"]).read_text())
event["headers"]["traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
assert handler(event, Context())["statusCode"] == 200
os._exit(0)
"""
    event = Path(__file__).parents[2] / "events" / "recall" / "openapi.json"
    with collector() as server:
        ran(program, TRIBUTARY_TRACES="otlp", TRIBUTARY_TRACES_URL=server.url, EVENT=str(event))
        (span,) = sent(server)[0]
    assert span.name == "tributary.request"
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")
