"""What the window remembers from one start to the next."""

from __future__ import annotations

from PySide6.QtCore import QSettings

from worldpager.app.overlay.hud import PRESETS


class WindowSettings:
    """Typed access to a `QSettings`; by default the person's own."""

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store or QSettings("WorldPager", "WorldPager")

    @property
    def preset(self) -> str:
        """Overlays shown: one of the HUD's presets."""
        found = str(self._store.value("overlays", "small"))
        return found if found in PRESETS else "small"

    @preset.setter
    def preset(self, name: str) -> None:
        self._store.setValue("overlays", name)

    @property
    def hint_seen(self) -> bool:
        """Whether the person has walked once and so knows the keys."""
        return str(self._store.value("hint-seen", "no")) == "yes"

    @hint_seen.setter
    def hint_seen(self, seen: bool) -> None:
        self._store.setValue("hint-seen", "yes" if seen else "no")
