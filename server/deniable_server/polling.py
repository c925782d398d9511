"""Wait for many connections at a cost that grows with those that do something, not with all.

Waitress asks every connection at every turn what it waits for. With a thousand idle ones that is
most of the work; here only those are asked again that something happened to.
"""

from __future__ import annotations

from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from typing import Any

from waitress import wasyncore


class Poll:
    """Hand events to waitress's channels. For the thread that runs the server alone, but ``ask``.

    A channel that only waits to read is left alone, also while a request of it is answered: most
    clients send nothing meanwhile. Those that do, and those that have to be sent more than went
    out at once, are asked at every turn what they wait for.
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

    def ask(self, channel: Any) -> None:
        """Ask a channel at the next turn what it waits for. Any thread may call this."""
        self._asked.add(channel)

    @property
    def asks(self) -> bool:
        """Whether there is a channel to ask, so that waiting for events alone is not enough."""
        return bool(self._asked)

    def turn(self, seconds: float) -> None:
        """Wait for events for so long at most, and let the channels handle them."""
        for channel in tuple(self._asked):
            if channel not in self._wanted:
                self._asked.discard(channel)
                continue
            events = (EVENT_READ if channel.readable() else 0) | (
                EVENT_WRITE if channel.writable() else 0
            )
            self._want(channel, events)
            if events == EVENT_READ:
                self._asked.discard(channel)
                if channel.writable():  # since a moment ago
                    self.ask(channel)
        for key, events in self._selector.select(seconds):
            channel = key.data
            if events & EVENT_READ and channel in self._wanted:  # else an earlier one closed it
                self._read(channel)
            if events & EVENT_WRITE and channel in self._wanted:
                wasyncore.write(channel)
                self.ask(channel)

    def close(self) -> None:
        """Let go of the system's own list of channels."""
        self._selector.close()

    def _read(self, channel: Any) -> None:
        # First asked and then looked at: a thread that has answered it first lets it read again and
        # then looks whether it is asked. So one of the two sees what the other did.
        self.ask(channel)
        if channel.readable():
            self._asked.discard(channel)
            wasyncore.read(channel)
            if channel.writable():
                self.ask(channel)

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
