"""Colours, type and measures, in one place.

Tiers and events have the colours of Okabe and Ito's palette, which colour-blind eyes tell apart; wherever a colour means something, a
shape, a place or a word says the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF

DEVICE = QColor("#56B4E9")
HOST = QColor("#009E73")
DISK = QColor("#E69F00")
GONE = QColor("#8A8F98")
ALARM = QColor("#D55E00")
AHEAD = QColor("#CC79A7")
STALE = QColor("#F0E442")
TIERS = (DEVICE, HOST, DISK, GONE)
"""By tier code of the snapshot."""

INK = QColor(255, 255, 255, 238)
SOFT = QColor(255, 255, 255, 165)
FAINT = QColor(255, 255, 255, 110)
LINE = QColor(255, 255, 255, 26)
TROUGH = QColor(255, 255, 255, 24)
CARD = QColor(12, 15, 20, 186)
CARD_EDGE = QColor(255, 255, 255, 22)
NIGHT = QColor(9, 11, 15)

FAMILIES = ("Inter", "SF Pro Text", "Segoe UI", "Cantarell", "Noto Sans", "Roboto", "Ubuntu", "Helvetica Neue", "DejaVu Sans")
DESIGN_HEIGHT, DESIGN_WIDTH = 720, 1280


class Wishes:
    """What a person asked for: enlargement beyond the window's size, and contrast."""

    scale = 1.0
    contrast = False
    still = False
    """Nothing moves that need not."""


def scale_for(width: int, height: int) -> float:
    """Enlargement of all measures in a window of this size: overlays take the same share of a 4K window as of a small one."""
    return max(0.7, min(6.0, width / DESIGN_WIDTH, height / DESIGN_HEIGHT)) * Wishes.scale


def use_contrast(high: bool) -> None:
    """Strong edges, opaque grounds and no faint words; or the usual colours."""
    Wishes.contrast = high
    for colour, (usual, strong) in _ALPHA.items():
        globals()[colour].setAlpha(strong if high else usual)
    CARD.setRgb(0, 0, 0, CARD.alpha()) if high else CARD.setRgb(12, 15, 20, CARD.alpha())


_ALPHA = {
    "INK": (238, 255), "SOFT": (165, 255), "FAINT": (110, 235), "LINE": (26, 120), "TROUGH": (24, 70), "CARD": (186, 245),
    "CARD_EDGE": (22, 190),
}  # fmt: skip
"""Colour: how opaque it is usually and in high contrast."""


def with_alpha(colour: QColor, alpha: int) -> QColor:
    """``colour`` as transparent as ``alpha`` (0 to 255) says."""
    faded = QColor(colour)
    faded.setAlpha(alpha)
    return faded


def family() -> str:
    """The first of the wanted font families that is installed."""
    installed = set(QFontDatabase.families())
    return next((name for name in FAMILIES if name in installed), QFont().family())


def font(pixels: float, weight: QFont.Weight = QFont.Weight.Normal, spacing: float = 0.0) -> QFont:
    """The interface's font with figures of one width; ``spacing`` in pixels between letters."""
    made = QFont(family())
    made.setPixelSize(max(1, round(pixels)))
    made.setWeight(weight)
    made.setFeature(QFont.Tag("tnum"), 1)
    if spacing:
        made.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, spacing)
    return made


@dataclass(frozen=True, slots=True)
class Type:
    """The four voices of the interface."""

    label: QFont
    """What a thing is: small, spaced."""
    body: QFont
    """Words and minor figures."""
    value: QFont
    """The figure that counts."""
    hero: QFont
    """The one figure of a card."""

    @staticmethod
    def voices() -> Type:
        """The voices in the design's own pixels."""
        return Type(
            label=font(10, QFont.Weight.DemiBold, 0.8),
            body=font(12),
            value=font(14, QFont.Weight.DemiBold),
            hero=font(26, QFont.Weight.DemiBold),
        )


def text_width(face: QFont, text: str) -> float:
    """Width of ``text`` in pixels."""
    return QFontMetricsF(face).horizontalAdvance(text)


def _icon(name: str) -> str:
    """Path of an icon, as style sheets want it."""
    return Path(str(resources.files("worldpager.assets") / "icons" / f"{name}.svg")).as_posix()


def sheet(scale: float) -> str:
    """Style sheet of the panels at ``scale``."""

    def px(value: float) -> str:
        return f"{round(value * scale)}px"

    return _sheet(px) + (_contrast(px) if Wishes.contrast else "")


def _contrast(px: Callable[[float], str]) -> str:
    """What high contrast adds."""
    return f"""
    QWidget, QLabel, QLabel#soft, QLabel#note, QLabel#section {{ color: white; }}
    QFrame#panel {{ background: black; border: {px(2)} solid white; }}
    QPushButton, QPushButton#choice, QPushButton#cap, QLineEdit {{ background: black; color: white; border: {px(2)} solid #c0c0c0; }}
    QPushButton#primary, QPushButton#choice:checked {{ background: white; color: black; border-color: white; }}
    QPushButton:focus, QPushButton#choice:focus, QPushButton#cap:focus, QLineEdit:focus {{ border: {px(3)} solid {STALE.name()}; }}
    QCheckBox:focus {{ color: {STALE.name()}; }}
    """


