"""Going on from any chunk of a world's past: exactly with a saved state, nearly from stored blocks alone.

Blocks hold the visual keys and values. What the action modules heard and what the decoder remembers are not in them: without a saved state
the actions are heard from the next chunk on, and the first latent frame stands in for the decoder's past.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from worldpager.engine.models.base import BlockKV
from worldpager.engine.models.matrix_game2.context import CHUNK, ActionWindow
from worldpager.engine.models.matrix_game2.controls import Rows
from worldpager.engine.models.matrix_game2.player import Player
from worldpager.engine.models.wan.rope import frame_rotation


@torch.no_grad()
def stand(player: Player, number: int, sink: BlockKV, newest: Sequence[BlockKV], rows: Rows) -> None:
    """Put ``player``, its world begun, where chunk ``number`` has just been made. ``newest``: the newest first; ``rows``: that chunk's."""
    visual, rollout = player.rollout.context.visual, player.rollout
    frames = CHUNK * (number + 1)
    visual.filled = min(frames, visual.room)
    sinks = min(visual.sink, visual.filled)
    visual.kept_sink.copy_(sink.keys[:, : visual.sink * visual.places])
    first = visual.current.start - visual.filled * visual.places
    middle = first + sinks * visual.places
    visual.keys[:, first:middle] = visual.kept_sink[:, : sinks * visual.places]
    visual.values[:, first:middle] = sink.values[:, : sinks * visual.places].to(visual.values.dtype)
    recent = visual.current.start - middle
    if recent:
        turn = frame_rotation(rollout.network.config.head_dim, CHUNK * number, player.device)
        visual.keys[:, middle : visual.current.start] = turn(newest[0].keys[:, -recent:].to(visual.keys.dtype))
        visual.values[:, middle : visual.current.start] = newest[0].values[:, -recent:].to(visual.values.dtype)
    player.stand(number + 1, rows)


def state(player: Player) -> dict[str, Tensor]:
    """Copies of the windows, the action rows and the decoder's past, to the bit."""
    visual = player.rollout.context.visual
    held = slice(visual.current.start - visual.filled * visual.places, visual.current.start)
    out = {"keys": visual.keys[:, held], "values": visual.values[:, held], "sink": visual.kept_sink}
    for name, window in _windows(player):
        seen = slice(-window.filled, -CHUNK)
        out |= {f"{name}.keys": window.keys[:, seen], f"{name}.values": window.values[:, seen]}
    for name, rows in (("mouse rows", player.mouse_rows), ("keyboard rows", player.keyboard_rows)):
        if rows.kept is not None:
            out[name] = rows.kept
    return {name: tensor.clone() for name, tensor in (out | player.decoder_state()).items()}


def take_state(player: Player, given: Mapping[str, Tensor]) -> None:
    """Put back what `state` gave, where the player stands at the same chunk. Raises `ValueError` when it isn't of this model."""
    visual = player.rollout.context.visual
    held = slice(visual.current.start - visual.filled * visual.places, visual.current.start)
    try:
        for target, name in ((visual.keys[:, held], "keys"), (visual.values[:, held], "values"), (visual.kept_sink, "sink")):
            _put(target, given[name], name)
        for name, window in _windows(player):
            count = given[f"{name}.keys"].shape[1]
            if count + CHUNK > window.keys.shape[1]:
                raise ValueError(f"{name} holds {count} frames")
            window.filled = count + CHUNK
            _put(window.keys[:, -window.filled : -CHUNK], given[f"{name}.keys"], name)
            _put(window.values[:, -window.filled : -CHUNK], given[f"{name}.values"], name)
        for name, rows in (("mouse rows", player.mouse_rows), ("keyboard rows", player.keyboard_rows)):
            if name in given and rows.kept is not None:
                rows.take(given[name].cpu())
    except KeyError as error:
        raise ValueError(f"there is no {error.args[0]}") from error
    player.take_decoder_state(given)


def _put(target: Tensor, source: Tensor, name: str) -> None:
    if target.shape != source.shape:
        raise ValueError(f"{name} is {list(source.shape)}, not {list(target.shape)}")
    target.copy_(source)


def _windows(player: Player) -> Iterator[tuple[str, ActionWindow]]:
    for block, windows in player.rollout.context.actions.items():
        if windows.mouse is not None:
            yield f"mouse {block}", windows.mouse
        yield f"keyboard {block}", windows.keyboard
