"""Settings: a wrong one stops the start and says which, what it is and what it must be; secrets are never echoed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tributary.core.errors import BadSetting
from tributary.models.embedders import MiniLmEmbedder
from tributary.service import Settings, load_settings, open_memory, open_operator
from tributary.service.settings import PREFIX, setting_names, variable_of

PASSWORD = "hunter2"
URL = f"postgresql://owner:{PASSWORD}@db.example/tributary"
TOKEN = f"trb_{PASSWORD:x<43}"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment with no setting of ours in it: the session's own are scrubbed already."""
    return monkeypatch


def refusal(environment: pytest.MonkeyPatch, **variables: str) -> str:
    for name, value in variables.items():
        environment.setenv(name, value)
    with pytest.raises(BadSetting) as caught:
        load_settings()
    assert "\n" not in caught.value.detail
    return caught.value.detail


def test_without_any_variable_each_setting_has_its_default() -> None:
    assert load_settings() == Settings()
    assert load_settings(home=Path("/data")).home == Path("/data")


@pytest.mark.parametrize(
    ("variable", "value", "rule"),
    [
        ("TRIBUTARY_CONNECTIONS", "0", "greater than or equal to 1"),
        ("TRIBUTARY_CONNECTIONS", "-3", "greater than or equal to 1"),
        ("TRIBUTARY_CONNECTIONS", "201", "less than or equal to 200"),
        ("TRIBUTARY_CONNECTIONS", "many", "whole number"),
        ("TRIBUTARY_CONNECTIONS", "1.5", "whole number"),
        ("TRIBUTARY_CONNECTIONS", "nan", "whole number"),
        ("TRIBUTARY_CONNECTIONS", "inf", "whole number"),
        ("TRIBUTARY_CONNECTIONS", "9" * 30, "less than or equal to 200"),
        ("TRIBUTARY_EMBEDDER", "openai", "'minilm', 'sentence-transformers', 'bedrock' or 'hash'"),
        ("TRIBUTARY_EMBEDDER_THREADS", "0", "greater than or equal to 1"),
        ("TRIBUTARY_EMBEDDER_THREADS", "65", "less than or equal to 64"),
        ("TRIBUTARY_NEXT_EMBEDDER", "openai", "'minilm', 'sentence-transformers', 'bedrock' or 'hash'"),
        ("TRIBUTARY_NEXT_EMBEDDER_THREADS", "0", "greater than or equal to 1"),
        ("TRIBUTARY_NEXT_EMBEDDER_THREADS", "65", "less than or equal to 64"),
        ("TRIBUTARY_NEXT_EMBEDDER_THREADS", "nan", "whole number"),
        ("TRIBUTARY_EMBEDDER_DIMENSION", "16001", "less than or equal to 16000"),
        ("TRIBUTARY_JUDGE", "gpt", "'local', 'bedrock', 'openai', 'claude' or 'jev'"),
        ("TRIBUTARY_JUDGE_MODEL", "two words", "without spaces"),
        ("TRIBUTARY_JUDGE_MODEL", f"{'m' * 150} ", "at most 256"),
        ("TRIBUTARY_STRONG_JUDGE", "local", "'bedrock', 'openai', 'claude' or 'jev'"),
        ("TRIBUTARY_STRONG_JUDGE_BELOW", "1.01", "less than or equal to 1"),
        ("TRIBUTARY_SCREEN_AT", "0", "greater than 0"),
        ("TRIBUTARY_GUARDRAIL_VERSION", "latest", "pattern"),
        ("TRIBUTARY_MAX_OUTPUT_TOKENS", "1000001", "less than or equal to 1000000"),
        ("TRIBUTARY_MODEL_TIMEOUT_S", "601", "less than or equal to 600"),
        ("TRIBUTARY_BUDGET_USD_PER_DAY", "a lot", "an amount such as"),
        ("TRIBUTARY_TRACES", "on", "'off', 'otlp' or 'console'"),
        ("TRIBUTARY_EXACT_LIMIT", "-1", "greater than or equal to 0"),
        ("TRIBUTARY_EXACT_LIMIT", "10000001", "less than or equal to 10000000"),
        ("TRIBUTARY_POSTGRES_MAJOR", "15", "'16' or '18'"),
        ("TRIBUTARY_LOG_FORMAT", "xml", "'text' or 'json'"),
        ("TRIBUTARY_LOG_LEVEL", "debug", "'DEBUG', 'INFO', 'WARNING' or 'ERROR'"),
        ("TRIBUTARY_LOG_LEVEL", "TRACE", "'DEBUG', 'INFO', 'WARNING' or 'ERROR'"),
        ("TRIBUTARY_DASHBOARD_PUBLIC", "write", "'read'"),
        ("TRIBUTARY_DASHBOARD_PUBLIC", "true", "'read'"),
        ("TRIBUTARY_CORS_ORIGINS", "*", "exact origins such as https://"),
        ("TRIBUTARY_CORS_ORIGINS", "https://a.example, https://b.example/", "without a path or *"),
        ("TRIBUTARY_CORS_ORIGINS", "app.example.org", "exact origins such as https://"),
        ("TRIBUTARY_CORS_ORIGINS", "https://*.example.org", "exact origins such as https://"),
        ("TRIBUTARY_CORS_ORIGINS", "null", "exact origins such as https://"),
        ("TRIBUTARY_CORS_ORIGINS", '["https://a.example"]', "exact origins such as https://"),
        ("TRIBUTARY_HOME", "~nobody-of-this-name/t", "user who is not known"),
        ("TRIBUTARY_LOG_FILE", "~nobody-of-this-name/t", "user who is not known"),
    ],
)
def test_a_wrong_value_is_refused_by_variable_value_and_rule(
    environment: pytest.MonkeyPatch, variable: str, value: str, rule: str
) -> None:
    told = refusal(environment, **{variable: value})
    assert told.startswith(f"{variable}: ")
    assert rule in told
    assert told.endswith(f"(it is '{value}')")


