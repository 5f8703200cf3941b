"""garden: what time, room and missing models left to do, rule by rule, in bounded runs."""

from tributary.garden.budget import never
from tributary.garden.index import FEWEST, OUTGROWN
from tributary.garden.pipeline import BUDGET_S, Gardener, Stopped
from tributary.garden.visit import Keeping

__all__ = ["BUDGET_S", "FEWEST", "OUTGROWN", "Gardener", "Keeping", "Stopped", "never"]
