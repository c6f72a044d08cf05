"""The picture drawn by OpenGL (3.3 core): one texture, one triangle, a cubic filter.

The rules that keep Qt and OpenGL apart: every state that matters is set on entry; program and vertex array are unbound on leaving; frames
are RGBA, so that the unpack alignment never changes (otherwise Qt's text comes out as noise).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
import OpenGL
from PySide6.QtGui import QImage
from PySide6.QtOpenGLWidgets import QOpenGLWidget
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.viewport.framing import frame_in_window
from worldpager.app.viewport.viewport import RESAMPLING, SURROUND, Frame
from worldpager.engine.errors import WorldPagerError

OpenGL.ERROR_CHECKING = False
OpenGL.ERROR_LOGGING = False

from OpenGL import GL  # noqa: E402 - the switches above count at this import

from worldpager.app.viewport.shaders import ShaderError, build_program  # noqa: E402

log = logging.getLogger(__name__)


class GlViewport(QOpenGLWidget):
    """See `Viewport`."""

    kind = "opengl"

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.on_painted: Callable[[], None] | None = None
        self.driver = ""
        self.failure: WorldPagerError | None = None
        self._fit, self._resampling = "fill", "cubic"
        self._pixels: Frame | None = None
        self._fresh = False
        self._program = self._vertices = self._texture = 0
        self._texture_size = (0, 0)
        self._uniforms: dict[str, int] = {}

    @property
    def widget(self) -> QWidget:
        """Itself."""
        return self

    def show_frame(self, frame: Frame) -> None:
        """Upload ``frame`` at the next painting."""
        height, width = frame.shape[:2]
        if self._pixels is None or self._pixels.shape[:2] != (height, width):
            self._pixels = np.full((height, width, 4), 255, np.uint8)
        self._pixels[..., :3] = frame
        self._fresh = True
        self.update()

    def set_fit(self, fit: str) -> None:
        """Fill the window or show the whole frame."""
        self._fit = fit
        self.update()

    def set_resampling(self, name: str) -> None:
        """Sharp, soft, or single pixels."""
        self._resampling = name
        self.update()

    def picture(self) -> QImage:
        """The picture at the window's size in device pixels."""
        return self.grabFramebuffer()

    def initializeGL(self) -> None:
        """Make program, texture and vertex array; again whenever Qt makes a new context."""
        found = [GL.glGetString(name) for name in (GL.GL_VENDOR, GL.GL_RENDERER, GL.GL_VERSION)]
        self.driver = ", ".join(text.decode() for text in found if text)
        self._texture_size = (0, 0)
        self._fresh = self._pixels is not None
        try:
            self._program = build_program("picture")
        except ShaderError as error:
            log.error("%s", error)
            self.failure = error
            return
        self._uniforms = {name: GL.glGetUniformLocation(self._program, name) for name in ("frame", "size", "crop", "surround", "filtering")}
        self._vertices = GL.glGenVertexArrays(1)
        self._texture = GL.glGenTextures(1)
        GL.glBindTexture(GL.GL_TEXTURE_2D, self._texture)
        for name in (GL.GL_TEXTURE_MIN_FILTER, GL.GL_TEXTURE_MAG_FILTER):
            GL.glTexParameteri(GL.GL_TEXTURE_2D, name, GL.GL_LINEAR)
        for name in (GL.GL_TEXTURE_WRAP_S, GL.GL_TEXTURE_WRAP_T):
            GL.glTexParameteri(GL.GL_TEXTURE_2D, name, GL.GL_CLAMP_TO_EDGE)
        GL.glBindTexture(GL.GL_TEXTURE_2D, 0)

    def paintGL(self) -> None:
        """Draw the newest frame."""
        night = theme.NIGHT
        GL.glClearColor(night.redF(), night.greenF(), night.blueF(), 1.0)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT)
        if self._pixels is None or not self._program:
            return
        ratio = self.devicePixelRatioF()
        GL.glViewport(0, 0, round(self.width() * ratio), round(self.height() * ratio))
        for state in (GL.GL_BLEND, GL.GL_DEPTH_TEST, GL.GL_SCISSOR_TEST, GL.GL_CULL_FACE):
            GL.glDisable(state)
        GL.glActiveTexture(GL.GL_TEXTURE0)
        GL.glBindTexture(GL.GL_TEXTURE_2D, self._texture)
        if self._fresh:
            self._upload(self._pixels)
        self._draw(self._pixels.shape[1], self._pixels.shape[0])
        GL.glBindTexture(GL.GL_TEXTURE_2D, 0)
        if self.on_painted is not None:
            self.on_painted()

    def _upload(self, pixels: Frame) -> None:
        """Copy the frame into the texture, which is made anew when the size changes."""
        height, width = pixels.shape[:2]
        if self._texture_size != (width, height):
            self._texture_size = (width, height)
            GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, GL.GL_RGBA8, width, height, 0, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, pixels)
        else:
            GL.glTexSubImage2D(GL.GL_TEXTURE_2D, 0, 0, 0, width, height, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, pixels)
        self._fresh = False

    def _draw(self, width: int, height: int) -> None:
        """One triangle over the window."""
        crop = frame_in_window((width, height), (self.width(), self.height()), self._fit).crop
        GL.glUseProgram(self._program)
        GL.glUniform1i(self._uniforms["frame"], 0)
        GL.glUniform2f(self._uniforms["size"], width, height)
        GL.glUniform4f(self._uniforms["crop"], *crop)
        GL.glUniform1f(self._uniforms["surround"], SURROUND)
        GL.glUniform1i(self._uniforms["filtering"], RESAMPLING.index(self._resampling))
        GL.glBindVertexArray(self._vertices)
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        GL.glBindVertexArray(0)
        GL.glUseProgram(0)