NUMBERS = [name for name, field in Settings.model_fields.items() if re.search(r"int|float|Decimal", str(field.annotation))]
NONSENSE = ("nan", "NaN", "inf", "-Infinity", "-1", "1e999", "9" * 40, "0x10", "1_000", "true", "\u0663", "1,5", "[1]", "\u221e")
FRACTIONS = ("1.5", "1.0", "1e3")


def test_all_kinds_of_numbers_are_known() -> None:
    assert {"connections", "model_timeout_s", "budget_usd_per_day", "strong_judge_below", "changes_wait_s"} <= set(NUMBERS)


@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_sensible_number_is_refused_by_variable_value_and_rule(environment: pytest.MonkeyPatch, name: str) -> None:
    whole = "int" in str(Settings.model_fields[name].annotation)
    for value in (*NONSENSE, *(FRACTIONS if whole else ())):
        if value == "\u0663" and not whole:
            continue  # a decimal number in another script is one all the same
        told = refusal(environment, **{PREFIX + name.upper(): value})
        assert told.startswith(f"{PREFIX}{name.upper()}: "), value
        assert told.endswith(f"(it is '{value}')"), value


def test_a_value_is_echoed_as_one_line_that_no_terminal_acts_upon(environment: pytest.MonkeyPatch) -> None:
    told = refusal(environment, TRIBUTARY_EMBEDDER_MODEL="a\nb\x1b[2J")
    assert told.endswith(r"(it is 'a\nb\x1b[2J')")
    environment.delenv("TRIBUTARY_EMBEDDER_MODEL")
    assert refusal(environment, TRIBUTARY_JUDGE_MODEL="m " * 9999).endswith("m ...')")


KEYS = [name for name in Settings.model_fields if name.endswith("_key")]


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_shown_nowhere(environment: pytest.MonkeyPatch, name: str) -> None:
    environment.setenv(variable_of(name), PASSWORD)
    found = load_settings()
    assert getattr(found, name).get_secret_value() == PASSWORD
    assert PASSWORD not in f"{found} {found!r}"


