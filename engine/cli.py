"""The program's entry: ``worldpager [play|plan|sessions|...]``. ``--help`` and ``--version`` load nothing heavy."""

from __future__ import annotations

import argparse
import os
import pkgutil
import shutil
import signal
import sys
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from worldpager.engine import models_command, plan_command, sessions, workspace_command
from worldpager.engine.errors import InputError, TierError, WorldPagerError
from worldpager.engine.options import assignment, size, whole_from

if TYPE_CHECKING:
    from worldpager.engine.config import PlayConfig
    from worldpager.engine.pose.source import ActionSource

COMMANDS = ("play", "plan", "sessions", "workspace", "doctor", "bench", "models", "desktop")
POLICIES = ("pose-overlap", "recency", "worldkv", "host-only", "none")
DISK_POLICIES = ("drop-least-useful", "stop-keeping")
HEADLESS_CHUNKS = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program. Returns the exit status: 0, 1 for a fault, 2 for something that the user can put right, 130 after Ctrl-C."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help", "--version")):
        given.insert(0, "play")
    options = make_parser().parse_args(given)
    options.flags = flags_given(given, vars(options))
    try:
        return int(options.command(options))
    except WorldPagerError as error:
        print(f"worldpager: {error.what}" + (f"\n{error.hint}" if error.hint else ""), file=sys.stderr)
        return 2 if isinstance(error, InputError | TierError) else 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        traceback.print_exc()
        print(f"worldpager: unexpected fault: {type(error).__name__}: {error}\nPlease report it with the lines above.", file=sys.stderr)
        return 1


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="worldpager",
        description="Play world models that remember.",
        epilog="Without a command it plays: `worldpager` is `worldpager play`.",
    )
    parser.add_argument("--version", action="version", version=f"worldpager {version('worldpager')}")
    commands = parser.add_subparsers(metavar="|".join(COMMANDS), required=True)
    play = commands.add_parser("play", help="play a world, in a window or headless", description="Play a world.")
    add_play_options(play)
    play.set_defaults(command=run_play)
    doctor = commands.add_parser(
        "doctor", help="what this machine gives", description="Say what this machine gives, and why not where it doesn't."
    )
    doctor.set_defaults(command=run_doctor)
    bench = commands.add_parser("bench", help="measurements; without a name, list them", description="Run a measurement by name.")
    bench.add_argument("name", nargs="?", help="which one")
    bench.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="its own options")
    bench.set_defaults(command=run_bench)
    sessions.add_parser(commands)
    workspace_command.add_parser(commands)
    models_command.add_parser(commands)
    plan_command.add_parser(commands)
    desktop = commands.add_parser(
        "desktop", help="a place in the menus of this desktop", description="Put the program into the desktop's menus, or take it out."
    )
    desktop.add_argument("what", choices=("install", "remove"), help="menu entry, icon and metainfo, in your own data folder")
    desktop.set_defaults(command=run_desktop)
    return parser


def add_play_options(play: argparse.ArgumentParser) -> None:
    """Options of ``worldpager play``."""
    world = play.add_argument_group("world")
    world.add_argument("--model", default="tiny", metavar="NAME", help="which model (tiny; see `worldpager models`)")
    world.add_argument("--seed", type=whole_from(0), default=7, metavar="N", help="which world (7)")
    world.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"), help="where the model computes (auto)")
    world.add_argument("--no-prime", action="store_true", help="begin with one picture instead of a look-around")
    world.add_argument(
        "--option",
        action="append",
        default=[],
        type=assignment,
        metavar="NAME=VALUE",
        help="a setting of the model itself; may be repeated",
    )
    world.add_argument("--random-weights", action="store_true", help="try the machine with random numbers in place of a model's weights")
    sessions.add_play_options(world)
    world.add_argument("--no-rest", action="store_true", help="go on generating while no key is held")
    memory = play.add_argument_group("memory")
    memory.add_argument("--policy", default="pose-overlap", choices=POLICIES, help="what is brought back (pose-overlap; none = memory off)")
    memory.add_argument("--host-budget", type=size, metavar="SIZE", help="main memory for blocks, such as 64MiB (chosen for the model)")
    memory.add_argument("--disk", type=Path, metavar="DIR", help="folder of the disk tier (the system's temporary folder)")
    memory.add_argument("--disk-budget", type=size, metavar="SIZE", help="most that the disk tier may take (2GiB)")
    memory.add_argument(
        "--disk-policy", choices=DISK_POLICIES, help="a full disk tier: the least useful blocks go (scratch worlds), or new ones don't stay"
    )
    memory.add_argument("--no-disk", action="store_true", help="no disk tier: what main memory can't hold is not remembered")
    memory.add_argument("--device-slots", type=whole_from(1), default=16, metavar="N", help="staging slots for prefetched blocks (16)")
    memory.add_argument(
        "--futures", type=whole_from(1), default=8, metavar="N", help="futures of the camera that blocks are prefetched for (8)"
    )
    memory.add_argument("--read-limit", type=size, metavar="SIZE", help="emulate a drive that reads this much a second")
    memory.add_argument("--write-limit", type=size, metavar="SIZE", help="emulate a drive that writes this much a second")
    run = play.add_argument_group("run")
    run.add_argument(
        "--input",
        default=None,
        metavar="keyboard|script:NAME|FILE.npz",
        help="who steers: keyboard, script:tour, script:spin, script:walk-back or recorded play",
    )
    run.add_argument("--record", type=Path, metavar="FILE.mp4", help="film the play")
    run.add_argument(
        "--demo", action="store_true", help="for a fair or a screen in a hall: a tour that never ends, with the memory shown large"
    )
    run.add_argument("--headless", action="store_true", help="play without a window; steered by script:tour unless --input says otherwise")
    run.add_argument("--chunks", type=whole_from(1), metavar="N", help=f"headless: end after N chunks ({HEADLESS_CHUNKS})")
    run.add_argument("--report", type=Path, metavar="FILE.json", help="headless: write a report")
    run.add_argument("--real-time", action="store_true", help="headless: hold the world to its natural rate")


