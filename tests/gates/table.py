"""All gates of the product, by the kind of failure that they prevent."""

from __future__ import annotations

from tests.gates import (
    access,
    half_done_actions,
    history,
    hostile_lessons,
    operations,
    opposite_facts,
    searching,
    secrets,
)
from tests.gates.gate import Group

GROUPS: tuple[Group, ...] = (
    opposite_facts.GROUP,
    history.GROUP,
    searching.GROUP,
    hostile_lessons.GROUP,
    half_done_actions.GROUP,
    access.GROUP,
    secrets.GROUP,
    operations.GROUP,
)
