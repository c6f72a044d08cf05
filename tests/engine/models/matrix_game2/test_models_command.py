"""`worldpager models`: published folders of reduced size, added, refused, verified, removed, fetched from a stand-in hub."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import torch
from safetensors.torch import load_file, save_file

from worldpager.engine.cli import main
from worldpager.engine.models.library import Library
from worldpager.engine.models.matrix_game2.adapter import UNIVERSAL
from worldpager.engine.models.matrix_game2.clip import ClipConfig, ClipVision
from worldpager.engine.models.matrix_game2.config import PUBLISHED, DitConfig, parse_config
from worldpager.engine.models.matrix_game2.network import MatrixGameDit
from worldpager.engine.models.matrix_game2.parts import Design
from worldpager.engine.models.matrix_game2.tiny_decoder import TinyDecoder
from worldpager.engine.models.wan.checkpoint import random_module
from worldpager.engine.models.wan.vae import WanVae

CLIP_FILE = "models_clip_open-clip-xlm-roberta-large-vit-huge-14.pth"
FOLDER = "base_distilled_model"


def small_design() -> Design:
    return replace(Design.small("universal"), clip=ClipConfig(image=28, heads=4, hidden=32, blocks=1))


def published_config(config: DitConfig) -> dict[str, Any]:
    a = config.action
    action = {
        "blocks": list(a.blocks), "enable_keyboard": True, "enable_mouse": bool(a.mouse), "heads_num": a.heads, "hidden_size": a.key_hidden,
        "img_hidden_size": config.width, "keyboard_dim_in": a.keys, "keyboard_hidden_dim": a.width, "mouse_dim_in": a.mouse or 2,
    }  # fmt: skip
    return {
        "_class_name": "CausalWanModel", "model_type": "i2v", "dim": config.width, "ffn_dim": config.ffn, "num_heads": config.heads,
        "num_layers": config.blocks, "local_attn_size": config.window, "sink_size": config.sink, "in_dim": 36, "out_dim": 16,
        "freq_dim": 256, "eps": 1e-6, "action_config": action,
    }  # fmt: skip


def random_state(build: Callable[[], torch.nn.Module], dtype: torch.dtype, prefix: str = "") -> dict[str, torch.Tensor]:
    module = random_module(build, torch.device("cpu"), lambda name: dtype)
    return {prefix + name: tensor.contiguous() for name, tensor in module.state_dict().items()}


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published folder with the universal variant; never changed."""
    root, design = tmp_path_factory.mktemp("published"), small_design()
    place = root / FOLDER
    place.mkdir()
    (place / "config.json").write_text(json.dumps(published_config(design.network)))
    save_file(random_state(lambda: MatrixGameDit(design.network), torch.float16, "model."), str(place / "base_distill.safetensors"))
    torch.save(random_state(lambda: WanVae(design.vae), torch.float32), root / "Wan2.1_VAE.pth")
    clip = random_state(lambda: ClipVision(design.clip), torch.float16, "visual.")
    torch.save(clip | {"textual.token_embedding": torch.zeros(4)}, root / CLIP_FILE)
    torch.save(random_state(lambda: TinyDecoder(design.tiny), torch.float32), root / "taew2_1.pth")
    return root


