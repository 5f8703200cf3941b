"""Made from difference.py by `make async-client`: change that one."""

from __future__ import annotations

from tributary.client.asynchronous.curation import AsyncPaged
from tributary.client.difference import BeliefChange, DiffPage


class AsyncDiff(AsyncPaged[BeliefChange, DiffPage]):
    """What was believed at one of two moments and not at the other, newest change first."""
