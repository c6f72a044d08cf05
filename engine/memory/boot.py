"""Which run of the machine and which process: what tells a leftover of the dead from what is in use."""

from __future__ import annotations

import os
from pathlib import Path


def boot_id() -> str:
    """Names this run of the machine, so that process numbers of earlier ones don't count."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    except OSError:
        return "0"


def alive(process: int) -> bool:
    """Whether a process of this number runs now."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
