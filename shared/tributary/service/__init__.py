"""The Memory facade, its settings, and the one place where adapters are chosen."""

from tributary.service.cells import Cells, open_cells
from tributary.service.memory import Memory
from tributary.service.models import Models, over_a_wire
from tributary.service.probing import open_prober
from tributary.service.settings import Settings, load_settings
from tributary.service.wiring import open_memory, open_operator
from tributary.service.worker import counting_cells, settling, tending, tending_cells
from tributary.store import within

__all__ = [
    "Cells",
    "Memory",
    "Models",
    "Settings",
    "counting_cells",
    "load_settings",
    "open_cells",
    "open_memory",
    "open_operator",
    "open_prober",
    "over_a_wire",
    "settling",
    "tending",
    "tending_cells",
    "within",
]
