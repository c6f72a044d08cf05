"""Frames drawn by the GPU: one texture, one triangle, a Catmull-Rom filter in the fragment shader."""

from __future__ import annotations

from importlib import resources

import numpy as np
import OpenGL
from PySide6.QtGui import QImage, QPainter
from PySide6.QtOpenGLWidgets import QOpenGLWidget
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.viewport.resample import GLOW_SIZE, glow, picture_box
from worldpager.app.viewport.viewport import DrawOver
from worldpager.engine.types import Frames

OpenGL.ERROR_CHECKING = False  # costs more than the drawing; the tests look at the pixels
from OpenGL import GL  # noqa: E402
from OpenGL.GL import shaders  # noqa: E402


class GLViewport(QOpenGLWidget):
    """Uploads a frame when it changes and draws it with the overlays over it."""

    def __init__(self, draw_over: DrawOver, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draw_over = draw_over
        self._frame: Frames | None = None
        self._pixels = np.zeros((0, 0, 4), np.uint8)
        self._uploaded = True
        self._program = self._array = 0
        self._textures: list[int] = []
        self.paints = 0

    @property
    def widget(self) -> QWidget:
        """Itself."""
        return self

    def show_frame(self, frame: Frames) -> None:
        """Show ``frame`` from the next painting on."""
        self._frame, self._uploaded = frame, False
        self.update()

    def picture(self) -> QImage:
        """What it shows, overlays included."""
        return self.grabFramebuffer()

    def initializeGL(self) -> None:  # noqa: N802
        """Compile the shaders. Called again in a new context when the widget moves to another window."""
        self._array = int(GL.glGenVertexArrays(1))
        GL.glBindVertexArray(self._array)
        self._program = _program()
        GL.glBindVertexArray(0)
        self._textures = [int(name) for name in GL.glGenTextures(2)]
        self._pixels = np.zeros((0, 0, 4), np.uint8)
        self._uploaded = False

    def paintGL(self) -> None:  # noqa: N802
        """Picture by OpenGL, overlays by QPainter."""
        self.paints += 1
        painter = QPainter(self)
        if self._frame is None:
            painter.fillRect(self.rect(), theme.BACKDROP)
        else:
            painter.beginNativePainting()
            self._draw_frame(self._frame)
            painter.endNativePainting()
        self._draw_over(painter)
        painter.end()

    def _draw_frame(self, frame: Frames) -> None:
        ratio = self.devicePixelRatioF()
        window = round(self.width() * ratio), round(self.height() * ratio)
        height, width, _ = frame.shape
        GL.glViewport(0, 0, *window)
        GL.glDisable(GL.GL_BLEND)
        GL.glDisable(GL.GL_DEPTH_TEST)
        GL.glDisable(GL.GL_SCISSOR_TEST)
        GL.glUseProgram(self._program)
        if not self._uploaded:
            self._upload(frame)
        for unit, texture in enumerate(self._textures):
            GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
            GL.glBindTexture(GL.GL_TEXTURE_2D, texture)
        GL.glUniform2f(GL.glGetUniformLocation(self._program, "window"), *window)
        GL.glUniform4f(GL.glGetUniformLocation(self._program, "box"), *picture_box(window, (width, height)))
        GL.glBindVertexArray(self._array)
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        GL.glBindVertexArray(0)
        GL.glUseProgram(0)
        GL.glActiveTexture(GL.GL_TEXTURE0)

    def _upload(self, frame: Frames) -> None:
        """Frame and glow into their textures, which are made anew when the frame's size has changed."""
        height, width, _ = frame.shape
        new = self._pixels.shape[:2] != (height, width)
        if new:
            self._pixels = np.full((height, width, 4), 255, np.uint8)
            for texture, size in zip(self._textures, ((width, height), GLOW_SIZE), strict=True):
                _make_texture(texture, *size)
        self._pixels[..., :3] = frame
        for texture, pixels in zip(self._textures, (self._pixels, glow(frame)), strict=True):
            GL.glBindTexture(GL.GL_TEXTURE_2D, texture)
            GL.glTexSubImage2D(GL.GL_TEXTURE_2D, 0, 0, 0, pixels.shape[1], pixels.shape[0], GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, pixels)
        self._uploaded = True


def _program() -> int:
    """The linked program, its samplers bound to units 0 and 1."""
    folder = resources.files("worldpager.assets") / "shaders"
    kinds = (("picture.vert.glsl", GL.GL_VERTEX_SHADER), ("picture.frag.glsl", GL.GL_FRAGMENT_SHADER))
    program = shaders.compileProgram(*(shaders.compileShader((folder / name).read_text(), kind) for name, kind in kinds))
    GL.glUseProgram(program)
    for unit, name in enumerate(("frame", "glow")):
        GL.glUniform1i(GL.glGetUniformLocation(program, name), unit)
    GL.glUseProgram(0)
    return int(program)


def _make_texture(texture: int, width: int, height: int) -> None:
    """Storage for RGBA8 pixels, bilinear, edges repeated."""
    GL.glBindTexture(GL.GL_TEXTURE_2D, texture)
    GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, GL.GL_RGBA8, width, height, 0, GL.GL_RGBA, GL.GL_UNSIGNED_BYTE, None)
    for name in (GL.GL_TEXTURE_MIN_FILTER, GL.GL_TEXTURE_MAG_FILTER):
        GL.glTexParameteri(GL.GL_TEXTURE_2D, name, GL.GL_LINEAR)
    for name in (GL.GL_TEXTURE_WRAP_S, GL.GL_TEXTURE_WRAP_T):
        GL.glTexParameteri(GL.GL_TEXTURE_2D, name, GL.GL_CLAMP_TO_EDGE)
