"""Tiers with bytes and blocks, dirty share, spill point; stalls; disk traffic."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor

from worldpager.app import theme
from worldpager.app.overlay.card import PAD, Card, HudState, Strokes, bytes_text
from worldpager.app.overlay.status_card import divider, tier_code
from worldpager.app.words import tr
from worldpager.engine.telemetry.snapshot import Snapshot, TierUse

ROW = 51.0
STAGE_COLOURS = {"generate": theme.DEVICE, "place": theme.HOST, "put": theme.DISK}
"""Stages with a colour of their own; all others together are grey."""


class MemoryCard(Card):
    """Three tier bars and the spill point."""

    design_size = (268, 222)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """One row a tier."""
        snapshot = state.snapshot
        strokes.label(PAD, 24, tr("memory"))
        strokes.text_left_of(width - PAD, 25, tr("{count} blocks", count=snapshot.memory.blocks), colour=theme.SOFT)
        for row, tier in enumerate(snapshot.tiers):
            _draw_tier(strokes, tier, 34 + row * ROW, width)
        _draw_spill(strokes, snapshot, 34 + 3 * ROW + 4, width)


def _draw_tier(strokes: Strokes, tier: TierUse, top: float, width: float) -> None:
    """Shape, name and bytes; the bar with its dirty part hatched; blocks and what is to be known."""
    code = tier_code(tier.name)
    strokes.mark(PAD + 5, top + 10, code, 4.5)
    strokes.text(PAD + 17, top + 15, tr(tier.name), strokes.type.value)
    full = f" / {bytes_text(tier.capacity_bytes)}"
    at = strokes.text_left_of(width - PAD, top + 15, full, colour=theme.FAINT)
    strokes.text_left_of(at, top + 15, bytes_text(tier.used_bytes))
    bar = QRectF(PAD, top + 21, width - 2 * PAD, 8)
    filled = strokes.bar(bar, tier.used / tier.capacity if tier.capacity else 0.0, theme.TIERS[code])
    if tier.dirty and tier.used:
        part = QRectF(filled)
        part.setLeft(filled.right() - filled.width() * min(1.0, tier.dirty / tier.used))
        strokes.hatch(part, QColor(0, 0, 0, 150))
    strokes.text(PAD, top + 43, tr("{used} of {all} blocks", used=tier.used, all=tier.capacity), colour=theme.FAINT)
    if tier.dirty and tier.used:
        strokes.text_left_of(width - PAD, top + 43, tr("{share} dirty", share=f"{tier.dirty / tier.used:.0%}"), colour=theme.SOFT)
    elif tier.when_full and tier.used == tier.capacity:
        full = tr("full: the least useful go") if tier.when_full == "drop-least-useful" else tr("full: new ones are not kept")
        strokes.text_left_of(width - PAD, top + 43, full, colour=theme.SOFT)
    elif tier.note:
        strokes.text_left_of(width - PAD, top + 43, tr(tier.note), colour=theme.FAINT)


def _draw_spill(strokes: Strokes, snapshot: Snapshot, top: float, width: float) -> None:
    """When the host tier will overflow, or since when it has."""
    divider(strokes, top, width)
    spilled = snapshot.memory.spilled_blocks
    if spilled:
        text = tr("{count} blocks spilled to disk", count=spilled)
    elif snapshot.spill_chunk is None:
        text = tr("no disk tier to spill to")
    else:
        left = max(0, snapshot.spill_chunk - snapshot.chunk)
        text = tr("spills at chunk {chunk}, in {left}", chunk=snapshot.spill_chunk, left=left)
    strokes.label(PAD, top + 19, tr("spill"))
    strokes.text_left_of(width - PAD, top + 20, text, colour=theme.DISK if spilled else theme.SOFT)


class StallCard(Card):
    """The number that must stay 0, and what stands behind it."""

    design_size = (268, 164)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Stalls; misses, stale uses, hits, wasted; where a chunk's time goes."""
        memory = state.snapshot.memory
        stalls = memory.stalls_over_half_ms
        strokes.text(PAD, 40, str(stalls), strokes.type.hero, theme.ALARM if stalls else theme.INK)
        x = PAD + theme.text_width(strokes.type.hero, str(stalls)) + 10
        strokes.text(x, 26, tr("stall over 0.5 ms") if stalls == 1 else tr("stalls over 0.5 ms"), colour=theme.SOFT)
        strokes.text(x, 41, tr("longest wait {ms} ms", ms=f"{memory.longest_wait_ms:.2f}"), colour=theme.FAINT)
        column = (width - 2 * PAD) / 4
        facts = (
            (tr("hits"), f"{memory.prefetch_hit_rate:.0%}", theme.INK),
            (tr("misses"), str(memory.blocks_missed), theme.DISK if memory.blocks_missed else theme.INK),
            (tr("stale"), str(memory.stale_uses), theme.STALE if memory.stale_uses else theme.INK),
            (tr("unused"), str(memory.prefetch_wasted), theme.INK),
        )
        divider(strokes, 53, width)
        for place, (name, figure, colour) in enumerate(facts):
            strokes.text(PAD + place * column, 75, figure, strokes.type.value, colour)
            strokes.label(PAD + place * column, 90, name)
        divider(strokes, 101, width)
        _draw_stages(strokes, state.snapshot, 110, width)


