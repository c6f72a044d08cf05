"""Downloading published files through the hub's own client, which shows progress and goes on where it stopped."""

from __future__ import annotations

import importlib
from pathlib import Path

from worldpager.engine.errors import InputError, WeightsError
from worldpager.engine.models.offers import Hosted

INSTALL = "Install it with `pip install 'worldpager[hub]'`, or download the files with a browser and use `worldpager models add FOLDER`."
AGAIN = "Run the same command again: it goes on where it stopped."


def fetch(hosted: Hosted, folder: Path, endpoint: str | None = None) -> None:
    """The files of ``hosted`` into ``folder``. Raises `InputError` without the client, `WeightsError` when the download fails."""
    try:
        hub = importlib.import_module("huggingface_hub")
        importlib.import_module("tqdm").tqdm.monitor_interval = 0  # its watching thread would outlive the download
    except ImportError as error:
        raise InputError("Fetching needs the package huggingface_hub, which is not installed.", INSTALL) from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
        wanted = list(hosted.patterns)
        hub.snapshot_download(hosted.repository, local_dir=str(folder), allow_patterns=wanted, endpoint=endpoint, max_workers=2)
    except Exception as error:
        words = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {words[0] if words else 'no reason given'}"
        raise WeightsError(f"{hosted.model} could not be fetched from {hosted.repository}: {reason}", AGAIN) from error
    if not any(path.suffix == ".safetensors" for path in folder.rglob("*.safetensors")):
        raise WeightsError(f"{hosted.repository} holds none of the files of {hosted.model}.", "The publisher may have moved them.")
