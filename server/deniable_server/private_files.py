"""Files that only their owner may read, from their first byte on."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

_OWNER_ONLY: Final = 0o600


def create_private(path: str | os.PathLike[str]) -> None:
    """Create an empty file that only its owner may read and write, unless there is one already.

    SQLite takes an empty file for a new database, and gives the files it puts beside one the same
    mode. Where none can be created, whoever opens it next says why.
    """
    # O_EXCL, so that a file which is there is not even opened: closing it would let go of the locks
    # that SQLite holds on it in this process. The real path, because O_EXCL follows no link.
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        os.close(os.open(os.path.realpath(path), flags, _OWNER_ONLY))
