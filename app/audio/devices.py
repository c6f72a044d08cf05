"""The sound devices as choices of a setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from worldpager.app.audio.player import output_devices
from worldpager.app.words import later


class Devices(Mapping[str, str]):
    """Device names, looked up when they are listed. Any name may stand in the settings: the device may be plugged in tomorrow."""

    def __getitem__(self, name: str) -> str:
        return name or later("the system's")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        yield ""
        yield from output_devices()

    def __len__(self) -> int:
        return 1 + len(output_devices())
