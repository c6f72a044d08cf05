"""How evenly the picture comes, and how soon, while a model generates: opens the window and plays the scripted tour.

``late`` is the time from when a frame was due to when it was painted; ``jitter`` the distance of each interval between two paintings from
the pace of that moment. Both in milliseconds, over everything after the first seconds; frames of a rest count for nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

WARM_SECONDS = 5.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print one line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m worldpager.app.bench.picture", description=__doc__)
    parser.add_argument("--model", default="tiny", help="which model (tiny)")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long (30)")
    parser.add_argument("--overlay", default="full", choices=("none", "small", "full"), help="panels (full)")
    parser.add_argument("--viewport", default="auto", choices=("auto", "opengl", "software"), help="who draws (auto)")
    parser.add_argument("--size", default="1280x720", help="of the window (1280x720)")
    parser.add_argument("--picture", type=Path, help="keep a screenshot of the end")
    sys.stdout.write(json.dumps(measure(parser.parse_args(arguments))) + "\n")
    return 0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Play and count."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from worldpager.app.bridge import EngineBridge
    from worldpager.app.main_window import MainWindow
    from worldpager.app.preferences import Preferences
    from worldpager.engine.build import default_config
    from worldpager.engine.pose.source import open_source

    sys.setswitchinterval(0.0005)
    application = QApplication.instance() or QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        given = {"overlay": (options.overlay, "bench"), "viewport": (options.viewport, "bench"), "keys_known": (True, "bench")}
        preferences = Preferences(Path(folder) / "window.json", given, {})
        window = MainWindow(default_config(options.model), EngineBridge(), preferences, source=open_source("script:tour"))
        window.resize(*(int(side) for side in options.size.split("x")))
        times = _Times(window)
        window.began_playing.connect(times.begin)
        window.began_playing.connect(lambda: QTimer.singleShot(round(1000 * (options.seconds + WARM_SECONDS)), application.quit))
        window.show()
        window.begin()
        application.exec()
        found = times.found()
        if options.picture:
            window.grab().save(str(options.picture))
        window.close()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {"model": options.model, "cores": os.cpu_count(), "load": round(load, 1), **found}


class _Times:
    """Listens to the viewport beside the presenter."""

    def __init__(self, window: Any) -> None:
        self._window = window
        self._painted: list[tuple[float, float, float]] = []
        self._begun = float("inf")

    def begin(self) -> None:
        """The world is on the screen."""
        self._begun = time.monotonic()
        presenter, viewport = self._window._presenter, self._window.viewport
        before = viewport.on_painted
        seen = [-1.0]

        def painted() -> None:
            if before is not None:
                before()
            if presenter.pacer.due_at != seen[0]:  # a frame, not the same one again
                seen[0] = presenter.pacer.due_at
                self._painted.append((time.monotonic(), presenter.pacer.due_at, presenter.pacer.period))

        viewport.on_painted = painted

    def found(self) -> dict[str, Any]:
        """Percentiles in milliseconds, and counts."""
        rows = np.array([row for row in self._painted if row[0] >= self._begun + WARM_SECONDS]).reshape(-1, 3)
        state, pacer = self._window.hud_state(), self._window._presenter.pacer
        late = 1000 * (rows[:, 0] - rows[:, 1])
        intervals, periods = np.diff(rows[:, 0]), rows[1:, 2]
        jitter = 1000 * np.abs(intervals - periods)[intervals < 4 * periods]
        return {
            "frames": len(rows), "skipped": pacer.skipped, "held_s": round(pacer.held_seconds, 2),
            "late_ms": _percentiles(late), "jitter_ms": _percentiles(jitter),
            "generated_fps": round(state.snapshot.generated_fps, 1) if state else None,
            "shown_fps": round(state.presented_fps, 1) if state else None,
            "key_to_picture_ms": round(1000 * state.key_to_picture) if state and state.key_to_picture else None,
            "stalls": state.snapshot.memory.stalls_over_half_ms if state else None,
        }  # fmt: skip


def _percentiles(values: Any) -> dict[str, float]:
    if len(values) == 0:
        return {}
    return {name: round(float(np.percentile(values, share)), 1) for name, share in (("p50", 50), ("p99", 99), ("max", 100))}


if __name__ == "__main__":
    sys.exit(main())
