"""Matrix-Game 2.0 as the street sees it: three variants, their options, world openings and chunks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from worldpager.engine.errors import ModelError, WeightsError
from worldpager.engine.models.base import ChunkOutput, KVShape, MemoryView, ModelSpec, PastChunk
from worldpager.engine.models.library import Library
from worldpager.engine.models.matrix_game2 import need, resume
from worldpager.engine.models.matrix_game2.conditioning import bundled, fitted
from worldpager.engine.models.matrix_game2.config import PUBLISHED, parse_config
from worldpager.engine.models.matrix_game2.context import CHUNK, Window
from worldpager.engine.models.matrix_game2.controls import MEANINGS, Controls
from worldpager.engine.models.matrix_game2.graphs import PassGraphs
from worldpager.engine.models.matrix_game2.options import STEPS, MatrixGameOptions
from worldpager.engine.models.matrix_game2.parts import Design, Parts, Types, empty_parts, load_parts, random_parts
from worldpager.engine.models.matrix_game2.player import Player
from worldpager.engine.models.matrix_game2.rollout import SHIFT, run_plainly
from worldpager.engine.models.wan.flow import plain_steps
from worldpager.engine.models.wan.rope import rotary_spec
from worldpager.engine.models.wan.start_picture import load_picture
from worldpager.engine.models.wan.vae import SPACE, video_frames
from worldpager.engine.positions.placement import Placement
from worldpager.engine.types import Action, FieldOfView, Motion, Pose

NAMES = {"universal": "matrix-game-2", "gta": "matrix-game-2-gta", "templerun": "matrix-game-2-templerun"}
START = Pose(0.0, 0.0, 0.0, 0.0, 0.0)
FRAMES = video_frames(CHUNK, first=False)
USUAL_SLOTS = 16
"""Staging slots reckoned with before loading."""
RANDOM_NOTE = "random weights: this picture is a trial of the machine, not a world"


class MatrixGame:
    """One variant at play over ``parts``, which lie on their device already."""

    def __init__(self, variant: str, parts: Parts, options: MatrixGameOptions) -> None:
        self._options, design = options, parts.design
        config = design.network
        self._window = Window(config.window + CHUNK * options.sink, CHUNK * options.sink, options.retrieved)
        count = options.steps or (4 if variant == "templerun" else 3)
        device = parts.network.patch_embedding.weight.device
        graphs = device.type == "cuda" and options.graphs != "no"
        self._graphs = PassGraphs(device) if graphs else None
        self._player = Player(parts, self._window, plain_steps(STEPS[count], SHIFT), self._graphs or run_plainly)
        self._controls = Controls(config.action.keys, options)
        self._placement = Placement(CHUNK, options.horizon, options.before)
        self._before = START
        self.notes = (RANDOM_NOTE,) if options.random_weights else ()
        self._spec = self._make_spec(variant)

    def _make_spec(self, variant: str) -> ModelSpec:
        design, options = self._player.parts.design, self._options
        config = design.network
        width, height = design.width * SPACE, design.height * SPACE
        horizontal = math.radians(options.fov)
        vertical = 2 * math.atan(math.tan(horizontal / 2) * height / width)
        recent = config.window - CHUNK
        return ModelSpec(
            name=NAMES[variant], frames_per_chunk=FRAMES, width=width, height=height, rate=options.rate,
            kv=KVShape(config.blocks, CHUNK * design.height * design.width // 4, config.heads, config.head_dim),
            rotary=rotary_spec(config.head_dim), retrieved=options.retrieved, window=-(-recent // CHUNK), memory_offset=0.0,
            view=FieldOfView(horizontal, vertical, options.sight), native_horizon=options.horizon, placement=self._placement,
            keeps_sink=bool(options.sink), controls=MEANINGS[config.action.keys],
        )  # fmt: skip

    @property
    def spec(self) -> ModelSpec:
        """Constants by the options."""
        return self._spec

    @property
    def motion(self) -> Motion:
        """Pose from actions: the makers' own calibration unless the player set another."""
        return self._controls.motion

    @property
    def device(self) -> torch.device:
        """Where the network lies."""
        return self._player.device

    @property
    def memory_view(self) -> MemoryView:
        """The retrieved chunks of the visual context itself."""
        return self._player.rollout.context.visual.view

    @property
    def settings(self) -> dict[str, str]:
        """What was chosen, by option name."""
        options = self._options
        weights = {"weights": "random"} if options.random_weights else {}
        kind = str(self.memory_view.keys.dtype).removeprefix("torch.")
        return {
            "steps": str(len(self._player.steps)), "decoder": "tiny" if options.tiny else "wan", "retrieved": str(options.retrieved),
            "sink": str(options.sink), "before": f"{options.before:g}", "dtype": kind, "graphs": "yes" if self._graphs else "no", **weights,
        }  # fmt: skip

    def heed(self, action: Action) -> Action:
        """What this variant makes of the player's controls; the pose track follows the answer."""
        return self._controls.heed(action)

    def begin(self, seed: int, prime: bool) -> Iterator[ChunkOutput]:
        """One chunk that stands still before the start picture: nine frames."""
        self._player.begin(seed, self._picture(seed))
        self._before = START
        self.heed(Action())
        yield self._chunk((START,) * video_frames(CHUNK, first=True), 0)

    def step(self, poses: Sequence[Pose], retrieved: int) -> ChunkOutput:
        """The next chunk, of the actions that ``poses`` stand for."""
        return self._chunk(poses, retrieved)

    def _chunk(self, poses: Sequence[Pose], retrieved: int) -> ChunkOutput:
        player, chunk = self._player, self._player.chunk
        first = chunk == 0
        rows = self._controls.rows(poses[0] if first else self._before, poses[1:] if first else poses)
        if self._placement.beyond(chunk) and self._options.sink:
            player.rollout.move_sink(self._placement.offsets([0], chunk)[0])
        try:
            clean = player.generate(rows, retrieved)
            kv = player.finish(clean)
            frames = player.decode(clean)
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"{self._spec.name} ran out of memory on {self.device} at chunk {chunk}.",
                "Play it with decoder=tiny, retrieved=1 or fewer --device-slots, or close other programs.",
            ) from error
        self._before = poses[-1]
        return ChunkOutput(frames, tuple(poses), kv)

    def _picture(self, seed: int) -> Tensor:
        """The start picture of world ``seed``: the player's own, or a bundled one."""
        design, path = self._player.parts.design, self._options.image_path
        if path is None:
            pictures = bundled()
            path = pictures[seed % len(pictures)]
        return fitted(load_picture(path), design.height * SPACE, design.width * SPACE)

    # Going back

    def restore(self, seed: int, number: int, sink: PastChunk, newest: Sequence[PastChunk]) -> None:
        """See `Resumable`. Actions before this chunk are heard again only with `take_window_state`."""
        self._player.begin(seed, self._picture(seed))
        poses = newest[0].poses
        before = newest[1].poses[-1] if len(newest) > 1 else poses[0]
        self.heed(Action())
        rows = self._controls.rows(poses[0] if number == 0 else before, poses[1:] if number == 0 else poses)
        resume.stand(self._player, number, sink.kv, [past.kv for past in newest], rows)
        self._before = poses[-1]

    def window_state(self) -> dict[str, Tensor]:
        """See `Resumable`. What the decoder remembers is in it."""
        return resume.state(self._player)

    def take_window_state(self, state: Mapping[str, Tensor]) -> None:
        """See `Resumable`."""
        resume.take_state(self._player, state)

    def close(self) -> None:
        """Let go of weights, windows and recorded passes, so that something else can be loaded."""
        self._graphs = None
        del self._player
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


