"""Compiles the programs in ``assets/shaders``."""

from __future__ import annotations

from importlib import resources

from OpenGL import GL

from worldpager.engine.errors import WorldPagerError


class ShaderError(WorldPagerError):
    """The graphics driver refuses a shader."""

    code = "shader"


def build_program(name: str) -> int:
    """The program of ``name.vert`` and ``name.frag``; needs a current context. Raises `ShaderError` with the driver's words."""
    program = int(GL.glCreateProgram())
    shaders = [_compile(f"{name}.vert", GL.GL_VERTEX_SHADER), _compile(f"{name}.frag", GL.GL_FRAGMENT_SHADER)]
    for shader in shaders:
        GL.glAttachShader(program, shader)
    GL.glLinkProgram(program)
    for shader in shaders:
        GL.glDetachShader(program, shader)
        GL.glDeleteShader(shader)
    if not GL.glGetProgramiv(program, GL.GL_LINK_STATUS):
        raise _refusal(name, GL.glGetProgramInfoLog(program))
    return program


def _compile(file: str, kind: int) -> int:
    source = (resources.files("worldpager.assets") / "shaders" / file).read_text()
    shader = int(GL.glCreateShader(kind))
    GL.glShaderSource(shader, source)
    GL.glCompileShader(shader)
    if not GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS):
        raise _refusal(file, GL.glGetShaderInfoLog(shader))
    return shader


def _refusal(name: str, said: bytes | str) -> ShaderError:
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return ShaderError(f"The graphics driver refuses the shader {name}: {text.strip()}", "Set the viewport to software (F1).")
