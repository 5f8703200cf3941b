"""The status panel: which lamp is lit by what was seen, and that nothing is called ok that was not."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tributary.core.status import About, Observation, State, Unseen
from tributary.edges.dashboard.panel import ADVICE, Lamp, Panel, blind, panel_of
from tributary.edges.dashboard.views.status import lasted

WRITER = (
    Observation.of(About.WRITER, "server_version", "17.5"),
    Observation.of(About.WRITER, "pgvector_version", "0.8.0"),
    Observation.of(About.WRITER, "recovery", False),
    Observation.of(About.WRITER, "schema_revision", "0001"),
    Observation.of(About.WRITER, "oldest_code", 1),
)
READER = (
    *(replace(one, about=About.READER) for one in WRITER),
    Observation.of(About.READER, "lag_bytes", 0),
    Observation.of(About.READER, "lag_s", 0.0),
)
Seen = tuple[Observation, ...]


def changed(seen: Seen, *checks: str, cause: Unseen | None = None) -> Seen:
    """Returns what was seen with some checks, or all of them, broken or unknown."""
    return tuple(
        one
        if checks and one.check not in checks
        else Observation.of(one.about, one.check, "wrong", ok=False)
        if cause is None
        else Observation.unknown(one.about, one.check, cause)
        for one in seen
    )


def lamps(panel: Panel) -> dict[str, tuple[str, str | None]]:
    return {lamp.title: (lamp.state.value, lamp.cause) for lamp in panel.lamps}


def test_when_all_is_well_every_lamp_is_ok_and_none_speaks_of_a_replica() -> None:
    panel = panel_of(WRITER)
    assert lamps(panel) == {
        "Database answers": ("ok", None),
        "Database: versions fit": ("ok", None),
        "Database: takes writes": ("ok", None),
        "Database: schema fits": ("ok", None),
    }
    assert (panel.state, panel.serves, panel.causes, panel.has_replica) == (State.OK, True, (), False)


def test_a_replica_has_lamps_of_its_own() -> None:
    panel = panel_of((*WRITER, *READER))
    assert lamps(panel).items() >= {"Read replica answers": ("ok", None), "Read replica: keeps up": ("ok", None)}.items()
    assert (panel.state, panel.has_replica) == (State.OK, True)


@pytest.mark.parametrize(
    ("checks", "title", "cause", "serves"),
    [
        (("server_version",), "Database: versions fit", "server_too_old", True),
        (("pgvector_version",), "Database: versions fit", "pgvector_too_old", True),
        (("recovery",), "Database: takes writes", "takes_no_writes", True),
        (("schema_revision",), "Database: schema fits", "not_migrated", False),
        (("oldest_code",), "Database: schema fits", "code_too_old", False),
    ],
)
def test_what_breaks_its_rule_is_failing_with_its_own_cause(
    checks: tuple[str, ...], title: str, cause: str, serves: bool
) -> None:
    panel = panel_of(changed(WRITER, *checks))
    assert lamps(panel)[title] == ("not_ok", cause)
    assert [lamp.title for lamp in panel.lamps if lamp.state is not State.OK] == [title]
    assert (panel.state, panel.serves, panel.causes) == (State.NOT_OK, serves, (cause,))


@pytest.mark.parametrize(("checks", "cause"), [(("recovery",), "no_replica"), (("lag_s",), "replica_behind")])
def test_a_replica_that_is_none_or_is_behind_is_failing_and_the_service_still_serves(checks: tuple[str, ...], cause: str) -> None:
    panel = panel_of((*WRITER, *changed(READER, *checks)))
    assert (panel.state, panel.serves, panel.causes) == (State.NOT_OK, True, (cause,))


def test_a_database_that_cannot_be_reached_is_failing_and_the_rest_unknown() -> None:
    panel = panel_of(changed(WRITER, cause=Unseen.UNREACHABLE))
    found = lamps(panel)
    assert found.pop("Database answers") == ("not_ok", "unreachable")
    assert set(found.values()) == {("unknown", "no_answer")}
    assert (panel.state, panel.serves) == (State.NOT_OK, False)


def test_a_database_that_answers_late_is_unknown_not_ok() -> None:
    panel = panel_of(changed(WRITER, cause=Unseen.TIMED_OUT))
    assert lamps(panel)["Database answers"] == ("unknown", "timed_out")
    assert (panel.state, panel.serves) == (State.UNKNOWN, False)


def test_the_replica_serves_while_the_writer_is_away_and_the_other_way_round() -> None:
    away = {about: changed(seen, cause=Unseen.UNREACHABLE) for about, seen in ((About.WRITER, WRITER), (About.READER, READER))}
    assert panel_of((*away[About.WRITER], *READER)).serves
    assert panel_of((*WRITER, *away[About.READER])).serves
    assert not panel_of((*away[About.WRITER], *away[About.READER])).serves


@pytest.mark.parametrize(
    ("cause", "state"),
    [
        (Unseen.NOT_MIGRATED, State.NOT_OK),
        (Unseen.NOT_PERMITTED, State.UNKNOWN),
        (Unseen.FAILED, State.UNKNOWN),
        (Unseen.TIMED_OUT, State.UNKNOWN),
    ],
)
def test_a_schema_that_cannot_be_seen_is_never_ok(cause: Unseen, state: State) -> None:
    panel = panel_of(changed(WRITER, "schema_revision", "oldest_code", cause=cause))
    assert lamps(panel)["Database answers"] == ("ok", None)
    assert lamps(panel)["Database: schema fits"] == (state.value, cause.value)
    assert (panel.state, panel.serves) == (state, False)


def test_a_lag_that_no_database_records_is_unknown_and_makes_nothing_worse() -> None:
    panel = panel_of((*WRITER, *changed(READER, "lag_s", "lag_bytes", cause=Unseen.NOT_RECORDED)))
    assert lamps(panel)["Read replica: keeps up"] == ("unknown", "not_recorded")
    assert (panel.state, panel.serves) == (State.OK, True)


@pytest.mark.parametrize("cause", [*Unseen, *sorted(ADVICE)])
def test_every_cause_that_can_come_up_has_a_meaning_and_something_to_do(cause: str) -> None:
    of_tribes = (Unseen.NO_SERVING_SPACE, Unseen.NO_TRIBE)
    if cause not in of_tribes:
        advice = Lamp(title="x", state=State.UNKNOWN, cause=cause).advice
        assert advice is not None
        assert advice.means.endswith(".")
        assert advice.to_do


def test_without_a_look_nothing_is_ok_and_an_unforeseen_cause_is_internal() -> None:
    assert blind("bad_setting").causes == ("bad_setting",)
    assert blind("surprising").causes == ("internal",)
    assert not blind("timed_out", state=State.UNKNOWN).serves
    assert blind("timed_out", state=State.UNKNOWN).state is State.UNKNOWN


def test_every_cause_is_documented_with_what_it_means_and_no_other() -> None:
    page = (Path(__file__).parents[2] / "docs" / "dashboard.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", page, re.MULTILINE)
    assert {cause: (means, to_do) for cause, means, to_do in rows} == {
        cause: (advice.means, advice.to_do) for cause, advice in ADVICE.items()
    }


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 seconds"),
        (-5, "0 seconds"),
        (0.9, "0 seconds"),
        (1, "1 second"),
        (61, "1 minute 1 second"),
        (7200, "2 hours"),
        (90_061, "1 day 1 hour"),
        (86_400 * 30 + 59, "30 days 59 seconds"),
    ],
)
def test_a_span_of_time_is_told_in_its_two_largest_units(seconds: float, said: str) -> None:
    assert lasted(timedelta(seconds=seconds)) == said
