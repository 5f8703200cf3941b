"""`tributary respond`: one turn, or a conversation line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.cli_fakes import Cli

REPLY: dict[str, Any] = {
    "text": "I rebooted it.\nIt is \u001b[31mup.",
    "withheld": False,
    "stopped": None,
    "incident": "INC-1",
    "receipts": [],
    "learned": [],
    "actions": [
        {"action": "act_1", "key": "k", "verb": "reboot_db_instance", "target": "db-7", "outcome": "done", "detail": None}
    ],
    "rounds": 2,
    "tool_calls": 1,
    "model": "made/1",
}
