"""Who reaches the embedded server: the folder of its socket, and the rules by which it lets anybody in."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from tributary.core.errors import BadSetting
from tributary.store._embedded_account import Account, let_reach
from tributary.store._embedded_keeper import PORT, Layout

SOCKET_PATH_BYTES = 103
"""What macOS takes; Linux takes four more."""

# Neither libpq (a comma parts hosts) nor the server (quotes) then reads anything but a path in it.
_PLAIN_PATH = re.compile(rb"[A-Za-z0-9/._+~ -]*")


def make_socket_folder(layout: Layout, account: Account) -> None:
    """Makes the socket's folder, open to the server's account alone, with a path that fits into a socket's address.

    A home with a long path gets one below the folder for temporary files, under a name that nobody can take beforehand, and
    a link to it. It stays the same over restarts, so that the members' URLs do. The caller holds the server's lock.
    """
    link = layout.socket_link
    if _is_usable(layout, account):
        _clear(link.resolve())
        return
    if link.is_symlink():
        with suppress(OSError):
            _clear(link.readlink())
            link.readlink().rmdir()
        link.unlink()
    elif link.exists():
        shutil.rmtree(link)
    if _fits(link):
        link.mkdir(mode=0o700)
    else:
        link.symlink_to(_short_folder())
    if account.switched:
        let_reach(layout.socket_folder, account)
        os.chown(layout.socket_folder, account.uid, account.gid)


def write_rules(layout: Layout, account: Account) -> None:
    """Lets in the home's owner, whom the kernel vouches for, as any database user; nobody else, whatever he can reach.

    The rules lie outside of the data: under root, the data's folder belongs to an account that root must not write through.
    """
    owner = account.owner.replace('"', '""')
    for name, rule in (("hba.conf", "local all all peer map=owner"), ("ident.conf", f'owner "{owner}" all')):
        (layout.run / name).write_text(rule + "\n")
        (layout.run / name).chmod(0o644)


def _is_usable(layout: Layout, account: Account) -> bool:
    folder = layout.socket_folder
    try:
        found = folder.lstat()
    except FileNotFoundError:
        return False
    private = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700 and found.st_uid == account.uid
    return private and _fits(folder)


def _fits(folder: Path) -> bool:
    path = os.fsencode(folder / f".s.PGSQL.{PORT}")
    return len(path) <= SOCKET_PATH_BYTES and _PLAIN_PATH.fullmatch(path) is not None


def _short_folder() -> Path:
    for base in (tempfile.gettempdir(), "/tmp"):  # noqa: S108 (mkdtemp makes a private folder)
        if _fits(Path(base) / "tributary-12345678"):
            with suppress(OSError):
                return Path(tempfile.mkdtemp(prefix="tributary-", dir=base))
    raise BadSetting("no folder for temporary files has a path short enough for a socket; set TMPDIR to a short one")


def _clear(folder: Path) -> None:
    """Removes what a killed server left, since PostgreSQL takes any living process with the old pid for the old server."""
    for name in (f".s.PGSQL.{PORT}", f".s.PGSQL.{PORT}.lock"):
        (folder / name).unlink(missing_ok=True)
