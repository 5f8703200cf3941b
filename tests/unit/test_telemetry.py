"""Logs: one event a line, as text or JSON, under the id of the operation that it belongs to, without what others wrote."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.logs import logger_as_it_was
from tributary.telemetry import Event, log

SECRET = "SECRET-lesson-text"


@pytest.fixture(autouse=True)
def _logger_as_it_was() -> Iterator[None]:
    with logger_as_it_was():
        yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "tributary.log"


def as_json(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def failing() -> ValueError:
    """Returns an error that was raised, whose message, cause and note quote a lesson."""
    with pytest.raises(ValueError, match=SECRET) as caught:
        int(SECRET)
    error = caught.value
    error.__cause__ = KeyError(SECRET)
    error.add_note(SECRET)
    return error


def test_json_has_one_object_a_line_with_time_level_event_and_fields(file: Path) -> None:
    log.configure(form="json", file=file, stream_too=False)
    log.event(Event.LEARNED, tick=3, lesson=UUID(int=1), outcome="learned", share=0.5, cause=None, again=True)
    log.event(Event.RECALL_DEGRADED, level=log.WARNING)
    first, second = as_json(file)
    assert first.pop("at").endswith("Z")
    assert first == {
        "level": "info",
        "event": "learn.committed",
        "tick": 3,
        "lesson": str(UUID(int=1)),
        "outcome": "learned",
        "share": 0.5,
        "again": True,
    }
    assert (second["level"], second["event"]) == ("warning", "recall.degraded")


def test_text_has_one_line_an_event_with_values_quoted_where_they_would_blur(file: Path) -> None:
    log.configure(form="text", file=file, stream_too=False)
    log.event(Event.LEARNED, tick=3, reason="two words", trick="a\nb level=error", who="tschüß")
    (line,) = file.read_text(encoding="utf-8").splitlines()
    assert line.split(" ", 1)[1] == ('info    learn.committed tick=3 reason="two words" trick="a\\nb level=error" who=tschüß')


@pytest.mark.parametrize("form", ["text", "json"])
def test_any_characters_are_written_as_utf_8_and_what_is_none_is_escaped(file: Path, form: Any) -> None:
    log.configure(form=form, file=file, stream_too=False)
    log.event(Event.SERVICE_STARTED, url="http://пример/日本 🚒")
    log.event(Event.SERVICE_STARTED, url="lone\udc80end")
    first, second = file.read_bytes().decode("utf-8").splitlines()
    assert "пример/日本 🚒" in first
    assert "lone\\udc80end" in second


def test_every_line_inside_an_operation_carries_its_id_and_fields(file: Path) -> None:
    log.configure(form="json", file=file, stream_too=False)
    with log.operation(agent="a", tribe="t") as operation_id:
        assert log.operation_id() == operation_id
        log.event(Event.LEARNED, tick=1)
    log.event(Event.LEARNED, tick=2)
    inside, outside = as_json(file)
    assert (inside["operation"], inside["agent"], inside["tribe"], inside["tick"]) == (operation_id, "a", "t", 1)
    assert "operation" not in outside
    assert log.operation_id() is None


def test_an_operation_inside_another_goes_on_with_its_id_and_adds_fields_that_end_with_it(file: Path) -> None:
    log.configure(form="json", file=file, stream_too=False)
    with log.operation("outer", agent="a"):
        with log.operation(tribe="t") as inner:
            assert inner == "outer"
            log.event(Event.LEARNED)
        with log.operation("other") as named:
            assert named == "other"
        log.event(Event.RECALLED)
    inside, after = as_json(file)
    assert (inside["operation"], inside["agent"], inside["tribe"]) == ("outer", "a", "t")
    assert (after["operation"], after["agent"]) == ("outer", "a")
    assert "tribe" not in after


def test_an_operation_ends_with_its_block_even_when_that_fails() -> None:
    with pytest.raises(ValueError, match="in it"), log.operation():
        raise ValueError("in it")
    assert log.operation_id() is None


def test_operations_without_a_name_get_different_ids_and_threads_do_not_share_them() -> None:
    seen: list[str | None] = []
    with log.operation() as first:
        thread = threading.Thread(target=lambda: seen.append(log.operation_id()))
        thread.start()
        thread.join()
    with log.operation() as second:
        pass
    assert first != second
    assert seen == [None]


def test_an_events_own_field_goes_before_the_operations(file: Path) -> None:
    log.configure(form="json", file=file, stream_too=False)
    with log.operation(tick=1):
        log.event(Event.LEARNED, tick=2)
    assert as_json(file)[0]["tick"] == 2


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_unexpected_error_is_told_by_its_types_and_places_and_never_by_its_words(file: Path, form: Any) -> None:
    log.configure(form=form, level="DEBUG", file=file, stream_too=False)
    log.event(Event.REQUEST_FAILED, level=log.ERROR, error=failing())
    written = file.read_text(encoding="utf-8")
    assert SECRET not in written
    assert "builtins.ValueError" in written
    assert "builtins.KeyError" in written
    assert "in failing" in written
    if form == "json":
        (line,) = as_json(file)
        assert line["error"] == "ValueError"


def test_a_host_that_formats_our_records_itself_is_shown_no_message_either(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="tributary"):
        log.event(Event.REQUEST_FAILED, level=log.ERROR, error=failing())
    assert "request.failed" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_foreseen_error_is_told_by_its_type_alone(file: Path, form: Any) -> None:
    log.configure(form=form, level="DEBUG", file=file, stream_too=False)
    log.event(Event.JUDGE_UNAVAILABLE, level=log.WARNING, error=failing())
    (line,) = file.read_text(encoding="utf-8").splitlines()
    assert "ValueError" in line
    assert "failing" not in line, "no place that it came by"
    assert SECRET not in line, "no word of its message"


def test_an_error_that_is_its_own_cause_is_told_once(file: Path) -> None:
    error = ValueError()
    error.__cause__ = error
    log.configure(form="text", file=file, stream_too=False)
    log.event(Event.REQUEST_FAILED, level=log.ERROR, error=error)
    assert file.read_text(encoding="utf-8").count("builtins.ValueError") == 1


def test_what_is_below_the_level_is_not_written(file: Path) -> None:
    log.configure(form="json", level="WARNING", file=file, stream_too=False)
    log.event(Event.LEARNED)
    log.event(Event.RECALL_DEGRADED, level=log.WARNING)
    assert [line["event"] for line in as_json(file)] == ["recall.degraded"]


def test_events_go_to_standard_error_and_to_the_file_and_nowhere_else(
    file: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    log.configure(form="json", file=file)
    log.event(Event.LEARNED, tick=1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert json.loads(captured.err) == as_json(file)[0]
    assert caplog.records == []


def test_configuring_again_replaces_what_was_set_up(file: Path, tmp_path: Path) -> None:
    log.configure(form="json", file=tmp_path / "first.log", stream_too=False)
    log.configure(form="json", file=file, stream_too=False)
    log.event(Event.LEARNED)
    assert len(as_json(file)) == 1
    assert as_json(tmp_path / "first.log") == []


def test_with_neither_stream_nor_file_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure(stream_too=False)
    log.event(Event.REQUEST_FAILED, level=log.ERROR, error=failing())
    assert capsys.readouterr() == ("", "")


def test_importing_the_library_configures_no_logging_and_prints_nothing() -> None:
    program = """
import logging
import tributary.service, tributary.client, tributary.telemetry
from tributary.telemetry import Event, log
logger = logging.getLogger("tributary")
assert [type(one).__name__ for one in logger.handlers] == ["NullHandler"], logger.handlers
assert (logger.level, logger.propagate, logging.getLogger().handlers) == (logging.NOTSET, True, [])
log.event(Event.REQUEST_FAILED, level=log.ERROR, error=ValueError())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_event_names_are_what_happened_to_what_and_all_different() -> None:
    names = [event.value for event in Event]
    assert len(names) == len(set(names))
    assert all(name.count(".") == 1 and name.replace(".", "").replace("_", "").isalpha() for name in names)
