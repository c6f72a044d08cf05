"""A driver that refuses the shader: the person reads so, and the program goes on."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.panels.message_panel import MessagePanel
from worldpager.app.viewport import shaders


def test_a_refused_shader_is_told(qtbot: QtBot, open_window: OpenWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    import worldpager.app.viewport.gl_viewport as gl_viewport

    def refuse(name: str) -> int:
        raise shaders.ShaderError(f"The graphics driver refuses the shader {name}: no.", "Set the viewport to software (F1).")

    monkeypatch.setattr(gl_viewport, "build_program", refuse)
    window, street = open_window({"viewport": "opengl"})
    qtbot.waitUntil(lambda: isinstance(window.panel, MessagePanel))
    assert window.exit_code == 0
    assert not street.closed.is_set()
