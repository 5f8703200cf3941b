"""What embedded metric format says, as CloudWatch reads it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

Emitted = tuple[str, str, str | None]
"""Name, unit, and the one dimension besides `service`."""


def emitted(lines: Iterable[str]) -> set[Emitted]:
    """Returns the metrics in lines of standard output; fails for a line that CloudWatch would not take."""
    return {one for line in lines for one in _of(json.loads(line))}


def _of(line: dict[str, object]) -> Iterator[Emitted]:
    meta = line["_aws"]
    assert isinstance(meta, dict)
    assert isinstance(meta["Timestamp"], int)
    for directive in meta["CloudWatchMetrics"]:
        assert directive["Namespace"] == "Tributary"
        (dimensions,) = directive["Dimensions"]
        assert dimensions[0] == "service"
        assert all(isinstance(line[one], str) and line[one] for one in dimensions)
        (other,) = dimensions[1:] or [None]
        for metric in directive["Metrics"]:
            value = line[metric["Name"]]
            values = value if isinstance(value, list) else [value]
            assert values
            assert all(isinstance(one, int | float) for one in values)
            yield metric["Name"], metric["Unit"], other
