"""Documents of durable actions, as a server sends them."""

from __future__ import annotations

from typing import Any

from tests.unit.client_fakes import AT, Tribe, receipt

ACTION = "act_" + "1" * 32
LEASE = "lease_" + "0" * 64


def action(**over: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("ended_at", "result", "failure", "doubt", "reconciled_by", "note"))
    known = {"id": ACTION, "key": "reboot:db-7", "description": "reboot db-7", "state": "begun", "agent": "agent-a", "attempt": 1}
    return {**known, "begun_at": AT, "lease_until": AT, **nothing, **over}


def acting(tribe: Tribe) -> None:
    """Has a tribe answer what is asked about actions."""
    done = action(state="done", result={"rebooted": True}, ended_at=AT)
    doubtful = action(state="in_doubt", doubt="holder_unsure", failure="the reply was lost")
    tribe.replies.update(
        begin_action={"outcome": "granted", "action": action(), "lease": LEASE},
        actions={"actions": [doubtful], "next": None, "receipt": receipt(0)},
        action=doubtful,
        complete_action={"action": done, "learned": None, "problem": None},
        fail_action=action(state="failed", failure="no", ended_at=AT),
        renew_action=action(),
        reconcile_action={**done, "doubt": "lease_ran_out", "reconciled_by": "curator", "note": "it was seen"},
    )
