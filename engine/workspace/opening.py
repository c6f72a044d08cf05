"""Puts a workspace together from a folder and the user's settings."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from worldpager.engine.config import CodecConfig, GiB, MemoryConfig
from worldpager.engine.errors import InputError
from worldpager.engine.models.causal_lm.config import LMConfig
from worldpager.engine.models.causal_lm.load import LoadedLM, load_lm
from worldpager.engine.workspace.config import BLOCK_TOKENS, WorkspaceConfig
from worldpager.engine.workspace.default_model import find_default
from worldpager.engine.workspace.parts import make_policy, make_store
from worldpager.engine.workspace.token_log import FILE, TokenLog
from worldpager.engine.workspace.workspace import Workspace

SPARE_SLOTS = 64


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose; None and "auto" leave it to what the folder was made with, or to the defaults. Sizes in bytes and tokens."""

    model: Path | None = None
    device: str = "auto"
    budget: int | None = None
    policy: str | None = None
    bits: int | None = None
    host_budget: int = GiB
    disk_budget: int | None = None
    answer: int = 128


def create(folder: Path, settings: Settings) -> Workspace:
    """A new workspace in ``folder``. Raises `InputError` when there is one already."""
    if (folder / FILE).exists():
        raise InputError(f"There is a workspace in {folder} already.", "Use it (workspace ask, add), or choose another folder.")
    model = (settings.model or find_default()).resolve()
    lm = load_lm(model, pick_device(settings.device))
    folder.mkdir(parents=True, exist_ok=True)
    log = TokenLog(folder)
    log.set_facts({"path": str(model), "settings": {"budget": settings.budget, "policy": settings.policy, "bits": settings.bits}})
    log.close()
    return _put_together(folder, lm, settings)


def open_workspace(folder: Path, settings: Settings) -> Workspace:
    """The workspace in ``folder``. Raises `InputError` when there is none, or its model is gone."""
    if not (folder / FILE).is_file():
        raise InputError(f"There is no workspace in {folder}.", f"Make one: worldpager workspace new {folder}")
    log = TokenLog(folder)
    facts = log.facts()
    log.close()
    kept = json.loads(facts.get("settings", "{}"))
    chosen = replace(settings, **{name: kept.get(name) for name in ("budget", "policy", "bits") if getattr(settings, name) is None})
    model = settings.model or Path(facts.get("path", ""))
    if not model.exists():
        raise InputError(f"The workspace's model {model} is gone.", "Give the place where it is now (--model).")
    return _put_together(folder, load_lm(model, pick_device(settings.device)), chosen)


def pick_device(name: str) -> torch.device:
    """``auto``, ``cpu`` or ``cuda``. Raises `InputError` where there is no GPU."""
    has_gpu = torch.cuda.is_available()
    if name == "cuda" and not has_gpu:
        raise InputError("This machine has no GPU that torch can use.", "Leave --device out.")
    return torch.device("cuda" if has_gpu and name != "cpu" else "cpu")


def make_config(lm: LMConfig, settings: Settings, device: torch.device) -> WorkspaceConfig:
    """Budgets that fit the model and the machine."""
    standard = WorkspaceConfig()
    answer = settings.answer
    most = lm.context - max(answer, standard.chunk)
    budget = settings.budget or min(most, 6144 if device.type == "cuda" else standard.budget)
    bits = settings.bits or standard.memory.codec.bits
    slots = budget // BLOCK_TOKENS + SPARE_SLOTS
    memory = MemoryConfig(
        codec=CodecConfig(bits=bits, key_group=BLOCK_TOKENS, value_group=min(32, lm.head_dim)), device_slots=slots,
        host_budget=settings.host_budget, disk_budget=settings.disk_budget, watermark=32,
    )  # fmt: skip
    return replace(
        standard, budget=budget, sink=max(BLOCK_TOKENS, budget // 100), recent=budget * 8 // 100, answer=answer,
        policy=settings.policy or standard.policy, memory=memory,
    )  # fmt: skip


def _put_together(folder: Path, lm: LoadedLM, settings: Settings) -> Workspace:
    device, c = lm.model.device, lm.model.config
    config = make_config(c, settings, device)
    config = replace(config, memory=replace(config.memory, disk_dir=folder, keep=True))
    store = make_store(c, config, device)
    try:
        return Workspace(folder, lm, store, make_policy(config.policy, c, device), config)
    except BaseException:
        store.close()
        raise