@pytest.mark.parametrize("name", [name for name in KEYS if name.endswith("_api_key")])
@pytest.mark.parametrize("key", [f"{PASSWORD} x", f"{PASSWORD}\n", f"{PASSWORD}é", f"\u200b{PASSWORD}", f"{PASSWORD}\x7f", " "])
def test_a_key_that_no_header_can_carry_is_refused_and_not_echoed(environment: pytest.MonkeyPatch, name: str, key: str) -> None:
    assert refusal(environment, **{variable_of(name): key}) == (
        f"{variable_of(name)}: must be printable ASCII without white space"
    )


@pytest.mark.parametrize("token", [PASSWORD, f"{TOKEN}x y", f" {TOKEN}", f"Bearer {TOKEN}", TOKEN[:-1], f"{TOKEN}\n"])
def test_what_cannot_be_an_agents_token_is_refused_and_not_echoed(environment: pytest.MonkeyPatch, token: str) -> None:
    told = refusal(environment, TRIBUTARY_DASHBOARD_TOKEN=token)
    assert told == "TRIBUTARY_DASHBOARD_TOKEN: must be the token of an agent: trb_ and what follows it, nothing else"


def test_the_public_sees_by_a_token_which_is_shown_nowhere(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TRIBUTARY_DASHBOARD_PUBLIC", "read")
    with pytest.raises(BadSetting, match=r"^TRIBUTARY_DASHBOARD_TOKEN: is needed by TRIBUTARY_DASHBOARD_PUBLIC=read; give a"):
        _ = load_settings().public_token
    for token in (TOKEN, TOKEN.replace("trb_", "trb_eu_")):
        environment.setenv("TRIBUTARY_DASHBOARD_TOKEN", token)
        found = load_settings()
        assert found.public_token == token
        assert PASSWORD not in f"{found} {found!r}"


def test_a_token_alone_makes_nothing_public_and_stops_no_function_that_shares_its_secret(
    environment: pytest.MonkeyPatch,
) -> None:
    environment.setenv("TRIBUTARY_DASHBOARD_TOKEN", TOKEN)
    assert load_settings().public_token is None


def test_a_model_that_would_be_read_as_an_option_is_refused(environment: pytest.MonkeyPatch) -> None:
    assert refusal(environment, TRIBUTARY_JUDGE_MODEL="--settings").startswith("TRIBUTARY_JUDGE_MODEL: must be the id")


@pytest.mark.parametrize("name", [one for one in Settings.model_fields if one.endswith("_url")])
def test_an_address_that_is_none_is_refused_and_not_echoed(environment: pytest.MonkeyPatch, name: str) -> None:
    """It may hold a password."""
    for value in ("models.example", f"ftp://me:{PASSWORD}@h", "https://", "https://a b", "https:///v1", "//x"):
        told = refusal(environment, **{PREFIX + name.upper(): value})
        assert re.fullmatch(rf"{PREFIX}{name.upper()}: must begin with (postgresql|https?)://.*", told), value
        assert PASSWORD not in told


@pytest.mark.parametrize("variable", ["TRIBUTARY_DATABASE_URL", "DATABASE_URL", "TRIBUTARY_READER_URL", "TRIBUTARY_OWNER_URL"])
@pytest.mark.parametrize(
    "url", [URL.replace("postgresql", "mysql"), f"owner:{PASSWORD}@db", f" {URL}", f"host=db password={PASSWORD}"]
)
def test_a_wrong_database_url_is_refused_by_the_variable_that_was_set_and_never_echoed(
    environment: pytest.MonkeyPatch, variable: str, url: str
) -> None:
    told = refusal(environment, **{variable: url})
    assert told == f"{variable}: must begin with postgresql://"


def test_no_refusal_echoes_a_password_wherever_it_is_looked_for(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DATABASE_URL", URL.replace("postgresql", "mysql"))
    with pytest.raises(BadSetting) as caught:
        load_settings()
    seen: BaseException | None = caught.value
    while seen is not None:
        assert PASSWORD not in f"{seen} {seen!r}"
        seen = seen.__cause__ or seen.__context__


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("TRIBUTARY_DATABASE", "TRIBUTARY_DATABASE_URL"),
        ("TRIBUTARY_DATABASEURL", "TRIBUTARY_DATABASE_URL"),
        ("TRIBUTARY_LOGLEVEL", "TRIBUTARY_LOG_LEVEL"),
        ("TRIBUTARY_CONNECTION", "TRIBUTARY_CONNECTIONS"),
        ("TRIBUTARY_CORS_ORIGIN", "TRIBUTARY_CORS_ORIGINS"),
    ],
)
def test_a_variable_that_was_meant_to_be_a_setting_is_refused_with_the_one_meant(
    environment: pytest.MonkeyPatch, variable: str, meant: str
) -> None:
    told = refusal(environment, **{variable: URL})
    assert told == f"{variable} is no setting; did you mean {meant}?"


