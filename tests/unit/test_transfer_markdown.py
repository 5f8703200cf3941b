"""Markdown, skills, AGENTS.md and Basic Memory: what is found, where, and that nothing whatever makes a parser fall over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tributary.core.limits import REF_CHARACTERS, SITUATION_BYTES, TEXT_BYTES, check_tags
from tributary.transfer.documents import Format, Item, Remark, Unreadable, file_prefix, place_key, read
from tributary.transfer.documents.front_matter import front_matter
from tributary.transfer.documents.markdown import Anchors
from tributary.transfer.documents.text import fitting

DOCUMENTS = (Format.MARKDOWN, Format.SKILL, Format.AGENTS, Format.BASIC_MEMORY)


class Bytes:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def read(self, size: int, /) -> bytes:
        taken, self._raw = self._raw[:size], self._raw[size:]
        return taken

    def readline(self, size: int, /) -> bytes:
        raise AssertionError("documents are read as a whole")


def pieces(text: str | bytes, form: Format = Format.MARKDOWN, file: str = "runbooks/disk.md") -> Iterator[object]:
    raw = text if isinstance(text, bytes) else text.encode()
    return read(Bytes(raw), file, form)


def items(text: str | bytes, form: Format = Format.MARKDOWN, file: str = "runbooks/disk.md") -> list[Item]:
    return [one for one in pieces(text, form, file) if isinstance(one, Item)]


def said(text: str | bytes, form: Format = Format.MARKDOWN) -> dict[str, str]:
    return {one.place.ref: one.text for one in items(text, form)}


RUNBOOK = """\
---
title: Disk full
severity: page
version: 1.10
tags: [storage, "on call"]
owner: {team: falcon}
---

Read this first.

# Disk full

## Meaning

The disk of a node is full.

## Diagnosis

Look at `df -h`:

```sh
# this is no heading
df -h
```

### Inodes

| what | how |
|---|---|
| inodes | `df -i` |

Mitigation
----------

1. Delete old logs.
   - those of `/var/log` first
