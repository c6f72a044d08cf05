"""``worldpager sessions``: what is kept, how whole it is, what can be taken out of it; and which kept world a play is about."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import InputError
from worldpager.engine.session.archive import INDEX, Archive
from worldpager.engine.session.catalogue import KeptWorld, describe, find_world, kept_worlds, worlds_folder

# Which world a play is about

def add_play_options(group: Any) -> None:
    """Options of ``worldpager play`` about kept worlds."""
    group.add_argument("--keep", metavar="NAME", help="keep the new world: a name, or the path of a folder that holds none yet")
    group.add_argument("--open", metavar="NAME", help="go on with a kept world (see `worldpager sessions list`)")
    group.add_argument("--replay", metavar="NAME", help="play a kept world's actions again; the world stays as it is")


def with_world(config: PlayConfig, options: argparse.Namespace) -> PlayConfig:
    """``config`` with the world that the options name. Raises `InputError` where they contradict each other or name nothing."""
    named = {flag: name for flag in ("keep", "open", "replay") if (name := getattr(options, flag, None)) is not None}
    if len(named) > 1:
        raise InputError(f"--{' and --'.join(named)} contradict each other.", "Leave all but one out.")
    for flag, name in named.items():
        folder = find_world(name)
        if flag == "keep":
            if (folder / INDEX).exists():
                raise InputError(f"{folder} holds a world already.", f"Go on with it by --open {name}, or choose another name.")
            return replace(config, world=folder)
        existing(folder)
        return replace(config, world=folder) if flag == "open" else replace(config, replay=folder)
    return config


def existing(folder: Path) -> Path:
    """``folder`` if it holds a world. Raises `InputError` naming those that there are."""
    if not (folder / INDEX).exists():
        names = ", ".join(world.name for world in kept_worlds(folder.parent)[:8])
        raise InputError(f"There is no kept world {folder}.", f"Kept there: {names or 'none'}.")
    return folder


# worldpager sessions

def add_parser(commands: Any) -> None:
    """The command's own options."""
    sessions = commands.add_parser("sessions", help="kept worlds: list, check, export, delete", description="Look after kept worlds.")
    sessions.add_argument("--folder", type=Path, metavar="DIR", help=f"where they lie ({worlds_folder()})")
    what = sessions.add_subparsers(metavar="list|info|verify|compact|export|delete", required=True)
    listing = what.add_parser("list", help="all kept worlds, the one played last first")
    listing.add_argument("--json", action="store_true", help="for programs")
    listing.set_defaults(command=run_list)
    for name, words, run in (
        ("info", "one world: size, chunks, branches, bookmarks", run_info),
        ("verify", "read all of it and compare every checksum", run_verify),
        ("compact", "give back the room of deleted branches", run_compact),
        ("export", "take something out", run_export),
        ("delete", "remove a world for good", run_delete),
    ):
        one = what.add_parser(name, help=words)
        one.add_argument("world", metavar="NAME", help="its name, or its folder")
        one.set_defaults(command=run)
        if name == "verify":
            one.add_argument("--repair", action="store_true", help="save what can be read of a damaged index; the old one is kept aside")
        if name == "delete":
            one.add_argument("--yes", action="store_true", help="don't ask")
        if name == "export":
            one.add_argument("--video", type=Path, metavar="FILE.mp4", help="a film, by playing it again")
            one.add_argument("--stills", type=Path, metavar="FILE.jpg", help="a sheet of stills")
            one.add_argument("--actions", type=Path, metavar="FILE.jsonl", help="seed, settings and every action, as JSON lines")
            one.add_argument("--blocks", type=Path, metavar="DIR", help="keys and values as safetensors files")


def run_list(options: argparse.Namespace) -> int:
    """``worldpager sessions list``."""
    worlds = kept_worlds(options.folder)
    if options.json:
        rows = [{**asdict(world), "folder": str(world.folder), "thumbnail": len(world.thumbnail)} for world in worlds]
        print(json.dumps(rows, indent=2))
        return 0
    if not worlds:
        print(f"No world is kept in {options.folder or worlds_folder()}.")
    for world in worlds:
        print(f"{world.name:24s}{_facts(world)}")
    return 0


def run_info(options: argparse.Namespace) -> int:
    """``worldpager sessions info``."""
    folder = existing(find_world(options.world, options.folder))
    world = describe(folder)
    print(f"{folder}\n{_facts(world)}")
    if world.problem and not world.model:
        return 1
    db = Archive.peek(folder)
    tips = {chunk.branch: chunk for chunk in db.chunks}
    for branch in db.branches:
        own = sum(chunk.branch == branch.id for chunk in db.chunks)
        begun = "" if branch.fork is None else f", from chunk {branch.fork}"
        tip = f", ends at chunk {tips[branch.id].id}" if branch.id in tips else ""
        print(f"  branch {branch.id} {branch.name!r}: {own} chunks of its own{begun}{tip}")
    for mark in db.bookmarks:
        print(f"  bookmark {mark.name!r}: chunk {mark.chunk}")
    without = sum(chunk.block is None for chunk in db.chunks)
    print(f"  {without} chunks without memory" if without else "  every chunk has its memory")
    return 0


