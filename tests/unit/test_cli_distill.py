"""`tributary distill`: which transcripts it reads, what it sends, and what it says of the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from tests.unit.cli_fakes import Surroundings
from tests.unit.client_fakes import distilled, learned, problem
from tributary.contract.limits import DISTILL_BYTES
from tributary.core.limits import TRANSCRIPT_BYTES, TRANSCRIPT_TURNS
from tributary.edges.cli.app import app
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.cli.transcripts import MOST_PARTS, parts_of, read_transcript


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    return Surroundings(environment={"TRIBUTARY_HOME": str(tmp_path / "home")})


def run(around: Surroundings, *arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["distill", *arguments], obj=around.doors(), input=stdin)


def sent(around: Surroundings, index: int = 0) -> Any:
    return json.loads(around.tribe.requests[index].content)


CLAUDE = [
    {"type": "summary", "summary": "Deploying payments", "leafUuid": "1"},
    {"type": "user", "isMeta": True, "sessionId": "s-1", "message": {"role": "user", "content": "caveat"}},
    {"type": "user", "sessionId": "s-1", "message": {"role": "user", "content": "deploy payments"}},
    {
        "type": "assistant",
        "sessionId": "s-1",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I deploy it."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "deploy payments"}},
            ],
        },
    },
    {
        "type": "user",
        "sessionId": "s-1",
        "message": {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "HTTP 429"}]},
                {"type": "tool_result", "tool_use_id": "t2", "content": "exit 1", "is_error": True},
            ],
        },
    },
]


def test_a_session_of_claude_code_is_read_line_by_line() -> None:
    raw = "\n".join(map(json.dumps, CLAUDE)) + "\n\n"
    found = read_transcript(raw.encode())
    assert [(turn.role.value, turn.text) for turn in found.turns] == [
        ("user", "deploy payments"),
        ("assistant", "I deploy it."),
        ("assistant", '[calls Bash] {"command": "deploy payments"}'),
        ("tool", "HTTP 429"),
        ("tool", "exit 1"),
    ]
    assert (found.session, found.passed) == ("s-1", 2)


@pytest.mark.parametrize(
    "raw",
    [
        '[{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]',
        '{"messages": [{"role": "human", "text": "a"}, {"role": "function", "content": ["b"]}]}',
        '{"role": "user", "text": "a"}\n{"role": "tool", "text": "b"}\n',
        "user: a\ntool: b\n",
        "\ufeffuser: a\ntool: b\n",
    ],
)
def test_turns_come_in_many_forms(raw: str) -> None:
    assert [(turn.role.value, turn.text) for turn in read_transcript(raw.encode()).turns] == [("user", "a"), ("tool", "b")]


def test_calls_of_tools_in_chat_messages_are_turns() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": '{"a": 1}'}}]}
    assert [turn.text for turn in read_transcript(json.dumps([message]).encode()).turns] == ['[calls f] {"a": 1}']


@pytest.mark.parametrize("raw", [b"", b" \n", b"{}", b'[{"role": "user", "text": ""}]', b'{"a": 1}\n{"b": 2}\n', b"[[[["])
def test_what_says_nothing_is_refused_or_read_as_text(raw: bytes) -> None:
    if raw == b"[[[[":
        assert [turn.text for turn in read_transcript(raw).turns] == ["[[[["]
        return
    with pytest.raises(CommandFailed, match="no turn"):
        read_transcript(raw)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'{"role": "user", "text": "a"}\n{"role": "tool", "te\n{"role": "user", "text": "b"}\n', "line 2 is not JSON"),
        (b'{"role": "user", "text": "a"}\n\n{"role": "tool", "text": "b"', "line 3 is not JSON"),
        (b'{"role": "user", "text": "a"}\nDone.\n', "line 2 is not JSON"),
        (b'{"role": oops}\n{"role": "user", "text": "a"}\n', "line 1 is not JSON"),
        (b'{"messages": [{"role": "user", "text": "a"}, {"role"', "line 1 is not JSON"),
        (b'{\n "messages": [\n  {"role": "user", "text": "a"}\n', "cut off, at line 4"),
        (b'[\n{"role": "user", "text": "a"},\n{"role": "user", "text": "b"}\n', "cut off, at line 4"),
        (b'[{"role": "user", "text": "a"}, {"ro', "cut off, at line 1"),
        (b'[{"a":' + b"[" * 100_000, "begins as JSON and is none"),
        (b"user: a\x00b", "NUL"),
        (b"user: a \xff", "byte 9 is not UTF-8"),
        (b"\xef\xbb\xbfuser: \xed\xa0\x80", "is not UTF-8"),
        ("user: a".encode("utf-16"), "is not UTF-8"),
        (b"\x89PNG\r\n\x1a\n", "byte 1 is not UTF-8"),
    ],
)
def test_what_is_json_in_part_or_no_text_is_refused_before_anything_is_asked(
    around: Surroundings, tmp_path: Path, raw: bytes, why: str
) -> None:
    file = tmp_path / "transcript"
    file.write_bytes(raw)
    result = run(around, str(file))
    assert result.exit_code == 2
    assert why in " ".join(result.stderr.replace("│", " ").split())
    assert around.tribe.requests == []


def test_a_line_of_json_ends_where_files_end_lines_and_not_within_a_text() -> None:
    raw = '{ "role": "user", "text": "a\u2028b\x85c" }\r\n{ "role": "tool", "text": "d" }\r\n'
    assert [turn.text for turn in read_transcript(raw.encode()).turns] == ["a\u2028b\x85c", "d"]


def test_escapes_that_cannot_be_stored_become_storable_text() -> None:
    (escaped,) = read_transcript(rb'[{"role": "tool", "text": "a\u0000b \ud800"}]').turns
    escaped.text.encode()
    assert "\x00" not in escaped.text


def test_a_long_turn_is_shortened_in_the_middle() -> None:
    (turn,) = read_transcript(b"tool: begin" + b"x" * 50_000 + b"end").turns
    assert turn.text.startswith("begin")
    assert turn.text.endswith("end")
    assert "[38008 characters left out]" in turn.text
    assert len(turn.text) < 13_000


def test_a_long_transcript_is_sent_in_parts_whose_turns_keep_their_place(around: Surroundings, tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_text("".join(json.dumps({"role": "tool", "text": f"{n} " + "x" * 9_000}) + "\n" for n in range(1, 51)))
    result = run(around, str(file), "--ref", "run:88")
    assert result.exit_code == 0, result.output
    bodies = [sent(around, index) for index in range(len(around.tribe.requests))]
    assert len(bodies) == 3
    refs = [turn["ref"] for body in bodies for turn in body["transcript"]]
    assert refs == [f"run:88#turn-{n}" for n in range(1, 51)]
    assert all(sum(len(turn["text"]) for turn in body["transcript"]) <= TRANSCRIPT_BYTES for body in bodies)
    assert "3 lessons from 50 turns" in result.stderr


def test_of_the_longest_transcripts_the_end_is_read() -> None:
    turns = read_transcript(b"\n".join(b"tool: %d " % n + b"x" * 11_000 for n in range(300))).turns
    parts = parts_of(turns, "r")
    assert len(parts) == MOST_PARTS
    assert parts[-1][-1].ref == "r#turn-300"


def test_what_is_proposed_is_shown_with_its_evidence_and_not_learned(around: Surroundings) -> None:
    result = run(around, "-", "--ref", "run:88", "--most", "2", stdin="tool: 429 Too Many Requests\n")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "gotcha about deploy-api: The deploy API needs X-Batch: true",
        "  when deploying a service",
        "  observed, run:88#turn-2, confidence 0.80",
        "  run:88#turn-2: 429 Too Many Requests",
    ]
    assert result.stderr == "1 lesson from 1 turn; dropped 2 not_quoted; nothing was learned; --learn does.\n"
    assert [request.url.path for request in around.tribe.requests] == ["/v1/distill"]
    assert (sent(around)["most"], sent(around)["ref"]) == (2, "run:88")


def test_learning_what_is_proposed_tells_each_outcome(around: Surroundings) -> None:
    around.tribe.replies["learn_batch"] = {"items": [{"status": 200, "result": learned(), "problem": None}]}
    result = run(around, "-", "--learn", stdin="tool: 429\n")
    assert result.exit_code == 0, result.output
    assert "  learned (les_" in result.stdout
    assert "1 learned." in result.stderr
    (lesson,) = sent(around, 1)["lessons"]
    assert lesson["source"] == {"how": "observed", "ref": "run:88#turn-2"}
    assert lesson["evidence"] == [{"type": "transcript", "ref": "run:88#turn-2", "note": "429 Too Many Requests"}]


def test_a_lesson_that_could_not_be_learned_ends_the_command_with_its_error(around: Surroundings) -> None:
    kind = {"type": "t", "title": "t", "status": 400, "code": "invalid_request", "detail": "text is blank", "errors": []}
    around.tribe.replies["learn_batch"] = {"items": [{"status": 400, "result": None, "problem": kind}]}
    result = run(around, "-", "--learn", stdin="tool: 429\n")
    assert result.exit_code == 3
    assert "not learned: text is blank" in result.stdout
    assert "1 of 1 lesson could not be learned" in result.stderr


def test_nothing_found_is_no_error_and_asks_for_no_learning(around: Surroundings) -> None:
    around.tribe.replies["distill"] = distilled(lessons=[], dropped=[], unread=[{"first": 1, "last": 4}])
    result = run(around, "-", "--learn", stdin="tool: 429\n")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "0 lessons from 1 turn; 1 stretch of turns was not read; nothing to learn.\n"
    assert len(around.tribe.requests) == 1


def test_what_was_found_before_a_part_failed_is_shown_and_learned(around: Surroundings) -> None:
    asked: list[str] = []

    def refused(request: httpx.Request) -> httpx.Response | None:
        asked.append(request.url.path)
        return problem("rate_limited", "budget") if asked == ["/v1/distill", "/v1/distill"] else None

    around.tribe.before = refused
    around.tribe.replies["learn_batch"] = {"items": [{"status": 200, "result": learned(), "problem": None}]}
    text = "".join(json.dumps({"role": "tool", "text": "x" * 9_000}) + "\n" for _ in range(50))
    result = run(around, "-", "--learn", stdin=text)
    assert result.exit_code == 6
    assert asked == ["/v1/distill", "/v1/distill", "/v1/lessons/batch"]
    assert "The deploy API needs X-Batch: true" in result.stdout
    assert "1 learned." in result.stderr
    assert "only 1 of 3 parts could be read: budget" in result.stderr


def test_a_long_reference_does_not_make_a_request_too_large(around: Surroundings) -> None:
    text = "".join(json.dumps({"role": "tool", "text": "\x01" * 100}) + "\n" for _ in range(2_000))
    assert run(around, "-", "--ref", "r" * 1_000, stdin=text).exit_code == 0
    (request,) = around.tribe.requests
    assert len(json.loads(request.content)["transcript"]) == TRANSCRIPT_TURNS
    assert len(request.content) <= DISTILL_BYTES


def test_json_is_one_value_with_all_of_it(around: Surroundings) -> None:
    result = run(around, "-", "--json", stdin="tool: 429\n")
    document = json.loads(result.stdout)
    assert set(document) == {"lessons", "dropped", "unread", "model", "learned"}
    assert (document["dropped"], document["learned"], result.stderr) == ([{"why": "not_quoted", "count": 2}], None, "")


def test_the_reference_is_the_session_else_the_files_name(around: Surroundings, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text("\n".join(map(json.dumps, CLAUDE)))
    run(around, str(file))
    other = tmp_path / "notes.txt"
    other.write_text("tool: 429")
    run(around, str(other))
    assert [sent(around, index)["ref"] for index in (0, 1)] == ["session:s-1", "file:notes.txt"]


def test_a_hostile_answer_cannot_move_the_terminal(around: Surroundings) -> None:
    hostile = distilled()
    hostile["lessons"][0]["text"] = "\x1b[2Jx\nsecond \u202eline"
    hostile["lessons"][0]["evidence"][0]["note"] = "\x07bell"
    around.tribe.replies["distill"] = hostile
    shown = run(around, "-", stdin="tool: 429\n").stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert len(shown.splitlines()) == 4


@pytest.mark.parametrize(("code", "exit_code"), [("not_set_up", 7), ("rate_limited", 6), ("model_failed", 6), ("forbidden", 4)])
def test_a_refusal_ends_with_its_exit_code_and_is_asked_once(around: Surroundings, code: str, exit_code: int) -> None:
    def refused(_: httpx.Request) -> httpx.Response:
        return problem(code)

    around.tribe.before = refused
    result = run(around, "-", stdin="tool: 429\n")
    assert result.exit_code == exit_code
    assert len(around.tribe.requests) == 1


def test_a_file_that_is_not_there_is_named(around: Surroundings) -> None:
    result = run(around, "/nowhere/x.jsonl")
    assert result.exit_code == 2
    assert "FILE: there is no such file" in result.stderr
    assert around.tribe.requests == []
