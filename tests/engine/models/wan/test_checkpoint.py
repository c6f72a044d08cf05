from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from worldpager.engine.errors import WeightsError
from worldpager.engine.models.wan.checkpoint import load_module, open_tensors, random_module, shapes_of

CPU = torch.device("cpu")


def build() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2))


def numbers() -> dict[str, Tensor]:
    return {name: torch.randn(shape) for name, shape in shapes_of(build).items()}


def sharded(folder: Path, state: dict[str, Tensor]) -> None:
    names = sorted(state)
    parts = {"part-1.safetensors": names[:2], "part-2.safetensors": names[2:]}
    for file, held in parts.items():
        save_file({name: state[name] for name in held}, str(folder / file))
    index = {"weight_map": {name: file for file, held in parts.items() for name in held}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def half(name: str) -> torch.dtype:
    return torch.float32 if name.startswith("1.") else torch.bfloat16


@pytest.mark.parametrize("layout", ["shards", "single", "file", "pth"])
def test_weights_come_from_every_published_layout_cast_on_their_way(tmp_path: Path, layout: str) -> None:
    state = numbers()
    path = tmp_path
    if layout == "shards":
        sharded(tmp_path, state)
    elif layout == "pth":
        path = tmp_path / "w.pth"
        torch.save(state, path)
    else:
        save_file(state, str(tmp_path / "w.safetensors"))
        path = tmp_path / "w.safetensors" if layout == "file" else tmp_path
    module = load_module(build, open_tensors(path), CPU, half)
    for name, value in module.state_dict().items():
        assert value.dtype == half(name)
        assert torch.equal(value, state[name].to(half(name)))
    assert not any(p.requires_grad for p in module.parameters())


def test_a_prefix_is_taken_off(tmp_path: Path) -> None:
    state = numbers()
    save_file({f"model.{name}": value for name, value in state.items()}, str(tmp_path / "w.safetensors"))
    module = load_module(build, open_tensors(tmp_path).without("model."), CPU, lambda name: torch.float32)
    assert torch.equal(module.state_dict()["0.weight"], state["0.weight"])


def test_missing_parts_are_named_before_anything_is_read(tmp_path: Path) -> None:
    sharded(tmp_path, numbers())
    (tmp_path / "part-2.safetensors").unlink()
    with pytest.raises(WeightsError, match=r"1 of 2 parts.*part-2\.safetensors"):
        open_tensors(tmp_path)


def test_an_index_that_leads_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "../../etc/passwd"}}))
    with pytest.raises(WeightsError, match="outside its folder"):
        open_tensors(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"weight_map": 3}'])
def test_a_damaged_index_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(text)
    with pytest.raises(WeightsError, match=r"index\.json"):
        open_tensors(tmp_path)


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    state = numbers()
    file = tmp_path / "w.safetensors"
    save_file({**state, "0.weight": torch.zeros(5, 5)}, str(file))
    with pytest.raises(WeightsError, match=r"0\.weight is \[5, 5\], not \[2, 3\]"):
        load_module(build, open_tensors(file), CPU, half)
    del state["1.bias"]
    save_file(state, str(file))
    with pytest.raises(WeightsError, match=r"missing, 1\.bias first"):
        load_module(build, open_tensors(file), CPU, half)


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    state = numbers()
    state["0.bias"][1] = float("nan")
    save_file(state, str(tmp_path / "w.safetensors"))
    with pytest.raises(WeightsError, match=r"0\.bias holds numbers"):
        load_module(build, open_tensors(tmp_path), CPU, half)


def test_files_that_are_none_are_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="not there"):
        open_tensors(tmp_path / "nothing")
    with pytest.raises(WeightsError, match="no safetensors file"):
        open_tensors(tmp_path)
    for name in ("w.safetensors", "w.pth"):
        (tmp_path / name).write_bytes(b"rubbish" * 10)
        with pytest.raises(WeightsError, match="can't be read"):
            open_tensors(tmp_path / name)


def test_a_pickle_that_would_run_code_is_refused(tmp_path: Path) -> None:
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (ran,)

    torch.save({"0.weight": Evil()}, tmp_path / "w.pth")
    with pytest.raises(WeightsError, match="safely"):
        open_tensors(tmp_path / "w.pth")
    assert not ran.exists()


def test_random_weights_are_the_same_for_the_same_seed() -> None:
    a, b, c = (random_module(build, CPU, half, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not torch.equal(a["0.weight"], c["0.weight"])
    assert torch.equal(a["1.weight"], torch.ones(2))
