"""The four traps, a module each: what its names are, when it snaps, and what cures it."""

from evals.gauntlet.traps.deprecation import DeprecatedKey, DeprecatedKeyNames
from evals.gauntlet.traps.linker import Linker, LinkerNames
from evals.gauntlet.traps.migration import Migration, MigrationNames
from evals.gauntlet.traps.quota import Quota, QuotaNames

__all__ = [
    "DeprecatedKey",
    "DeprecatedKeyNames",
    "Linker",
    "LinkerNames",
    "Migration",
    "MigrationNames",
    "Quota",
    "QuotaNames",
]
