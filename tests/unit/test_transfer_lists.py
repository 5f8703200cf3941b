"""JSON lines and mem0's exports, entry by entry, and how files are found, named and told apart."""

from __future__ import annotations

import io
import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.transfer.documents import LINE_BYTES, Format, Found, Item, Refusal, Remark, Unreadable, find, read
from tributary.transfer.documents.json_stream import JsonStream


def pieces(raw: bytes | str, form: Format) -> list[object]:
    return list(read(io.BytesIO(raw if isinstance(raw, bytes) else raw.encode()), "list.jsonl", form))


def item(raw: bytes | str, form: Format = Format.JSONL) -> Item:
    (found,) = pieces(raw, form)
    assert isinstance(found, Item), found
    return found


LINE = {"text": "Drain first", "situation": "rebooting"}


def line(**over: object) -> str:
    return json.dumps({**LINE, **over})


def test_a_line_is_a_lesson_in_the_form_that_learn_takes() -> None:
    found = item(line(id="n-1", kind="resolution", subject="node", tags={"env": "prod"}, confidence=0.9, rationale=None))
    assert (found.ref, found.text, found.kind, found.subject) == ("list.jsonl#n-1:1", "Drain first", "resolution", "node")
    assert (found.tags, found.more) == ({"env": "prod"}, {"confidence": 0.9})


def test_a_line_is_known_by_its_id_else_by_its_words_and_keeps_a_source_of_its_own() -> None:
    assert item(line()).place.key == item(line(tags={"a": "b"})).place.key != item(line(text="other")).place.key
    own = item(line(source={"how": "observed", "ref": "run:1"}))
    assert (own.ref, own.elsewhere) == ("run:1", True)
    assert not item(line(source={"how": "told"})).elsewhere


BAD = {
    "text: is missing": json.dumps({"situation": "s"}),
    "situation: must be a text": line(situation=1),
    "is no field": line(surprise=1),
    "must be a JSON object": "[1]",
    "is given twice": '{"text": "a", "text": "b", "situation": "s"}',
    "is not JSON": "{",
    "holds NaN": line(confidence=float("nan")),
    "tags": line(tags={"a": 1}),
    "kind": line(kind="rumour"),
    "subject": line(subject=["a"]),
    "nested too deep": "[" * 200_000,
    "more than": '"' + "x" * LINE_BYTES,
}


@pytest.mark.parametrize("reason", BAD)
def test_a_line_that_is_no_lesson_is_refused_and_the_others_go_on(reason: str) -> None:
    first, bad, last = pieces("\n".join([line(id=1), BAD[reason], "", line(id=3)]), Format.JSONL)
    assert isinstance(first, Item)
    assert isinstance(last, Item)
    assert isinstance(bad, Refusal)
    assert reason in bad.reason
    assert (bad.line, last.place.line) == (2, 4)


def test_bytes_that_are_no_text_refuse_their_line_alone() -> None:
    bad, good = pieces(b"\xff\n" + line().encode(), Format.JSONL)
    assert isinstance(bad, Refusal)
    assert isinstance(good, Item)
    assert item(b"\xef\xbb\xbf" + line().encode() + b"\r\n").text == "Drain first"


MEMORY = {
    "id": "0b1c",
    "memory": "Dev works at TechCorp",
    "hash": "abc",
    "metadata": {"type": "professional", "nested": {"a": 1, "ok": True}, "none": None},
    "created_at": "2026-01-02T03:04:05-08:00",
    "updated_at": None,
    "user_id": "dev",
    "categories": ["work", "people"],
    "score": 0.5,
}


@pytest.mark.parametrize("form", ["get_all", "list", "lines", "memories", "paged"])
def test_every_form_of_what_mem0_gives_out_gives_the_same_lesson(form: str) -> None:
    given_out = {
        "get_all": {"results": [MEMORY]},
        "list": [MEMORY],
        "lines": MEMORY,
        "memories": {"memories": [MEMORY]},
        "paged": {"count": 1, "next": None, "previous": None, "results": [MEMORY]},
    }
    found = item(json.dumps(given_out[form]), Format.MEM0)
    assert (found.ref, found.text, found.subject) == ("list.jsonl#0b1c:1", "Dev works at TechCorp", "dev")
    assert (found.situation, found.kind) == ("what is remembered of user dev", "observation")
    assert found.tags == {
        "type": "professional",
        "user_id": "dev",
        "created_at": "2026-01-02T03:04:05-08:00",
        "tag:work": "true",
        "tag:people": "true",
        "nested.a": "1",
        "nested.ok": "true",
    }


def test_relations_of_mem0s_graph_are_remarked_on_and_what_is_no_memory_is_refused() -> None:
    relations = [{"source": "dev", "relationship": "works_at", "target": "techcorp"}]
    found = pieces(json.dumps({"results": [MEMORY, {"full_name": "Dev"}, 7], "relations": relations}), Format.MEM0)
    assert [type(one) for one in found] == [Item, Refusal, Refusal, Remark]
    assert [one.line for one in found[1:3]] == [2, 3]  # type: ignore[attr-defined]  # refusals, as was just asserted
    assert len(pieces("\n".join(json.dumps(MEMORY | {"id": str(n)}) for n in range(3)), Format.MEM0)) == 3


