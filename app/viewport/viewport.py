"""What the window asks of a viewport, and which of the two it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from PySide6.QtGui import QImage, QOffscreenSurface, QOpenGLContext, QPainter
from PySide6.QtWidgets import QWidget

from worldpager.engine.types import Frames

ViewportKind = Literal["auto", "opengl", "software"]
DrawOver = Callable[[QPainter], None]
"""Draws the overlays, in the widget's coordinates."""

GL_RENDERER = 0x1F01
SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "software", "swiftshader", "swrast", "basic render")


class Viewport(Protocol):
    """Shows frames with the overlays over them."""

    @property
    def widget(self) -> QWidget:
        """The widget that shows them."""
        ...

    @property
    def paints(self) -> int:
        """How often the widget has been painted."""
        ...

    def show_frame(self, frame: Frames) -> None:
        """Show ``frame``, uint8 [height, width, 3], from the next painting on."""
        ...

    def picture(self) -> QImage:
        """What the widget shows now, overlays included."""
        ...


def renderer() -> str | None:
    """Who draws OpenGL here; None when nobody does. Needs a `QGuiApplication`."""
    context, surface = QOpenGLContext(), QOffscreenSurface()
    surface.create()
    if not context.create() or not context.makeCurrent(surface):
        return None
    version = context.format().version()
    name = context.functions().glGetString(GL_RENDERER)
    context.doneCurrent()
    return str(name or "") if tuple(version) >= (3, 3) else None


def wants_software(kind: ViewportKind, name: str | None) -> bool:
    """Whether the picture is better drawn without OpenGL: as asked, or because ``name`` is a program that would take the model's cores."""
    if kind != "auto":
        return kind == "software"
    return name is None or any(word in name.lower() for word in SOFTWARE_RENDERERS)


def make_viewport(kind: ViewportKind, draw_over: DrawOver) -> Viewport:
    """The viewport for this machine. ``draw_over`` is called at the end of each painting."""
    if wants_software(kind, renderer() if kind == "auto" else None):
        from worldpager.app.viewport.raster_viewport import RasterViewport

        return RasterViewport(draw_over)
    from worldpager.app.viewport.gl_viewport import GLViewport

    return GLViewport(draw_over)
