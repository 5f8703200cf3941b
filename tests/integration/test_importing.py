"""`tributary import` over a real gateway and a real database: once, again, after a change, and killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import tributary
from evals.runbooks import ABSENT, FOLDER, present
from tests.doubles import RuledJudge, all_unrelated
from tests.tribes import Tribal, open_tribal
from tributary import client
from tributary.core.agent import Role
from tributary.core.decision import VerdictKind
from tributary.edges.cli.app import app
from tributary.edges.cli.doors import Doors, real_doors
from tributary.edges.cli.exits import exit_for
from tributary.edges.cli.import_report import Report
from tributary.edges.cli.import_run import Importer
from tributary.edges.cli.output import Output
from tributary.edges.gateway import running
from tributary.transfer.documents import ByteSource, Found, find

PATIENCE_S = 60.0
RUNBOOK = (
    "---\nteam: falcon\n---\n# Disk\n\n## Meaning\n\nThe disk is full.\n\n"
    "## Fix\n\nDelete old logs.\n\n## Owner\n\nTeam falcon.\n"
)


@dataclass(frozen=True, kw_only=True)
class Library:
    """A folder of documents, a running gateway, and agents that import."""

    tribal: Tribal
    judge: RuledJudge
    url: str
    folder: Path
    tokens: dict[str, str]

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *arguments: str, agent: str = "importer", path: str = ".") -> Result:
        given = ("import", str(self.folder / path), "--root", str(self.folder), *arguments)
        return CliRunner().invoke(app, given, obj=self.doors(agent))

    def outcomes(self, *arguments: str, **more: str) -> dict[str, int]:
        result = self.run("--json", *arguments, **more)
        assert result.exit_code == 0, result.output
        found: dict[str, int] = json.loads(result.stdout)["outcomes"]
        return found

    def environment(self, agent: str) -> Mapping[str, str]:
        if agent not in self.tokens:
            self.tokens[agent] = self.tribal.token(agent, Role.WRITER)
        home = str(self.folder.parent / "home")
        return {"TRIBUTARY_HOME": home, "TRIBUTARY_URL": self.url, "TRIBUTARY_TOKEN": self.tokens[agent]}

    def doors(self, agent: str) -> Doors:
        environment = self.environment(agent)
        return replace(real_doors(), environment=environment, open_client=lambda: client.Memory(environment=environment))

    def believed(self) -> dict[str, str]:
        """Returns the believed texts by the anchor that they come from."""
        rows = self.tribal.rows("SELECT source_ref, text FROM tributary.lesson WHERE believed ORDER BY learned_tick")
        return {str(row["source_ref"]).partition("#")[2].rpartition(":")[0]: str(row["text"]) for row in rows}

    def clock(self) -> int:
        return int(str(self.tribal.rows("SELECT clock FROM tributary.tribe")[0]["clock"]))


@pytest.fixture
def library(database_url: str, tmp_path: Path) -> Iterator[Library]:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, judge=judge) as tribal, running(tribal.memory) as started:
        folder = tmp_path / "docs"
        folder.mkdir()
        tokens = {"curator": tribal.curator_token}
        yield Library(tribal=tribal, judge=judge, url=started.url, folder=folder, tokens=tokens)


def test_a_runbook_is_learned_with_its_places_and_tags_and_a_second_run_changes_nothing(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    first = library.run("--tag", "env=prod")
    assert first.stdout.splitlines() == ["1 file: 3 learned."]
    rows = library.tribal.rows("SELECT * FROM tributary.lesson ORDER BY learned_tick")
    assert [row["source_ref"] for row in rows] == ["disk.md#Meaning:6", "disk.md#Fix:10", "disk.md#Owner:14"]
    assert {(row["source_how"], row["situation"], row["subject"], row["kind"]) for row in rows[:1]} == {
        ("imported", "Disk > Meaning", "disk", "runbook_fact")
    }
    assert all(row["tags"] == {"team": "falcon", "env": "prod"} for row in rows)
    clock, asked = library.clock(), len(library.judge.asked)
    assert library.outcomes("--tag", "env=prod") == {"unchanged": 3}
    assert (library.clock(), len(library.judge.asked)) == (clock, asked)
    assert library.tribal.rows("SELECT * FROM tributary.confirmation") == []


def test_what_changed_replaces_its_old_wording_and_nothing_else(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    library.outcomes()
    library.write("disk.md", "\n\n" + RUNBOOK.replace("---\nteam: falcon\n---\n", "", 1).replace("old logs", "core dumps"))
    assert library.outcomes("--tag", "team=falcon") == {"unchanged": 2, "superseded": 1}
    assert library.believed()["Fix"] == "Delete core dumps."
    (old,) = library.tribal.rows("SELECT * FROM tributary.lesson WHERE status = 'superseded'")
    (new,) = library.tribal.rows("SELECT * FROM tributary.lesson WHERE lesson_id = %s", old["superseded_by"])
    assert new["text"] == "Delete core dumps."
    library.write("disk.md", RUNBOOK)
    assert library.outcomes() == {"unchanged": 2, "superseded": 1}
    assert library.believed()["Fix"] == "Delete old logs."
    assert library.outcomes() == {"unchanged": 3}


def test_other_tags_take_effect_though_the_words_are_equal(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    library.outcomes()
    library.write("disk.md", RUNBOOK.replace("falcon\n---", "eagle\n---"))
    assert library.outcomes() == {"superseded": 3}
    found = library.tribal.rows("SELECT tags FROM tributary.lesson WHERE believed")
    assert [row["tags"] for row in found] == [{"team": "eagle"}] * 3


def test_what_is_gone_is_told_and_retired_only_when_asked(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    library.outcomes()
    library.write("disk.md", RUNBOOK.partition("## Owner")[0])
    told = library.run()
    assert told.stdout.splitlines()[0].startswith("gone        disk.md#Owner:14\tles_")
    assert "--retire-missing" in told.stdout
    assert len(library.believed()) == 3
    assert library.outcomes("--retire-missing") == {"unchanged": 2, "retired": 1}
    assert library.believed().keys() == {"Meaning", "Fix"}
    assert library.outcomes("--retire-missing") == {"unchanged": 2}


def test_sections_that_change_places_are_each_believed_after_the_same_run(library: Library) -> None:
    library.write("disk.md", "# Disk\n\n## Fix\n\nDelete old logs.\n\n## Owner\n\nTeam falcon.\n")
    library.outcomes()
    library.write("disk.md", "# Disk\n\n## Fix\n\nTeam falcon.\n\n## Owner\n\nDelete old logs.\n")
    assert library.outcomes("--retire-missing") == {"superseded": 2}
    assert library.believed() == {"Fix": "Team falcon.", "Owner": "Delete old logs."}
    library.write("disk.md", "# Disk\n\n## Repair\n\nTeam falcon.\n\n## Owner\n\nDelete old logs.\n")
    assert library.outcomes("--retire-missing") == {"unchanged": 1, "superseded": 1}
    assert library.outcomes("--retire-missing") == {"unchanged": 2}


def test_what_moved_to_another_file_is_not_retired_with_its_old_place(library: Library) -> None:
    library.write("b.md", RUNBOOK)
    library.outcomes()
    library.write("b.md", RUNBOOK.partition("## Owner")[0])
    library.write("a.md", "# Falcons\n\n## Owner\n\nTeam falcon.\n")
    for _ in range(2):
        assert library.outcomes("--retire-missing") == {"unchanged": 3, "gone": 1}
    assert "Team falcon." in library.believed().values()


def test_nothing_is_retired_of_a_file_that_holds_nothing_of_what_one_of_its_name_held(library: Library) -> None:
    library.write("README.md", RUNBOOK)
    library.outcomes()
    library.write("README.md", "# Another project\n\n## Build\n\nRun make.\n")
    result = library.run("--retire-missing", "--json")
    assert json.loads(result.stdout)["outcomes"] == {"learned": 1, "gone": 3}
    assert "another file may have had this name" in result.stdout
    assert len(library.believed()) == 4


def test_two_files_of_one_name_do_not_take_turns(library: Library, tmp_path: Path) -> None:
    for side in "ab":
        library.write(f"../{side}/runbooks/disk.md", f"# Disk\n\n## Fix\n\nDelete {side * 9}.\n")
    given = ("import", str(tmp_path / "a/runbooks"), str(tmp_path / "b/runbooks"))
    for _ in range(2):
        result = CliRunner().invoke(app, [*given, "--retire-missing"], obj=library.doors("importer"))
        assert (result.exit_code, "name them from a --root above both" in result.stdout) == (3, True)
    assert library.tribal.status_counts() == {"active": 1}
    assert CliRunner().invoke(app, [*given, "--root", str(tmp_path)], obj=library.doors("importer")).exit_code == 0
    assert library.tribal.status_counts() == {"active": 2}


class _Growing:
    """A file that somebody goes on writing while it is read."""

    def __init__(self, path: Path, stream: ByteSource) -> None:
        self._path = path
        self._stream = stream

    def read(self, size: int, /) -> bytes:
        with self._path.open("a") as other:
            other.write("\nAnd more.\n")
        return self._stream.read(size)

    def readline(self, size: int, /) -> bytes:
        return self._stream.readline(size)


def test_a_file_that_is_written_while_it_is_read_is_refused(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    report = Report(Output(as_json=True), dry_run=False)
    (found,) = find([library.folder], root=library.folder)
    assert isinstance(found, Found)
    with client.Memory(environment=library.environment("importer")) as memory, found.path.open("rb") as stream:
        importer = Importer(memory, report, tags={}, dry_run=False, retire_missing=True)
        importer.file(found, _Growing(found.path, stream))
        importer.finish()
    assert report.counts == Counter(refused=1)
    assert library.clock() == 0


def test_a_line_that_learn_would_refuse_keeps_nothing_else_from_being_imported(library: Library) -> None:
    bad: list[dict[str, object]] = [
        {"source": {"how": "observed", "ref": "\ud800"}},
        {"source": {"how": "observed", "ref": ""}},
        {"source": {"how": "observed", "ref": "r" * 5000}},
        {"source": {"how": "observed", "ref": "a\0"}},
        {"source": {"how": "observed", "ref": 17}},
        {"source": "here"},
        {"tags": {"\ud800": "x"}},
        {"evidence": {"type": "file"}},
    ]
    lines = [{"text": f"Line {number} is bad", "situation": "s", **one} for number, one in enumerate(bad)]
    good = {"text": "This one is good", "situation": "s"}
    library.write("list.jsonl", "".join(f"{json.dumps(one)}\n" for one in [*lines, good]))
    for outcome in ("learned", "unchanged"):
        result = library.run("--json", "--retire-missing")
        assert result.exit_code == 3, result.output
        assert json.loads(result.stdout)["outcomes"] == {outcome: 1, "refused": len(bad)}


def test_nothing_is_retired_where_a_part_of_the_file_cannot_be_read(library: Library) -> None:
    lines = [json.dumps({"id": n, "text": f"t{n}", "situation": "s"}) for n in range(3)]
    library.write("list.jsonl", "\n".join(lines))
    library.outcomes()
    library.write("list.jsonl", "\n".join([lines[0], "{broken"]))
    result = library.run("--retire-missing", "--json")
    assert result.exit_code == exit_for("invalid_request")
    assert json.loads(result.stdout)["outcomes"] == {"unchanged": 1, "gone": 2, "refused": 1}
    assert len(library.believed()) == 3


def test_a_dry_run_says_what_would_be_and_writes_nothing(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    library.outcomes()
    library.write(
        "disk.md", RUNBOOK.replace("old logs", "core dumps").replace("## Owner\n\nTeam falcon.", "## Team\n\nTeam eagle.")
    )
    library.write("list.jsonl", '{"text": "t", "situation": "s", "confidence": 7}\n')
    before = library.tribal.rows("SELECT count(*) AS n FROM tributary.decision"), library.clock()
    result = library.run("--dry-run", "--retire-missing")
    told = [line.split("\t")[0] for line in result.stdout.splitlines()]
    assert told == [
        "same        disk.md#Meaning:6",
        "changed     disk.md#Fix:10",
        "new         disk.md#Team:14",
        "gone        disk.md#Owner:14",
        told[4],
        "2 files: 1 new, 1 same, 1 changed, 1 gone, 1 refused.",
        "Nothing was written.",
        "What is gone is still believed; --retire-missing retires what of it is yours.",
    ]
    assert told[4].startswith("refused     list.jsonl#")
    assert (library.tribal.rows("SELECT count(*) AS n FROM tributary.decision"), library.clock()) == before


def test_another_agents_import_reinforces_nothing_and_disputes_what_changed(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    library.outcomes()
    assert library.outcomes(agent="second") == {"unchanged": 3}
    assert library.tribal.rows("SELECT * FROM tributary.confirmation") == []
    library.write("disk.md", RUNBOOK.replace("old logs", "core dumps").partition("## Owner")[0])
    told = library.run("--retire-missing", agent="second")
    assert told.stdout.count("disputed    disk.md#Fix:10") == 1
    assert "gone        disk.md#Owner:14" in told.stdout
    assert "other agents imported: importer (3)" in told.stdout
    assert library.believed()["Fix"] == "Delete old logs."
    assert library.outcomes(agent="second")["unchanged"] == 2
    assert len(library.tribal.rows("SELECT * FROM tributary.dispute WHERE state = 'open'")) == 1


def test_a_curators_import_replaces_what_another_imported(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    library.outcomes()
    library.write("disk.md", RUNBOOK.replace("old logs", "core dumps"))
    assert library.outcomes(agent="curator") == {"unchanged": 2, "superseded": 1}


def test_what_a_screen_holds_back_is_not_handed_in_again(library: Library) -> None:
    library.write("disk.md", RUNBOOK.replace("Delete", "HIJACK"))
    assert library.outcomes() == {"learned": 2, "quarantined": 1}
    assert library.outcomes() == {"unchanged": 3}
    assert library.tribal.status_counts() == {"active": 2, "quarantined": 1}


def test_sections_that_a_judge_finds_to_contradict_each_other_do_not_take_turns(library: Library) -> None:
    library.judge.rule = lambda new, old: (
        VerdictKind.CONFLICTS
        if {"Meaning", "Owner"} == {one.situation.split()[-1] for one in (new, old)}
        else VerdictKind.UNRELATED
    )
    library.write("disk.md", RUNBOOK)
    assert library.outcomes() == {"learned": 2, "superseded": 1}
    assert library.outcomes() == {"unchanged": 3}
    assert library.believed().keys() == {"Fix", "Owner"}


def test_a_disputed_section_that_changes_leaves_no_old_dispute_behind(library: Library) -> None:
    library.tribal.learn(library.tribal.curator, "Never delete logs.")
    library.judge.rule = lambda new, _: VerdictKind.CONFLICTS if "Delete old" in new.text else VerdictKind.UNRELATED
    library.write("disk.md", RUNBOOK)
    assert library.outcomes()["disputed"] == 1
    assert library.outcomes() == {"unchanged": 3}
    library.write("disk.md", RUNBOOK.replace("Delete old logs", "Ask the curator"))
    assert library.outcomes() == {"learned": 1, "unchanged": 2}
    assert "disputed" not in library.tribal.status_counts()


def test_a_section_that_changes_against_anothers_again_and_again_is_one_dispute(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    library.outcomes(agent="anna")
    for number in range(3):
        library.write("disk.md", RUNBOOK.replace("old logs", f"number {number}"))
        assert library.outcomes(agent="bert")["disputed"] == 1
    assert library.tribal.status_counts() == {"active": 3, "disputed": 1, "retired": 2}


def test_every_format_goes_in_by_the_names_of_its_files_and_comes_to_nothing_new_again(library: Library) -> None:
    library.write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: When a form comes.\n---\n# PDF\n\nUse it.\n")
    library.write("AGENTS.md", "# Rules\n\n- Use tabs.\n- Run make.\n")
    library.write("note.md", "---\ntitle: N\npermalink: n\n---\n- [fact] It is so. #tag\n- knows [[Other]]\n")
    library.write("mem0.json", json.dumps({"results": [{"id": "1", "memory": "likes tea", "user_id": "dev"}]}))
    own = {
        "text": "seen",
        "situation": "s",
        "source": {"how": "observed", "ref": "run:7"},
        "evidence": [{"type": "log", "ref": "x"}],
    }
    library.write(
        "list.jsonl", json.dumps(own) + "\n" + json.dumps({"text": "told", "situation": "s", "source": {"how": "told"}})
    )
    assert library.outcomes() == {"learned": 8}
    rows = library.tribal.rows("SELECT source_how, count(*) AS n FROM tributary.lesson GROUP BY 1")
    assert {row["source_how"]: row["n"] for row in rows} == {"imported": 6, "observed": 1, "told": 1}
    clock = library.clock()
    assert library.outcomes() == {"unchanged": 8}
    assert library.clock() == clock


def test_a_section_that_somebody_else_replaced_in_the_meantime_is_compared_anew(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    library.outcomes()
    library.write("disk.md", RUNBOOK.replace("old logs", "core dumps"))
    (fix,) = library.tribal.rows("SELECT lesson_id FROM tributary.lesson WHERE source_ref LIKE '%%#Fix:%%'")

    def once() -> None:
        library.judge.before = None
        with client.Memory(environment=library.environment("importer")) as memory:
            source = client.imported("disk.md#Fix:10")
            lesson = "les_" + str(fix["lesson_id"]).replace("-", "")
            memory.learn("Delete old caches.", situation="Disk > Fix", subject="disk", source=source, replaces=[lesson])

    library.judge.before = once
    assert library.outcomes() == {"unchanged": 2, "superseded": 1}
    assert library.believed()["Fix"] == "Delete core dumps."


def test_a_server_that_asks_for_a_slower_pace_gets_it_and_nothing_is_lost(database_url: str, tmp_path: Path) -> None:
    judge = RuledJudge(all_unrelated)
    with open_tribal(database_url, judge=judge, writes_per_minute=40) as tribal, running(tribal.memory) as started:
        library = Library(tribal=tribal, judge=judge, url=started.url, folder=tmp_path, tokens={})
        lines = (json.dumps({"id": n, "text": f"t{n}", "situation": "s"}) for n in range(43))
        library.write("list.jsonl", "\n".join(lines))
        waited: list[float] = []

        def sleep(seconds: float) -> None:
            waited.append(seconds)
            tribal.clock.advance(seconds=seconds)

        output = Output(as_json=True)
        report = Report(output, dry_run=False)
        with client.Memory(environment=library.environment("importer")) as memory:
            importer = Importer(memory, report, tags={}, dry_run=False, retire_missing=False, sleep=sleep)
            for one in find([tmp_path / "list.jsonl"], root=tmp_path):
                assert isinstance(one, Found)
                with one.path.open("rb") as stream:
                    importer.file(one, stream)
            importer.finish()
    assert report.counts == {"learned": 43}
    assert waited


def test_an_import_that_is_killed_goes_on_and_doubles_nothing(library: Library) -> None:
    lessons = 150
    lines = (json.dumps({"id": n, "text": f"fact {n}", "situation": f"case {n}"}) for n in range(lessons))
    library.write("list.jsonl", "\n".join(lines))
    library.judge.delay_s = 0.01
    command = [sys.executable, "-c", "from tributary.edges.cli import main; main()", "import", str(library.folder)]
    surroundings = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(tributary.__file__).parents[1])}
    process = subprocess.Popen(
        [*command, "--root", str(library.folder)],
        env={**surroundings, **library.environment("importer")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + PATIENCE_S
    while library.tribal.status_counts().get("active", 0) <= 30:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = library.tribal.status_counts()["active"]
    assert done < lessons
    library.judge.delay_s = 0.0
    outcomes = library.outcomes()
    assert sum(outcomes.values()) == lessons
    assert outcomes["unchanged"] >= done
    assert library.tribal.status_counts() == {"active": lessons}
    texts = Counter(row["text"] for row in library.tribal.rows("SELECT text FROM tributary.lesson"))
    assert set(texts.values()) == {1}


def test_a_server_that_cannot_be_reached_ends_it_with_what_to_do(library: Library) -> None:
    library.write("disk.md", RUNBOOK)
    environment = {**library.environment("importer"), "TRIBUTARY_URL": "http://127.0.0.1:9"}
    doors = replace(
        real_doors(), environment=environment, open_client=lambda: client.Memory(environment=environment, timeout_s=0.5)
    )
    result = CliRunner().invoke(app, ["import", str(library.folder)], obj=doors)
    assert result.exit_code == exit_for("unreachable")


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_foreign_runbooks_go_in_once(library: Library) -> None:
    def outcomes(folder: Path, *more: str) -> Any:
        given = ("import", str(folder), "--root", str(FOLDER), "--json", *more)
        return json.loads(CliRunner().invoke(app, given, obj=library.doors("importer")).stdout)

    every = outcomes(FOLDER, "--dry-run")
    assert every["files"] >= 100
    assert every["outcomes"]["new"] >= 400
    assert every["outcomes"].keys() <= {"new", "same"}
    first = outcomes(FOLDER / "etcd")
    assert first["outcomes"].keys() <= {"learned", "unchanged"}
    clock = library.clock()
    again = outcomes(FOLDER, "--dry-run")
    assert again["outcomes"]["same"] >= first["outcomes"]["learned"]
    assert outcomes(FOLDER / "etcd")["outcomes"] == {"unchanged": sum(first["outcomes"].values())}
    assert library.clock() == clock