def test_a_variable_that_resembles_no_setting_is_refused_without_a_guess(environment: pytest.MonkeyPatch) -> None:
    assert refusal(environment, TRIBUTARY_ZZZZZZZZZZZZZZ="x") == "TRIBUTARY_ZZZZZZZZZZZZZZ is no setting"


def test_variables_of_clients_and_of_others_are_passed_over(environment: pytest.MonkeyPatch) -> None:
    for name in ("TRIBUTARY_URL", "TRIBUTARY_TOKEN", "TRIBUTARYX", "LOG_LEVEL", "CONNECTIONS"):
        environment.setenv(name, "debug")
    assert load_settings() == Settings()


def test_an_empty_variable_counts_as_absent(environment: pytest.MonkeyPatch) -> None:
    for name in setting_names():
        environment.setenv(name, "")
    assert load_settings(home=Path("/data")) == Settings(home=Path("/data"))
    environment.setenv("DATABASE_URL", URL)
    assert load_settings().database_url == URL


def test_our_own_name_of_the_database_goes_before_the_common_one(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DATABASE_URL", "postgres://common")
    assert load_settings().database_url == "postgres://common"
    environment.setenv("TRIBUTARY_DATABASE_URL", "postgres://ours")
    assert load_settings().database_url == "postgres://ours"


def test_origins_are_a_list_separated_by_commas(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("TRIBUTARY_CORS_ORIGINS", " https://a.example,,http://localhost:3000 , ")
    assert load_settings().cors_origins == ("https://a.example", "http://localhost:3000")
    environment.setenv("TRIBUTARY_CORS_ORIGINS", " , ")
    assert load_settings().cors_origins == ()


def test_every_setting_is_read_from_its_variable(environment: pytest.MonkeyPatch) -> None:
    given = {
        "home": "~/t",
        "database_url": URL,
        "reader_url": URL,
        "owner_url": URL,
        "database_auth": "iam",
        "database_region": "eu-central-1",
        "cell": "home",
        "cells": "eu=postgresql://eu.example/t",
        "postgres_major": "16",
        "connections": "3",
        "embedder": "sentence-transformers",
        "embedder_model": "m",
        "embedder_threads": "2",
        "next_embedder": "minilm",
        "next_embedder_model": "n",
        "next_embedder_threads": "3",
        "embedder_dimension": "256",
        "next_embedder_dimension": "512",
        "embedder_floor": "0.2",
        "next_embedder_floor": "0.3",
        "judge": "openai",
        "judge_model": "m",
        "judge_url": "http://localhost:1/v1",
        "judge_api_key": "k",
        "strong_judge": "bedrock",
        "strong_judge_model": "m",
        "strong_judge_url": "http://localhost:1",
        "strong_judge_api_key": "k",
        "strong_judge_below": "0.5",
        "screen": "jev",
        "screen_model": "m",
        "screen_url": "http://localhost:1",
        "screen_api_key": "k",
        "screen_at": "0.9",
        "guardrail_id": "g",
        "guardrail_version": "7",
        "distiller": "claude",
        "distiller_model": "m",
        "distiller_url": "http://localhost:1",
        "distiller_api_key": "k",
        "responder": "scripted",
        "responder_model": "m",
        "responder_url": "http://localhost:1",
        "responder_api_key": "k",
        "responder_script": "~/script.jsonl",
        "responder_rds": "on",
        "responder_rds_url": "http://localhost:1",
        "responder_allow": "reboot_db_instance:orders-*",
        "responder_turns_per_minute": "5",
        "responder_turns_per_day": "6",
        "responder_usd_per_turn": "0.25",
        "responder_usd_per_day": "2.50",
        "aws_region": "eu-central-1",
        "bedrock_url": "http://localhost:1",
        "openai_url": "http://localhost:1",
        "openai_api_key": "k",
        "openai_own_key": "k",
        "jev_url": "http://localhost:1",
        "jev_api_key": "k",
        "jev_own_key": "k",
        "claude_command": "~/claude",
        "max_output_tokens": "100",
        "model_timeout_s": "3.5",
        "model_attempts": "1",
        "model_concurrency": "8",
        "embedder_cache": "0",
        "budget_calls_per_day": "0",
        "budget_usd_per_day": "2.50",
        "prices_file": "~/prices.json",
        "traces": "otlp",
        "traces_url": "http://localhost:4318",
        "pending_queue_url": "https://sqs.eu-central-1.amazonaws.com/123456789012/pending",
        "evidence": "s3",
        "evidence_folder": "~/evidence",
        "evidence_bucket": "acme-evidence",
        "evidence_mb": "5",
        "exact_limit": "0",
        "scan_budget_ms": "50",
        "writes_per_minute": "5",
        "writes_per_day": "6",
        "garden_every_s": "0",
        "changes_wait_s": "7",
        "idempotency_days": "30",
        "dashboard_public": "read",
        "dashboard_token": TOKEN,
        "cors_origins": "https://a.example",
        "log_format": "json",
        "log_level": "DEBUG",
        "log_file": "~/t.log",
    }
    assert set(given) == set(Settings.model_fields) - {"secret_arn"}, "which test_secret_settings.py reads, where there is one"
    for name, value in given.items():
        environment.setenv(variable_of(name), value)
    found, default = load_settings(home=Path("/elsewhere")), Settings.model_construct()
    for name in given:
        assert getattr(found, name) != getattr(default, name), name
    assert (found.home, found.log_file) == (Path.home() / "t", Path.home() / "t.log")


def test_settings_cannot_be_changed_once_read() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().connections = 3  # type: ignore[misc]  # the very fault


DATABASE = {"TRIBUTARY_DATABASE_URL": URL}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"embedder": "hash"}, "TRIBUTARY_EMBEDDER: 'hash' is for tests only"),
        ({"embedder": "sentence-transformers"}, "TRIBUTARY_EMBEDDER_MODEL: must name a model or folder"),
        ({"next_embedder": "hash"}, "TRIBUTARY_NEXT_EMBEDDER: 'hash' is for tests only"),
        ({"next_embedder": "sentence-transformers"}, "TRIBUTARY_NEXT_EMBEDDER_MODEL: must name a model or folder"),
        ({"next_embedder_model": "m"}, "TRIBUTARY_NEXT_EMBEDDER_MODEL: is set without TRIBUTARY_NEXT_EMBEDDER"),
    ],
)
@pytest.mark.parametrize("door", [open_memory, open_operator])
def test_an_embedder_that_cannot_serve_is_refused_before_anything_is_opened(
    door: Callable[[Settings], object], given: dict[str, str], told: str
) -> None:
    with pytest.raises(BadSetting, match=told):
        door(Settings.model_validate({**DATABASE, **given}))


def test_a_second_embedder_that_can_serve_is_not_loaded_before_it_is_needed() -> None:
    """Its model is nowhere to be had, and nobody asks for it."""
    given = {**DATABASE, "next_embedder": "sentence-transformers", "next_embedder_model": "/no/such/model"}
    with open_memory(Settings.model_validate(given)) as memory:
        assert memory.recaller.profiles.embedder_of(MiniLmEmbedder().space.name) is not None
        with pytest.raises(BadSetting, match=r"sentence-transformers|/no/such/model"):
            memory.recaller.profiles.embedder_of("another space")
