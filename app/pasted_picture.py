"""A picture in the clipboard as a file that a world can begin with: the file that was copied, or the pixels, kept beside the worlds."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import xxhash
from PySide6.QtCore import QBuffer, QIODevice, QMimeData
from PySide6.QtGui import QImage

KINDS = (".png", ".jpg", ".jpeg", ".webp", ".bmp")


def pictures_kept() -> Path:
    """Where pasted pixels go: a kept world begins with them again."""
    return platformdirs.user_data_path("worldpager") / "pictures"


def pasted_picture(content: QMimeData, folder: Path | None = None) -> Path | None:
    """The picture in ``content``; None where there is none. Pixels are written into ``folder``, the same ones once. Raises OSError."""
    for url in content.urls():
        if url.isLocalFile() and Path(url.toLocalFile()).suffix.lower() in KINDS:
            return Path(url.toLocalFile())
    image = QImage(content.imageData()) if content.hasImage() else QImage()
    if image.isNull():
        return None
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    data = buffer.data().data()
    path = (folder or pictures_kept()) / f"{xxhash.xxh3_64_hexdigest(data)}.png"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path
