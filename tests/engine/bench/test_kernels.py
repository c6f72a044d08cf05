"""The kernels' bench at its reduced size: it measures, and it notices a kernel that is wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from torch import Tensor

from worldpager.engine.bench import kernels
from worldpager.kernels.pack import pack
from worldpager.kernels.record import PackedLayout
from worldpager.kernels.unpack_rotate import unpack

QUICK = ["--device", "cpu", "--repeats", "1"]


def test_a_reduced_run_measures_every_coding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kernels.main([*QUICK, "--json", str(tmp_path / "rows.json")]) == 0
    assert "all kernels right" in capsys.readouterr().out
    rows = json.loads((tmp_path / "rows.json").read_text())
    for coding in kernels.CODINGS:
        assert rows[f"pack, {coding}"]["ms"] > 0
        assert rows[f"unpack + rotate, three blocks, {coding}"]["bytes"] > 0


def test_a_wrong_byte_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    calls = 0

    def spoiled(layout: PackedLayout, keys: Tensor, values: Tensor, records: Sequence[Tensor]) -> None:
        nonlocal calls
        calls += 1
        pack(layout, keys, values, records)
        if calls == 1:
            records[1][layout.keys.codes] ^= 1

    monkeypatch.setattr(kernels, "pack", spoiled)
    assert kernels.main(QUICK) == 1
    assert "WRONG: int4: packed bytes" in capsys.readouterr().out


def test_a_wrong_place_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def misplaced(
        layout: PackedLayout, records: Sequence[Tensor], keys: Tensor, values: Tensor, places: Sequence[int] | None = None,
        turn: Tensor | None = None, start: int = 0,
    ) -> None:  # fmt: skip
        unpack(layout, records, keys, values, None, turn, start)
        if keys.element_size() == 8:
            unpack(layout, records, keys, values, places, turn, start)

    monkeypatch.setattr(kernels, "unpack", misplaced)
    assert kernels.main(QUICK) == 1
    assert "unpacked numbers" in capsys.readouterr().out
