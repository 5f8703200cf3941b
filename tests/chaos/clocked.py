"""A server of a test's own whose wall clock the test sets, by libfaketime: `now()` and `clock_timestamp()` say what it says."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.conftest import CHOSEN
from tests.standby import FAST, PATIENCE_S, PORT, Node, new_node
from tributary.store import Target
from tributary.store.migrate import migrate

LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
)


@dataclass(frozen=True, kw_only=True)
class ClockedNode(Node):
    """Its clock is that of the machine, and as much later or earlier as the file `clock` says."""

    @property
    def clock(self) -> Path:
        return self.folder / "clock"

    def start(self) -> None:
        self.set_clock(0)
        library = next((one for one in LIBRARIES if Path(one).exists()), None)
        assert library is not None, "libfaketime is not installed; run: make system-deps"
        environment = (
            f'LD_PRELOAD={library} FAKETIME_TIMESTAMP_FILE="{self.clock}" FAKETIME_NO_CACHE=1 '
            "FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_DISABLE_SHM=1"
        )
        options = f"-c listen_addresses= -c port={PORT} -c unix_socket_directories={self.folder}"
        start = f'"{self.bin_folder}/pg_ctl" start -w -t {PATIENCE_S} -D "{self.data}" -l "{self.log}" -o "{options}"'
        self.command_in_shell(f"{environment} {start} > /dev/null")

    def set_clock(self, ahead_s: int) -> None:
        """Sets it so many seconds before the machine's, or after it, whole in one step."""
        new = self.clock.with_suffix(".new")
        new.write_text(f"{ahead_s:+d}\n")
        new.chmod(0o644)
        new.replace(self.clock)


@contextmanager
def clocked() -> Iterator[ClockedNode]:
    """Runs a server that holds the migrated database `migrated` until the block ends."""
    with tempfile.TemporaryDirectory(prefix="trb-clock-", ignore_cleanup_errors=True) as name:
        made = new_node(Path(name), "server", int(CHOSEN) if CHOSEN.isdigit() else 18)
        node = ClockedNode(folder=made.folder, bin_folder=made.bin_folder, account=made.account)
        node.make_data(FAST)
        node.start()
        try:
            with psycopg.connect(node.url(), autocommit=True) as connection:
                connection.execute("CREATE DATABASE migrated")
            migrate(Target(url=node.url("migrated")))
            yield node
        finally:
            node.kill()
