"""What draws the picture, whoever does it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage, QOffscreenSurface, QOpenGLContext, QSurfaceFormat
from PySide6.QtWidgets import QWidget

from worldpager.engine.errors import WorldPagerError

log = logging.getLogger(__name__)

Frame = NDArray[np.uint8]
"""One RGB frame, [height, width, 3], contiguous."""

GL_RENDERER = 0x1F01
SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swrast", "software")
RESAMPLING = ("cubic", "linear", "nearest")
SURROUND = 0.28
"""Brightness of what lies beside a frame that is shown whole."""


class Viewport(Protocol):
    """Shows the newest frame in a widget of its own."""

    kind: str
    """``opengl`` or ``software``."""
    driver: str
    """Who draws OpenGL, in the driver's words; empty where nothing does."""
    on_painted: Callable[[], None] | None
    """Called after each painting of the picture."""
    failure: WorldPagerError | None
    """Why nothing can be drawn, once that is known."""

    @property
    def widget(self) -> QWidget:
        """The widget to put into the window."""
        ...

    def show_frame(self, frame: Frame) -> None:
        """Show ``frame`` from the next painting on. It must not change afterwards."""
        ...

    def set_fit(self, fit: str) -> None:
        """``fill`` or ``whole``: see `frame_in_window`."""
        ...

    def set_resampling(self, name: str) -> None:
        """How a frame is enlarged: one of `RESAMPLING`."""
        ...

    def picture(self) -> QImage:
        """What is shown now, without anything that lies over it, in window pixels."""
        ...


def core_profile() -> QSurfaceFormat:
    """The surface format to make the default before the application object: OpenGL 3.3 core, no wait for the screen."""
    surface = QSurfaceFormat()
    surface.setVersion(3, 3)
    surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    surface.setSwapInterval(0)
    return surface


def opengl_renderer() -> str | None:
    """Who draws OpenGL here, in the driver's words; None where there is no OpenGL 3.3 core."""
    context, surface = QOpenGLContext(), QOffscreenSurface()
    surface.create()
    if not context.create() or not context.makeCurrent(surface):
        return None
    try:
        enough = context.format().version() >= (3, 3)  # a tuple, or a struct that compares like one
        return str(context.functions().glGetString(GL_RENDERER)) if enough else None
    finally:
        context.doneCurrent()


def make_viewport(kind: str, parent: QWidget) -> Viewport:
    """The viewport of ``kind``: ``opengl``, ``software``, or ``auto``, which takes OpenGL where a graphics processor draws it."""
    from worldpager.app.viewport.raster_viewport import RasterViewport

    renderer = None if kind == "software" else opengl_renderer()
    in_software = renderer is None or any(word in renderer.lower() for word in SOFTWARE_RENDERERS)
    if kind == "software" or renderer is None or (kind == "auto" and in_software):
        log.info("viewport: software (OpenGL renderer: %s)", renderer or "not asked or none")
        viewport = RasterViewport(parent)
        viewport.driver = renderer or ""
        return viewport
    from worldpager.app.viewport.gl_viewport import GlViewport

    log.info("viewport: OpenGL by %s", renderer)
    return GlViewport(parent)
