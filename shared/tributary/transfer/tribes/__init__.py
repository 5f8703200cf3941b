"""Whole tribes out of a database and into another: exports, and tribes restored from them."""

from tributary.transfer.tribes.export import export_tribe
from tributary.transfer.tribes.form import Progress, Summary, lines_of
from tributary.transfer.tribes.restore import restore_tribe

__all__ = [
    "Progress",
    "Summary",
    "export_tribe",
    "lines_of",
    "restore_tribe",
]
