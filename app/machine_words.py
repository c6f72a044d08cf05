"""What the machine gives, in lines for a person; and what was measured of each model when it was played here last."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from worldpager.app.overlay.card import bytes_text
from worldpager.app.words import tr
from worldpager.engine.config import PlayConfig
from worldpager.engine.offer import ModelOffer, machine_offer, outlook
from worldpager.engine.telemetry.snapshot import Snapshot

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Measured:
    """One model as it was last played here: frames a second, frames of a chunk, bytes of a block."""

    fps: float
    frames_per_chunk: int
    block_bytes: int


def measured_path() -> Path:
    """Where the measurements lie."""
    return platformdirs.user_state_path("worldpager") / "measured.json"


def read_measured(model: str, path: Path | None = None) -> Measured | None:
    """What was measured of ``model``; None where it was never played, or the file says nothing usable."""
    try:
        table = json.loads((path or measured_path()).read_text(encoding="utf-8"))[model]
        found = Measured(float(table["fps"]), int(table["frames_per_chunk"]), int(table["block_bytes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.fps > 0 and found.frames_per_chunk > 0 and found.block_bytes > 0 else None


def keep_measured(snapshot: Snapshot, path: Path | None = None) -> None:
    """Remember what ``snapshot`` says of its model, once it has run for a while."""
    path = path or measured_path()
    if snapshot.generated_fps <= 0 or snapshot.chunk < 1 or not snapshot.tiers:
        return
    found = Measured(round(snapshot.generated_fps, 2), max(1, round(snapshot.frames / snapshot.chunk)), snapshot.tiers[-1].block_bytes)
    try:
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            table = {}
        table = {**(table if isinstance(table, dict) else {}), snapshot.model: asdict(found)}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".new").write_text(json.dumps(table), encoding="utf-8")
        path.with_suffix(".new").replace(path)
    except OSError as error:
        log.info("measurements are not kept: %s", error)


def machine_lines(config: PlayConfig) -> list[str]:
    """Main memory, GPU, disk; and with measurements the minutes until each tier is full."""
    offer = machine_offer(config)
    lines = [tr("main memory: {all}", all=bytes_text(offer.main_memory))]
    if offer.gpu:
        lines.append(tr("GPU: {name}, {bytes}", name=offer.gpu, bytes=bytes_text(offer.gpu_memory)))
    else:
        lines.append(tr("no GPU: the processor computes"))
    if offer.disk_free is None:
        lines.append(tr("no disk tier: what main memory can't hold is not remembered"))
    else:
        lines.append(tr("disk: {free} free, {budget} for blocks", free=bytes_text(offer.disk_free), budget=bytes_text(offer.disk_budget)))
    measured = read_measured(config.model)
    if measured is None:
        lines.append(tr("How long {model} can play until a tier is full is known once it has been played here.", model=config.model))
        return lines
    seen = outlook(offer, measured.block_bytes, measured.frames_per_chunk / measured.fps)
    lines.append(tr("{model} made {fps} frames a second here last time", model=config.model, fps=f"{measured.fps:.1f}"))
    lines.append(tr("{minutes} min of new places until blocks go to disk", minutes=f"{seen.until_disk:.0f}"))
    if offer.disk_free is not None:
        lines.append(tr("{minutes} min until the disk tier is full", minutes=f"{seen.until_full:.0f}"))
    return lines


def model_words(offer: ModelOffer) -> str:
    """What a model is, what it needs, and, where it can't be played, what to do."""
    words = tr("{summary}; {bytes} of main memory for its blocks", summary=tr(offer.summary), bytes=bytes_text(offer.host_budget))
    if offer.weights:
        words += "; " + tr("{bytes} of weights", bytes=bytes_text(offer.weights))
    if not offer.ready:
        how = tr("Not here yet: add a folder with its published files, or run “worldpager models fetch {name}”.", name=offer.name)
        words += "\n" + (offer.trouble or how)
    return words
