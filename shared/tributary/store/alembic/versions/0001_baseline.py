"""The core: tribes, agents, lessons and how they are found, events, rivals, disputes, decisions, receipts' keys."""

from tributary.store.migrate import run_sql

revision = "baseline.3"  # counted up whenever the baseline is rewritten, which ends with the first release
down_revision = None


def upgrade() -> None:
    run_sql("0001_baseline")
