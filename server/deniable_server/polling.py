"""Wait for many connections at a cost that grows with those that do something, not with all.

Waitress asks every connection at every turn what it waits for. With a thousand idle ones that is
most of the work; here only those are asked again that something happened to.
"""

from __future__ import annotations

from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from typing import Any

from waitress import wasyncore


class Poll:
    """Hand events to waitress's channels. For the thread that runs the server alone.

    A channel that only waits to read is left alone. All others, those that are being answered among
    them, are asked again at every turn.
    """

    def __init__(self) -> None:
        self._selector = DefaultSelector()
        self._wanted: dict[Any, int] = {}
        self._asked: set[Any] = set()

    def add(self, channel: Any) -> None:
        """Begin to wait for a channel."""
        self._wanted[channel] = 0
        self._want(channel, EVENT_READ)

    def remove(self, channel: Any) -> None:
        """Wait for a channel no longer; to be called while its socket is still open."""
        if channel in self._wanted:
            self._want(channel, 0)
            del self._wanted[channel]
            self._asked.discard(channel)

    def ask(self, channel: Any) -> None:
        """Ask a channel at the next turn what it waits for, because something happened to it."""
        if channel in self._wanted:
            self._asked.add(channel)

    def turn(self, seconds: float) -> None:
        """Wait for events for so long at most, and let the channels handle them."""
        for channel in tuple(self._asked):
            events = (EVENT_READ if channel.readable() else 0) | (
                EVENT_WRITE if channel.writable() else 0
            )
            self._want(channel, events)
            if events == EVENT_READ:
                self._asked.discard(channel)
        for key, events in self._selector.select(seconds):
            channel = key.data
            for event, handle in ((EVENT_READ, wasyncore.read), (EVENT_WRITE, wasyncore.write)):
                if events & event and channel in self._wanted:  # else an earlier one closed it
                    handle(channel)
            self.ask(channel)

    def close(self) -> None:
        """Let go of the system's own list of channels."""
        self._selector.close()

    def _want(self, channel: Any, events: int) -> None:
        before, self._wanted[channel] = self._wanted[channel], events
        if events == before:
            return
        if not before:
            self._selector.register(channel.socket.fileno(), events, channel)
        elif not events:
            self._selector.unregister(channel.socket.fileno())
        else:
            self._selector.modify(channel.socket.fileno(), events, channel)
