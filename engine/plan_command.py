"""``worldpager plan``: what a session will need and when, before it is played."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worldpager.engine.errors import InputError
from worldpager.engine.options import assignment, size

if TYPE_CHECKING:
    from worldpager.engine.config import PlayConfig
    from worldpager.engine.planner.cost_model import Room, Workload


def add_parser(commands: Any) -> None:
    """The command's own options."""
    about = "Say when memory spills, what the drive must give, how long it lasts."
    plan = commands.add_parser("plan", help="what a session will need, and when", description=about)
    plan.add_argument("--model", default="tiny", metavar="NAME", help="which model, or `paper`: the WorldPager paper's own machine (tiny)")
    plan.add_argument("--option", action="append", default=[], type=assignment, metavar="NAME=VALUE", help="a setting of the model")
    plan.add_argument("--chunk-ms", type=float, metavar="MS", help="wall time of a chunk (the model's natural rate)")
    plan.add_argument("--host-budget", type=size, metavar="SIZE", help="main memory for blocks")
    plan.add_argument("--disk", type=Path, metavar="DIR", help="folder of the disk tier")
    plan.add_argument("--disk-budget", type=size, metavar="SIZE", help="most that the disk tier may take")
    plan.add_argument("--read-rate", type=size, metavar="SIZE", help="bytes a second that the drive reads (measured with --measure)")
    plan.add_argument("--write-rate", type=size, metavar="SIZE", help="bytes a second that the drive writes")
    plan.add_argument("--measure", action="store_true", help="try the drive of --disk: 256 MiB there and back")
    plan.add_argument("--self-test", action="store_true", help="the planner against the figures of the WorldPager paper")
    plan.add_argument("--json", action="store_true", help="for programs")
    plan.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """``worldpager plan``. Returns 1 when the self-test fails."""
    if options.self_test:
        return self_test()
    from worldpager.engine.planner import report
    from worldpager.engine.planner.cost_model import plan

    if options.chunk_ms is not None and options.chunk_ms <= 0:
        raise InputError(f"A chunk of {options.chunk_ms} ms can't be planned.", "Give --chunk-ms a number above 0.")
    work, room = inputs(options)
    if options.json:
        print(json.dumps({"workload": asdict(work), "room": asdict(room), "plan": asdict(plan(work, room))}, default=str, indent=2))
    else:
        print("\n".join(report.lines(work, room)))
    return 0


def inputs(options: argparse.Namespace) -> tuple[Workload, Room]:
    """Workload and room that the options describe."""
    from worldpager.engine.planner import cost_model, probe

    if options.model == "paper":
        work, room = cost_model.matrix_game_2(), cost_model.paper_room(32)
        if options.chunk_ms:
            work = replace(work, chunk_seconds=options.chunk_ms / 1000)
        return work, _by_hand(room, options)
    config = planned_config(options)
    from worldpager.engine.build import load_for

    model = load_for(config)
    try:
        work = probe.workload(model.spec, config.memory, options.chunk_ms / 1000 if options.chunk_ms else None)
    finally:
        model.close()
    folder = config.memory.disk_dir
    drive = probe.measure_drive(folder) if options.measure and folder is not None else None
    return work, _by_hand(probe.room(config.memory, drive), options)


def planned_config(options: argparse.Namespace) -> PlayConfig:
    """What play would use with the same options."""
    from worldpager.engine.build import default_config

    config = default_config(options.model)
    memory = config.memory
    if options.disk is not None:
        if not options.disk.is_dir():
            raise InputError(f"{options.disk} is no folder.", "Give --disk a folder that exists.")
        memory = replace(memory, disk_dir=options.disk)
    memory = replace(
        memory, host_budget=options.host_budget or memory.host_budget, disk_budget=options.disk_budget or memory.disk_budget
    )  # fmt: skip
    return replace(config, memory=memory, model_options=dict(options.option))


def _by_hand(room: Room, options: argparse.Namespace) -> Room:
    return replace(
        room,
        host_bytes=options.host_budget or room.host_bytes,
        disk_bytes=options.disk_budget or room.disk_bytes,
        read_rate=float(options.read_rate or room.read_rate),
        write_rate=float(options.write_rate or room.write_rate),
    )


def self_test() -> int:
    """Print every figure of the paper beside the planner's; 1 when one disagrees."""
    from worldpager.engine.planner.self_test import checks

    failed = 0
    for check in checks():
        failed += not check.agrees
        verdict = "agrees   " if check.agrees else "DISAGREES"
        print(f"{verdict} {check.name}: paper {check.paper:g}, planned {check.planned:.4g} {check.unit}")
    return 1 if failed else 0
