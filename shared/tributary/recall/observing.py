"""From what the database says of itself to observations. Pure: each takes an answer, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, cast

from tributary.core.garden import Gardening, Rule, RuleReport, longest_absence
from tributary.core.ports import SpaceDefinition
from tributary.core.status import About, Observation, Unseen
from tributary.store import CODE_LEVEL, is_known, rows

OLDEST_SERVER = 150_000
OLDEST_PGVECTOR = (0, 8)
MOST_AHEAD_S = 1.0
"""What the clocks of two hosts may differ by: a replica compares the writer's clock with its own."""
MOST_BEHIND_S = 60.0

Observations = Iterator[Observation]
Answer = object
"""A row or document by name, None, or an Unseen."""


def server(about: About, answer: Answer, *, replica: bool) -> Observations:
    """Observes versions, and whether the database is what it is used as."""
    server_rule, pgvector_rule = "PostgreSQL 15 or newer", "pgvector 0.8 or newer"
    role = "is a replica" if replica else "takes writes"
    if isinstance(answer, Unseen):
        yield Observation.unknown(about, "server_version", answer, server_rule)
        yield Observation.unknown(about, "pgvector_version", answer, pgvector_rule)
        yield Observation.unknown(about, "recovery", answer, role)
        return
    row = _document(answer)
    yield Observation.of(about, "server_version", row["server"], ok=row["server_number"] >= OLDEST_SERVER, rule=server_rule)
    version = row["pgvector"]
    yield Observation.of(about, "pgvector_version", version or "none", ok=_new_enough(version), rule=pgvector_rule)
    yield Observation.of(about, "recovery", row["recovery"], ok=row["recovery"] == replica, rule=role)


def schema(about: About, answer: Answer) -> Observations:
    rule = f"at most {CODE_LEVEL}, the level of this code"
    revision_rule = "one that this version knows"
    if isinstance(answer, Unseen):
        yield Observation.unknown(about, "schema_revision", answer, revision_rule)
        yield Observation.unknown(about, "oldest_code", answer, rule)
        return
    row = _document(answer)
    yield Observation.of(
        about, "schema_revision", row["revision"] or "none", ok=is_known(row["revision"] or ""), rule=revision_rule
    )
    yield Observation.of(about, "oldest_code", row["oldest_code"], ok=row["oldest_code"] <= CODE_LEVEL, rule=rule)


def replay(answer: Answer) -> Observations:
    """Observes how far the replica is behind. With nothing left to replay it is not, however old the last commit is."""
    rule = f"at most {MOST_BEHIND_S:g} seconds"
    if isinstance(answer, Unseen):
        yield Observation.unknown(About.READER, "lag_bytes", answer)
        yield Observation.unknown(About.READER, "lag_s", answer, rule)
        return
    row = _document(answer)
    if row["bytes"] is None:  # it replays nothing, as one that was promoted, or on a storage that replicates by itself
        yield Observation.unknown(About.READER, "lag_bytes", Unseen.NOT_RECORDED)
        yield Observation.unknown(About.READER, "lag_s", Unseen.NOT_RECORDED, rule)
        return
    behind = max(0, row["bytes"])
    yield Observation.of(About.READER, "lag_bytes", behind)
    if behind and row["seconds"] is None:
        yield Observation.unknown(About.READER, "lag_s", Unseen.NOT_RECORDED, rule)
        return
    seconds = round(row["seconds"], 3) if behind else 0.0
    yield Observation.of(About.READER, "lag_s", seconds, ok=seconds <= MOST_BEHIND_S, rule=rule)


def tribe(answer: Answer) -> Observations:
    rule = f"at most {MOST_AHEAD_S:g} second ahead of the wall clock"
    open_statuses = ("pending", "disputed", "quarantined")
    if isinstance(answer, Unseen) or answer is None:
        cause = answer or Unseen.NO_TRIBE
        for check in ("tick", *open_statuses):
            yield Observation.unknown(About.TRIBE, check, cause)
        yield Observation.unknown(About.TRIBE, "clock_ahead_s", cause, rule)
        return
    row = _document(answer)
    yield Observation.of(About.TRIBE, "tick", row["tick"])
    ahead = max(0.0, float(row["ahead_s"]))
    yield Observation.of(About.TRIBE, "clock_ahead_s", ahead, ok=ahead <= MOST_AHEAD_S, rule=rule)
    for status in open_statuses:
        yield Observation.of(About.TRIBE, status, row["lessons"].get(status, 0))


def spaces(answer: Answer, wanted: SpaceDefinition) -> Observations:
    rule = f"the embedder here gives {wanted.name}"
    if isinstance(answer, Unseen):
        yield Observation.unknown(About.TRIBE, "spaces", answer)
        yield Observation.unknown(About.TRIBE, "serving_space", answer, rule)
        return
    found = cast(list[Mapping[str, Any]], answer)
    listed = tuple(f"{one['space']}: {one['state']}, {one['dimension']} wide, {one['vectors']} vectors" for one in found)
    yield Observation.of(About.TRIBE, "spaces", listed)
    serving = next((one["space"] for one in found if one["state"] == "serving"), None)
    yield Observation.of(About.TRIBE, "serving_space", serving or "none", ok=serving == wanted.name, rule=rule)


