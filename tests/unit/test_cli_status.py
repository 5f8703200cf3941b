"""`tributary probe` and `tributary stats`: what they tell, in which form, and how they end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.unit.cli_fakes import FakeProber, Surroundings
from tests.unit.test_cli import run
from tributary.core.receipt import SearchPath
from tributary.core.status import About, Observation, Status, Unseen
from tributary.edges.cli.exits import UNUSABLE, exit_for

WELL = (Observation.of(About.WRITER, "server_version", "18.4", rule="PostgreSQL 15 or newer"),)
AWAY = tuple(Observation.unknown(About.WRITER, check, Unseen.UNREACHABLE) for check in ("server_version", "recovery"))
OF_TRIBE = (
    Observation.of(About.TRIBE, "without_vector", 2, ok=False, rule="every believed lesson has a vector"),
    Observation.of(About.TRIBE, "planned_with", ("a", "b\x1b[2J")),
    Observation.of(About.READER, "recovery", value=True),
    Observation.unknown(About.TRIBE, "last_gardening", Unseen.NOT_RECORDED),
)
USABLE = Status(usable_paths=(SearchPath.VECTOR_EXACT, SearchPath.TERMS), observations=OF_TRIBE)
UNUSED = Status(usable_paths=(), observations=OF_TRIBE)


def around(tmp_path: Path, seen: Sequence[Observation] = WELL, **known: Status) -> Surroundings:
    environment = {"TRIBUTARY_HOME": str(tmp_path / "home")}
    return Surroundings(environment=environment, prober=FakeProber(seen=seen, known=known))


def test_it_tells_each_observation_and_by_which_paths_one_can_recall(tmp_path: Path) -> None:
    result = run(around(tmp_path, default=USABLE), "probe")
    assert result.exit_code == 0, "warnings are no failure"
    assert result.stdout.splitlines() == [
        "of\tcheck\tstate\tfound",
        "writer\tserver_version\tok\t18.4",
        "of\tcheck\tstate\tfound",
        "tribe\twithout_vector\tNOT OK\t2 (should be: every believed lesson has a vector)",
        "tribe\tplanned_with\tok\ta, b\\x1b[2J",
        "reader\trecovery\tok\tyes",
        "tribe\tlast_gardening\tunknown\tnot_recorded",
        "Tribe default: usable, by vector:exact, terms.",
        "Look at: without_vector.",
    ]


def test_as_json_it_is_one_value_with_the_same(tmp_path: Path) -> None:
    result = run(around(tmp_path, default=USABLE), "probe", "--json")
    said = json.loads(result.stdout)
    assert said["usable"] is True
    assert said["databases"] == [
        {
            "about": "writer",
            "check": "server_version",
            "state": "ok",
            "value": "18.4",
            "rule": "PostgreSQL 15 or newer",
            "cause": None,
        }
    ]
    (tribe,) = said["tribes"]
    assert (tribe["tribe"], [one["path"] for one in tribe["paths"] if one["usable"]]) == ("default", ["vector:exact", "terms"])
    assert [one["state"] for one in tribe["observations"]] == ["not_ok", "ok", "ok", "unknown"]


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize(
    ("seen", "known", "code", "words"),
    [
        (WELL, {"a": USABLE, "b": UNUSED}, UNUSABLE, "Tribe b: NOT usable"),
        (WELL, {}, UNUSABLE, "there is no tribe; make one: tributary tribe create"),
        (AWAY, {}, exit_for("unreachable"), "no database can be reached"),
        (AWAY, {"a": USABLE}, 0, "usable, by"),
        (
            (*WELL, Observation.unknown(About.WRITER, "schema_revision", Unseen.NOT_MIGRATED)),
            {},
            UNUSABLE,
            "run: tributary migrate",
        ),
        ((*WELL, Observation.unknown(About.WRITER, "oldest_code", Unseen.NOT_PERMITTED)), {}, UNUSABLE, "cannot be seen"),
    ],
)
def test_it_ends_by_what_can_be_recalled_whatever_the_form(
    tmp_path: Path, form: tuple[str, ...], seen: Sequence[Observation], known: dict[str, Status], code: int, words: str
) -> None:
    result = run(around(tmp_path, seen, **known), "probe", *form)
    assert result.exit_code == code
    assert form or words in result.stdout
    assert not form or json.loads(result.stdout)["usable"] == (code == 0)


def test_several_tribes_are_told_apart_and_one_can_be_named(tmp_path: Path) -> None:
    both = around(tmp_path, a=USABLE, b=UNUSED)
    assert "tribe a\n" in run(both, "probe").stdout
    one = run(both, "probe", "--tribe", "a")
    assert (one.exit_code, "Tribe b" in one.stdout) == (0, False)


STATS = {
    "tick": 418,
    "at": "2026-03-01T12:00:00+00:00",
    "lessons": {"superseded": 3, "active": 57},
    "open_disputes": 1,
    "open_challenges": 2,
    "spaces": [{"space": "s\x1b", "state": "serving", "vectors": 57}],
    "agents": {"curator": 1},
    "calls": {"today": {"recall": 2}, "last_7_days": {"recall": 9, "learn": 3}},
    "by_agent": [{"agent": "agt_1", "name": "ann", "calls": {"today": {}, "last_7_days": {"learn": 3}}}],
}


def test_stats_are_told_in_lines_and_a_table(tmp_path: Path) -> None:
    surroundings = around(tmp_path)
    surroundings.tribe.replies["stats"] = STATS
    assert run(surroundings, "stats").stdout.splitlines() == [
        "tick 418 (2026-03-01 12:00:00 UTC)",
        "lessons: 57 active, 3 superseded",
        "open: 1 dispute, 2 challenges",
        "agents: 1 curator",
        "space s\\x1b: serving, 57 vectors",
        "agent\toperation\ttoday\t7 days",
        "(all)\tlearn\t0\t3",
        "(all)\trecall\t2\t9",
        "ann\tlearn\t0\t3",
    ]
    said = json.loads(run(surroundings, "stats", "--json").stdout)
    assert (said["calls"], said["by_agent"][0]["name"]) == (STATS["calls"], "ann")


def test_stats_of_an_unused_tribe_say_so(tmp_path: Path) -> None:
    surroundings = around(tmp_path)
    empty: dict[str, object] = {"lessons": {}, "calls": {"today": {}, "last_7_days": {}}, "by_agent": None}
    surroundings.tribe.replies["stats"] = {**STATS, **empty}
    said = run(surroundings, "stats").stdout
    assert "lessons: none\n" in said
    assert said.endswith("No call was counted in the last seven days.\n")
