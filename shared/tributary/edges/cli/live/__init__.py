"""Checking a running system by using it: every operation of the HTTP API once, each outcome held against what it must be."""

from tributary.edges.cli.live.running import Report, StepResult, checked
from tributary.edges.cli.live.stage import Stage
from tributary.edges.cli.live.step import State
from tributary.edges.cli.live.table import STEPS

__all__ = ["STEPS", "Report", "Stage", "State", "StepResult", "checked"]