"""


def test_each_heading_is_a_lesson_with_its_place_path_subject_and_tags() -> None:
    found = items(RUNBOOK)
    assert [one.place.ref.removeprefix("runbooks/disk.md#") for one in found] == [
        "(top):9",
        "Meaning:13",
        "Diagnosis:17",
        "Inodes:26",
        "Mitigation:32",
    ]
    assert [one.situation for one in found] == [
        "Disk full",
        "Disk full > Meaning",
        "Disk full > Diagnosis",
        "Disk full > Diagnosis > Inodes",
        "Disk full > Mitigation",
    ]
    assert found[2].text == "Look at `df -h`:\n\n```sh\n# this is no heading\ndf -h\n```"
    assert found[4].text == "1. Delete old logs.\n   - those of `/var/log` first"
    assert {(one.subject, one.kind) for one in found} == {("disk", "runbook_fact")}
    tags = {"severity": "page", "version": "1.10", "tag:storage": "true", "tag:on call": "true", "owner.team": "falcon"}
    assert all(one.tags == tags for one in found)


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_change_nothing(ends: str) -> None:
    assert items(b"\xef\xbb\xbf" + RUNBOOK.replace("\n", ends).encode()) == items(RUNBOOK)


def test_a_heading_that_comes_again_is_numbered_and_an_empty_section_says_nothing() -> None:
    text = "# A\n\n## Steps\n\none\n\n## Empty\n\n## Steps\n\ntwo\n\n## Steps (2)\n\nthree\n"
    assert list(said(text)) == ["runbooks/disk.md#Steps:3", "runbooks/disk.md#Steps (2):9", "runbooks/disk.md#Steps (2) (2):13"]


def test_headings_in_code_quotations_lists_and_comments_are_none() -> None:
    text = "# One\n\n```\n# two\n```\n\n    # three\n\n> # four\n\n- # five\n\n<!--\n# six\n-->\n\n~~~\n# seven\n~~~\n"
    assert [one.place.anchor for one in items(text)] == ["One"]


def test_comments_are_left_out_but_not_those_in_code() -> None:
    text = "# One\n\n<!-- hidden\nhidden -->\nseen <!-- hidden --> seen\n\n`<!-- code -->`\n\n"
    text += "```\n<!-- code -->\n```\n\n<!-- never closed\n"
    (one,) = items(text)
    assert "hidden" not in one.text
    assert "never closed" not in one.text
    assert one.text.count("<!-- code -->") == 2
    assert one.text.startswith("seen  seen")


def test_headings_are_read_without_their_marks() -> None:
    text = "# A [link](http://x) & `code` *here*\n\ntext\n\nTwo\\\nlines\n===\n\ntext\n\n#\n\ntext\n"
    assert [one.place.anchor for one in items(text)] == ["A link & code here", "Two lines", "(untitled)"]


def test_a_document_without_headings_is_called_after_its_file_or_folder() -> None:
    (one,) = items("just words\n", file="ops/backup plan.md")
    assert (one.place.ref, one.situation, one.subject) == ("ops/backup plan.md#(top):1", "backup plan", "backup plan")
    (two,) = items("just words\n", file="ops/README.md")
    assert (two.situation, two.subject) == ("ops", "ops")


def test_front_matter_names_subject_kind_and_title_which_make_no_tags() -> None:
    (one,) = items("---\ntitle: T\nsubject: payments\nkind: resolution\ndescription: D\n---\n# H\n\nx\n")
    assert (one.subject, one.kind, one.situation, one.tags) == ("payments", "resolution", "T > H", {})


HOSTILE = {
    "an alias": "a: &a [x, x]\nb: [*a, *a]",
    "a made object": "a: !!python/object/apply:os.system ['true']",
    "an open list": "a: [1, 2",
    "a tab": "a:\n\t- b",
    "a depth": "a: " + "[" * 3000,
    "a length": "a: " + "x" * 20_000,
    "a list as a key": "? [1, 2]\n: 3",
    "a character": "a: \x01",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_front_matter_that_cannot_be_read_refuses_the_file_or_makes_nothing(name: str) -> None:
    text = f"---\n{HOSTILE[name]}\n---\n# H\n\nx\n"
    if name == "a made object":
        assert items(text)[0].tags == {"a": "true"}  # a list with a text
        return
    with pytest.raises(Unreadable, match="front matter"):
        items(text)


def test_a_rule_across_the_page_is_no_front_matter() -> None:
    for text in ("---\n\nwords\n\n---\n\nmore\n", "---\nno end: here\n"):
        assert items(text)


def test_what_makes_no_tag_is_remarked_on() -> None:
    text = f"---\nlong: {'x' * 201}\n{'k' * 65}: y\na: {{b: {{c: {{d: e}}}}}}\nempty:\n---\n# H\n\nx\n"
    (remark,) = [one for one in pieces(text) if isinstance(one, Remark)]
    assert remark.text.startswith(f"of the front matter no tags were made of: long, {'k' * 60}, a.b.c")
    many = "".join(f"k{number}: v\n" for number in range(40))
    (one,) = items(f"---\n{many}---\n# H\n\nx\n")
    assert len(one.tags) == 32


@pytest.mark.parametrize(
    ("raw", "reason"), [(b"# A\n\n\xff", "byte 6"), (b"# A\n\n\0", "NUL"), (b"x" * (4 << 20) + b"x", "too large")]
)
def test_what_is_no_text_is_refused_by_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        items(raw)


def test_a_long_section_is_parted_between_paragraphs_the_same_way_each_time() -> None:
    paragraphs = [f"{number} " + "word " * 300 for number in range(20)]
    text = "# Long\n\n" + "\n\n".join(paragraphs)
    found = items(text)
    assert [one.place.anchor for one in found] == ["Long", *(f"Long [part {number}]" for number in range(2, len(found) + 1))]
    assert found[1].situation == "Long > part 2"
    assert all(len(one.text.encode()) <= TEXT_BYTES for one in found)
    assert all(re.match(r"\d+ word", one.text) for one in found)
    assert items(text) == found
    edited = items(text.replace("19 word", "19 other"))
    assert [one.text for one in edited[:-1]] == [one.text for one in found[:-1]]


def test_one_line_that_is_too_long_is_cut_between_characters() -> None:
    line = "ü" * 10_000
    parts = fitting(line)
    assert "".join(parts) == line
    assert all(len(part.encode()) <= TEXT_BYTES for part in parts)


def test_a_skill_says_when_it_is_to_be_used() -> None:
    text = "---\nname: pdf-forms\ndescription: Fill PDF forms when asked to.\nlicense: MIT\n---\n"
    text += "# PDF forms\n\nUse the script.\n\n## Flat\n\nNo.\n"
    found = items(text, Format.SKILL, "skills/pdf/SKILL.md")
    assert [one.situation for one in found] == [
        "Fill PDF forms when asked to. > PDF forms",
        "Fill PDF forms when asked to. > PDF forms > Flat",
    ]
    assert found[0].tags == {"license": "MIT", "skill": "pdf-forms"}
    assert found[0].subject == "pdf"


def test_each_bullet_of_an_agents_file_is_a_lesson_under_the_headings_above() -> None:
    text = "# Rules\n\nIntro.\n\n- Use tabs.\n- Run `make`\n  before you push:\n  - always\n\n"
    text += "## Style\n\nOne sentence.\n\n## Steps\n\n1. First.\n2. Second.\n"
    found = items(text, Format.AGENTS, "AGENTS.md")
    assert [(one.place.ref, one.text, one.situation) for one in found] == [
        ("AGENTS.md#Rules:5", "Use tabs.", "Rules"),
        ("AGENTS.md#Rules:6", "Run `make`\nbefore you push:\n- always", "Rules"),
        ("AGENTS.md#Style:10", "One sentence.", "Rules > Style"),
        ("AGENTS.md#Steps:16", "First.", "Rules > Steps"),
        ("AGENTS.md#Steps:17", "Second.", "Rules > Steps"),
    ]


NOTE = """\
---
title: Coffee
type: note
permalink: coffee
tags: [brewing]
---
# Coffee

