"""The history of a world as a tree: every chunk knows the one before it, a branch is a name for a tip. Pure bookkeeping.

Chunks are never changed, so going back and branching cost nothing: only the place where one stands moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from worldpager.engine.errors import InputError
from worldpager.engine.types import BlockId, Pose

MAIN = "main"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of a world's history. ``number`` counts from 0 along its path; ``poses`` are those of its frames."""

    id: int
    parent: int | None
    branch: int
    number: int
    block: BlockId | None
    """Its keys and values in the store; None when the memory had no room for them."""
    poses: tuple[Pose, ...]
    clearance: float = float("inf")
    follows: int | None = None
    """What the model saw before it, where that isn't the parent: after a recall."""
    opening: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of history. ``fork`` is the chunk of another branch that it began from; ``made`` in seconds since 1970."""

    id: int
    name: str
    fork: int | None
    made: float = 0.0


class ChunkTree:
    """All chunks of a world and the place where play stands (``head``). One writer."""

    def __init__(self, chunks: Iterable[Chunk] = (), branches: Iterable[Branch] = (), head: int | None = None,
                 next_ids: Sequence[int] = (0, 0)) -> None:  # fmt: skip
        self.chunks = {chunk.id: chunk for chunk in sorted(chunks, key=lambda chunk: chunk.id)}
        self.branches = {branch.id: branch for branch in branches}
        self._tips: dict[int, int | None] = {branch.id: branch.fork for branch in self.branches.values()}
        self._tips.update({chunk.branch: chunk.id for chunk in self.chunks.values() if chunk.branch in self.branches})
        self.branch: int | None = None
        self.head: int | None = None
        self._next_chunk = max(next_ids[0], 1 + max(self.chunks, default=-1))
        self._next_branch = max(next_ids[1], 1 + max([*self.branches, *(chunk.branch for chunk in self.chunks.values())], default=0))
        if head is not None:
            self.stand(head)

    @property
    def next_ids(self) -> tuple[int, int]:
        """Above every chunk and branch that there ever was: numbers are never used twice."""
        return self._next_chunk, self._next_branch

    def __len__(self) -> int:
        return len(self.chunks)

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self.chunks.values())

    def get(self, number: int) -> Chunk:
        """The chunk of this id. Raises `InputError` when there is none."""
        chunk = self.chunks.get(number)
        if chunk is None:
            raise InputError(f"This world has no chunk {number}.", "It may have gone with a deleted branch.")
        return chunk

    def tip(self, branch: int) -> int | None:
        """The last chunk of a branch: its fork while it has none of its own. Raises `InputError` for an unknown branch."""
        self._named(branch)
        return self._tips[branch]

    def path(self, to: int | None = None) -> list[Chunk]:
        """The chunks from the beginning to ``to`` (the head if not given), oldest first."""
        found, at = [], self.head if to is None else to
        while at is not None:
            found.append(self.get(at))
            at = found[-1].parent
        return found[::-1]

    def seen_before(self, chunk: int, count: int) -> list[Chunk]:
        """``chunk`` and what the model saw before it, at most ``count`` in all, newest first."""
        found: list[Chunk] = []
        at: int | None = chunk
        while at is not None and len(found) < count:
            found.append(self.get(at))
            at = found[-1].follows if found[-1].follows in self.chunks else found[-1].parent
        return found

    def root_of(self, chunk: int) -> Chunk:
        """The first chunk of the path to ``chunk``."""
        return self.path(chunk)[0]

    def stand(self, chunk: int) -> None:
        """Go to ``chunk``: play goes on from there, on its branch where it is a tip, else on a new one."""
        self.get(chunk)
        tips = [branch for branch, tip in self._tips.items() if tip == chunk]
        if self.branch not in tips:
            own = self.chunks[chunk].branch
            self.branch = own if own in tips else next(iter(tips), None)
        self.head = chunk

    def grow(
        self, block: BlockId | None, poses: tuple[Pose, ...], clearance: float, opening: bool, follows: int | None, now: float
    ) -> tuple[Chunk, Branch | None]:
        """A new chunk after the head, where play then stands; and its branch if that had to be begun."""
        begun = None
        if self.branch is None:
            name = MAIN if not self.branches and self.head is None else f"branch {self._next_branch}"
            begun = Branch(self._next_branch, name, self.head, now)
            self.branches[begun.id] = begun
            self.branch, self._next_branch = begun.id, begun.id + 1
        number = 0 if self.head is None else self.chunks[self.head].number + 1
        chunk = Chunk(self._next_chunk, self.head, self.branch, number, block, poses, clearance, follows, opening)
        self.chunks[chunk.id] = chunk
        self._next_chunk += 1
        self.head = self._tips[self.branch] = chunk.id
        return chunk, begun

    def rename(self, branch: int, name: str) -> Branch:
        """Give a branch another name. Raises `InputError` for an unknown branch or an empty name."""
        if not name.strip():
            raise InputError("A branch needs a name.", "Write one.")
        renamed = self.branches[branch] = replace(self._named(branch), name=name.strip())
        return renamed

    def delete(self, branch: int) -> list[Chunk]:
        """Remove a branch and the chunks that no other branch stands on; returns them.

        Raises `InputError` for an unknown branch and for the one that play stands on.
        """
        self._named(branch)
        needed = self._reach(tip for other, tip in self._tips.items() if other != branch)
        if self.head not in needed:
            raise InputError("You stand on this branch.", "Switch to another one first.")
        gone = [chunk for chunk in self.chunks.values() if chunk.id not in needed]
        for chunk in gone:
            del self.chunks[chunk.id]
        del self.branches[branch], self._tips[branch]
        return gone

    def without_block(self, chunk: int) -> Chunk:
        """The memory has lost the block of ``chunk``: from now on it has none."""
        poorer = self.chunks[chunk] = replace(self.get(chunk), block=None)
        return poorer

    def check(self) -> None:
        """AssertionError when the tree is none."""
        for chunk in self:
            if chunk.parent is None:
                assert chunk.number == 0, f"chunk {chunk.id} has no parent but number {chunk.number}"
            else:
                assert chunk.parent in self.chunks, f"chunk {chunk.id} has lost its parent {chunk.parent}"
                assert chunk.number == self.chunks[chunk.parent].number + 1, f"chunk {chunk.id} is miscounted"
        blocks = [chunk.block for chunk in self if chunk.block is not None]
        assert len(blocks) == len(set(blocks)), "two chunks claim one block"
        assert self.head is None or self.head in self.chunks, "play stands nowhere"
        for branch in self.branches.values():
            tip = self._tips[branch.id]
            assert tip is None or tip in self.chunks, f"branch {branch.id} has lost its tip"
        assert {chunk.id for chunk in self} == self._reach([*self._tips.values(), self.head]), "chunks that no branch reaches"

    def _reach(self, tips: Iterable[int | None]) -> set[int]:
        """All chunks on the paths to ``tips``."""
        reached: set[int] = set()
        left = [tip for tip in tips if tip is not None]
        while left:
            at: int | None = left.pop()
            while at is not None and at not in reached:
                reached.add(at)
                at = self.chunks[at].parent
        return reached

    def _named(self, branch: int) -> Branch:
        if branch not in self.branches:
            raise InputError(f"This world has no branch {branch}.", f"It has {', '.join(map(str, self.branches)) or 'none'}.")
        return self.branches[branch]
