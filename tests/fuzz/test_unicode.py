"""Any text through the whole stack: kept exactly and shown safely by every road, or refused with the field that it is in."""

from __future__ import annotations

import html
import json
import os
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.conftest import new_database
from tests.contract.samples import bearer
from tests.dashboards import visiting
from tests.doubles import RuledJudge, all_unrelated
from tests.fuzz.texts import KEPT, REFUSED, TEXT, storable
from tests.logs import logger_as_it_was
from tests.spaces import operating
from tests.tribes import Tribal, open_tribal
from tributary import client
from tributary.core.agent import Role
from tributary.edges.cli.app import app
from tributary.edges.cli.doors import real_doors
from tributary.edges.gateway import running
from tributary.service import open_operator
from tributary.telemetry import log

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
WORST = ("terminal commands", "every control but NUL", "bidirectional controls", "tag characters", "non-characters", "the fence")
FIELDS = ("text", "situation", "subject", "rationale", "tags", "source", "evidence")


def acting(shown: str) -> set[str]:
    """Returns the characters that would act on whoever shows them, or not be seen, beside our own line breaks.

    Scripts are spelt with joiners, blanks have several widths; and what Unicode may have assigned since this Python was made is
    shown as a box at worst.
    """
    odd = {one for one in shown if not one.isprintable()} - {"\n", "\u200c", "\u200d"}
    return {one for one in odd if unicodedata.category(one) not in ("Cn", "Zs") or is_noncharacter(one)}


def is_noncharacter(one: str) -> bool:
    return 0xFDD0 <= ord(one) <= 0xFDEF or ord(one) & 0xFFFE == 0xFFFE


