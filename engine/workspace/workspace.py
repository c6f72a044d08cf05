"""A workspace that lasts: a folder with the words, the blocks and the index, and the street over them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash

from worldpager.engine.errors import InputError
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.causal_lm.load import LoadedLM
from worldpager.engine.retrieval.mean_k_index import MeanKeyIndex
from worldpager.engine.retrieval.text_query import NewBlocks, TextPolicy
from worldpager.engine.types import BlockId
from worldpager.engine.workspace.config import BLOCK_TOKENS, WorkspaceConfig
from worldpager.engine.workspace.repository import Sealed
from worldpager.engine.workspace.street import WorkspaceStreet
from worldpager.engine.workspace.token_log import FORMAT, BlockRow, Part, TokenLog


@dataclass(frozen=True, slots=True)
class Opened:
    """What opening found: ``adopted`` blocks taken over, ``lost`` ones that the drive doesn't have, ``rebuilt`` index rows, and ``unread``
    tokens that are in the log but in no durable block.
    """

    adopted: int
    lost: int
    rebuilt: int
    unread: int


class Workspace:
    """The workspace in ``folder``. ``store`` keeps its blocks there. One thread.

    Call `catch_up` to its end before anything else. Raises `InputError` when the folder was made with another model.
    """

    def __init__(self, folder: Path, lm: LoadedLM, store: BlockStore, policy: TextPolicy, config: WorkspaceConfig) -> None:
        self.folder, self.store = folder, store
        self._log = TokenLog(folder)
        self._same_model(lm)
        self.street = WorkspaceStreet(lm, store, policy, config)
        self._parts = self._log.parts()
        self._waiting: dict[BlockId, Sealed] = {}
        self._noted = 0
        self.opened = self._restore()

    # Opening

    def catch_up(self) -> Iterator[tuple[int, int]]:
        """Read in what the log has beyond the durable blocks; yields (tokens done, tokens in all)."""
        if not self._parts:
            self._parts.append(self._log.add("", "opening", self.street.opening))
            self._unread = self._log.tokens()
        for done in self._reading(self._unread):
            yield done, len(self._unread)

    def _same_model(self, lm: LoadedLM) -> None:
        facts = self._log.facts()
        mark = fingerprint(lm)
        if facts.get("model", mark) != mark or facts.get("format", str(FORMAT)) != str(FORMAT):
            self._log.close()
            what = f"{self.folder} was made with another model ({facts.get('model_name', '?')})."
            raise InputError(what, "Open it with that model (--model), or make a new one.")
        self._log.set_facts({"model": mark, "model_name": lm.model.config.name, "format": str(FORMAT)})

    def _restore(self) -> Opened:
        rows, given_up, tokens = self._log.blocks(), self._log.given_up(), self._log.tokens()
        lost = self.store.adopt({row.id: 1 for row in rows})
        given_up |= {row.first for row in rows if row.id in lost}
        whole = _whole_until({row.first for row in rows}, given_up)
        beyond = [row.id for row in rows if row.first >= whole and row.id not in lost]
        self._log.commit([], given_up, [*lost, *beyond])
        self.store.drop(beyond)
        repository = self.street.repository
        sound = [row for row in rows if row.first < whole and row.id not in lost]
        repository.tokens = tokens[:whole]
        repository.blocks = {row.id: Sealed(row.first, row.recalls) for row in sound}
        repository.given_up = sorted(first for first in given_up if first < whole)
        self._noted = len(repository.given_up)
        self._unread = tokens[whole:]
        return Opened(len(sound), len(lost), self._restore_index(sound), len(self._unread))

    def _restore_index(self, rows: Sequence[BlockRow]) -> int:
        """Fill the policy's index; rows that weren't saved are reckoned from the blocks' own keys. Returns how many."""
        index, street = index_of(self.street.policy), self.street
        missing = [row.id for row in rows if index is None or row.means is None or not index.restore(row.id, row.means)]
        for first in range(0, len(missing), 64):
            got, keys = street.keys(missing[first : first + 64])
            if got:
                street.policy.add(NewBlocks(tuple(got), keys, keys, tuple(street.repository.text(number) for number in got)))
        return len(missing)

    # Using

    def add(self, name: str, text: str) -> Iterator[tuple[int, int]]:
        """Add a source; yields (tokens read in, tokens in all). What is logged is read in even if the program dies on the way."""
        tokens = self.street.lm.tokenizer.encode(f"\nFile {name}:\n{text}\n")
        self._parts.append(self._log.add(name, "source", tokens))
        for done in self._reading(tokens):
            yield done, len(tokens)

    def ask(self, question: str) -> Generator[str]:
        """See `WorkspaceStreet.ask`. The turn is logged at its end."""
        repository = self.street.repository
        before = len(repository.tokens)
        try:
            yield from self.street.ask(question)
        finally:
            if len(repository.tokens) > before:
                self._parts.append(self._log.add(question, "turn", repository.tokens[before:]))
            picked = self.street.last.selection.picked if self.street.last else ()
            self._log.count_recalls({number: repository.blocks[number].recalls for number in picked if number in repository.blocks})
            self._commit()

    def parts(self) -> list[Part]:
        """Sources and turns, in order of time."""
        return list(self._parts)

    def source_of(self, block: BlockId) -> Part | None:
        """The part in which a block begins."""
        first = self.street.repository.blocks[block].first
        return next((part for part in reversed(self._parts) if part.first <= first), None)

    def verify(self) -> tuple[int, list[BlockId]]:
        """Read every block back; returns how many are sound and which aren't."""
        blocks = list(self.street.repository.blocks)
        bad: list[BlockId] = []
        step = max(1, self.street.config.memory.device_slots // 2)
        for first in range(0, len(blocks), step):
            asked = blocks[first : first + step]
            got, _ = self.street.keys(asked)
            bad += [number for number in asked if number not in set(got)]
        return len(blocks) - len(bad), bad

    def close(self) -> int:
        """Make everything durable; returns how many blocks couldn't be. What isn't is read in anew at the next opening."""
        left = self.store.close(keep=True)
        self._commit()
        self._log.close()
        return left

    def _reading(self, tokens: Sequence[int]) -> Iterator[int]:
        for done in self.street.read(tokens):
            self._commit()
            yield done

    def _commit(self) -> None:
        """Write the rows of blocks that have become durable."""
        repository, index = self.street.repository, index_of(self.street.policy)
        self._waiting.update({number: repository.blocks[number] for number in repository.take_fresh() if number in repository.blocks})
        rows: list[BlockRow] = []
        for number in self.store.take_durable():
            sealed = self._waiting.pop(number, None)
            if sealed is not None and number in repository.blocks:
                rows.append(BlockRow(number, sealed.first, sealed.recalls, index.saved(number) if index else None))
        new = repository.given_up[self._noted :]
        if rows or new:
            self._log.commit(rows, new)
            self._noted = len(repository.given_up)


def index_of(policy: TextPolicy) -> MeanKeyIndex | None:
    """The index of mean keys that a policy has, if it has one."""
    index = getattr(policy, "index", None)
    return index if isinstance(index, MeanKeyIndex) else None


def fingerprint(lm: LoadedLM) -> str:
    """What tells models apart: their sizes and some of their numbers."""
    weights = lm.model.sample().cpu().float().numpy().tobytes()
    return xxhash.xxh3_64_hexdigest(repr(lm.model.config).encode() + weights)


def _whole_until(firsts: set[int], given_up: set[int]) -> int:
    """The first token that neither a durable block nor a given-up one covers."""
    at = 0
    while at in firsts or at in given_up:
        at += BLOCK_TOKENS
    return at