@pytest.mark.parametrize(
    "raw", [b'{"results": [', b'{"results": [{}', b"[1,,2]", b"{1: 2}", b"[\xff]", b"[NaN]", b'{"a" 1}', b"[" * 200_000]
)
def test_a_document_that_is_not_json_is_refused_where_that_is_found(raw: bytes) -> None:
    with pytest.raises(Unreadable):
        pieces(raw, Format.MEM0)


def test_a_value_that_has_no_end_is_given_up() -> None:
    with pytest.raises(Unreadable, match="more than"):
        pieces(b'["' + b"x" * (3 << 20), Format.MEM0)


class Trickle(io.BytesIO):
    """Gives a few bytes at a time, so that every value is cut somewhere."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 3, 3))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=5))
def test_entries_come_as_json_itself_reads_them_wherever_the_stream_is_cut(values: list[object]) -> None:
    raw = json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")
    assert list(JsonStream(Trickle(raw)).entries()) == json.loads(raw)


@given(st.binary(max_size=120))
def test_no_bytes_make_a_list_fall_over(raw: bytes) -> None:
    for form in (Format.JSONL, Format.MEM0):
        with suppress(Unreadable):
            assert all(isinstance(one, Item | Refusal | Remark) for one in pieces(raw, form))


# ---- files


def names(found: list[Found | Refusal]) -> list[str]:
    return [one.name if isinstance(one, Found) else f"! {one.reason}" for one in found]


def test_files_are_named_from_the_root_in_order_and_told_apart_by_name_and_head(tmp_path: Path) -> None:
    wanted = {
        "b/runbook.md": "# x",
        "AGENTS.md": "- x",
        "a/SKILL.md": "x",
        "a/.claude/skills/s/SKILL.md": "x",
        "note.md": "---\ntitle: x\npermalink: x\n---\n",
        "list.jsonl": "{}",
        "mem.json": "[]",
    }
    for name, text in {**wanted, ".git/x.md": "x", "node_modules/x.md": "x", "image.png": "x"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = list(find([tmp_path], root=tmp_path))
    assert {one.name: one.form.value for one in found if isinstance(one, Found)} == {
        "AGENTS.md": "agents",
        "list.jsonl": "jsonl",
        "mem.json": "mem0",
        "note.md": "basic-memory",
        "a/SKILL.md": "skill",
        "a/.claude/skills/s/SKILL.md": "skill",
        "b/runbook.md": "markdown",
    }
    assert names(found) == names(list(find([tmp_path], root=tmp_path)))
    (outside,) = find([tmp_path / "b"], root=tmp_path / "a")
    assert names([outside]) == ["b/runbook.md"]
    assert names(list(find([tmp_path / "b/runbook.md", tmp_path / "b"], root=tmp_path))) == ["b/runbook.md"]


def test_links_that_go_round_and_what_is_no_file_are_refused_and_followed_nowhere(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("# x")
    (tmp_path / "round.md").symlink_to(tmp_path / "round.md")
    (tmp_path / "self").symlink_to(tmp_path)
    (tmp_path / "again.md").symlink_to(tmp_path / "real.md")
    os.mkfifo(tmp_path / "pipe.md")
    found = list(find([tmp_path], root=tmp_path))
    assert [one.name for one in found if isinstance(one, Found)] == ["again.md"]
    refused = {Path(one.file).name: one.reason for one in found if isinstance(one, Refusal)}
    assert refused.keys() == {"round.md", "pipe.md"}
    assert "Too many levels" in refused["round.md"]


def test_a_path_that_is_not_there_or_has_no_format_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("x")
    assert names(list(find([tmp_path / "none.md", tmp_path / "x.txt"], root=tmp_path))) == [
        "! cannot be read: No such file or directory",
        "! its name says no format that is known; --format names one",
    ]
    (forced,) = find([tmp_path / "x.txt"], root=tmp_path, form=Format.MARKDOWN)
    assert isinstance(forced, Found)


def test_a_file_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).write_text("# x")
    (refused,) = find([tmp_path], root=tmp_path)
    assert isinstance(refused, Refusal)
    assert "not UTF-8" in refused.reason


def test_half_of_a_character_refuses_its_own_line_or_memory_and_no_other() -> None:
    lines = [line(text="\ud800"), line(tags={"\udfff": "x"}), line(source={"how": "told", "ref": "\ud800"}), line()]
    assert [type(one) for one in pieces("\n".join(lines), Format.JSONL)] == [Refusal, Refusal, Refusal, Item]
    memories = [{"memory": "\ud800"}, {"memory": "m", "user_id": "\ud800"}, {"memory": "m"}]
    assert [type(one) for one in pieces(json.dumps(memories), Format.MEM0)] == [Refusal, Refusal, Item]
