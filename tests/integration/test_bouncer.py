"""The whole flow behind a pooler in transaction mode, with fewer server connections than threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.integration.bouncer import make_login, pooled
from tests.tribes import open_tribal
from tributary.core.decision import Outcome
from tributary.core.lesson import Draft, How, Source
from tributary.core.requests import Question
from tributary.service import open_memory

pytestmark = pytest.mark.system


def test_threads_learn_and_recall_through_a_pool_smaller_than_they_are(database_url: str) -> None:
    make_login(database_url, "pooled_app")
    with open_tribal(database_url) as tribal, pooled(database_url, user="pooled_app", pool_size=3) as url:
        settings = tribal.settings.model_copy(update={"database_url": url, "owner_url": database_url})
        with open_memory(settings, adapters=replace(tribal.adapters)) as memory:
            agents = [tribal.agent(f"writer-{index}") for index in range(12)]

            def work(index: int) -> Outcome:
                draft = Draft(
                    text=f"service-{index} listens on port {5000 + index}",
                    situation=f"calling service-{index}",
                    subject=f"service-{index}",
                    source=Source(how=How.OBSERVED, ref=f"run:{index}"),
                )
                for _ in range(5):
                    outcome = memory.learn(agents[index], draft, idempotency_key=f"k{index}").outcome
                    assert memory.recall(agents[index], Question(query=f"service-{index} port")).hits
                return outcome

            with ThreadPoolExecutor(12) as pool:
                assert set(pool.map(work, range(12))) == {Outcome.LEARNED}
        assert tribal.status_counts() == {"active": 12}