def _sheet(px: Callable[[float], str]) -> str:
    """The usual style."""
    return f"""
    QWidget {{ color: rgba(255,255,255,238); font-family: "{family()}"; font-size: {px(14)}; }}
    QFrame#panel {{ background: rgba(16,19,26,236); border: 1px solid rgba(255,255,255,28); border-radius: {px(14)}; }}
    QLabel {{ background: transparent; }}
    QLabel#title {{ font-size: {px(20)}; font-weight: 600; }}
    QLabel#hero {{ font-size: {px(38)}; font-weight: 600; }}
    QLabel#soft {{ color: rgba(255,255,255,170); }}
    QLabel#section {{ color: rgba(255,255,255,120); font-size: {px(11)}; font-weight: 600; letter-spacing: {px(1)}; }}
    QLabel#cap {{ background: rgba(255,255,255,22); border: 1px solid rgba(255,255,255,34); border-radius: {px(5)};
        padding: {px(2)} {px(8)}; font-weight: 600; font-size: {px(12)}; }}
    QPushButton {{ background: rgba(255,255,255,20); border: 1px solid rgba(255,255,255,38); border-radius: {px(8)};
        padding: {px(8)} {px(18)}; }}
    QPushButton:hover {{ background: rgba(255,255,255,36); }}
    QPushButton:focus, QPushButton#choice:focus {{ border: {px(2)} solid {DEVICE.name()}; }}
    QPushButton#primary {{ background: {DEVICE.name()}; border-color: {DEVICE.name()}; color: #0a0d12; font-weight: 600; }}
    QPushButton#primary:hover {{ background: #79c5f0; }}
    QPushButton#primary:focus {{ border-color: white; }}
    QLineEdit {{ background: rgba(0,0,0,110); border: 1px solid rgba(255,255,255,48); border-radius: {px(8)};
        padding: {px(8)} {px(12)}; font-size: {px(18)}; selection-background-color: {DEVICE.name()}; selection-color: #0a0d12; }}
    QLineEdit:focus {{ border-color: {DEVICE.name()}; }}
    QCheckBox {{ spacing: {px(8)}; background: transparent; }}
    QCheckBox::indicator {{ width: {px(16)}; height: {px(16)}; border: 1px solid rgba(255,255,255,90); border-radius: {px(4)};
        background: rgba(0,0,0,90); }}
    QCheckBox::indicator:checked {{ background: {DEVICE.name()}; border-color: {DEVICE.name()}; image: url("{_icon("tick")}"); }}
    QCheckBox:focus {{ color: {DEVICE.name()}; }}
    QCheckBox::indicator:focus {{ border: {px(2)} solid {DEVICE.name()}; }}
    QSlider:focus {{ border: {px(1)} solid {DEVICE.name()}; border-radius: {px(6)}; }}
    QTableWidget {{ background: transparent; border: none; alternate-background-color: rgba(255,255,255,10); font-size: {px(13)}; }}
    QTableWidget::item {{ padding: {px(3)} {px(6)}; border: none; }}
    QTableWidget::item:selected {{ background: rgba(86,180,233,70); color: white; }}
    QTableWidget:focus {{ border: {px(1)} solid {DEVICE.name()}; }}
    QSlider {{ background: transparent; min-height: {px(22)}; }}
    QSlider::groove:horizontal {{ height: {px(4)}; background: rgba(255,255,255,40); border-radius: {px(2)}; }}
    QSlider::sub-page:horizontal {{ background: {DEVICE.name()}; border-radius: {px(2)}; }}
    QSlider::handle:horizontal {{ width: {px(16)}; margin: -{px(6)} 0; background: white; border-radius: {px(8)}; }}
    QLabel#note {{ color: rgba(255,255,255,150); font-size: {px(12)}; }}
    QScrollArea, QScrollArea > QWidget > QWidget, QStackedWidget {{ background: transparent; }}
    QScrollBar:vertical {{ background: transparent; width: {px(8)}; margin: 0; }}
    QScrollBar::handle:vertical {{ background: rgba(255,255,255,60); border-radius: {px(4)}; min-height: {px(30)}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ height: 0; }}
    QPushButton#cap {{ background: rgba(255,255,255,22); border: 1px solid rgba(255,255,255,34); border-radius: {px(5)};
        padding: {px(2)} {px(10)}; font-weight: 600; font-size: {px(12)}; min-width: {px(70)}; }}
    QPushButton#cap:focus {{ border-color: {DEVICE.name()}; background: rgba(86,180,233,60); }}
    QPushButton:disabled, QSlider:disabled, QCheckBox:disabled {{ color: rgba(255,255,255,110); }}
    QPushButton#choice {{ padding: {px(5)} {px(12)}; font-size: {px(13)}; color: rgba(255,255,255,190); }}
    QPushButton#choice:checked {{ background: rgba(86,180,233,70); border-color: {DEVICE.name()}; color: white; }}
    """
