"""Time that tests turn by hand."""

from __future__ import annotations

from worldpager.engine.mailbox import Mailbox


class HandClock:
    """A clock that moves only when told to, or while somebody sleeps by it."""

    def __init__(self, now: float = 100.0) -> None:
        self.now = now
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class HandMailbox(Mailbox):
    """A mailbox whose waits pass at once, on a `HandClock`."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__()
        self._clock = clock
        self.waits: list[tuple[str, float]] = []

    def wait_command(self, seconds: float) -> bool:
        self.waits.append(("command", seconds))
        self._clock.sleep(max(0.0, seconds))
        return super().wait_command(0)

    def wait_news(self, seconds: float) -> bool:
        self.waits.append(("news", seconds))
        self._clock.sleep(max(0.0, seconds))
        return super().wait_news(0)
