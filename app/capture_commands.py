"""F9 and F12: begins and ends films, keeps pictures, and says how it went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QImage

from worldpager.app import theme
from worldpager.app.bridge import EngineBridge
from worldpager.app.captures import Film, save_picture
from worldpager.app.notices import Notices
from worldpager.app.words import tr
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.mailbox import Record
from worldpager.engine.recorder import RecorderReport
from worldpager.engine.telemetry.snapshot import Snapshot


class CaptureCommands:
    """Keeps what the person wants to keep. ``fail`` shows an error that does not end the play."""

    def __init__(self, bridge: EngineBridge, notices: Notices, fail: Callable[[WorldPagerError], None], parent: QObject) -> None:
        self._bridge, self._notices, self._fail = bridge, notices, fail
        self.film = Film(parent)
        self.film.saved.connect(self._saved)
        self.film.failed.connect(fail)

    def toggle_film(self, snapshot: Snapshot | None) -> None:
        """End the film under way, or begin one."""
        if self.film.recorder is not None:
            self.end_film()
            self._notices.say(tr("finishing the film"))
        elif snapshot is not None:
            self.start_film(snapshot)

    def start_film(self, snapshot: Snapshot, path: Path | None = None) -> None:
        """Begin a film at ``path`` or in the folder for films."""
        spec = self._bridge.spec
        if spec is None:
            return
        try:
            recorder = self.film.start(spec, snapshot, path)
        except WorldPagerError as error:
            self._fail(error)
        else:
            self._bridge.send(Record(lambda chunk: recorder.offer(chunk.frames)))

    def end_film(self) -> None:
        """End the film under way, if there is one; it is made whole in the background."""
        if self.film.recorder is not None:
            self._bridge.send(Record(None))
            self.film.stop()

    def keep_picture(self, take: Callable[[], QImage], snapshot: Snapshot | None) -> None:
        """Save what ``take`` gives, without a passing message in it."""
        if snapshot is None:
            return
        self._notices.toast.say("")
        try:
            path = save_picture(take(), snapshot)
        except WorldPagerError as error:
            self._fail(error)
        else:
            self._notices.say(tr("screenshot saved: {path}", path=path), theme.HOST)

    def _saved(self, report: RecorderReport) -> None:
        if report.frames:
            self._notices.say(tr("film saved: {path}", path=report.path), theme.HOST)
        else:
            report.path.unlink(missing_ok=True)
            self._notices.say(tr("no film: nothing was played meanwhile"), theme.ALARM)
