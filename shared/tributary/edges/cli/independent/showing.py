"""How the result of a check is told: a table for people, one JSON value for machines, and an exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """Says every field, on a terminal below what it is of, and at the end what it comes to."""
    if output.wide():
        output.lines(list(_blocks(checked.fields)))
    else:
        output.table(_COLUMNS, [_row(one) for one in checked.fields])
    output.lines(_lines(checked))


def _blocks(fields: Sequence[Compared]) -> Iterator[str]:
    about = None
    for one in fields:
        if one.about != about:
            about = one.about
            yield shown(about)
        _, field, verdict, said, found = _row(one)
        yield f"  {field:<20} {verdict:<9} {said:<24} {found}"


def _row(one: Compared) -> tuple[str, str, str, str, str]:
    found = f"({one.cause.value})" if one.cause and one.database is None else _value(one.database)
    said = f"({one.cause.value})" if one.cause is Cause.NOT_SHOWN else _value(one.api)
    return shown(one.about), one.field, one.verdict.value, said, found


def _value(value: Value) -> str:
    """Returns a value in few characters: of a hash or an id the beginning tells two apart."""
    if value is None:
        return "none"
    text = shown(str(value))
    return f"{text[:18]}..." if len(text) > 24 else text


def _lines(checked: Checked) -> Sequence[str]:
    counts = [sum(one.verdict is verdict for one in checked.fields) for verdict in Verdict]
    agree, diverge, unknown = counts
    all_there_are = counted(len(checked.fields), "field")
    told = f"{all_there_are}: {agree} agree, {diverge} diverge, {unknown} unknown; as of tick {checked.tick}."
    causes = sorted({one.cause for one in checked.fields if one.cause is not None})
    return [f"{checked.verdict.value}: {told}", *(f"  {cause.value}: {_WHY[cause]}" for cause in causes)]
