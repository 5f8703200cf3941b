"""Cells: the databases that tribes are spread over once one does not do (DESIGN 14). A tribe lives in one of them, whole."""

from __future__ import annotations

import re

CELL_NAME = r"[a-z][a-z0-9-]{0,15}"
"""How a cell is called; it has no underscore, so that a token can carry it."""
CELL_RULE = "must be 1 to 16 lower case letters, digits or '-', the first a letter"
HOME = "(home)"
"""How the own database of a process is shown where it has no name; no cell can be called so."""
_NAME = re.compile(CELL_NAME)


def is_cell_name(text: str) -> bool:
    """Tells whether a cell may be called so."""
    return _NAME.fullmatch(text) is not None


def shown_cell(cell: str | None) -> str:
    """Returns a cell's name for people."""
    return cell or HOME
