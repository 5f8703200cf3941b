"""All steps in their order. A test holds that every operation of the API is covered by one."""

from __future__ import annotations

from tributary.edges.cli.live.action_steps import ACTIONS
from tributary.edges.cli.live.belief_steps import BELIEFS, ENDINGS
from tributary.edges.cli.live.door_steps import DOOR
from tributary.edges.cli.live.people_steps import PEOPLE
from tributary.edges.cli.live.record_steps import DISPUTED, RECORDS
from tributary.edges.cli.live.step import Step

STEPS: tuple[Step, ...] = (*DOOR, *PEOPLE, *BELIEFS, *DISPUTED, *ENDINGS, *RECORDS, *ACTIONS)
