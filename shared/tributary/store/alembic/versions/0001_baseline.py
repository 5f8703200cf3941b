"""The core: tribes, agents, lessons and how they are found, events, rivals, disputes, decisions, receipts' keys."""

from tributary.store.level import BASELINE
from tributary.store.migrate import run_sql

revision = BASELINE
down_revision = None


def upgrade() -> None:
    run_sql("0001_baseline")
