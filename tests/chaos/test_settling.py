"""Patient and impatient agents of every rank contradict each other while workers settle what was kept: the books stay whole."""

from __future__ import annotations

import random
from functools import partial

import pytest

from tests.chaos.books import complaints
from tests.chaos.scene import at_once
from tests.doubles import RuledJudge, within_a_subject
from tests.material import contradicting
from tests.tribes import SEEN, open_tribal
from tributary.core.agent import Role
from tributary.core.lesson import Draft

ROUNDS = 8
PATIENCE_S = (1e-6, 0.02, 0.04, None)
"""The first is too short for any judge, the last one has no end."""


@pytest.mark.parametrize("seed", [1, 2])
def test_lessons_learned_while_others_are_settled_leave_one_believed_and_none_pending(database_url: str, seed: int) -> None:
    drawn = random.Random(seed)
    with open_tribal(database_url, judge=RuledJudge(within_a_subject, delay_s=0.005)) as tribal:
        who = [tribal.agent(f"{role}-{index}", role) for role in (Role.CURATOR, Role.WRITER) for index in range(5)]
        for number in range(ROUNDS):
            subject = f"service-{number}"
            drafts = [
                Draft(text=text, situation=situation, source=SEEN, subject=subject)
                for situation, text in contradicting(subject, 6)
            ]
            learns = [
                partial(tribal.memory.learn, agent, drawn.choice(drafts), deadline_s=drawn.choice(PATIENCE_S)) for agent in who
            ]
            at_once([*learns, tribal.memory.settle_pending, tribal.memory.settle_pending])
            while tribal.memory.settle_pending():
                pass
            standing = [row["status"] for row in tribal.rows("SELECT status FROM tributary.lesson WHERE subject = %s", subject)]
            assert standing.count("active") == 1
            assert "pending" not in standing
        assert complaints(tribal) == set()
