"""Published folders at reduced size: what is found, what is missing, what is added, and that it plays."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from torch import Tensor

from worldpager.engine import cli
from worldpager.engine.errors import InputError, WeightsError
from worldpager.engine.models.library import FOLDER_VARIABLE
from worldpager.engine.models.lingbot_world import published
from worldpager.engine.models.lingbot_world.adapter import SMALLEST
from worldpager.engine.models.lingbot_world.config import NON_COMMERCIAL, PUBLISHED, SMALL, SMALL_VAE
from worldpager.engine.models.lingbot_world.load import load_parts
from worldpager.engine.models.lingbot_world.network import LingBotDit
from worldpager.engine.models.lingbot_world.options import LingBotOptions
from worldpager.engine.models.wan import prompts
from worldpager.engine.models.wan.checkpoint import open_tensors, shapes_of
from worldpager.engine.models.wan.umt5 import Umt5Config, Umt5Encoder

CPU = torch.device("cpu")
VAE = "Wan2.1_VAE.pth"
SmallEncoder = tuple[prompts.Encoder, Umt5Encoder, Umt5Config]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a reduced 1.3B in two shards and an index, and the VAE beside it, as they come from two repositories."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "library"))
    monkeypatch.setitem(PUBLISHED, "1.3b", replace(PUBLISHED["1.3b"], dit=SMALL, vae=SMALL_VAE))
    parts = load_parts(LingBotOptions.read("1.3b", {"random-weights": "yes", "size": "small"}), CPU)
    folder = tmp_path / "downloads"
    network = folder / "lingbot-world-v2-1.3b-causal-fast"
    network.mkdir(parents=True)
    write_shards(network, parts.network.state_dict())
    torch.save(parts.vae.state_dict(), folder / VAE)
    return folder


def write_shards(folder: Path, state: dict[str, Tensor]) -> None:
    names = sorted(state)
    shards = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, held in shards.items():
        save_file({name: state[name] for name in held}, str(folder / file))
    index = {"weight_map": {name: file for file, held in shards.items() for name in held}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


@pytest.mark.parametrize("variant", PUBLISHED)
def test_the_published_models_have_these_tensors_and_parameters(variant: str) -> None:
    known = PUBLISHED[variant]
    shapes = shapes_of(lambda: LingBotDit(known.dit))
    assert len(shapes) == known.tensors
    assert sum(torch.Size(shape).numel() for shape in shapes.values()) == known.parameters


def test_one_command_adds_the_model_shows_its_terms_and_it_plays(hub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "add", str(hub)]) == 0
    said = capsys.readouterr().out
    assert "lingbot-world: added" in said
    assert NON_COMMERCIAL in said
    assert "GB of GPU memory" in said
    model = SMALLEST.load({"area": "48x80"}, CPU)
    expected = open_tensors(next(hub.glob("*/")))
    state = model._parts.network.state_dict()
    assert all(torch.equal(state[name], expected.take(name)) for name in ("head.head.weight", "blocks.2.cam_scale_layer.weight"))
    assert len(next(iter(model.begin(1, prime=False))).frames) == 13
    assert model.notes == ()
    model.close()
    assert cli.main(["models", "list"]) == 0
    assert "1.3B causal-fast" in capsys.readouterr().out


def test_a_part_that_is_missing_is_named_with_where_to_get_it(hub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (hub / VAE).unlink()
    assert cli.main(["models", "add", str(hub)]) == 2
    said = capsys.readouterr().err
    assert VAE in said
    assert PUBLISHED["14b"].hub in said


def test_a_shard_that_is_missing_is_named(hub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    next(hub.glob("*/model-00002*")).unlink()
    assert cli.main(["models", "add", str(hub)]) == 2
    assert "model-00002-of-00002.safetensors" in capsys.readouterr().err


def test_a_vae_that_another_model_brought_counts(hub: Path, tmp_path: Path) -> None:
    converted = tmp_path / "library" / "converted"
    assert not published.candidates(hub, converted)[0].problems
    (hub / VAE).unlink()
    again = published.candidates(hub, converted)[0]
    assert not again.problems
    assert again.files["vae"][0].parent == converted


def test_the_large_models_are_told_apart_by_their_folders(hub: Path) -> None:
    names = frozenset({published.MARK, published.FIRST})
    assert published._variant(hub / "lingbot-world-v2-14b" / "transformers", names) == "14b"
    assert published._variant(hub / "lingbot-world-fast", names) == "1.0-fast"
    assert published._variant(hub, frozenset({published.MARK})) == "1.3b"


def test_without_weights_play_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(WeightsError, match="models add"):
        SMALLEST.load({}, CPU)


@pytest.fixture
def encoder(tmp_path: Path) -> SmallEncoder:
    config = Umt5Config(width=8, heads=2, ffn=16, layers=2, vocabulary=10)
    torch.manual_seed(0)
    model = Umt5Encoder(config)
    torch.save(model.state_dict(), tmp_path / "encoder.pth")
    words = Tokenizer(WordLevel({"<pad>": 0, "</s>": 1, "a": 2, "castle": 3, "<unk>": 4}, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    words.save(str(tmp_path / "tokenizer.json"))
    return prompts.Encoder(tmp_path / "encoder.pth", tmp_path / "tokenizer.json"), model, config


def test_a_prompt_is_encoded_layer_by_layer_as_the_whole_encoder_would(encoder: SmallEncoder) -> None:
    files, model, config = encoder
    told: list[float] = []
    vectors = prompts.encode("a  castle", files, told.append, config)
    assert torch.allclose(vectors, model(torch.tensor([2, 3, 1])), atol=1e-6)
    assert told == [0.5, 1.0]


def test_a_tokenizer_and_an_encoder_that_do_not_belong_together_are_refused(encoder: SmallEncoder) -> None:
    files, _, config = encoder
    with pytest.raises(WeightsError, match="another model"):
        prompts.encode("a castle", files, config=replace(config, vocabulary=3))
    files.tokenizer.write_text("{}")
    with pytest.raises(WeightsError, match="tokenizer"):
        prompts.encode("a castle", files, config=config)


def test_a_prompt_without_encoder_says_what_is_missing(hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cli.main(["models", "add", str(hub)]) == 0
    with pytest.raises(InputError, match="has not been encoded"):
        SMALLEST.load({"prompt": "a castle"}, CPU)
