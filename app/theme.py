"""Colours, type and measures of everything drawn over the picture.

The palette is Okabe and Ito's, which people with any kind of colour vision can tell apart; tiers differ in shape, too.
"""

from __future__ import annotations

from PySide6.QtGui import QColor, QFont

ORANGE, SKY, GREEN = QColor("#E69F00"), QColor("#56B4E9"), QColor("#009E73")
YELLOW, VERMILLION, PURPLE = QColor("#F0E442"), QColor("#D55E00"), QColor("#CC79A7")

TIER_COLOURS = (ORANGE, SKY, GREEN)
"""By the tier codes of the snapshot: device, host, disk."""

CARD = QColor(10, 14, 22, 196)
CARD_EDGE = QColor(255, 255, 255, 26)
TROUGH = QColor(255, 255, 255, 30)
RULE = QColor(255, 255, 255, 20)
TEXT = QColor("#F3F6FB")
QUIET = QColor(214, 222, 236, 178)
BACKDROP = QColor("#0B0F17")
ALARM = QColor("#FF7A45")
"""Vermillion, lighter: text in it stays legible on a dark card."""
CALM = QColor("#4FD1A5")
"""Green, lighter, for text."""

GRID = 8.0
"""All distances are multiples of it, in pixels of a window 720 pixels high."""
DESIGN_WIDTH, DESIGN_HEIGHT = 1280.0, 720.0
FAMILIES = ["Inter", "Noto Sans", "Segoe UI", "Ubuntu", "Cantarell", "DejaVu Sans"]


def font(pixels: float, *, bold: bool = False) -> QFont:
    """A face of ``pixels`` height whose figures all have the same width."""
    face = QFont(FAMILIES)
    face.setPixelSize(max(1, round(pixels)))
    face.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    face.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    face.setFeature(QFont.Tag("tnum"), 1)
    return face


def scale_of(width: float, height: float) -> float:
    """How much larger than designed everything is drawn in a window of this size."""
    return max(0.7, min(width / DESIGN_WIDTH, height / DESIGN_HEIGHT))