def run_verify(options: argparse.Namespace) -> int:
    """``worldpager sessions verify``: 0 when all is whole, 1 when something is damaged."""
    from worldpager.engine.session.upkeep import repair, verify

    folder = existing(find_world(options.world, options.folder))
    if options.repair:
        saved = repair(folder)
        print(f"saved {saved.chunks} chunks ({saved.relinked} relinked), {saved.pictures} pictures, {saved.actions} lines of the log")
    verdict = verify(folder, lambda share: _tell("checking", share))
    print(f"{verdict.chunks} chunks, {verdict.blocks} blocks read")
    for words, numbers in (("damaged", verdict.damaged), ("missing", verdict.missing)):
        if numbers:
            print(f"{len(numbers)} blocks {words}: chunks {', '.join(map(str, numbers[:20]))}{' ...' if len(numbers) > 20 else ''}")
    if verdict.index:
        print(f"the index is damaged: {verdict.index}")
    if verdict.unowned:
        print(f"{verdict.unowned} blocks belong to no chunk; the next opening or compacting gives their room back")
    print("whole" if verdict.whole else "the rest is whole: damaged blocks count as misses in play")
    return 0 if verdict.whole else 1


def run_compact(options: argparse.Namespace) -> int:
    """``worldpager sessions compact``."""
    from worldpager.engine.session.upkeep import compact

    before, after = compact(existing(find_world(options.world, options.folder)))
    print(f"{_size(before)} before, {_size(after)} now")
    return 0


def run_delete(options: argparse.Namespace) -> int:
    """``worldpager sessions delete``."""
    from worldpager.engine.session.upkeep import delete

    folder = existing(find_world(options.world, options.folder))
    if not options.yes:
        if not sys.stdin.isatty():
            raise InputError("Deleting is for good.", "Add --yes if you mean it.")
        if input(f"Delete {folder} ({_facts(describe(folder))}) for good? [y/N] ").strip().lower() not in ("y", "yes"):
            return 1
    print(f"{_size(delete(folder))} given back")
    return 0


def run_export(options: argparse.Namespace) -> int:
    """``worldpager sessions export``."""
    folder = existing(find_world(options.world, options.folder))
    if not any((options.video, options.stills, options.actions, options.blocks)):
        raise InputError("Nothing is to be exported.", "Say --video, --stills, --actions or --blocks.")
    from worldpager.engine.session import export

    kept = Archive.open(folder)
    try:
        if options.stills:
            print(f"{export.strip(kept, options.stills)} stills: {options.stills}")
        if options.actions:
            print(f"{export.actions(kept, options.actions)} events: {options.actions}")
        if options.blocks:
            print(_export_blocks(kept, options.blocks))
    finally:
        kept.close()
    if options.video:
        print(_film(folder, options.video))
    return 0


def _export_blocks(kept: Archive, folder: Path) -> str:
    """Decoding needs the model's shapes, so the model is loaded for a moment."""
    from worldpager.engine.build import default_config, load_for
    from worldpager.engine.session import export
    from worldpager.engine.session.keeping import config_of

    about = kept.read().about
    model = load_for(config_of(about, default_config(str(about["model"])), kept.folder))
    try:
        written, lost = export.blocks(kept, folder, model.spec.kv, model.spec.rotary, lambda share: _tell("decoding", share))
    finally:
        model.close()
    return f"{written} blocks, {lost} damaged or absent: {folder}"


def _film(folder: Path, path: Path) -> str:
    """Play it again and film it."""
    from worldpager.engine.build import default_config
    from worldpager.engine.headless import HeadlessRun, play_headless
    from worldpager.engine.pose.script import SCRIPTS, Script

    config = replace(default_config(), replay=folder)
    report = play_headless(config, HeadlessRun(Script(SCRIPTS["tour"]), MOST, f"replay of {folder.name}", path), progress=_tell)
    return f"{report['chunks']} chunks: {path}. {replay_words(report)}"


MOST = 1 << 30
"""A replay ends by itself."""


def replay_words(report: dict[str, Any]) -> str:
    """How a replay compares with the first time, for a person."""
    same, compared = report["replay"]["same"], report["replay"]["compared"]
    return f"{same} of {compared} chunks came out bit for bit as the first time."


def _facts(world: KeptWorld) -> str:
    if not world.model:
        return f"{_size(world.size):>9s}  {world.problem}"
    minutes, seconds = divmod(int(world.seconds), 60)
    played = time.strftime("%Y-%m-%d %H:%M", time.localtime(world.played))
    branches = f"{world.branches} branch{'es' if world.branches != 1 else ''}"
    length = f"{world.chunks} chunks ({minutes}:{seconds:02d})"
    facts = f"{_size(world.size):>9s}  {world.model} world {world.seed}, {length}, {branches}, last {played}"
    return facts + (f"  [{world.problem}]" if world.problem else "")


def _size(count: int) -> str:
    power = min(3, (len(str(count)) - 1) // 3)
    return f"{count / 1000**power:.3g} {('B', 'KB', 'MB', 'GB')[power]}"


def _tell(stage: str, share: float) -> None:
    """One line that is written over on a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{stage} ({share:.0%})", end="" if share < 1 else "\n", file=sys.stderr, flush=True)
