"""Keep the web server's own log free of addresses, paths and bodies."""

from __future__ import annotations

import logging


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
