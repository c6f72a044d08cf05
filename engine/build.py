"""Puts a street together. The only place that names concrete classes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from worldpager.engine.config import MemoryConfig, PlayConfig
from worldpager.engine.errors import InputError
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import WorldModel
from worldpager.engine.models.registry import find_model, load_model
from worldpager.engine.retrieval.none import NoRetrieval
from worldpager.engine.retrieval.policy import RetrievalPolicy
from worldpager.engine.retrieval.pose_overlap import PoseOverlap
from worldpager.engine.retrieval.recency import Recency
from worldpager.engine.retrieval.resident import HostOnly
from worldpager.engine.retrieval.worldkv import WorldKv
from worldpager.engine.session.archive import INDEX, Archive, Contents
from worldpager.engine.session.keeping import check_model, config_of, facts_of, read_whole
from worldpager.engine.session.replay import ReplayMailbox, ReplayMemory, open_replay
from worldpager.engine.session.session import Session
from worldpager.engine.types import FieldOfView

Progress = Callable[[str, float], None]
"""Hears (what is going on, share done from 0 to 1)."""

CopiesOf = Callable[[NDArray[np.int64]], NDArray[np.uint8]]
"""Bits of each block's complete copies."""


def default_config(model: str = "tiny") -> PlayConfig:
    """What ``worldpager play`` uses when nothing is said: a host budget that a few minutes outgrow, and a scratch disk tier.

    Raises `InputError` for an unknown model.
    """
    entry = find_model(model)
    memory = MemoryConfig(host_budget=entry.host_budget, disk_dir=scratch_folder(), disk_budget=entry.disk_budget)
    return PlayConfig(model=model, memory=memory)


def scratch_folder() -> Path:
    """Where a scratch arena goes when no folder is named: the system's folder for large temporary files."""
    large = Path("/var/tmp")
    return large if large.is_dir() else Path(tempfile.gettempdir())


def pick_device(name: str) -> torch.device:
    """``auto`` (a GPU if there is one), ``cpu`` or ``cuda``. Raises `InputError` for another, or when there is no GPU."""
    if name not in ("auto", "cpu", "cuda"):
        raise InputError(f"There is no device {name!r}.", "Choose auto, cpu or cuda.")
    has_gpu = torch.cuda.is_available()
    if name == "cuda" and not has_gpu:
        raise InputError("This machine has no GPU that torch can use.", "Leave --device out, or see `worldpager doctor`.")
    return torch.device("cuda" if has_gpu and name != "cpu" else "cpu")


def make_policies(view: FieldOfView, copies_of: CopiesOf | None = None) -> dict[str, RetrievalPolicy]:
    """One of each retrieval policy, by name; ``host-only`` where ``copies_of`` tells which copies a block has."""
    policies: dict[str, RetrievalPolicy] = {"pose-overlap": PoseOverlap(view), "recency": Recency(), "none": NoRetrieval()}
    policies["worldkv"] = WorldKv()
    return policies | ({"host-only": HostOnly(PoseOverlap(view), copies_of)} if copies_of else {})


def build_generator(config: PlayConfig, *, progress: Progress | None = None) -> WorldGenerator:
    """A street ready to run. ``progress`` is called on this thread.

    Raises `WorldPagerError` naming what can't be had; nothing stays open then.
    """
    tell: Progress = progress or (lambda stage, share: None)
    tell("Looking at the machine", 0.0)
    device = pick_device(config.device)
    replay = None
    if config.replay is not None:
        replay, config = open_replay(config.replay, config)
    with ExitStack() as undo:
        archive, contents = None, None
        if config.world is not None and (config.world / INDEX).exists():
            tell("Opening the world", 0.05)
            archive = Archive.open(config.world)
            undo.callback(archive.close)
            contents = read_whole(archive)
            config = config_of(contents.about, config, config.world)
        tell(f"Loading the model {config.model}", 0.1)
        model = load_model(config.model, config.model_options, device)
        undo.callback(model.close)
        session = Session(facts_of(model, config))
        if config.world is not None and archive is None:
            archive = Archive.create(config.world, session.about)
            undo.callback(archive.discard)
        tell("Making room for the memory", 0.8)
        if contents is not None and archive is not None:
            check_model(contents.about, model, archive.folder)
        store = BlockStore(kept_memory(config), model.spec.kv, model.spec.rotary, model.device)
        undo.callback(store.close)
        if archive is not None:
            take_up(session, archive, contents, store)
            undo.callback(session.close)
        memory, mailbox = store, None
        if replay is not None:
            memory, mailbox = cast("BlockStore", ReplayMemory(store, replay, session)), ReplayMailbox(replay)
        policies = make_policies(model.spec.view, store.copies_of)
        store.rank_by(cast("PoseOverlap", policies["pose-overlap"]).least_useful)
        generator = WorldGenerator(model, memory, policies, config, mailbox=mailbox, session=session)
        undo.pop_all()
    tell("Ready", 1.0)
    return generator


def load_for(config: PlayConfig) -> WorldModel:
    """The model of ``config`` alone, for what needs its shapes. Raises `WorldPagerError`."""
    return load_model(config.model, config.model_options, pick_device(config.device))


def kept_memory(config: PlayConfig) -> MemoryConfig:
    """The memory's settings: those of a kept world put its arena into its folder."""
    if config.world is None:
        return config.memory
    budget = None if config.memory.disk_budget == find_model(config.model).disk_budget else config.memory.disk_budget
    return replace(config.memory, disk_dir=config.world, disk_budget=budget, keep=True)


def take_up(session: Session, archive: Archive, contents: Contents | None, store: BlockStore) -> None:
    """Have the session go on with what the archive holds, or keep itself there from its first chunk on."""
    if contents is None:
        session.keep(archive)
        store.adopt({})
        return
    blocks = {chunk.block: 1 for chunk in contents.chunks if chunk.block is not None}
    missing = store.adopt(blocks)
    session.resume(archive, contents)
    session.lost(missing)
