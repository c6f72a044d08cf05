"""Readers of command-line values: sizes, whole numbers, assignments. Each says in a person's words what was wrong."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable

UNITS = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
}  # fmt: skip


def size(text: str) -> int:
    """Bytes of a size such as ``64MiB``, ``1.5 GB`` or ``4096``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    factor = UNITS.get(match[2].upper()) if match else None
    if match is None or factor is None or (count := int(float(match[1]) * factor)) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write a number above 0 with a unit, such as 64MiB or 2GB")
    return count


def whole_from(least: int) -> Callable[[str], int]:
    """A reader of whole numbers from ``least`` to 2**31 - 1."""

    def whole(text: str) -> int:
        value = int(text) if re.fullmatch(r"\s*[+-]?\d{1,12}\s*", text) else -1
        if not least <= value < 1 << 31:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {(1 << 31) - 1}")
        return value

    return whole


def assignment(text: str) -> tuple[str, str]:
    """``name=value`` in two."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE: write, say, passes=3")
    return name.strip(), value.strip()
