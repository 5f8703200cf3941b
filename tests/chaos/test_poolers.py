"""PgBouncer is ended and started again, and paused and resumed, under a crowd that knows the database by it alone.

TRIBUTARY_CHAOS_ROUNDS says how often: a tenth of it, three times at least.
"""

from __future__ import annotations

import signal

import pytest

from tests.chaos.crowd import gathered
from tests.chaos.invariants import broken
from tests.chaos.rounds import rounds
from tests.integration.bouncer import Bouncer, bouncing, make_login

pytestmark = pytest.mark.system
ROUNDS = rounds(3, costly=True)


def ended(bouncer: Bouncer) -> None:
    bouncer.stop()
    bouncer.start()


def killed(bouncer: Bouncer) -> None:
    bouncer.stop(signal.SIGKILL)
    bouncer.start()


def paused(bouncer: Bouncer) -> None:
    bouncer.say("PAUSE")
    bouncer.say("RESUME")


@pytest.mark.timeout(60 + 20 * ROUNDS)
def test_a_pooler_that_is_restarted_or_paused_under_load_loses_and_doubles_nothing(database_url: str) -> None:
    make_login(database_url, "crowd_app")
    with (
        bouncing(database_url, user="crowd_app") as bouncer,
        gathered(bouncer.url, behind=database_url) as crowd,
    ):
        for number in range(ROUNDS):
            with crowd.busy():
                crowd.goes_on()
                (ended, killed, paused)[number % 3](bouncer)
                crowd.goes_on()
            crowd.settle()
            assert crowd.complaints() == []
            assert broken(crowd.url) == []
