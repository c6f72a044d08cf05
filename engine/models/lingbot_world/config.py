"""The published LingBot-World models that can be played: one network with other numbers.

Nothing in a checkpoint says how many heads it has, how long its window is or which noise levels it was distilled for, and the 1.3B comes
without any configuration file: the numbers are here. All are given by the published code and its documentation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from worldpager.engine.models.wan.vae import VaeConfig

NON_COMMERCIAL = "CC BY-NC-SA 4.0: not for commercial use, pass on under the same terms, name Robbyant"
APACHE = "Apache-2.0"


@dataclass(frozen=True, slots=True)
class DitConfig:
    """Sizes of the network and its rollout. ``chunk``, ``window``, ``sink`` are latent frames; the window counts sink and chunk in."""

    width: int
    ffn: int
    heads: int
    blocks: int
    chunk: int
    window: int
    sink: int
    steps: tuple[int, ...]
    """Rows of the noise table, one a denoising pass."""
    shift: float
    text_width: int = 4096
    text_length: int = 512
    inputs: int = 36
    outputs: int = 16

    @property
    def head_dim(self) -> int:
        """Channels of a head."""
        return self.width // self.heads


SMALL = DitConfig(128, 256, 2, 3, chunk=4, window=18, sink=6, steps=(0, 250, 500, 750), shift=5.0, text_width=64, text_length=16)
"""A network that every machine can run, for trials with random numbers."""
SMALL_VAE = VaeConfig(width=4)


@dataclass(frozen=True, slots=True)
class Published:
    """A model that can be downloaded: its network, the number of its tensors and parameters, and whose terms its weights are under."""

    title: str
    hub: str
    dit: DitConfig
    tensors: int
    parameters: int
    licence: str
    vae: VaeConfig = field(default_factory=VaeConfig)


PUBLISHED = {
    "1.3b": Published(
        "LingBot-World 2.0 1.3B causal-fast", "robbyant/lingbot-world-v2-1.3b-causal-fast",
        DitConfig(1536, 8960, 12, 30, chunk=4, window=18, sink=6, steps=(0, 250, 500, 750), shift=5.0), 1071, 1_709_502_016, NON_COMMERCIAL,
    ),
    "14b": Published(
        "LingBot-World 2.0 14B causal-fast", "robbyant/lingbot-world-v2-14b-causal-fast",
        DitConfig(5120, 13824, 40, 40, chunk=4, window=18, sink=6, steps=(0, 250, 500, 750), shift=10.0), 1421, 18_544_332_864,
        NON_COMMERCIAL,
    ),
    "1.0-fast": Published(
        "LingBot-World 1.0 Fast", "robbyant/lingbot-world-fast",
        DitConfig(5120, 13824, 40, 40, chunk=3, window=18, sink=3, steps=(0, 179, 358, 679), shift=10.0), 1421, 18_544_332_864, APACHE,
    ),
}  # fmt: skip
NAMES = {"1.3b": "lingbot-world", "14b": "lingbot-world-14b", "1.0-fast": "lingbot-world-1"}
"""By these the program knows them."""
