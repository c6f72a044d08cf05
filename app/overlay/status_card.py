"""Which world this is, and the rates: generated, shown, recorded, screen; how soon a key is seen."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont

from worldpager.app import theme
from worldpager.app.overlay.card import PAD, Card, HudState, Strokes
from worldpager.app.words import tr
from worldpager.engine.telemetry.snapshot import Snapshot

COLUMNS = (PAD, PAD + 104, PAD + 168)


class StatusCard(Card):
    """The rates in full."""

    design_size = (268, 132)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Title, three rates, the delay."""
        snapshot = state.snapshot
        draw_title(strokes, snapshot, width)
        still = snapshot.idle or snapshot.paused
        second = (tr("recorded"), f"{state.recorded_fps:.0f}") if state.recorded_fps else (tr("screen"), f"{state.screen_fps:.0f}")
        made = "–" if still else f"{snapshot.generated_fps:.1f}"
        rates = ((tr("generated"), made), (tr("shown"), f"{state.presented_fps:.1f}"), second)
        for (name, figure), x in zip(rates, COLUMNS, strict=True):
            hero = x == PAD
            colour = theme.FAINT if still and name != tr("screen") else theme.INK
            strokes.text(x, 66, figure, strokes.type.hero if hero else strokes.type.value, colour)
            strokes.label(x, 84, tr("at rest") if hero and still else name)
        divider(strokes, 96, width)
        strokes.label(PAD, 117, tr("key to picture"))
        strokes.text_left_of(width - PAD, 118, delay_text(state.key_to_picture), strokes.type.value)


class SmallCard(Card):
    """All that matters in one strip: how fast, how soon, how full, no stall."""

    design_size = (268, 112)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Title, rate and delay, the tiers as three thin bars, stalls."""
        snapshot = state.snapshot
        draw_title(strokes, snapshot, width)
        still = snapshot.idle or snapshot.paused
        if still:
            strokes.text(PAD, 61, tr("at rest"), theme.font(18, QFont.Weight.DemiBold), theme.FAINT)
        else:
            end = strokes.text(PAD, 64, f"{snapshot.generated_fps:.1f}", strokes.type.hero)
            strokes.text(end + 5, 64, tr("fps"), colour=theme.SOFT)
        stalls = snapshot.memory.stalls_over_half_ms
        stall_text = tr("no stalls") if not stalls else tr("{count} stalls", count=stalls)
        strokes.text_left_of(width - PAD, 52, tr("{delay} key to picture", delay=delay_text(state.key_to_picture)), colour=theme.SOFT)
        strokes.text_left_of(width - PAD, 67, stall_text, colour=theme.ALARM if stalls else theme.SOFT)
        draw_mini_tiers(strokes, snapshot, width)


def draw_title(strokes: Strokes, snapshot: Snapshot, width: float) -> None:
    """Model and chunk, and the world where a long name leaves room."""
    room = strokes.text_left_of(width - PAD, 26, tr("chunk {number}", number=snapshot.chunk), colour=theme.SOFT) - 8
    world = tr("world {seed}", seed=snapshot.seed)
    end = PAD + theme.text_width(strokes.type.value, snapshot.model)
    strokes.text_within(PAD, 26, room - PAD, snapshot.model, strokes.type.value)
    if end + 8 + theme.text_width(strokes.type.body, world) <= room:
        strokes.text(end + 8, 26, world, colour=theme.SOFT)


def draw_mini_tiers(strokes: Strokes, snapshot: Snapshot, width: float) -> None:
    """Three thin bars side by side, each with its tier's shape and blocks."""
    tiers = snapshot.tiers
    if not tiers:
        return
    gap, face = 12.0, theme.font(11)
    share = (width - 2 * PAD - gap * (len(tiers) - 1)) / len(tiers)
    for column, tier in enumerate(tiers):
        x = PAD + column * (share + gap)
        code = tier_code(tier.name)
        strokes.mark(x + 4, 83, code, 3.6)
        strokes.text(x + 12, 87, tr(tier.name), face, theme.SOFT)
        strokes.text_left_of(x + share, 87, str(tier.used), face)
        strokes.bar(QRectF(x, 94, share, 5), tier.used / tier.capacity if tier.capacity else 0.0, theme.TIERS[code])


def tier_code(name: str) -> int:
    """Tier code of a tier by name."""
    names = ("device", "host", "disk")
    return names.index(name) if name in names else len(names)


def delay_text(seconds: float | None) -> str:
    """A delay in milliseconds."""
    return "–" if seconds is None else f"{seconds * 1000:.0f} ms"


def divider(strokes: Strokes, y: float, width: float) -> None:
    """A hairline across a card."""
    strokes.line(QPointF(PAD, y), QPointF(width - PAD, y), theme.LINE)