def _draw_stages(strokes: Strokes, snapshot: Snapshot, top: float, width: float) -> None:
    """One bar of a chunk's stages, the three that matter named."""
    strokes.label(PAD, top + 10, tr("one chunk"))
    total = sum(snapshot.stage_ms.values())
    strokes.text_left_of(width - PAD, top + 10, f"{total:.0f} ms", colour=theme.SOFT)
    bar = QRectF(PAD, top + 17, width - 2 * PAD, 6)
    strokes.bar(bar, 0.0, theme.GONE)
    x = bar.left()
    named = {stage: snapshot.stage_ms.get(stage, 0.0) for stage in STAGE_COLOURS}
    for stage, ms in [*named.items(), ("rest", total - sum(named.values()))]:
        share = ms / total if total > 0 else 0.0
        strokes.fill(QRectF(x, bar.top(), share * bar.width(), bar.height()), STAGE_COLOURS.get(stage, theme.GONE))
        x += share * bar.width()
    x = PAD
    for stage, colour in STAGE_COLOURS.items():
        strokes.fill(QRectF(x, top + 32, 7, 7), colour, 1.5)
        x = strokes.text(x + 11, top + 40, f"{tr(stage)} {_short(named[stage])}", colour=theme.FAINT) + 10


def _short(ms: float) -> str:
    return f"{ms:.0f}" if ms >= 10 else f"{ms:.1f}"


class DiskCard(Card):
    """Disk traffic, now and over the last quarter of a minute."""

    design_size = (268, 118)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """A line for reading, a line for writing, on one scale."""
        memory = state.snapshot.memory
        top = max([1.0, *state.read_rates, *state.write_rates])
        strokes.label(PAD, 24, tr("disk traffic"))
        rows = (
            (tr("read"), state.snapshot.disk_read_rate, memory.disk_read_bytes, state.read_rates, theme.DEVICE),
            (tr("written"), state.snapshot.disk_write_rate, memory.disk_written_bytes, state.write_rates, theme.DISK),
        )
        for row, (name, rate, total, rates, colour) in enumerate(rows):
            y = 50 + row * 36
            strokes.text(PAD, y, name, colour=theme.SOFT)
            strokes.text(PAD, y + 15, tr("{bytes} in all", bytes=bytes_text(total)), colour=theme.FAINT)
            strokes.text_left_of(width - PAD, y, f"{bytes_text(rate)}/s", strokes.type.value)
            spark = QRectF(width - PAD - 112, y + 3, 112, 13)
            strokes.sparkline(spark, list(rates), top, colour)
        strokes.line(QPointF(PAD, 74), QPointF(width - PAD, 74), theme.LINE)
