"""Each attempt is charged to the account at hand, at the provider's own figure or the table's price."""

from __future__ import annotations

import json
import threading
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from tributary.core.errors import (
    BadSetting,
    ModelFailed,
    ModelMalformed,
    ModelRefused,
    ModelThrottled,
    ModelTimedOut,
    ModelUnreachable,
)
from tributary.core.spending import CallEnd, ModelCall, Nobody, Purpose, account, on_account
from tributary.models.metering import metering
from tributary.models.prices import Prices

PRICES = Prices.shipped()
HAIKU = "bedrock:anthropic.claude-haiku-4-5-20251001-v1:0"


@dataclass
class Book:
    calls: list[ModelCall] = field(default_factory=list)

    def charge(self, call: ModelCall) -> None:
        self.calls.append(call)

    def may_spend(self) -> bool:
        return True

    def reserve(self, calls: int) -> AbstractContextManager[int]:
        return nullcontext(calls)

    def decided(self, decision_id: UUID | None) -> None: ...


def test_an_answer_is_charged_with_its_tokens_at_the_tables_price() -> None:
    book = Book()
    with on_account(book), metering(Purpose.JUDGE, HAIKU, PRICES) as meter:
        meter.input_tokens, meter.output_tokens = 1000, 200
    (call,) = book.calls
    assert (call.purpose, call.model, call.end) == (Purpose.JUDGE, HAIKU, CallEnd.ANSWERED)
    assert (call.input_tokens, call.output_tokens, call.cost_usd) == (1000, 200, Decimal("0.002"))
    assert call.ms >= 0


def test_the_providers_own_figure_goes_before_the_table() -> None:
    book = Book()
    with on_account(book), metering(Purpose.JUDGE, HAIKU, PRICES) as meter:
        meter.input_tokens, meter.cost_usd = 1000, Decimal("0.5")
    assert book.calls[0].cost_usd == Decimal("0.5")


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (ModelRefused(), CallEnd.REFUSED),
        (ModelMalformed(), CallEnd.MALFORMED),
        (ModelTimedOut(), CallEnd.TIMED_OUT),
        (ModelThrottled(), CallEnd.THROTTLED),
        (ModelUnreachable(), CallEnd.FAILED),
        (ModelFailed(), CallEnd.FAILED),
        (ValueError(), CallEnd.FAILED),
    ],
)
def test_what_fails_is_charged_as_well_and_says_how_it_ended(error: Exception, end: CallEnd) -> None:
    book = Book()
    with on_account(book), pytest.raises(type(error)):
        _fail(error)
    assert [(call.end, call.input_tokens) for call in book.calls] == [(end, 10)]


def _fail(error: Exception) -> None:
    with metering(Purpose.SCREEN, HAIKU, PRICES) as meter:
        meter.input_tokens = 10
        raise error


def test_an_account_ends_with_its_block_and_the_one_around_it_goes_on() -> None:
    outer, inner = Book(), Book()
    with on_account(outer):
        with on_account(inner):
            assert account() is inner
        assert account() is outer
    assert isinstance(account(), Nobody)
    assert account().may_spend()


def test_a_thread_charges_whom_its_context_names() -> None:
    book = Book()
    with on_account(book):
        thread = threading.Thread(target=copy_context().run, args=(_charge,))
        bare = threading.Thread(target=_charge)
        for one in (thread, bare):
            one.start()
            one.join()
    assert len(book.calls) == 1


def _charge() -> None:
    with metering(Purpose.EMBED, HAIKU, PRICES):
        pass


def test_an_inference_profile_costs_what_its_model_costs() -> None:
    assert PRICES.known("bedrock:eu.anthropic.claude-haiku-4-5-20251001-v1:0") == PRICES.known(HAIKU) is not None
    assert PRICES.known("bedrock:xx.anthropic.claude-haiku-4-5-20251001-v1:0") is None


def test_without_a_price_or_tokens_nothing_is_made_up() -> None:
    assert PRICES.of("openai:no-such-model", input_tokens=1, output_tokens=1) is None
    assert PRICES.of(HAIKU, input_tokens=None, output_tokens=None) is None
    assert PRICES.of(HAIKU, input_tokens=10, output_tokens=None) == Decimal("0.00001")


def test_the_operators_prices_go_before_the_shipped_ones(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text('{"as_of": "2027-01-31", "usd_per_million_tokens": {"openai:mine": {"input": 0.1, "output": 2}}}')
    prices = PRICES.with_file(file)
    assert prices.as_of == date(2027, 1, 31)
    assert prices.of("openai:mine", input_tokens=1_000_000, output_tokens=1_000_000) == Decimal("2.1")
    assert prices.known(HAIKU) == PRICES.known(HAIKU)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"as_of": "2027-01-31"}',
        b'{"as_of": "soon", "usd_per_million_tokens": {}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"m": {"input": -1, "output": 0}}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"m": {"input": NaN, "output": 0}}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"m": {"input": 1}}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"m": {"input": "a", "output": 1}}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"m": [1, 2]}}',
        b'{"as_of": 20270131, "usd_per_million_tokens": {}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"openai:m": {"input": 1e-999999999, "output": 0}}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"openai:m": {"input": 0, "output": 0E-999999}}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"openai:m": {"input": 1e999999999, "output": 0}}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"openai:m": {"input": 1e9999999999999999999, "output": 0}}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"opena:m": {"input": 1, "output": 0}}}',
        b'{"as_of": "2027-01-31", "usd_per_million_tokens": {"m": {"input": 1, "output": 0}}}',
        b"[" * 100_000,
    ],
)
def test_prices_that_are_none_are_refused_by_variable_and_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "prices.json"
    file.write_bytes(content)
    with pytest.raises(BadSetting, match=r"^TRIBUTARY_PRICES_FILE: .*prices\.json'\)$"):
        PRICES.with_file(file)


def test_a_provider_that_is_mistyped_is_named_with_those_that_are_known(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text('{"as_of": "2027-01-31", "usd_per_million_tokens": {"opena:m": {"input": 1, "output": 0}}}')
    with pytest.raises(BadSetting, match=r"bedrock:, openai:, claude:, typesafe:, but there is 'opena:m'"):
        PRICES.with_file(file)


def test_a_prices_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="cannot be read"):
        PRICES.with_file(tmp_path / "none.json")


def test_the_shipped_table_is_dated_and_names_providers() -> None:
    document = json.loads((Path(__file__).parents[2] / "shared/tributary/models/prices.json").read_text())
    assert date.fromisoformat(document["as_of"]) == PRICES.as_of
    assert all(name.startswith(("bedrock:", "openai:", "typesafe:")) for name in PRICES.by_model)


def test_why_an_attempt_failed_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    for error, why in (
        (ModelFailed("the provider does not accept the API key"), "the API key"),
        (KeyError("secret"), "KeyError"),
    ):
        caplog.clear()
        with pytest.raises(type(error)):
            _fail(error)
        (line,) = caplog.records
        assert line.__dict__["event"] == "model.failed"
        assert line.__dict__["fields"]["ended"] == "failed"
        assert why in line.__dict__["fields"]["why"]
        assert "secret" not in str(line.__dict__["fields"])
