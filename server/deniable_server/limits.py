"""Slow down whoever sends too much, without remembering who that was.

An address is cut to the network it belongs to and hashed under a key that is drawn when the day
begins, is held in memory alone, and is gone with the day or the process. Counts are kept for one
minute. Nothing of it is written anywhere.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import threading
import time
from collections.abc import Callable
from typing import Final

_WINDOW: Final = 60.0  # seconds
_DAY: Final = 86_400.0
_MOST: Final = 100_000  # networks counted at once; beyond that the window is cut short


class RateLimiter:
    """Count reports by network over a minute.

    Args:
        most: How many reports of one network (a /24 of IPv4, a /48 of IPv6) are let through in a
            minute. Many respondents may sit behind one address, such as a school's.
        clock: Seconds that only go forward.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[bytes, int] = {}
        self._key = secrets.token_bytes(32)
        self._day = self._window = clock()

    def allow(self, address: str | None, cost: int = 1) -> bool:
        """Count reports or requests, and tell whether they may go on; none is counted if not.

        Unknown addresses share one count.
        """
        with self._lock:
            self._turn()
            name = hmac.digest(self._key, _network(address).encode(), "sha256")
            # What is larger than the limit may go on by itself, or it never could.
            count = self._counts.get(name, 0) + min(cost, self.most)
            if count > self.most:
                return False
            self._counts[name] = count
            return True

    def _turn(self) -> None:
        now = self._clock()
        if now - self._day >= _DAY:
            self._key, self._day = secrets.token_bytes(32), now
            self._counts.clear()
        if now - self._window >= _WINDOW or len(self._counts) >= _MOST:
            self._window = now
            self._counts.clear()


def _network(address: str | None) -> str:
    """Cut an address to the network that one household or institution has."""
    try:
        found = ipaddress.ip_address((address or "").split("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    bits = 24 if found.version == 4 else 48
    return str(ipaddress.ip_network((found, bits), strict=False))
