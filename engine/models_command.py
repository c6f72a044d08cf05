"""``worldpager models``: which models there are, adding files that the user has, removing, verifying, fetching."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from worldpager.engine.errors import InputError, WeightsError

GB = 1e9
Progress = Callable[[str, float], None]


def add_parser(commands: Any) -> None:
    """The command and its own commands."""
    models = commands.add_parser("models", help="list, add, remove, verify and fetch world models", description="The world models.")
    models.set_defaults(command=list_models)
    actions = models.add_subparsers(metavar="list|add|remove|verify|fetch")
    actions.add_parser("list", help="which models there are, and what is there to play them").set_defaults(command=list_models)
    add = actions.add_parser("add", help="add the models that a folder of published files holds; the files stay where they are")
    add.add_argument("folder", type=Path)
    add.set_defaults(command=add_models)
    for name, words, command in (
        ("remove", "forget a model; published files stay, converted ones go", remove_model),
        ("verify", "read all files of a model and compare their sums", verify_model),
    ):
        action = actions.add_parser(name, help=words)
        action.add_argument("name")
        action.set_defaults(command=command)
    fetch = actions.add_parser("fetch", help="download a model's published files from the hub and add them; goes on where it stopped")
    fetch.add_argument("name")
    fetch.add_argument("--to", type=Path, metavar="FOLDER", help="where the files go (a folder in the library)")
    fetch.add_argument("--from", dest="endpoint", metavar="URL", help="another address of the hub, such as a mirror")
    fetch.set_defaults(command=fetch_model)


def tell(what: str, share: float) -> None:
    """One line that is written over on a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what} ({share:.0%})", end="" if share < 1 else "\r\x1b[K", file=sys.stderr, flush=True)


def list_models(options: argparse.Namespace) -> int:
    """``worldpager models list``."""
    from worldpager.engine.models.library import Library
    from worldpager.engine.models.registry import ENTRIES

    library = Library()
    for entry in ENTRIES.values():
        try:
            added = library.find(entry.name)
            state = f"added, {added.bytes / GB:.2f} GB" if added else ""
            if added:
                added.paths()
        except WeightsError as error:
            state = f"added, but: {error}"
        print(f"{entry.name:25s}{entry.summary}" + (f" ({state})" if state else ""))
    return 0


def add_models(options: argparse.Namespace) -> int:
    """``worldpager models add FOLDER``: everything that the folder holds whole; says what is wrong with the rest."""
    from worldpager.engine.models.library import Library
    from worldpager.engine.models.offers import families

    folder: Path = options.folder.expanduser()
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder.", "Give the folder that holds the published files.")
    library = Library()
    found = [candidate for family in families() for candidate in family.candidates(folder, library.converted)]
    if not found:
        what = f"{folder} holds no model that is known, neither Matrix-Game 2.0 (config.json with an action_config) nor LingBot-World."
        raise WeightsError(what, "Other conversions and other models can't be played; see `worldpager models list` for those that can.")
    whole = [candidate for candidate in found if not candidate.problems]
    for candidate in found:
        for problem in candidate.problems:
            print(f"{candidate.model}: not added. {problem}", file=sys.stderr)
    for candidate in whole:
        added = library.add(candidate.model, candidate.config, candidate.files, tell)
        print(f"{added.model}: added, {added.bytes / GB:.2f} GB")
        for part, file in added.files.items():
            print(f"  {part:14s}{file.bytes:>14,} bytes  {file.sha256[:16]}…  {file.path}")
        if candidate.licence:
            print(f"  licence of the weights: {candidate.licence}")
        print("  " + need_words(dict(candidate.need)))
        print(f"  play it: worldpager play --model {added.model}")
    return 0 if whole else 2


def need_words(need: dict[str, int]) -> str:
    """Need against what is free now."""
    import torch

    from worldpager.engine.models.matrix_game2.need import free_bytes

    parts = ", ".join(f"{name} {size / GB:.2f}" for name, size in need.items() if size >= 0.05 * GB)
    words = f"needs about {sum(need.values()) / GB:.1f} GB of GPU memory ({parts})"
    if not torch.cuda.is_available():
        return words + "; this machine has no GPU that torch can use"
    free = free_bytes(torch.device("cuda"))
    return words + (f"; {free / GB:.1f} GB are free now" if free is not None else "")


def remove_model(options: argparse.Namespace) -> int:
    """``worldpager models remove NAME``."""
    from worldpager.engine.models.library import Library

    gone = Library().remove(options.name)
    print(f"{options.name}: removed" + "".join(f"\n  deleted: {path}" for path in gone))
    return 0


def verify_model(options: argparse.Namespace) -> int:
    """``worldpager models verify NAME``."""
    from worldpager.engine.models.library import Library

    library = Library()
    added = library.find(options.name)
    if added is None:
        raise WeightsError(f"The model {options.name} was not added.", "See `worldpager models list`.")
    wrong = library.verify(added, tell)
    for problem in wrong:
        print(f"{options.name}: {problem}", file=sys.stderr)
    if not wrong:
        print(f"{options.name}: all {len(added.files)} files are as they were when they were added")
    return 1 if wrong else 0


def fetch_model(options: argparse.Namespace) -> int:
    """``worldpager models fetch NAME``: the only command that uses the network, and only when it is called."""
    from worldpager.engine.models.fetch import fetch
    from worldpager.engine.models.library import Library
    from worldpager.engine.models.offers import families

    hosted = {found.model: found for family in families() for found in family.hosted()}
    if options.name not in hosted:
        raise InputError(f"There is nothing to fetch for {options.name!r}.", f"Known: {', '.join(hosted)}.")
    folder = options.to or Library().root / "fetched" / options.name
    fetch(hosted[options.name], folder.expanduser(), options.endpoint)
    return add_models(argparse.Namespace(folder=folder))
