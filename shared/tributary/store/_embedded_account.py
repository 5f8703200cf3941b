"""The operating system's account that the embedded server runs as: ours, or a system account of its own under root.

PostgreSQL refuses to run as root. Root's server gets the account `pgserver` and, on the folders that lead to its files
and are closed to others, an access list entry that lets this account, and no other, pass.
"""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import stat
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tributary.core.errors import BadSetting

ACCOUNT = "pgserver"
USERADD_PAUSES_S = (0.0, 0.1, 0.3, 1.0, 3.0)

_ACL = "system.posix_acl_access"
_ACL_VERSION = 2
_OWNER, _USER, _GROUP, _NAMED_GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NO_ID = 0xFFFF_FFFF
_PASS = 0o1

_Entries = dict[tuple[int, int], int]
"""(tag, id) -> permission bits, in the order of tags that the kernel demands."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whom the server runs as, and who owns the home."""

    uid: int
    gid: int
    owner: str
    """Name of the one account that may connect: the one that owns the home."""
    switched: bool
    """Whether the server's account is another than the owner's."""


def server_account() -> Account:
    """Returns the account for the server, made first when we are root and it is missing; raises BadSetting."""
    uid = os.geteuid()
    try:
        owner = pwd.getpwuid(uid)
    except KeyError:
        raise BadSetting(
            f"the user id {uid} has no name on this system, and PostgreSQL needs one; run as a user that has an entry "
            "in the passwd database, or set DATABASE_URL"
        ) from None
    if uid != 0:
        return Account(uid=uid, gid=os.getegid(), owner=owner.pw_name, switched=False)
    if sys.platform != "linux":
        raise BadSetting("the embedded PostgreSQL does not run as root on this system; run as an ordinary user")
    server = _system_account()
    return Account(uid=server.pw_uid, gid=server.pw_gid, owner=owner.pw_name, switched=True)


def _system_account() -> pwd.struct_passwd:
    # Another process may be adding it too: it has the passwd database locked meanwhile, and we are refused.
    for pause_s in USERADD_PAUSES_S:
        with suppress(KeyError):
            return pwd.getpwnam(ACCOUNT)
        _add_account()
        time.sleep(pause_s)
    try:
        return pwd.getpwnam(ACCOUNT)
    except KeyError:
        raise BadSetting(
            f"PostgreSQL refuses to run as root and the system account '{ACCOUNT}' for it cannot be made with useradd; "
            "make it, or run as an ordinary user"
        ) from None


def _add_account() -> None:
    useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if useradd is not None:
        options = (
            "--system",
            "--user-group",
            "--no-create-home",
            "--home-dir",
            "/nonexistent",
            "--shell",
            "/bin/false",
        )
        command = (useradd, *options, ACCOUNT)
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603 (fixed words)


def let_reach(path: Path, account: Account) -> None:
    """Lets the server's account pass through every folder above `path`; raises BadSetting where it cannot.

    Nothing changes for folders that everybody may pass. No one else gains anything, and no one may list more than before.
    """
    for folder in path.parents:
        mode = folder.stat().st_mode
        if mode & stat.S_IXOTH or (folder.stat().st_uid == account.uid and mode & stat.S_IXUSR):
            continue
        entries = _entries(folder, mode)
        mask = entries.get((_MASK, _NO_ID), 0o7)
        if entries.get((_USER, account.uid), 0) & mask & _PASS:
            continue
        try:
            os.setxattr(folder, _ACL, _packed(_with_pass(entries, account.uid)))
        except OSError as error:
            raise BadSetting(
                f"the embedded PostgreSQL runs as user '{ACCOUNT}', which may not pass through '{folder}' "
                f"({error.strerror}); run: chmod o+x '{folder}', or choose a home elsewhere, or run as an ordinary user"
            ) from error


def let_read(tree: Path) -> None:
    """Makes a program's folder readable for all, as it is unless it was installed under a strict umask."""
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            needed = 0o555 if mode & stat.S_IXUSR else 0o444
            if mode & needed != needed:
                path.chmod(mode | needed)


def _entries(folder: Path, mode: int) -> _Entries:
    try:
        packed = os.getxattr(folder, _ACL)
    except OSError as error:
        if error.errno not in {errno.ENODATA, errno.EOPNOTSUPP}:
            raise
        return {(_OWNER, _NO_ID): mode >> 6 & 7, (_GROUP, _NO_ID): mode >> 3 & 7, (_OTHERS, _NO_ID): mode & 7}
    return {(tag, who): bits for tag, bits, who in struct.iter_unpack("<HHI", packed[4:])}


def _with_pass(entries: _Entries, uid: int) -> _Entries:
    """Adds the right to pass for one user. What the mask withheld from others so far is first taken from them for good."""
    masked = _USER, _GROUP, _NAMED_GROUP
    mask = entries.get((_MASK, _NO_ID), 0o7)
    found = {key: bits & mask if key[0] in masked else bits for key, bits in entries.items()}
    found[_USER, uid] = found.get((_USER, uid), 0) | _PASS
    found[_MASK, _NO_ID] = 0
    for key, bits in found.items():
        if key[0] in masked:
            found[_MASK, _NO_ID] |= bits
    return found


def _packed(entries: _Entries) -> bytes:
    rows = (struct.pack("<HHI", tag, bits, who) for (tag, who), bits in sorted(entries.items()))
    return struct.pack("<I", _ACL_VERSION) + b"".join(rows)