def vectors(of_tribe: Answer, of_index: Answer) -> Observations:
    """Observes the believed lessons that a search by vector would miss."""
    rule = "every believed lesson has a vector in the serving space"
    causes = [one for one in (of_tribe, of_index) if isinstance(one, Unseen)]
    if causes or of_tribe is None or of_index is None:
        cause = causes[0] if causes else Unseen.NO_TRIBE if of_tribe is None else Unseen.NO_SERVING_SPACE
        yield Observation.unknown(About.TRIBE, "without_vector", cause, rule)
        return
    missing = _document(of_tribe)["lessons"].get("active", 0) - _document(of_index)["vectors"]
    yield Observation.of(About.TRIBE, "without_vector", missing, ok=missing == 0, rule=rule)


def index(answer: Answer, exact_limit: int) -> Observations:
    rule = f"there and valid past {exact_limit} vectors; until then none is needed"
    if isinstance(answer, Unseen) or answer is None:
        cause = answer or Unseen.NO_SERVING_SPACE
        yield Observation.unknown(About.TRIBE, "index", cause, rule)
        yield Observation.unknown(About.TRIBE, "beside_index", cause)
        return
    row = _document(answer)
    needed = row["vectors"] > exact_limit
    found = row["index"] if needed or row["index"] != "absent" else "not needed"
    yield Observation.of(About.TRIBE, "index", found, ok=found in ("valid", "not needed"), rule=rule)
    yield Observation.of(About.TRIBE, "beside_index", row["beside"])


def plan(of_index: Answer, answer: Answer) -> Observations:
    """Observes which path a recall takes, and what the planner chooses for it."""
    rule = "the path by index is planned with the tribe's index"
    if isinstance(answer, Unseen) or answer is None:
        cause = answer or Unseen.NO_SERVING_SPACE
        yield Observation.unknown(About.TRIBE, "path", cause)
        yield Observation.unknown(About.TRIBE, "planned_with", cause, rule)
        return
    row = _document(answer)
    yield Observation.of(About.TRIBE, "path", row["path"])
    by_index = row["path"] == "vector:hnsw"
    ok = not by_index or index_chosen(of_index, answer)
    yield Observation.of(About.TRIBE, "planned_with", tuple(row["indexes"]) or ("no index",), ok=ok, rule=rule)


def index_chosen(of_index: Answer, of_plan: Answer) -> bool:
    """Tells whether the planner chooses the tribe's own index."""
    if not isinstance(of_index, Mapping) or not isinstance(of_plan, Mapping):
        return False
    return _document(of_index)["name"] in _document(of_plan)["indexes"]


def last_gardening(of_tribe: Answer) -> Gardening | None:
    """Returns the gardener's last run in the tribe; None when it never ended one, or that cannot be told."""
    if isinstance(of_tribe, Unseen) or of_tribe is None or (row := _document(of_tribe)["gardening"]) is None:
        return None
    known = {rule: row["rules"][rule.value] for rule in Rule if rule.value in row["rules"]}
    return Gardening(
        began_at=rows.moment(row["began_at"]),
        ended_at=rows.moment(row["ended_at"]),
        rules=tuple(RuleReport(rule=rule, **came_to) for rule, came_to in known.items()),
        failed=row["failed"],
    )


def gardening(of_tribe: Answer, last: Gardening | None, every: timedelta) -> Observations:
    """Observes when the gardener last ended a run in the tribe, which is due that often, and what failed in it."""
    most = longest_absence(every)
    rule = f"at most {most / timedelta(hours=1):g} hours ago"
    failing_rule = "no rule failed in the gardener's last run"
    if last is None:
        cause = of_tribe if isinstance(of_tribe, Unseen) else Unseen.NO_TRIBE if of_tribe is None else Unseen.NOT_RECORDED
        yield Observation.unknown(About.TRIBE, "last_gardening", cause, rule)
        yield Observation.unknown(About.TRIBE, "gardening_failed", cause, failing_rule)
        return
    recent = _document(of_tribe)["gardening"]["age_s"] <= most.total_seconds()
    yield Observation.of(About.TRIBE, "last_gardening", last.ended_at.isoformat(), ok=recent, rule=rule)
    yield Observation.of(About.TRIBE, "gardening_failed", last.failures, ok=not last.failures, rule=failing_rule)


def _new_enough(version: str | None) -> bool:
    if version is None:
        return False
    digits = "".join(c if c.isdigit() else " " for c in version).split()
    return tuple(map(int, digits[:2])) >= OLDEST_PGVECTOR


def _document(answer: Answer) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], answer)