class Stack:
    """A tribe behind the real gateway, and what its logs say."""

    def __init__(self, tribal: Tribal, url: str, said: Path) -> None:
        self.tribal = tribal
        self.url = url
        self.said = said
        self.learned = 0
        self.token = tribal.token("writer")
        self.http = httpx.Client(base_url=url, headers=bearer(self.token), trust_env=False, timeout=60)

    def learn(self, **fields: Any) -> httpx.Response:
        document = {"situation": "operating", "source": {"how": "told"}, **fields}
        return self.http.post("/v1/lessons", content=json.dumps(document).encode(), headers={"Content-Type": "application/json"})

    def log_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said.read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def stack(server_url: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    said = tmp_path_factory.mktemp("logs") / "log.jsonl"
    with (
        new_database(server_url, template) as url,
        open_tribal(url, judge=RuledJudge(all_unrelated)) as tribal,
        logger_as_it_was(),
    ):
        log.configure(form="json", level="DEBUG", file=said, stream_too=False)
        with running(tribal.memory) as gateway:
            opened = Stack(tribal, gateway.url, said)
            with opened.http:
                yield opened


@pytest.fixture(scope="module")
def kept(stack: Stack) -> dict[str, dict[str, Any]]:
    """A lesson for each of the texts that are kept, with the text in every field that takes it, by what is odd about it."""
    found = {}
    for name, text in KEPT.items():
        short = text[:60].strip() or text
        reply = stack.learn(
            text=text,
            situation=text,
            subject=short,
            rationale=text,
            tags={short: short},
            source={"how": "told", "ref": text},
            evidence=[{"type": short, "ref": text, "note": text}],
        )
        assert reply.status_code == 200, (name, reply.text)
        found[name] = reply.json()["lesson"]
    return found


def valued(field: str, text: str) -> Any:
    """Returns a value of that field of a lesson with the text in it."""
    nested = {"tags": {text: text}, "source": {"how": "told", "ref": text}, "evidence": [{"type": "log", "ref": text}]}
    return nested.get(field, text)


def said_in(lesson: dict[str, Any]) -> set[str]:
    (evidence,) = lesson["evidence"]
    return {lesson["text"], lesson["situation"], lesson["rationale"], lesson["source"]["ref"], evidence["ref"], evidence["note"]}


@pytest.mark.parametrize("name", KEPT)
def test_every_reply_has_it_exactly(stack: Stack, kept: dict[str, dict[str, Any]], name: str) -> None:
    text, identifier = KEPT[name], kept[name]["id"]
    assert said_in(kept[name]) == {text}
    listed = stack.http.get("/v1/lessons", params={"subject": kept[name]["subject"], "limit": 100}).json()["lessons"]
    recalled = stack.http.post("/v1/recall", json={"query": text, "limit": 100}).json()["hits"]
    shown = [stack.http.get(f"/v1/lessons/{identifier}").json()["lesson"]]
    shown += [one for one in listed if one["id"] == identifier]
    shown += [one["lesson"] for one in recalled if one["lesson"]["id"] == identifier]
    assert len(shown) in (2, 3)  # what has no word in it may be too far from itself for recall
    for one in shown:
        assert said_in(one) == {text}
        assert (one["subject"], one["tags"]) == (kept[name]["subject"], kept[name]["tags"])
    timeline = stack.http.get(f"/v1/lessons/{identifier}/timeline")
    assert timeline.status_code == 200
    assert timeline.json()["lesson"]["text"] == text


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_kept_is_refused_and_its_field_named(stack: Stack, name: str, field: str) -> None:
    text = REFUSED[name]
    reply = stack.learn(**{"text": "sound", field: valued(field, text)})
    assert reply.status_code == 400
    assert {one["field"].partition(".")[0].partition("[")[0] for one in reply.json()["errors"]} == {field}


@pytest.mark.parametrize("place", ["agent", "key", "idempotency", "action", "incident", "subject"])
@pytest.mark.parametrize("text", [*KEPT.values(), *REFUSED.values()], ids=[*KEPT, *REFUSED])
def test_names_and_keys_of_odd_characters_are_kept_or_refused(stack: Stack, place: str, text: str) -> None:
    curator = bearer(stack.tribal.curator_token)
    if place == "idempotency":
        with httpx.Client(base_url=stack.url, headers=bearer(stack.token), trust_env=False) as http:
            raw = bytes(one for one in text.encode("utf-8", "surrogatepass") if one >= 0x20 and one != 0x7F)
            reply = http.post("/v1/lessons", json={"text": ""}, headers=[(b"Idempotency-Key", raw.strip() or b"x")])
        assert reply.status_code == 400
        return
    requests: dict[str, tuple[str, dict[str, Any]]] = {
        "agent": ("/v1/agents", {"name": text, "role": "reader"}),
        "key": ("/v1/actions", {"key": text[:200], "description": "d"}),
        "action": ("/v1/actions", {"key": f"k{hash(text)}", "description": text[:500]}),
        "incident": ("/v1/responder/turn", {"message": "hello", "incident": text}),
        "subject": ("/v1/recall", {"query": "q", "subject": text[:200], "tags": {text[:64]: text[:200]}}),
    }
    path, document = requests[place]
    content = json.dumps(document).encode()
    reply = stack.http.post(path, content=content, headers={**curator, "Content-Type": "application/json"})
    assert reply.status_code in (200, 400, 501), reply.text
    if reply.status_code == 200 and place in ("key", "action"):
        given = document["key"] if place == "key" else document["description"]
        # Keys that are equal to the eye are one key: they are kept in NFC.
        expected = unicodedata.normalize("NFC", given) if place == "key" else given
        assert reply.json()["action"]["key" if place == "key" else "description"] == expected


@settings(
    max_examples=EXAMPLES or 25,
    deadline=None,
    derandomize=not EXAMPLES,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(text="\ufeff", field="text").via("only a mark of the byte order")
@example(text="\x1c", field="subject").via("white space by Unicode's word")
@given(text=TEXT, field=st.sampled_from(FIELDS))
def test_any_text_is_kept_exactly_or_its_field_is_named(stack: Stack, text: str, field: str) -> None:
    stack.learned += 1  # another lesson each time, whatever the text
    reply = stack.learn(**{"text": f"case {stack.learned}", field: valued(field, text)})
    if not storable(text):
        assert reply.status_code == 400
        assert {one["field"].partition(".")[0].partition("[")[0] for one in reply.json()["errors"]} == {field}
        return
    assert reply.status_code == 200, reply.text
    lesson = stack.http.get(f"/v1/lessons/{reply.json()['lesson']['id']}").json()["lesson"]
    found = {"source": lesson["source"]["ref"], "evidence": lesson["evidence"] and lesson["evidence"][0]["ref"]}.get(field)
    assert (lesson[field] if found is None else found) in (text, {text: text})
    assert stack.http.post(
        "/v1/recall", content=json.dumps({"query": text}).encode(), headers={"Content-Type": "application/json"}
    ).is_success


@pytest.mark.parametrize(("one", "other", "same"), [
    ("caf\u00e9 closes", "cafe\u0301 closes", True),
    ("\u212bngstr\u00f6m", "A\u030angstro\u0308m", True),
    ("\ud55c opens", "\u1112\u1161\u11ab opens", True),
    ("wait  2\r\ns", "wait 2\u2028s", True),
    ("10\u2075 rows", "105 rows", False),
    ("the \ufb01rst", "the first", False),
    ("pass\u200bword", "password", False),
])  # fmt: skip
def test_texts_that_differ_only_in_normal_form_are_one_lesson_and_no_others_are(
    stack: Stack, one: str, other: str, same: bool
) -> None:
    """NFC and runs of white space make no difference; what NFKC would make equal may mean another thing, and stays apart."""
    first, second = (stack.learn(text=text, situation="comparing forms").json() for text in (one, other))
    assert (second["lesson"]["id"] == first["lesson"]["id"]) is same
    assert (second["outcome"] == "unchanged") is same
    assert (unicodedata.normalize("NFC", one).split() == unicodedata.normalize("NFC", other).split()) is same


def test_no_log_line_is_broken_in_two_and_none_has_the_texts(stack: Stack, kept: dict[str, dict[str, Any]]) -> None:
    assert len(kept) == len(KEPT)
    lines = stack.log_lines()
    assert len(lines) > len(KEPT)
    raw = stack.said.read_text(encoding="utf-8")
    assert "\x1b" not in raw
    assert not [text for text in KEPT.values() if text in raw]


def test_no_text_commands_a_terminal(stack: Stack, kept: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    environment = {"TRIBUTARY_HOME": str(tmp_path), "TRIBUTARY_URL": stack.url, "TRIBUTARY_TOKEN": stack.tribal.curator_token}
    doors = replace(real_doors(), environment=environment, open_client=lambda: client.Memory(environment=environment))
    commands = [("lessons", "--limit", "100"), ("recall", KEPT["terminal commands"], "--limit", "50"), ("changes",)]
    commands += [(command, kept[name]["id"]) for name in WORST for command in ("show", "timeline")][:: 1 if EXAMPLES else 2]
    for command in commands:
        for more in ((), ("--json",)):
            result = CliRunner().invoke(app, [*command, *more], obj=doors)
            assert result.exit_code == 0, (command, result.output)
            assert not acting(result.output) - (set() if more else {"\t"}), command


def test_no_text_is_markup_in_a_page(stack: Stack, kept: dict[str, dict[str, Any]]) -> None:
    with visiting(stack.tribal, Role.CURATOR) as visitor:
        pages = [visitor.get("/lessons"), *(visitor.get(f"/lessons/{lesson['id']}") for lesson in kept.values())]
    for page in pages:
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<b onmouseover" not in page.text
        assert not set(page.text) & set("\x00\x1b\u202e\u2066\x9b\U000e006f")
    shown = visitor_text(pages[1 + list(kept).index("markup")].text)
    assert "<script>alert('x')</script>" in shown


def visitor_text(page: str) -> str:
    return html.unescape(page)


def test_an_agent_gets_it_over_mcp_inside_the_fence(stack: Stack, kept: dict[str, dict[str, Any]]) -> None:
    for name in WORST:
        text = KEPT[name]
        arguments = {"query": text[:500], "limit": 20}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tribal_recall", "arguments": arguments}}
        reply = stack.http.post("/mcp", json=message, headers={"Accept": "application/json, text/event-stream"})
        assert reply.status_code == 200, name
        result = reply.json()["result"]
        assert not result.get("isError"), (name, result)
        (part,) = result["content"]
        assert not acting(part["text"]), name
        assert part["text"].count("</tributary-lessons-") <= 1


def test_an_export_that_is_restored_elsewhere_has_every_text(
    stack: Stack, kept: dict[str, dict[str, Any]], server_url: str, template: str
) -> None:
    lines: list[bytes] = []
    with operating(stack.tribal) as operator:
        operator.export(stack.tribal.name, lines.append)
    assert all(line.count(b"\n") == 1 for line in lines)
    with new_database(server_url, template) as url:
        setup = stack.tribal.settings.model_copy(update={"database_url": url})
        with open_operator(setup, adapters=stack.tribal.adapters) as operator:
            operator.restore(lines)
            again: list[bytes] = []
            operator.export(stack.tribal.name, again.append)
    assert again == lines
    texts = {json.loads(line)["row"]["text"] for line in lines if line.startswith(b'{"table":"lesson","')}
    assert texts >= set(KEPT.values())
