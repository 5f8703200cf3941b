"""Notes each attempt of a function to write anywhere but in its /tmp; stands beside Lambda's runtime client.

The interpreter's own attempts to keep byte code are none of the function's. With WATCHED_REFUSES set, the attempts fail as on
a read-only disk: where the disk cannot be made so.
"""

import errno
import os
import sys
from pathlib import Path

_TMP = os.path.realpath(os.environ.get("TMPDIR", "/tmp"))
_REFUSES = bool(os.environ.pop("WATCHED_REFUSES", ""))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGING = {
    *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.setxattr", "os.symlink"),
    *("os.truncate", "os.utime"),
}
_notes = os.open(Path(_TMP, "attempts"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        if not isinstance(flags, int) or not flags & _WRITING:
            return
    elif event in _CHANGING:
        path = arguments[0]
    else:
        return
    if isinstance(path, (str, bytes)):
        where = os.path.realpath(os.fsdecode(path))
        if not where.startswith((_TMP, "/dev/", "/proc/self/fd")) and "__pycache__" not in where:
            os.write(_notes, f"{event} {where}\n".encode())
            if _REFUSES:
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), where)


sys.addaudithook(_watch)
