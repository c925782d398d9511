"""Keep the web server's own log, and what a crash leaves, free of addresses, paths and bodies."""

from __future__ import annotations

import ctypes
import logging
import resource
import sys
from typing import Final

_SET_DUMPABLE: Final = 4  # PR_SET_DUMPABLE of <linux/prctl.h>


class _CodeOnly(logging.Formatter):
    """Say where in the code something happened; drop the message, its arguments and traceback.

    Waitress puts paths, header lines and the addresses of connections into its messages.
    """

    def format(self, record: logging.LogRecord) -> str:
        kind = record.exc_info[0] if record.exc_info else None
        what = kind.__name__ if kind else record.levelname.lower()
        return f"web server: {what} at {record.module}:{record.lineno}"


def silence_waitress() -> None:
    """Let waitress log only the kind and the code line of what went wrong."""
    handler = logging.StreamHandler()
    handler.setFormatter(_CodeOnly())
    logger = logging.getLogger("waitress")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.ERROR)  # its warnings tell of threads that end with the server


def forbid_core_dumps() -> None:
    """Let a crash of this process write none of its memory to a file.

    Privacy:
        Memory holds addresses of connections, and requests that are under way. On Linux the process
        is also marked as not to be dumped, because a limit of 0 does not keep the kernel from
        handing its memory to a program such as systemd-coredump; nor can other programs of the same
        user look into it.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
