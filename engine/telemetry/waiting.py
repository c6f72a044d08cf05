"""How long a thread waited, told apart from how long the system let something else run on its core.

On two cores with an encoder beside the street, a step that does a few microseconds of bookkeeping now and then takes milliseconds of wall
time: the scheduler gave the core away. That is no wait for bytes. A thread that waits (for a lock, for I/O, for Python's interpreter lock)
gives its core up by itself, and the system counts the two kinds of switches apart.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

Switches = tuple[int, int]
"""Switches of the calling thread so far: (its own doing, forced on it)."""


def thread_switches() -> Switches:
    """The calling thread's switches; zeros where the system doesn't count them by thread."""
    if not hasattr(resource, "RUSAGE_THREAD"):
        return 0, 0
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return usage.ru_nvcsw, usage.ru_nivcsw


class Waiting:
    """Times one stretch of work on the calling thread."""

    def __init__(self, clock: Callable[[], float], switches: Callable[[], Switches] = thread_switches) -> None:
        self._clock, self._count = clock, switches
        self._switches, self._cpu, self._began = switches(), time.thread_time(), clock()

    def seconds(self) -> float:
        """Wall time since the start; processor time alone if the thread lost its core and never gave it up by itself."""
        wall = self._clock() - self._began
        own, forced = self._count()
        only_forced = forced > self._switches[1] and own == self._switches[0]
        return min(wall, time.thread_time() - self._cpu) if only_forced else wall
