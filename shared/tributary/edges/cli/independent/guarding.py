"""The allow list at work: what is not in the catalogue does not leave the process, and that it was tried is written down."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from tributary.edges.cli.independent.catalogue import CATALOGUE, Ask
from tributary.edges.cli.independent.roads import Answer, Cause, Road
from tributary.telemetry import Event, log

AUDIT_FILE = "verification-audit.jsonl"
"""In the home folder. The API takes no entry of its audit from a client, who could then write into it what never was."""

TOOLS: Mapping[str, frozenset[str]] = {
    "data-api": frozenset({"ExecuteStatement"}),
    "mcp": frozenset({"query", "execute_sql", "read_query"}),
}
"""By channel, what may be called there."""

Refusal = Callable[[str, str, str], None]
"""Takes down a refusal: the channel, what was to be asked, and the rule that forbids it."""


class Guarded:
    """A road that lets the statements of the catalogue through, to the tools that are named, and nothing else."""

    def __init__(self, road: Road, refused: Refusal) -> None:
        self.channel = road.channel
        self.tool = road.tool
        self._road = road
        self._refused = refused

    def answers(self, asked: Sequence[Ask]) -> list[Answer]:
        """Returns an answer to each; `refused` for what is not on the list, of which the road never hears."""
        rules = [self._broken_rule(one) for one in asked]
        for one, rule in zip(asked, rules, strict=True):
            if rule is not None:
                self._refused(self.channel, _shown(one), rule)
        let_out = [one for one, rule in zip(asked, rules, strict=True) if rule is None]
        came_back = iter(self._road.answers(let_out) if let_out else ())
        return [next(came_back) if rule is None else Cause.REFUSED for rule in rules]

    def _broken_rule(self, asked: Ask) -> str | None:
        if self.tool not in TOOLS.get(self.channel, ()):
            return "tool_not_listed"
        listed = CATALOGUE.get(asked.name)
        if listed is None or listed.sql != asked.sql:
            return "statement_not_listed"
        return None if listed.is_asked_by(asked) else "parameters_not_typed"


def audit_to(folder: Path) -> Refusal:
    """Returns what writes a refusal into the log and into `AUDIT_FILE` in `folder`, one JSON object a line.

    The text of the statement is kept as its hash only: who could get one as far as this may have put anything into it.
    """

    def refused(channel: str, statement: str, rule: str) -> None:
        log.event(Event.VERIFY_REFUSED, level=log.WARNING, channel=channel, statement=statement, rule=rule)
        line = {"at": datetime.now(UTC).isoformat(), "channel": channel, "statement": statement, "rule": rule}
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(os.open(folder / AUDIT_FILE, flags, 0o600), "a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")

    return refused


def _shown(asked: Ask) -> str:
    """Returns the name of a statement that the catalogue has, else the hash of what was to be sent."""
    listed = CATALOGUE.get(asked.name)
    if listed is not None and listed.sql == asked.sql:
        return listed.name
    return f"sha256:{sha256(asked.sql.encode(errors='surrogatepass')).hexdigest()}"