class Variant:
    """Loads one variant by name; the registry knows these."""

    def __init__(self, variant: str) -> None:
        self.variant = variant

    def load(self, options: Mapping[str, str], device: torch.device) -> MatrixGame:
        """The variant on ``device``, from the files that `worldpager models add` found, or random where that was asked for.

        Raises `InputError` and `WeightsError`; nothing stays loaded then.
        """
        read = MatrixGameOptions.read(options)
        name = NAMES[self.variant]
        if read.random_weights:
            design = Design.small(self.variant) if read.size == "small" else Design.of(PUBLISHED[self.variant])
            need.check_room(name, needed(design, read, device), device)
            return self._guarded(device, lambda: random_parts(design, read.tiny, device), read)
        added = Library().find(name)
        if added is None:
            hint = "Add the published files with `worldpager models add FOLDER`, or try the machine with --random-weights."
            raise WeightsError(f"The weights of {name} are not there.", hint)
        config = parse_config(added.config)
        files = added.paths()
        if read.tiny and "tiny_decoder" not in files:
            raise WeightsError(f"The small decoder of {name} is not there.", "Put taew2_1.pth beside the other files and add them again.")
        need.check_room(name, needed(Design.of(config), read, device), device)
        return self._guarded(device, lambda: load_parts(config, files, read.tiny, device), read)

    def _guarded(self, device: torch.device, make: Callable[[], Parts], options: MatrixGameOptions) -> MatrixGame:
        """Out of memory on the way leaves nothing behind."""
        try:
            return MatrixGame(self.variant, make(), options)
        except torch.OutOfMemoryError as error:
            what = f"{NAMES[self.variant]} doesn't fit on {device}."
            failure = WeightsError(what, "Close other programs on it, or take less: decoder=tiny, retrieved=1.")
            del error
        torch.cuda.empty_cache()
        raise failure


def needed(design: Design, options: MatrixGameOptions, device: torch.device, slots: int = USUAL_SLOTS) -> dict[str, int]:
    """Bytes on ``device``, part by part, before anything is loaded."""
    types, config, tiny = Types.on(device), design.network, options.tiny
    network, vae, small = empty_parts(design, tiny)
    window = Window(config.window + CHUNK * options.sink, CHUNK * options.sink, options.retrieved)
    places = design.height * design.width // 4
    kv = KVShape(config.blocks, CHUNK * places, config.heads, config.head_dim)
    size = types.network.itemsize
    return {
        "network": need.parameter_bytes(network, size),
        "encoder and decoder": need.parameter_bytes(vae, types.picture.itemsize)
        + (need.parameter_bytes(small, types.picture.itemsize) if small else 0),
        **need.context_bytes(config, window, places, size),
        **need.work_bytes(config, design.height, design.width, not tiny, size, design.vae.width),
        "staged blocks": need.staging_bytes(kv, slots) if device.type == "cuda" else 0,
    }


UNIVERSAL, GTA, TEMPLERUN = Variant("universal"), Variant("gta"), Variant("templerun")