@pytest.fixture
def folder(master: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy by links, a library of its own, and reduced sizes in place of the published ones."""
    design = small_design()
    monkeypatch.setattr(Design, "of", classmethod(lambda cls, config: replace(design, network=config)))
    monkeypatch.setenv("WORLDPAGER_MODELS", str(tmp_path / "library"))
    copy = tmp_path / "published"
    for path in master.rglob("*"):
        target = copy / path.relative_to(master)
        if path.is_dir():
            target.mkdir(parents=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.hardlink_to(path)
    return copy


def rewrite(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def test_a_folder_is_added_with_one_command_and_played_with_another(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "add", str(folder)]) == 0
    said = capsys.readouterr().out
    weights = folder / FOLDER / "base_distill.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest()[:16] in said
    assert f"{weights.stat().st_size:,} bytes" in said
    assert "needs about" in said
    assert "worldpager play --model matrix-game-2" in said
    for options in ({}, {"decoder": "tiny"}):
        model = UNIVERSAL.load({"steps": "2", **options}, torch.device("cpu"))
        assert model.notes == ()
        (chunk,) = model.begin(1, True)
        assert chunk.frames.shape == (9, 64, 96, 3)
        model.close()
    assert main(["models", "list"]) == 0
    assert "added, 0." in next(line for line in capsys.readouterr().out.splitlines() if line.startswith("matrix-game-2 "))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_keys_without_prefix_and_other_float_types_load_the_same_numbers(folder: Path, dtype: torch.dtype) -> None:
    weights = folder / FOLDER / "base_distill.safetensors"
    state = {name.removeprefix("model."): tensor.to(dtype) for name, tensor in load_file(str(weights)).items()}
    weights.unlink()
    save_file(state, str(weights))
    assert main(["models", "add", str(folder)]) == 0
    model = UNIVERSAL.load({}, torch.device("cpu"))
    loaded = model._player.parts.network.state_dict()
    assert all(torch.equal(loaded[name], tensor.float()) for name, tensor in state.items())
    model.close()


def spoil_nothing_there(folder: Path) -> None:
    (folder / FOLDER / "base_distill.safetensors").unlink()


def spoil_empty(folder: Path) -> None:
    rewrite(folder / FOLDER / "base_distill.safetensors", b"")


def spoil_cut_short(folder: Path) -> None:
    path = folder / FOLDER / "base_distill.safetensors"
    rewrite(path, path.read_bytes()[:-1000])


def spoil_pointer(folder: Path) -> None:
    rewrite(folder / FOLDER / "base_distill.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n")


def _some(folder: Path, keep: Callable[[str], bool], rename: Callable[[str], str] = lambda name: name) -> None:
    path = folder / FOLDER / "base_distill.safetensors"
    state = {rename(name): tensor for name, tensor in load_file(str(path)).items() if keep(name)}
    path.unlink()
    save_file(state, str(path))


def spoil_partial(folder: Path) -> None:
    _some(folder, lambda name: "blocks.2." not in name)


def spoil_other_names(folder: Path) -> None:
    _some(folder, lambda name: True, lambda name: name.replace("model.", "transformer/"))


def spoil_other_size(folder: Path) -> None:
    config = published_config(replace(small_design().network, ffn=512))
    rewrite(folder / FOLDER / "config.json", json.dumps(config).encode())


def spoil_foundation(folder: Path) -> None:
    config = published_config(replace(PUBLISHED["universal"], window=-1))
    config["action_config"]["blocks"] = list(range(30))
    rewrite(folder / FOLDER / "config.json", json.dumps(config).encode())


def spoil_config(folder: Path) -> None:
    rewrite(folder / FOLDER / "config.json", b"{")


def spoil_vae(folder: Path) -> None:
    (folder / "Wan2.1_VAE.pth").unlink()


def spoil_pickle(folder: Path) -> None:
    (folder / CLIP_FILE).unlink()
    torch.save({"visual.x": Path("code")}, folder / CLIP_FILE)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (spoil_nothing_there, "the weights are missing"), (spoil_empty, "empty file"), (spoil_cut_short, "ended early"),
        (spoil_pointer, "git-lfs pointer"), (spoil_partial, "partial"), (spoil_other_names, "another model"),
        (spoil_other_size, "another size"), (spoil_foundation, "foundation model"), (spoil_config, "can't be read"),
        (spoil_vae, r"Wan2\.1_VAE.* is missing"), (spoil_pickle, "can't be read safely"),
    ],
)  # fmt: skip
def test_what_can_not_be_played_is_refused_with_the_reason(
    folder: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(folder)
    assert main(["models", "add", str(folder)]) == 2
    said = capsys.readouterr()
    assert re.search(reason, said.err), said.err
    assert list(Library()) == []


def test_a_folder_of_something_else(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.json").write_text(json.dumps({"model_type": "llama"}))
    assert main(["models", "add", str(other)]) == 1
    assert "no model that is known" in capsys.readouterr().err
    assert main(["models", "add", str(tmp_path / "nowhere")]) == 2


def test_changed_files_are_noticed_and_removing_deletes_converted_ones_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["models", "add", str(folder)])
    assert main(["models", "verify", "matrix-game-2"]) == 0
    weights = folder / FOLDER / "base_distill.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    rewrite(weights, bytes(content))
    assert main(["models", "verify", "matrix-game-2"]) == 1
    assert "other bytes" in capsys.readouterr().err
    rewrite(weights, bytes(content[:-1]))
    with pytest.raises(Exception, match="has changed"):
        UNIVERSAL.load({}, torch.device("cpu"))
    assert len(list(Library().converted.iterdir())) == 3
    assert main(["models", "remove", "matrix-game-2"]) == 0
    assert list(Library().converted.iterdir()) == []
    assert weights.exists()
    assert (folder / "Wan2.1_VAE.pth").exists()
    assert main(["models", "remove", "matrix-game-2"]) == 1


# Fetching


class StandInHub(BaseHTTPRequestHandler):
    """As much of the hub as downloading a repository needs: its list of files, and files by range."""

    root: Path
    ranges: list[str]
    cut: list[str]
    """Names of files whose next download breaks off in its middle."""
    gone = False

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        if self.gone:
            self.send_error(404)
        elif path.startswith("/api/models/"):
            files = [p for p in sorted(self.root.rglob("*")) if p.is_file()]
            siblings = [{"rfilename": str(p.relative_to(self.root)), "size": p.stat().st_size} for p in files]
            tree = [{"type": "file", "path": s["rfilename"], "size": s["size"], "oid": "0" * 40} for s in siblings]
            name = "Skywork/Matrix-Game-2.0"
            repository = {"id": name, "modelId": name, "sha": "a" * 40, "siblings": siblings, "private": False, "tags": []}
            self._send(json.dumps(tree if "/tree/" in path else repository).encode(), "application/json", body)
        else:
            self._file(self.root / path.split("/resolve/", 1)[1].split("/", 1)[1], body)

    def _file(self, path: Path, body: bool) -> None:
        content = path.read_bytes()
        asked = self.headers.get("Range", "")
        first = int(asked.removeprefix("bytes=").split("-")[0]) if asked and body else 0
        if first:
            self.ranges.append(f"{path.name} {first}")
        self.send_response(206 if first else 200)
        etag = hashlib.sha256(content).hexdigest()
        for name, value in (
            ("ETag", f'"{etag}"'), ("X-Repo-Commit", "a" * 40), ("Accept-Ranges", "bytes"), ("Content-Length", str(len(content) - first)),
            ("Content-Type", "application/octet-stream"),
        ):  # fmt: skip
            self.send_header(name, value)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if body and path.name in self.cut:
            self.cut.remove(path.name)
            self.wfile.write(content[first : len(content) // 2])
            self.close_connection = True
        elif body:
            self.wfile.write(content[first:])

    def _send(self, content: bytes, kind: str, body: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)


@pytest.fixture
def hub(master: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[StandInHub]]:
    """The stand-in on a free port of this machine, named by ``--from``."""
    pytest.importorskip("huggingface_hub", reason="fetching is an extra")
    handler = type("Hub", (StandInHub,), {"root": master, "ranges": [], "cut": [], "gone": False})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.address = f"http://127.0.0.1:{server.server_address[1]}"  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_fetching_downloads_and_adds(hub: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "fetched"
    assert main(["models", "fetch", "matrix-game-2", "--to", str(to), "--from", hub.address]) == 0, capsys.readouterr().err
    assert "matrix-game-2: added" in capsys.readouterr().out
    assert not (to / "taew2_1.pth").exists()
    assert Library().find("matrix-game-2") is not None


def test_a_broken_download_goes_on_where_it_stopped(hub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1 << 16)  # the client keeps whole pieces of this size
    hub.cut.append("base_distill.safetensors")
    line = ["models", "fetch", "matrix-game-2", "--to", str(tmp_path / "fetched"), "--from", hub.address]
    while main(line) != 0:
        assert not hub.cut
    assert any(found.startswith("base_distill.safetensors ") for found in hub.ranges)


def test_a_hub_that_does_not_answer_is_named(hub: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hub.gone = True
    assert main(["models", "fetch", "matrix-game-2", "--to", str(tmp_path / "fetched"), "--from", hub.address]) == 1
    said = capsys.readouterr().err
    assert "could not be fetched from Skywork/Matrix-Game-2.0" in said
    assert "goes on where it stopped" in said


def test_fetching_something_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "fetch", "tiny"]) == 2
    assert "nothing to fetch" in capsys.readouterr().err


def test_configurations_of_the_published_variants_are_read_back() -> None:
    for config in PUBLISHED.values():
        assert asdict(parse_config(published_config(config))) == asdict(config)
