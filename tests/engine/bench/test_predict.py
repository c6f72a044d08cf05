"""Registered predictions, scaled down: written before, played, compared."""

from __future__ import annotations

import json
from pathlib import Path

from worldpager.engine.bench import predict


def test_predictions_are_registered_and_come_true(tmp_path: Path) -> None:
    assert predict.main(["--quick", "--step-ms", "8", "--out", str(tmp_path)]) == 0
    register = json.loads((tmp_path / "predictions.json").read_text())["predictions"]
    results = json.loads((tmp_path / "results.json").read_text())
    assert [row["predicted"] for row in results] == [entry["prediction"] for entry in register]
    chunks = [row for row in results if row["journey"]["speed"] is None]
    assert all(row["hits"]["evict"] for row in chunks)
    slow = next(row for row in results if row["journey"]["speed"] == predict.SPEEDS[0])
    assert slow["hits"]["misses"], "a drive at a tenth of the need must leave blocks missing"


def test_a_prediction_can_be_wrong() -> None:
    said = predict.Prediction(spill=10, evict=12, read=None, misses=True)
    seen = predict.Seen(spill=10, evict=14, read=30, missed=0, wanted=9, stalls=0, longest_wait_ms=0.1)
    assert predict.verdicts(said, seen, timed=False) == {"spill": True, "evict": False, "read": False}
    assert predict.verdicts(said, seen, timed=True) == {"misses": False}
