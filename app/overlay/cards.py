"""The cards with figures: tiers, stalls, disk, rates, and the small one that stands for all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor

from worldpager.app import theme
from worldpager.app.overlay.ink import Ink, text_width
from worldpager.app.overlay.readings import Readings, bytes_text, rate_text
from worldpager.engine.telemetry.snapshot import Snapshot, TierUse

PAD = 2 * theme.GRID
WIDTH = 30 * theme.GRID


class Card(Protocol):
    """One overlay: its size in design pixels and how it is drawn; the painter's origin is its corner."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        ...

    def draw(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """Draw the card, its panel included."""
        ...


def heading(ink: Ink, size: tuple[float, float], title: str, right: str = "", colour: QColor = theme.QUIET) -> None:
    """Panel and title line of a card."""
    ink.panel(QRectF(0, 0, *size))
    ink.text(PAD, 23, title, 12, bold=True)
    if right:
        ink.text(size[0] - PAD, 23, right, 11, colour, align=1)


def figure(ink: Ink, x: float, y: float, value: str, label: str, colour: QColor = theme.TEXT, size: float = 17) -> None:
    """A figure with its label below."""
    ink.text(x, y, value, size, colour, bold=True)
    ink.text(x, y + 15, label, 10, theme.QUIET)


def tier_bar(ink: Ink, rect: QRectF, tier: int, use: TierUse) -> None:
    """How full a tier is; the dirty share, which only it holds, is hatched."""
    radius = rect.height() / 2
    ink.fill(rect, theme.TROUGH, radius)
    if not use.capacity or not use.used:
        return
    ink.painter.save()
    ink.painter.setClipRect(QRectF(rect.left(), rect.top(), rect.width() * min(1.0, use.used / use.capacity), rect.height()))
    ink.fill(rect, theme.TIER_COLOURS[tier], radius)
    dirty = rect.width() * min(use.dirty, use.used) / use.capacity
    if dirty:
        right = rect.left() + rect.width() * min(1.0, use.used / use.capacity)
        ink.painter.setClipRect(QRectF(right - dirty, rect.top(), dirty, rect.height()), Qt.ClipOperation.IntersectClip)
        ink.fill(rect, QBrush(QColor(8, 12, 20, 210), Qt.BrushStyle.BDiagPattern), radius)
    ink.painter.restore()


def tier_uses(snapshot: Snapshot) -> Iterable[tuple[int, TierUse]]:
    """Tiers with their codes."""
    return enumerate(snapshot.tiers[: len(theme.TIER_COLOURS)])


def spill_text(snapshot: Snapshot) -> str:
    """When the host tier overflows to disk."""
    if snapshot.spill_chunk is None:
        return "nothing spills: no disk tier"
    left = snapshot.spill_chunk - snapshot.memory.blocks
    if left > 0:
        return f"spills to disk in {left} chunks"
    return f"spilling to disk: {snapshot.memory.spilled_blocks} blocks so far"


class TierCard:
    """Occupancy of the tiers in blocks and bytes, dirty share, spill point."""

    size: ClassVar[tuple[float, float]] = (WIDTH, 26 * theme.GRID)

    def draw(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """Three rows and the spill point."""
        off = snapshot.policy == "none"
        right, colour = ("retrieval off", theme.ALARM) if off else (f"{snapshot.memory.blocks} chunks", theme.QUIET)
        heading(ink, self.size, "Memory", right, colour)
        for row, (tier, use) in enumerate(tier_uses(snapshot)):
            self._row(ink, 48 + 44 * row, tier, use)
        ink.line(QPointF(PAD, 176), QPointF(WIDTH - PAD, 176), theme.RULE)
        ink.text(PAD, 195, spill_text(snapshot), 11, theme.QUIET)

    def _row(self, ink: Ink, y: float, tier: int, use: TierUse) -> None:
        ink.tier_mark(tier, QPointF(PAD + 5, y - 4), 5)
        ink.text(PAD + 16, y, use.name, 12)
        ink.text(WIDTH - PAD, y, f"{use.used} / {use.capacity}", 12, bold=True, align=1)
        tier_bar(ink, QRectF(PAD, y + 6, WIDTH - 2 * PAD, 8), tier, use)
        ink.text(PAD, y + 26, f"{bytes_text(use.used_bytes)} of {bytes_text(use.capacity_bytes)}", 10, theme.QUIET)
        aside = f"{use.dirty} dirty" if use.dirty else use.note
        while aside and text_width(aside, 10) > 96:
            aside = aside[:-2].rstrip() + "…"
        ink.text(WIDTH - PAD, y + 26, aside, 10, theme.QUIET, align=1)


class StallCard:
    """Time the street waited for bytes, which must stay zero, and what it did without."""

    size: ClassVar[tuple[float, float]] = (WIDTH, 16 * theme.GRID)

    def draw(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """One large figure, four small ones."""
        memory = snapshot.memory
        heading(ink, self.size, "Stalls", "stale set" if snapshot.stale else "", theme.ALARM)
        good = memory.stalls_over_half_ms == 0
        ink.text(PAD, 74, f"{memory.stalls_over_half_ms}", 44, theme.CALM if good else theme.ALARM, bold=True)
        ink.text(PAD, 94, "over 0.5 ms", 10, theme.QUIET)
        ink.text(PAD, 112, f"longest {memory.longest_wait_ms:.2f} ms", 10, theme.QUIET)
        figure(ink, 120, 54, f"{100 * memory.prefetch_hit_rate:.1f}%", "prefetched", size=15)
        figure(ink, 184, 54, f"{memory.blocks_wanted}", "wanted", size=15)
        figure(ink, 120, 96, f"{memory.blocks_missed}", "missed", theme.ALARM if memory.blocks_missed else theme.TEXT, size=15)
        figure(ink, 184, 96, f"{memory.stale_uses}", "stale", theme.ALARM if memory.stale_uses else theme.TEXT, size=15)


class DiskCard:
    """Disk rates with their last seconds."""

    size: ClassVar[tuple[float, float]] = (WIDTH, 14 * theme.GRID)

    def draw(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """Read and write, one curve each, on one scale."""
        total = f"{bytes_text(snapshot.memory.disk_read_bytes)} in, {bytes_text(snapshot.memory.disk_written_bytes)} out"
        heading(ink, self.size, "Disk", total)
        top = max(1e6, *readings.read_rates, *readings.write_rates)
        self._row(ink, 54, "read", snapshot.disk_read_rate, readings.read_rates, top, theme.GREEN)
        self._row(ink, 92, "write", snapshot.disk_write_rate, readings.write_rates, top, theme.PURPLE)

    def _row(self, ink: Ink, y: float, label: str, rate: float, curve: Iterable[float], top: float, colour: QColor) -> None:
        figure(ink, PAD, y, rate_text(rate), label, size=14)
        box = QRectF(112, y - 14, WIDTH - PAD - 112, 28)
        values = list(curve)
        step = box.width() / (len(values) - 1)
        points = [QPointF(box.left() + i * step, box.bottom() - box.height() * value / top) for i, value in enumerate(values)]
        shade = QColor(colour)
        shade.setAlpha(60)
        ink.polygon([QPointF(box.left(), box.bottom()), *points, QPointF(box.right(), box.bottom())], shade)
        ink.polyline(points, colour)


class RateCard:
    """The rates that must not be mixed up, and how long a key takes to the picture."""

    size: ClassVar[tuple[float, float]] = (WIDTH, 14 * theme.GRID)

    def draw(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """Two by two."""
        heading(ink, self.size, "Rates", state_text(snapshot))
        figure(ink, PAD, 54, f"{snapshot.generated_fps:.1f}", "generated fps")
        figure(ink, 128, 54, f"{readings.presented.rate:.1f}", "presented fps")
        figure(ink, PAD, 92, f"{readings.display.rate:.0f}", "window paints /s")
        key = readings.key_to_picture_ms
        figure(ink, 128, 92, "–" if key is None else f"{key:.0f} ms", "key to picture")


def state_text(snapshot: Snapshot) -> str:
    """What the street is doing, in few words."""
    if snapshot.paused:
        return "paused"
    if snapshot.opening:
        return "looking around"
    return "resting" if snapshot.idle else f"{snapshot.chunk_ms:.0f} ms a chunk"


class WorldCard:
    """Which world this is."""

    size: ClassVar[tuple[float, float]] = (WIDTH, 5 * theme.GRID)

    def draw(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """One line."""
        ink.panel(QRectF(0, 0, *self.size))
        ink.text(PAD, 25, f"World {snapshot.seed}", 13, bold=True)
        ink.text(WIDTH - PAD, 25, f"{snapshot.model} on {snapshot.device}", 11, theme.QUIET, align=1)


class SummaryCard:
    """All that matters at a glance."""

    size: ClassVar[tuple[float, float]] = (WIDTH, 12 * theme.GRID)

    def draw(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """Rates and stalls above, a thin bar for each tier below."""
        ink.panel(QRectF(0, 0, *self.size))
        memory = snapshot.memory
        figure(ink, PAD, 30, f"{snapshot.generated_fps:.1f}", "fps generated", size=16)
        figure(ink, 112, 30, f"{memory.stalls_over_half_ms}", "stalls", theme.ALARM if memory.stalls_over_half_ms else theme.CALM, size=16)
        off = snapshot.policy == "none"
        figure(ink, 168, 30, "off" if off else f"{memory.blocks}", "memory", theme.ALARM if off else theme.TEXT, size=16)
        tiers = list(tier_uses(snapshot))
        width = (WIDTH - 2 * PAD - 2 * theme.GRID) / 3
        for tier, use in tiers:
            x = PAD + tier * (width + theme.GRID)
            ink.tier_mark(tier, QPointF(x + 4, 66), 4)
            ink.text(x + 13, 70, use.name, 10, theme.QUIET)
            tier_bar(ink, QRectF(x, 77, width, 6), tier, use)