Some prose.

## Observations
- [method] Pour over is clearer #brewing (personal experience)
- Water at 205F #temperature
- [ ] buy beans
- [00:01:02] spoken words
- [tip] See [[Beans]] first

## Relations
- relates_to [[Beans]] (origin)
- "needs a" [[Grinder]]
"""


def test_a_note_of_basic_memory_gives_observations_relations_and_prose() -> None:
    found = items(NOTE, Format.BASIC_MEMORY, "coffee.md")
    by_line = {one.place.line: one for one in found}
    assert by_line[12].text == "Pour over is clearer #brewing"
    assert by_line[12].situation == "Coffee > personal experience"
    base = {"type": "note", "permalink": "coffee", "tag:brewing": "true"}
    assert by_line[12].tags == {**base, "category": "method"}
    assert by_line[13].tags == {**base, "tag:temperature": "true"}
    assert by_line[16].text == "See [[Beans]] first"
    assert (by_line[19].text, by_line[19].kind, by_line[19].tags["relation"]) == (
        "Coffee relates to Beans",
        "entity_fact",
        "relates_to",
    )
    assert by_line[20].text == "Coffee needs a Grinder"
    assert {one.subject for one in found if one.kind != "runbook_fact"} == {"Coffee"}
    prose = [one.text for one in found if one.kind == "runbook_fact"]
    assert prose == ["Some prose.", "- [ ] buy beans\n- [00:01:02] spoken words"]


def test_the_refs_of_one_file_begin_as_those_of_no_other() -> None:
    assert file_prefix("a#b 100%.md") == "a%23b 100%25.md#"
    assert file_prefix("Ünï\ncode.md") == "Ünï%0Acode.md#"
    assert place_key("a.md#Note: x:12") == "a.md#Note: x"


HEADING = st.text(st.characters(whitelist_categories=["L", "N"]), min_size=1, max_size=12)


@given(st.lists(st.tuples(st.integers(1, 6), HEADING, HEADING), min_size=1, max_size=8))
def test_headings_and_what_is_below_them_come_back(given_sections: list[tuple[int, str, str]]) -> None:
    text = "\n".join(f"{'#' * level} h{heading}\n\nt{body}\n" for level, heading, body in given_sections)
    found = items(text)
    assert [one.text for one in found] == [f"t{body}" for _, _, body in given_sections]
    assert [one.place.line for one in found] == [1 + 4 * number for number in range(len(given_sections))]
    lines = text.split("\n")
    for one, (_, heading, _) in zip(found, given_sections, strict=True):
        assert lines[one.place.line - 1].endswith(f" h{heading}")
        assert one.place.anchor.startswith(f"h{heading}")
    assert len({one.place.key for one in found}) == len(found)


MARKS = st.text(st.sampled_from("#-*_>`~|<!>[]()&\\ \n\t\r1.=:ab\ufeff\u2028ü"), max_size=200)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=300), MARKS, st.tuples(MARKS, MARKS).map("\n---\n".join).map(lambda text: f"---\n{text}")))
def test_no_text_makes_a_parser_fall_over_or_breaks_a_limit(text: str) -> None:
    for form in DOCUMENTS:
        try:
            found = items(text.encode(errors="replace"), form)
        except Unreadable:
            continue
        for one in found:
            assert one.text.strip()
            assert len(one.text.encode()) <= TEXT_BYTES
            assert 0 < len(one.situation.encode()) <= SITUATION_BYTES
            assert len(one.ref) <= REF_CHARACTERS
            assert one.place.ref.startswith(file_prefix("runbooks/disk.md"))
            assert place_key(one.place.ref) == one.place.key
            check_tags(one.tags)


@given(st.binary(max_size=200))
def test_no_bytes_make_the_front_matter_fall_over(raw: bytes) -> None:
    lines = ["---", *raw.decode(errors="replace").split("\n"), "---"]
    with suppress(Unreadable):
        front_matter(lines)


@given(st.text(max_size=400), st.lists(st.integers(0, 30), max_size=5), st.integers(4, 40))
def test_parts_fit_and_lose_no_word(text: str, starts: list[int], most: int) -> None:
    text = "".join(one for one in text if not "\ud800" <= one <= "\udfff")
    parts = fitting(text, starts, most_bytes=most)
    assert all(part.strip() and len(part.encode()) <= most for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_comments_that_nothing_closes_and_headings_that_come_again_are_gone_through_once() -> None:
    text = "\n".join(["a <!-- `"] * 200_000)  # hours, if each mark looked for its end anew
    assert len(items(text)) == -(-len(text) // TEXT_BYTES)
    anchors = Anchors()
    assert [anchors.of("Steps") for _ in range(60_000)][-1] == "Steps (60000)"
    assert len(items("# " + "[" * 200_000 + "\n\nwords\n")) == 1


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <!-- b --> c", "a  c"),
        ("a `<!-- b -->` c", "a `<!-- b -->` c"),
        ("a ``<!-- ` -->`` c", "a ``<!-- ` -->`` c"),
        ("a ` <!-- b --> c", "a `  c"),
        ("a <!-- `b` --> ` c `", "a  ` c `"),
        ("a <!-- b", "a <!-- b"),
        ("a <!-- b --> c <!-- d", "a  c <!-- d"),
    ],
)
def test_comments_are_left_out_but_not_in_code(text: str, left: str) -> None:
    assert said(text) == {"runbooks/disk.md#(top):1": left}
