"""How the result of a check is told: a table for people, one JSON value for machines, and an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tributary.edges.cli.exits import DIVERGES, OK, UNTOLD
from tributary.edges.cli.independent.catalogue import Value
from tributary.edges.cli.independent.comparing import Compared, Verdict
from tributary.edges.cli.independent.roads import Cause
from tributary.edges.cli.words import counted, shown

if TYPE_CHECKING:
    from tributary.edges.cli.independent.checking import Checked
    from tributary.edges.cli.output import Output

_EXITS = {Verdict.AGREES: OK, Verdict.DIVERGES: DIVERGES, Verdict.UNKNOWN: UNTOLD}
_COLUMNS = (("of", "left"), ("field", "left"), ("verdict", "left"), ("the API says", "left"), ("the database says", "left"))
_WHY = {
    Cause.UNREACHABLE: "the road cannot be reached",
    Cause.TIMED_OUT: "no answer came in time",
    Cause.NOT_PERMITTED: "the login, or the credentials, may not read this",
    Cause.NOT_MIGRATED: "the database has not the views that are asked",
    Cause.FAILED: "the other side failed",
    Cause.BAD_ANSWER: "the answer has not the form that was asked for",
    Cause.REFUSED: "this is not on the list of what may be asked, and was not sent",
    Cause.BEHIND: "a replica answers that has not come to this tick",
    Cause.NOT_SHOWN: "the API does not show you this lesson",
}


def exit_of(checked: Checked) -> int:
    """Returns 0 when everything agrees, 1 when something diverges, another code when something cannot be told."""
    return _EXITS[checked.verdict]


def document(checked: Checked) -> dict[str, object]:
    """Returns the result as plain JSON values."""
    return {
        "via": checked.channel,
        "verdict": checked.verdict.value,
        "tribe": str(checked.tribe_id),
        "tick": checked.tick,
        "fields": [
            {
                "of": one.about,
                "field": one.field,
                "verdict": one.verdict.value,
                "api": one.api,
                "database": one.database,
                "cause": one.cause.value if one.cause else None,
            }
            for one in checked.fields
        ],
    }


def show(output: Output, checked: Checked) -> None:
    """Says every field and, below, what it comes to."""
    output.table(_COLUMNS, [_row(one) for one in checked.fields])
    output.lines(_lines(checked))


def _row(one: Compared) -> tuple[str, str, str, str, str]:
    found = f"({one.cause.value})" if one.cause and one.database is None else _value(one.database)
    said = f"({one.cause.value})" if one.cause is Cause.NOT_SHOWN else _value(one.api)
    return shown(one.about), one.field, one.verdict.value, said, found


def _value(value: Value) -> str:
    """Returns a value in few characters: of a hash the first twelve tell two apart."""
    if value is None:
        return "none"
    text = shown(str(value))
    return f"{text[:12]}..." if len(text) == 64 else text


def _lines(checked: Checked) -> Sequence[str]:
    counts = [sum(one.verdict is verdict for one in checked.fields) for verdict in Verdict]
    told = f"{counted(counts[0], 'field')} agree, {counts[1]} diverge, {counts[2]} cannot be told; as of tick {checked.tick}."
    causes = sorted({one.cause for one in checked.fields if one.cause is not None})
    return [f"{checked.verdict.value}: {told}", *(f"  {cause.value}: {_WHY[cause]}" for cause in causes)]
