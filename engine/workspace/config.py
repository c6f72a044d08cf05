"""Settings of a workspace."""

from __future__ import annotations

from dataclasses import dataclass, field

from worldpager.engine.config import CodecConfig, MemoryConfig
from worldpager.engine.errors import InputError

BLOCK_TOKENS = 32


@dataclass(frozen=True, slots=True)
class WorkspaceConfig:
    """Budgets in tokens; ``memory`` holds the tiers' budgets in bytes.

    ``budget`` is what a question and the history it sees may take together. ``sink`` of it are the first tokens of the workspace and
    ``recent`` the last ones, always seen. ``chunk`` tokens are read at once when sources come in.
    """

    budget: int = 2048
    sink: int = 32
    recent: int = 160
    chunk: int = 256
    answer: int = 128
    policy: str = "focused"
    memory: MemoryConfig = field(default_factory=lambda: MemoryConfig(codec=CodecConfig(bits=4, key_group=32, value_group=32)))
    patience: float = 20.0
    """Seconds that a step waits for bytes from disk before it goes on without them."""

    def __post_init__(self) -> None:
        least = self.sink + self.recent + 2 * BLOCK_TOKENS
        if self.budget < least:
            raise InputError(f"A budget of {self.budget} tokens is too small.", f"Give at least {least} (--budget).")
        if min(self.sink, self.recent) < 0 or min(self.chunk, self.answer) < 1:
            raise InputError("Sink and recent tokens can't be negative, a chunk and an answer have a token at least.", "Correct them.")

    @property
    def capacity(self) -> int:
        """Tokens of the execution view: the budget, and the answer."""
        return self.budget + max(self.answer, self.chunk)

    @property
    def sink_blocks(self) -> int:
        """Whole blocks at the beginning that every view holds."""
        return -(-self.sink // BLOCK_TOKENS)

    @property
    def recent_blocks(self) -> int:
        """Whole blocks at the end that every view holds, beside the unsealed rest."""
        return -(-self.recent // BLOCK_TOKENS)
