"""Steps about durable actions: one is carried out, and one comes to be in doubt."""

from __future__ import annotations

from tributary.contract.actions import ActionReply
from tributary.edges.cli.live.stage import Stage
from tributary.edges.cli.live.step import Step, equal, holds

_RESULT = {"rebooted": True, "after_s": None}


def _begun(stage: Stage, thing: str) -> tuple[ActionReply, str]:
    """Begins an action of this run and returns it with its lease."""
    begun = stage.members["writer"].memory.actions.begin(stage.about(thing), description=f"verify-live {stage.word}")
    equal("outcome", "granted", begun.outcome)
    lease = begun.lease or ""
    holds("a lease", bool(lease), "none")
    stage.actions[thing] = (begun.action.id, lease)
    return begun.action, lease


def _begin(stage: Stage) -> None:
    action, _ = _begun(stage, "reboot")
    equal("state", "begun", action.state)
    other = stage.curator.memory.actions.begin(stage.about("reboot"))
    equal("outcome for another", "busy", other.outcome)
    equal("lease for another", None, other.lease)


def _renew(stage: Stage) -> None:
    action, lease = stage.actions["reboot"]
    found = stage.members["writer"].memory.actions.renew(action, lease, lease_s=600)
    holds("a lease of some minutes", (found.lease_until - found.begun_at).total_seconds() > 500, found.lease_until)


def _complete(stage: Stage) -> None:
    action, lease = stage.actions["reboot"]
    found = stage.members["writer"].memory.actions.complete(action, lease, _RESULT)
    equal("state", "done", found.action.state)
    again = stage.members["writer"].memory.actions.begin(stage.about("reboot"))
    equal("outcome of another begin", "done", again.outcome)
    equal("result", _RESULT, again.action.result)


def _show(stage: Stage) -> None:
    found = stage.members["reader"].memory.actions.get(stage.actions["reboot"][0])
    equal("state", "done", found.state)
    equal("agent", stage.members["writer"].name, found.agent)
    equal("result", _RESULT, found.result)


def _fail(stage: Stage) -> None:
    action, lease = _begun(stage, "resize")
    found = stage.members["writer"].memory.actions.fail(action, lease, "the reply was lost", unsure=True)
    equal("state", "in_doubt", found.state)
    equal("doubt", "holder_unsure", found.doubt)


def _list(stage: Stage) -> None:
    page = next(stage.members["reader"].memory.actions.list("in_doubt", page_size=100).pages())
    holds("the action in doubt among those", stage.actions["resize"][0] in [one.id for one in page.items], len(page.items))
    states = {one.state for one in page.items}
    equal("states", {"in_doubt"}, states)


def _reconcile(stage: Stage) -> None:
    action = stage.actions["resize"][0]
    said = f"verify-live {stage.word} resized nothing"
    found = stage.curator.memory.actions.reconcile(action, happened=False, rationale=said)
    equal("state", "failed", found.state)
    equal("note", said, found.note)


ACTIONS = (
    Step(name="action-begin", does=_begin, covers=("begin_action",), needs=("create-agents",)),
    Step(name="action-renew", does=_renew, covers=("renew_action",), needs=("action-begin",)),
    Step(name="action-complete", does=_complete, covers=("complete_action",), needs=("action-begin",)),
    Step(name="action-show", does=_show, covers=("action",), needs=("action-complete",)),
    Step(name="action-fail", does=_fail, covers=("fail_action",), needs=("create-agents",)),
    Step(name="actions", does=_list, covers=("actions",), needs=("action-fail",)),
    Step(name="action-reconcile", does=_reconcile, covers=("reconcile_action",), needs=("action-fail",)),
)
