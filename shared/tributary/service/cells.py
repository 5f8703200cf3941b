"""Several databases behind one face: a token names its cell, and its tribe lives there and nowhere else (DESIGN 14)."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from tributary.access import Ledger, Timekeeper, Usage, cell_of, session_cell_of
from tributary.core.agent import Principal, SignedIn
from tributary.core.cells import shown_cell
from tributary.core.errors import BadSetting, TributaryError, Unauthenticated, Unavailable, UnknownCell
from tributary.garden import Gardener
from tributary.service.cell_gardening import CellsGardener
from tributary.service.logins import logins_of
from tributary.service.memory import Memory, ModelsUsed
from tributary.service.models import Models
from tributary.service.settings import Settings
from tributary.service.wiring import Adapters, open_memory
from tributary.store import within

HEALTH_S = 2.0


class Cells:
    """The memories of a process by cell: the own one, opened at once, and further ones, each opened when it is first needed.

    Thread-safe. Nothing is shared between two cells but the models: each has its own connections, counts, ledger and keys, and
    one that is down keeps no other from being served, tended or settled.
    """

    def __init__(self, own: str | None, further: Iterable[str], open_cell: Callable[[str | None], Memory]) -> None:
        """`open_cell` opens the memory of a cell by its name; it is called once for each, and must connect to nothing."""
        self._own = own
        self._open_cell = open_cell
        self._lock = threading.Lock()
        self._closing = ExitStack()
        self._opened: dict[str | None, Memory] = {}
        self._closed = False
        self.names: tuple[str | None, ...] = (own, *further)
        """All cells, the own one first."""
        self.home = self.named(None)
        """The memory of the own database."""

    def named(self, cell: str | None) -> Memory:
        """Returns the memory of a cell, the own one for None; raises UnknownCell, and Unavailable once closed."""
        name = self._own if cell is None else cell
        if name not in self.names:
            raise UnknownCell(str(name))
        with self._lock:
            if self._closed:
                raise Unavailable("these memories were closed")
            if name not in self._opened:
                self._opened[name] = self._open_cell(name)
                self._closing.callback(self._opened[name].close)
            return self._opened[name]

    def of(self, principal: Principal) -> Memory:
        """Returns the memory in which an agent's tribe lives; raises UnknownCell."""
        return self.named(principal.cell)

    def cell_for(self, token: str) -> str | None:
        """Returns the cell whose database requests with a token need, as it is shown; None where there is one cell alone."""
        try:
            cell = cell_of(token)
        except Unauthenticated:
            return None
        name = self._own if cell is None else cell
        return shown_cell(name) if len(self.names) > 1 and name in self.names else None

    def authenticate(self, token: str) -> Principal:
        """Returns the agent behind a bearer token, by asking the cell that it names; raises Unauthenticated."""
        return self.named(cell_of(token)).authenticate(token)

    def authenticate_principal(self, user_arn: str) -> Principal:
        """Returns the agent that acts for an AWS caller; nothing about one names a cell, so the own one is asked."""
        return self.home.authenticate_principal(user_arn)

    def sign_in(self, token: str, *, source: str) -> SignedIn:
        """Begins a session in the cell that the token names (`Memory.sign_in`); its secret names that cell, too."""
        return self.named(cell_of(token)).sign_in(token, source=source)

    def session(self, secret: str) -> Principal:
        """Returns the agent that is signed in, by asking the cell that the session names (`Memory.session`)."""
        return self.named(session_cell_of(secret)).session(secret)

    def sign_out(self, secret: str) -> None:
        """Ends a session in the cell that it names (`Memory.sign_out`)."""
        self.named(session_cell_of(secret)).sign_out(secret)

    def health(self) -> None:
        """Returns when a cell answers, the own one asked first; else raises why the own one does not.

        A cell that is down is no reason to take a process away from the tribes of the others, nor is one that hangs: beside
        others, each is waited for `HEALTH_S` at most.
        """
        first: TributaryError | None = None
        patience_s = HEALTH_S if len(self.names) > 1 else math.inf
        for name in self.names:
            try:
                with within(patience_s):
                    self.named(name).health()
            except TributaryError as error:
                first = first or error
            else:
                return
        if first is not None:
            raise first

    @property
    def gardener(self) -> Gardener | CellsGardener:
        """Tends the tribes of every cell. For workers and operators, not for callers."""
        if len(self.names) == 1:
            return self.home.gardener
        return CellsGardener(self.names, self._gardener_of)

    def _gardener_of(self, name: str | None) -> Gardener:
        memory = self.named(name)
        memory.health()  # each cell is migrated on its own, and may have the schema of another version
        return memory.gardener

    @property
    def books(self) -> tuple[Usage | Timekeeper | Ledger, ...]:
        """What is counted in the process, cell by cell, and written down now and then."""
        with self._lock:
            opened = list(self._opened.values())
        return tuple(book for memory in opened for book in memory.books)

    def warm(self) -> None:
        """Loads the embedding model, which all cells share, now rather than at the first request."""
        self.home.warm()

    def models_used(self) -> ModelsUsed:
        """Returns which models all cells work with (`Memory.models_used`)."""
        return self.home.models_used()

    def close(self) -> None:
        """Closes every memory that was opened (`Memory.close`); none is opened after that."""
        with self._lock:
            self._closed = True
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_cells(settings: Settings, *, adapters: Adapters | None = None) -> Cells:
    """Returns the memories of the cells that `settings` map, of one database alone where they map none. Raises BadSetting.

    Models are made once and shared. As with `open_memory`, nothing is connected or loaded until it is used; what the URLs of
    further cells say is read now, all the same, rather than at the first request for one of them.
    """
    for one in settings.cells:
        try:
            logins_of(settings.in_cell(one.name))
        except BadSetting as error:
            raise BadSetting(f"TRIBUTARY_CELLS: cell '{one.name}': {error.detail}") from None
    models = Models(settings)

    def open_cell(name: str | None) -> Memory:
        return open_memory(settings.in_cell(name), adapters=adapters, models=models)

    return Cells(settings.cell, (one.name for one in settings.cells), open_cell)
