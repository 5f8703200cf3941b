"""A process that does one task again and again until it is killed, run by path: `python working.py`.

It takes one order as a line of JSON on stdin, and says on stdout, a line each, which lessons it was told are kept. An export says
nothing of the kind: its lines are empty.
"""

from __future__ import annotations

import io
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from tests.doubles import RuledJudge, WordScreen, within_a_subject
from tests.tribes import SEEN
from tributary.core.agent import Principal
from tributary.core.decision import Learned
from tributary.core.lesson import Draft
from tributary.models.embedders import HashedEmbedder
from tributary.service import Memory, Settings, open_memory, open_operator
from tributary.service.wiring import Adapters


class Task(StrEnum):
    LEARN = "learn"
    IMPORT = "import"
    """What an import does: a batch of lessons in one call."""
    SETTLE = "settle"
    GARDEN = "garden"
    EXPORT = "export"
    ACTION = "action"


@dataclass(frozen=True, kw_only=True)
class Order:
    url: str
    token: str
    tribe: str
    task: Task
    name: str
    """Begins every text and key, so that no two workers say the same."""


ADAPTERS = Adapters(embedder=HashedEmbedder(), judge=RuledJudge(within_a_subject), screen=WordScreen())


def settings(url: str) -> Settings:
    fast = {"writes_per_minute": 1_000_000, "writes_per_day": 1_000_000}
    return Settings.model_validate({"TRIBUTARY_DATABASE_URL": url, **fast})


def work(order: Order) -> Iterator[list[str]]:
    """Gives, time after time, the ids of the lessons that are said to be kept."""
    with open_memory(settings(order.url), adapters=ADAPTERS) as memory:
        agent = memory.authenticate(order.token)
        do = TASKS[order.task]
        for number in itertools.count():
            yield do(memory, agent, order, f"{order.name}-{number}")


def _draft(name: str, *, valid_until: datetime | None = None) -> Draft:
    subject = f"worker{hash(name) % 3}"
    said = f"{subject} takes the value {name}"
    return Draft(text=said, situation="working until it is killed", source=SEEN, subject=subject, valid_until=valid_until)


def _ids(*learned: object) -> list[str]:
    return [str(one.lesson.lesson_id) for one in learned if isinstance(one, Learned) and one.lesson is not None]


def _learn(memory: Memory, agent: Principal, _order: Order, name: str) -> list[str]:
    return _ids(memory.learn(agent, _draft(name), idempotency_key=name))


def _import(memory: Memory, agent: Principal, _order: Order, name: str) -> list[str]:
    drafts = [_draft(f"{name}-{part}") for part in range(5)]
    return _ids(*memory.learn_all(agent, drafts, idempotency_key=name))


def _settle(memory: Memory, agent: Principal, _order: Order, name: str) -> list[str]:
    kept = [memory.learn(agent, _draft(f"{name}-{part}"), wait=False) for part in range(3)]
    memory.settle_pending()
    return _ids(*kept)


def _garden(memory: Memory, agent: Principal, _order: Order, name: str) -> list[str]:
    """Leaves it lessons that are over, to be stamped, and pending ones, to be settled."""
    soon = datetime.now(UTC) + timedelta(milliseconds=100)
    kept = [memory.learn(agent, _draft(f"{name}-over", valid_until=soon)), memory.learn(agent, _draft(name), wait=False)]
    memory.gardener.run_all(budget_s=2)
    return _ids(*kept)


def _export(_memory: Memory, _agent: Principal, order: Order, _name: str) -> list[str]:
    with open_operator(settings(order.url), adapters=ADAPTERS) as operator:
        operator.export(order.tribe, io.BytesIO().write)
    return []


def _action(memory: Memory, agent: Principal, _order: Order, name: str) -> list[str]:
    begun = memory.actions.begin(agent, name, "an effect of a worker", lease_s=1)
    assert begun.lease is not None
    memory.actions.complete(agent, begun.action.action_id, begun.lease, {"done": name})
    return []


TASKS: dict[Task, Callable[[Memory, Principal, Order, str], list[str]]] = {
    Task.LEARN: _learn,
    Task.IMPORT: _import,
    Task.SETTLE: _settle,
    Task.GARDEN: _garden,
    Task.EXPORT: _export,
    Task.ACTION: _action,
}


def main() -> None:
    given = json.loads(sys.stdin.readline())
    for told in work(Order(**{**given, "task": Task(given["task"])})):
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
