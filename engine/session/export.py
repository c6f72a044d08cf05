"""What can be taken out of a kept world: its stills, its action log, its blocks. Films are made by playing it again."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import save_file

from worldpager.engine.config import CodecConfig
from worldpager.engine.errors import InputError
from worldpager.engine.memory.codec import decode, make_codec
from worldpager.engine.memory.layout import aligned_bytes
from worldpager.engine.models.base import KVShape, RotarySpec
from worldpager.engine.session import action_log
from worldpager.engine.session.archive import Archive
from worldpager.engine.session.blocks import KeptBlocks
from worldpager.engine.session.branch import ChunkTree

Progress = Callable[[float], None]

COLUMNS, GAP, MOST_STILLS = 12, 4, 240
BLOCKS_A_FILE = 32


def strip(archive: Archive, path: Path) -> int:
    """A sheet of stills of the path to where play stands, at most `MOST_STILLS` of them. Returns how many. Raises `InputError`."""
    contents, pictures = archive.read(), archive.pictures()
    tree = ChunkTree(contents.chunks, contents.branches, contents.about.get("head"))
    shown = [picture for chunk in tree.path() if (picture := pictures.get(chunk.id)) is not None]
    shown = shown[:: max(1, -(-len(shown) // MOST_STILLS))]
    if not shown:
        raise InputError("This world has no pictures.", "Play it for a while.")
    images = [Image.open(io.BytesIO(picture), formats=("JPEG",)).convert("RGB") for picture in shown]
    width, height = images[0].size
    columns = min(COLUMNS, len(images))
    rows = -(-len(images) // columns)
    sheet = Image.new("RGB", (columns * (width + GAP) - GAP, rows * (height + GAP) - GAP), (12, 15, 20))
    for place, image in enumerate(images):
        sheet.paste(image.resize((width, height)), (place % columns * (width + GAP), place // columns * (height + GAP)))
    _written(path, lambda: sheet.save(path))
    return len(images)


def actions(archive: Archive, path: Path) -> int:
    """The action log as JSON lines: first seed and settings, then one line an event. Returns how many events. Raises `InputError`."""
    about, events = archive.read().about, archive.actions()
    head = {"kind": "world", **{name: value for name, value in about.items() if name not in ("head", "next")}}
    text = "\n".join(json.dumps(line) for line in [head, *action_log.lines(events)])
    _written(path, lambda: path.write_text(text + "\n", encoding="utf-8"))
    return len(events)


def blocks(archive: Archive, folder: Path, kv: KVShape, rotary: RotarySpec, progress: Progress = lambda share: None) -> tuple[int, int]:
    """Keys and values of every chunk, decoded and unplaced, bfloat16, in safetensors files of `BLOCKS_A_FILE` chunks each.

    ``kv`` and ``rotary`` are the model's. Returns (chunks written, chunks whose bytes are damaged or absent). Raises `InputError`.
    """
    contents = archive.read()
    kept = KeptBlocks(archive.folder)
    try:
        codec = make_codec(CodecConfig(**contents.about["codec"]), kv, rotary)
        if codec.record_bytes != kept.facts.record_bytes:
            raise InputError("The blocks are of another shape than the model's.", "Open the world with the model that it was made with.")
        record = aligned_bytes(codec.record_bytes)
        owned = [(chunk.id, chunk.block) for chunk in contents.chunks if chunk.block is not None]
        lost, files = 0, 0
        tensors: dict[str, torch.Tensor] = {}
        for done, (chunk, block) in enumerate(owned, 1):
            if block in kept.rows and kept.read(block, record):
                keys, values = (torch.empty((kv.layers, kv.tokens, kv.heads, kv.head_dim), dtype=torch.bfloat16) for _ in "kv")
                decode(codec, record, keys, values, 0.0)
                tensors |= {f"chunk.{chunk}.keys": keys, f"chunk.{chunk}.values": values}
            else:
                lost += 1
            if len(tensors) >= 2 * BLOCKS_A_FILE or (done == len(owned) and tensors):
                path = folder / f"blocks-{files:05d}.safetensors"
                _written(path, lambda path=path, tensors=tensors: save_file(tensors, str(path)))  # type: ignore[misc]
                tensors, files = {}, files + 1
            progress(done / len(owned))
        return len(owned) - lost, lost
    finally:
        kept.close()


def _written(path: Path, write: Callable[[], object]) -> None:
    """``write`` to ``path``. Raises `InputError` when that can't be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} can't be written: {error}.", "Give another path.") from error