def flags_given(arguments: Sequence[str], known: Iterable[str]) -> dict[str, str]:
    """Names of the options that stand on the line, each with its flag; the rest have their defaults."""
    names = {f"--{name.replace('_', '-')}": name for name in known}
    written = {argument.partition("=")[0] for argument in arguments if argument.startswith("--") and len(argument) > 2}
    return {name: flag for flag, name in names.items() if any(flag.startswith(each) for each in written)}


def run_play(options: argparse.Namespace) -> int:
    """``worldpager play``."""
    config = sessions.with_world(play_config(options), options)
    if options.headless:
        return play_without_window(config, options)
    for flag, value in (("--chunks", options.chunks), ("--report", options.report), ("--real-time", options.real_time or None)):
        if value is not None:
            raise InputError(f"{flag} belongs to headless play.", "Add --headless, or leave it out.")
    return play_in_window(config, options)


def play_config(options: argparse.Namespace) -> PlayConfig:
    """The settings that the options mean. Raises `InputError` where they contradict each other."""
    from worldpager.engine.build import default_config

    config = default_config(options.model)
    if options.no_disk and (options.disk or options.disk_budget):
        raise InputError("--no-disk and --disk contradict each other.", "Leave one of them out.")
    given = {
        "host_budget": options.host_budget, "disk_dir": options.disk and options.disk.expanduser(), "disk_budget": options.disk_budget,
        "disk_policy": options.disk_policy,
        "read_limit": options.read_limit, "write_limit": options.write_limit, "device_slots": options.device_slots,
    }  # fmt: skip
    memory = replace(config.memory, **{name: value for name, value in given.items() if value is not None})
    if options.no_disk:
        memory = replace(memory, disk_dir=None, disk_budget=None)
    random = {"random-weights": "yes"} if options.random_weights else {}
    return replace(
        config, seed=options.seed, device=options.device, memory=memory, policy=options.policy, prime=not options.no_prime,
        rest_when_idle=not options.no_rest, futures=options.futures, model_options=dict(options.option) | random,
    )  # fmt: skip


def play_without_window(config: PlayConfig, options: argparse.Namespace) -> int:
    """``worldpager play --headless``: prints where the film and the report are, and what matters of it."""
    from worldpager.engine.headless import HeadlessRun, play_headless
    from worldpager.engine.pose.source import open_source

    name = options.input or "script:tour"
    source = open_source(name)
    if source is None:
        raise InputError("Without a window there is no keyboard to play with.", "Use --input script:tour or --input FILE.npz.")
    chunks = options.chunks or (sessions.MOST if options.replay else HEADLESS_CHUNKS)
    run = HeadlessRun(source, chunks, name, options.record, options.report, options.real_time)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stopped run leaves its film and report whole, too
    report = play_headless(config, run, progress=print_progress)
    print(
        f"{report['chunks']} chunks, {report['frames']} frames at {report['generated_fps']} a second on {report['device']}; "
        f"{report['stalls_over_half_ms']} stalls over 0.5 ms, {report['blocks_missed']} of {report['blocks_wanted']} blocks missed, "
        f"{report['spilled_blocks']} spilled to disk"
    )
    if options.replay:
        print(sessions.replay_words(report))
    for path in (options.record, options.report):
        if path is not None:
            print(f"written: {path}")
    return 130 if report["interrupted"] else 0


def print_progress(stage: str, share: float) -> None:
    """One line that is written over on a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{stage} ({share:.0%})", end="" if share < 1 else "\n", file=sys.stderr, flush=True)


def play_in_window(config: PlayConfig, options: argparse.Namespace) -> int:
    """``worldpager play``. Raises `InputError` where there is no screen."""
    from worldpager.engine.pose.source import KEYBOARD, open_source

    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        raise InputError(
            "There is no screen here (neither DISPLAY nor WAYLAND_DISPLAY is set).",
            "Play without a window: worldpager play --headless --input script:tour --record tour.mp4",
        )
    source: ActionSource | None = open_source(options.input or KEYBOARD)
    load_triton_before_opengl()
    run = import_module("worldpager.app.__main__").run
    return int(run(config, source=source, record=options.record, flags=options.flags, demo=options.demo))


def load_triton_before_opengl() -> None:
    """On a machine with an NVIDIA GPU, load Triton now: beside Mesa's LLVM its own dies while loading; the reverse is fine."""
    if shutil.which("nvidia-smi") is not None and find_spec("triton") is not None:
        import_module("triton")


def run_doctor(options: argparse.Namespace) -> int:
    """``worldpager doctor``."""
    from worldpager.engine.doctor import main as doctor

    return doctor()


def run_desktop(options: argparse.Namespace) -> int:
    """``worldpager desktop install|remove``."""
    return int(import_module("worldpager.app.desktop").main(options.what))


def run_bench(options: argparse.Namespace) -> int:
    """``worldpager bench``: each module of `worldpager.engine.bench` is one, its ``main`` takes the rest of the line."""
    import worldpager.engine.bench as bench

    names = [module.name.replace("_", "-") for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_")]
    if options.name is None:
        print("\n".join(names))
        return 0
    if options.name not in names:
        raise InputError(f"There is no measurement {options.name!r}.", f"Known: {', '.join(names)}.")
    return int(import_module(f"worldpager.engine.bench.{options.name.replace('-', '_')}").main(options.rest) or 0)
