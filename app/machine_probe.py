"""What the window's side of this machine gives: display, OpenGL, sound. Prints one JSON object.

A program of its own (``python -m worldpager.app.machine_probe``): where a library or a display is missing, Qt may end the whole process.
"""

from __future__ import annotations

import json

GL_RENDERER, GL_VERSION = 0x1F01, 0x1F02


def display() -> dict[str, str]:
    """Qt's platform, the screen, and who draws OpenGL."""
    from PySide6.QtGui import QGuiApplication, QOffscreenSurface, QOpenGLContext

    application = QGuiApplication([])
    screen = application.primaryScreen()
    size = screen.size()
    found = {"display": f"{application.platformName()}, {size.width()}x{size.height()} at {screen.refreshRate():.0f} Hz"}
    context, surface = QOpenGLContext(), QOffscreenSurface()
    surface.create()
    if context.create() and context.makeCurrent(surface):
        functions = context.functions()
        found["opengl"] = f"{functions.glGetString(GL_VERSION)}, drawn by {functions.glGetString(GL_RENDERER)}"
        context.doneCurrent()
    return found


def sound() -> dict[str, str]:
    """PortAudio's output devices."""
    try:
        import sounddevice
    except OSError as error:
        return {"sound": f"not available: {error} (Debian: libportaudio2)"}
    outputs = [device["name"] for device in sounddevice.query_devices() if device["max_output_channels"] > 0]
    return {"sound": ", ".join(outputs) if outputs else "not available: no output device"}


def main() -> None:
    """Print what was found; sound first, since looking for a display may end the process."""
    print(json.dumps(sound()), flush=True)
    print(json.dumps(display()), flush=True)


if __name__ == "__main__":
    main()
