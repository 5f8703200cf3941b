"""The table of gates says what is so of the tree, its page says what the table does, and what takes gates out can tell nothing from all.

Each gate is taken out by `make gates`; here two are, and one that is none.
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.gates.__main__ import main
from tests.gates.gate import ROOT, Cut, Gate, Group, RottenError, named
from tests.gates.page import PAGE, read_seen, read_tables, tables
from tests.gates.table import GROUPS
from tests.gates.taking_out import copy_tree, not_green

GATES = named(GROUPS)
QUICK = ("absence-needs-complete", "prompt-fence-lines")
"""Shown by tests that need no database."""
RECEIPT = "shared/tributary/core/receipt.py"
CONTROL = "tests/unit/test_core_receipt.py::test_only_a_complete_search_that_found_nothing_shows_that_there_is_nothing"


def test_each_name_is_given_once() -> None:
    names = Counter(gate.name for group in GROUPS for gate in group.gates)
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_what_is_taken_out_is_there_once_and_so_is_each_control(gate: Gate) -> None:
    assert gate.cuts
    assert gate.tests
    assert len(gate.fingerprint()) == 12, "raises RottenError for a text or a test that is not there"
    assert all(cut.old != cut.new for cut in gate.cuts)


def test_each_gate_was_seen_failing_as_it_is_now() -> None:
    seen = read_seen()
    stale = [gate.name for gate in GATES if gate.name not in seen or seen[gate.name].proof != gate.fingerprint()]
    assert stale == [], f"the guard, its cut or its control changed since: make gates NAME='{' '.join(stale)}'"


def test_the_page_lists_exactly_the_tables_gates_in_its_words() -> None:
    assert read_tables() == tables(GROUPS, read_seen())


def test_a_fingerprint_changes_with_the_guard_with_the_cut_and_with_the_control(tmp_path: Path) -> None:
    (gate,) = named(GROUPS, [QUICK[0]])
    control, _, name = gate.tests[0].partition("::")
    for path in {gate.cuts[0].path, control}:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    as_it_is = gate.fingerprint(tmp_path)
    assert as_it_is == gate.fingerprint()
    other_cut = Gate(**{**vars(gate), "cuts": (gate.cuts[0],)})
    assert other_cut.fingerprint(tmp_path) != as_it_is
    text = (tmp_path / control).read_text()
    (tmp_path / control).write_text(text.replace(f"def {name}(", f"def {name}(  "))
    assert gate.fingerprint(tmp_path) != as_it_is
    (tmp_path / control).write_text(text)
    guard = (tmp_path / RECEIPT).read_text()
    (tmp_path / RECEIPT).write_text(
        guard.replace("Raises NotComplete unless this search shows", "Raises NotComplete unless it shows")
    )
    assert gate.fingerprint(tmp_path) != as_it_is
    (tmp_path / RECEIPT).write_text(guard + "\n\ndef elsewhere() -> None: ...\n")
    assert gate.fingerprint(tmp_path) == as_it_is, "what stands elsewhere in the file is no matter of this guard"


def test_a_text_that_is_not_there_once_is_told_and_the_tree_itself_is_never_cut(tmp_path: Path) -> None:
    for old in ("no such text", "Coverage"):
        with pytest.raises(RottenError, match="times"):
            Cut(path=RECEIPT, old=old, new="").text()
    with pytest.raises(RottenError, match="there is no"):
        Cut(path="shared/tributary/core/none.py", old="x", new="").text()
    with pytest.raises(RottenError, match="never of the tree"):
        named(GROUPS, [QUICK[0]])[0].cuts[0].make(ROOT)
    copy = copy_tree(tmp_path / "copy")
    named(GROUPS, [QUICK[0]])[0].cuts[0].make(copy)
    assert (copy / RECEIPT).read_text() != (ROOT / RECEIPT).read_text()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return Path(shutil.copy(PAGE, tmp_path / "gates.md"))


def test_taking_gates_out_tells_those_that_are_seen_failing_from_those_that_are_not(
    tmp_path: Path, page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is a gate; a comment, without which nothing changes; what cannot be loaded any more; and one with a foreign control."""
    (real,) = named(GROUPS, [QUICK[1]])
    words = '"""Only a complete search that found nothing, and left out nothing that nearly matched or is undecided, may support it."""'
    inert = _gate("a-comment", Cut(path=RECEIPT, old=words, new='"""Tells."""'))
    broken = _gate(
        "no-python", Cut(path=RECEIPT, old="    def assert_absence(self) -> None:\n", new="    def assert_absence(self)\n")
    )
    raising = _gate(
        "raises",
        Cut(path=RECEIPT, old="        if self.hits:\n            raise", new="        if self.no_hits:\n            raise"),
    )
    group = Group(title="Four", gates=(real, inert, broken, raising))
    assert main([], groups=[group], page=page, report=tmp_path / "gates.json") == 1
    said = capsys.readouterr().out
    assert f"{real.name}: seen failing by" in said
    assert "a-comment: NOT SEEN" in said
    assert "stays green" in said
    assert "no-python: NOT SEEN" in said
    assert "raises: NOT SEEN" in said
    assert "fell over instead of asserting" in said
    assert set(read_seen(page)) == {real.name}


def test_a_control_that_is_red_already_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_both.py").write_text("def test_red():\n    assert 1 == 2\n\n\ndef test_green(): ...\n")
    red, green, absent = (f"tests/test_both.py::test_{name}" for name in ("red", "green", "absent"))
    assert not_green(tmp_path, [red, green]) == {red: "failed, assert 1 == 2"}
    assert not_green(tmp_path, [absent]) == {absent: "it was not run"}


def test_a_table_that_says_what_is_not_so_takes_nothing_out(
    tmp_path: Path, page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rotten = Gate(
        name="rotten",
        guards="nothing",
        without="nothing",
        cuts=(Cut(path=RECEIPT, old="no such text", new=""),),
        tests=(CONTROL,),
    )
    assert main([], groups=[Group(title="One", gates=(rotten,))], page=page, report=tmp_path / "gates.json") == 2
    assert "holds 0 times" in capsys.readouterr().out
    assert main(["nobody"], page=page, report=tmp_path / "gates.json") == 2
    assert "no gate is called nobody" in capsys.readouterr().out


def _gate(name: str, cut: Cut) -> Gate:
    return Gate(name=name, guards="nothing", without="nothing", cuts=(cut,), tests=(CONTROL,))
