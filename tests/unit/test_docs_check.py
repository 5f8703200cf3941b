"""What runs the pages: a block that fails is told, one that hangs is ended, and nothing is left of a machine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs_check import __main__ as docs_check
from tests.docs_check.blocks import ROOT, pages
from tests.docs_check.machine import Machine, machine
from tests.docs_check.reader import README, Place, Reader
from tests.docs_check.scenes import SCENES


@pytest.fixture(scope="module")
def new() -> Iterator[Machine]:
    with machine(port=0) as made:
        made.clone.mkdir()
        yield made


@pytest.fixture
def shown() -> list[str]:
    return []


@pytest.fixture
def place(new: Machine, shown: list[str]) -> Iterator[Place]:
    with Place(new, shown.append, is_new=True) as made:
        yield made


def run(place: Place, text: str, within_s: float = 20.0) -> str | None:
    return place.run("sh", text, page="page.md", line=1, within_s=within_s)


def test_what_a_block_exports_and_where_it_goes_holds_in_the_next(place: Place, shown: list[str]) -> None:
    assert run(place, "export A=1\nmkdir -p ~/b && cd ~/b\n") is None
    assert run(place, 'echo "$A in $(basename "$PWD")"\n') is None
    assert "1 in b" in shown


@pytest.mark.parametrize("line", ["false", "cat nothing", "false | cat", "nothing-of-that-name", "echo a && false", "X=$(false)"])
def test_a_command_that_fails_anywhere_in_a_block_fails_it_and_the_rest_is_run(place: Place, shown: list[str], line: str) -> None:
    assert run(place, f"{line}\necho then\n") == "a command ended with an error"
    assert "then" in shown
    assert run(place, "false || echo else\nif false; then :; fi\n") is None


def test_a_block_that_ends_its_shell_fails_and_the_next_has_another(place: Place) -> None:
    assert run(place, "exit 0\n") == "it ended the shell that it ran in"
    assert run(place, "true\n") is None


def test_a_block_that_hangs_is_ended_with_all_that_it_started(place: Place, new: Machine) -> None:
    said = run(place, f"sleep 600.25 &\necho $! > {new.folder}/child\nwait\n", within_s=1.0)
    assert said is not None
    assert said.startswith("not done within")
    child = Path("/proc", (new.folder / "child").read_text().strip(), "cmdline")
    until = time.monotonic() + 20
    while child.exists() and child.read_bytes() and time.monotonic() < until:
        time.sleep(0.05)
    assert not child.exists() or not child.read_bytes()


def test_a_new_machine_has_an_empty_home_and_hardly_a_variable(
    place: Place, new: Machine, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIBUTARY_URL", "http://127.0.0.1:1")
    assert run(place, "env | grep -c '^TRIBUTARY' || true\npython3 -c 'print(6 * 7)'\n") is None
    assert [line for line in shown if line] == ["0", "42"]
    assert new.hide(f"{new.clone} {new.repository}") == "~/tributary <machine>/tributary.git"


def test_its_repository_holds_what_the_checkout_holds(new: Machine) -> None:
    copy = new.folder / "copy"
    subprocess.run(("git", "clone", "--quiet", str(new.repository), str(copy)), check=True)
    for path in ("README.md", "Makefile", "tests/docs_check/machine.py"):
        assert (copy / path).read_bytes() == (ROOT / path).read_bytes()


def test_nothing_is_left_of_a_machine_and_of_what_ran_on_it() -> None:
    with machine(port=0) as made:
        folder = made.folder
        child = subprocess.Popen(("sleep", "600.5"), env={**made.environment}, start_new_session=True)
        assert child.poll() is None
    assert child.wait(timeout=20) != 0
    assert not folder.exists()


def test_pages_are_read_in_the_order_of_readmes_table_and_none_is_left_out() -> None:
    order = docs_check.in_order()
    assert {README, *order} == set(pages())
    assert order.index("docs/sdk.md") < order.index("docs/actions.md") < order.index("docs/errors.md")


def test_a_page_whose_block_fails_is_a_failure_with_its_place(new: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    text = "```sh\necho right\n```\n\n```sh\ncat nothing\n```\n\n<!-- not run: needs root -->\n```sh\ntributary forget\n```\n"
    with Reader(new, {README: text}) as reader:
        assert not reader.read(README)
    assert reader.failures == ["README.md:5: a command ended with an error", *reader.failures[1:]]
    assert "README.md:10: line 11: `tributary forget`: No such command" in reader.failures[1]
    assert reader.ended[README] == {"ok": 1, "failed": 2, "not run": 1}
    assert "    right\n" in capsys.readouterr().out


@pytest.mark.parametrize("page", sorted(SCENES))
def test_what_stands_for_words_of_a_page_and_what_comes_before_them_finds_them_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert all(one.words in text for one in SCENES[page].before)
    assert all(words in text for words in SCENES[page].instead)
