"""The world being played and all that was played of it: chunks as a tree, pictures, bookmarks, the action log, and where it is kept.

The generator's thread alone changes it; the window's thread may look at any time (`view`, `picture`). A scratch session lives in memory; a
kept one hands every change to its archive, which commits it in the background.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldpager.engine.errors import InputError
from worldpager.engine.models.base import ChunkOutput
from worldpager.engine.session import action_log, archive
from worldpager.engine.session.action_log import Event
from worldpager.engine.session.archive import Archive, Bookmark, Contents, Entry, Statement
from worldpager.engine.session.branch import Branch, Chunk, ChunkTree
from worldpager.engine.session.committer import Committer
from worldpager.engine.session.thumbnails import shrunk
from worldpager.engine.types import Action, BlockId


@dataclass(frozen=True, slots=True)
class SessionView:
    """A frozen look at a session, for panels. ``path`` are the chunks from the beginning to the head, oldest first."""

    seed: int
    folder: Path | None
    head: int | None
    branch: int | None
    path: tuple[int, ...]
    chunks: Mapping[int, Chunk]
    branches: tuple[Branch, ...]
    tips: Mapping[int, int | None]
    bookmarks: tuple[Bookmark, ...]
    unsaved: int = 0
    """Changes that aren't durable yet; 0 for a scratch world, which keeps nothing."""


class Session:
    """See the module. ``about`` goes into the archive: model, settings, fingerprint."""

    def __init__(self, about: Mapping[str, Any] | None = None, *, now: Callable[[], float] = time.time) -> None:
        self.about: dict[str, Any] = dict(about or {})
        self.tree, self.seed = ChunkTree(), 0
        self._now, self._lock = now, threading.Lock()
        self._pictures: dict[int, bytes] = {}
        self._bookmarks: dict[str, Bookmark] = {}
        self._chunk_of: dict[BlockId, int] = {}
        self._events: list[Event] = []
        self._standing: Event | None = None
        self._recalling: Event | None = None
        """Moves that are written down when something comes of them: who scrubs through time leaves no trace."""
        self._follows: int | None = None
        self._freed: list[BlockId] = []
        self._committer: Committer | None = None
        self.folder: Path | None = None

    # A world's life

    def begin(self, seed: int) -> None:
        """Another world. One that is kept in a folder and has no chunk yet goes there; else it lives in memory alone."""
        if self.folder is None or len(self.tree):
            self.close()
        self._write(archive.about_row("seed", seed))
        with self._lock:
            self.tree, self.seed = ChunkTree(), seed
            self._pictures, self._bookmarks, self._chunk_of, self._events = {}, {}, {}, []
            self._standing = self._recalling = self._follows = None

    def resume(self, kept: Archive, contents: Contents) -> None:
        """Go on with a kept world."""
        self.close()
        with self._lock:
            self.about = dict(contents.about)
            self.seed = int(self.about["seed"])
            self.tree = ChunkTree(contents.chunks, contents.branches, self.about.get("head"), self.about.get("next", (0, 0)))
            self._pictures, self._events = kept.pictures(), []
            self._bookmarks = {mark.name: mark for mark in contents.bookmarks}
            self._chunk_of = {chunk.block: chunk.id for chunk in self.tree if chunk.block is not None}
            self._standing = self._recalling = self._follows = None
            self.folder, self._committer = kept.folder, Committer(kept)

    def forget_moves(self) -> None:
        """Standing where the world was left is no move."""
        self._standing = self._recalling = None

    def reopened(self, exact: bool) -> None:
        """Play goes on where the world was closed, with its window to the bit or not."""
        self._log(Event(action_log.REOPENED if exact else action_log.REBUILT, {"chunk": self.tree.head}))

    def keep(self, kept: Archive) -> None:
        """Turn a scratch world into a kept one: what was played so far goes into the archive as its blocks arrive there."""
        if self.folder is not None:
            raise InputError(f"This world is kept already, in {self.folder}.", "Nothing more is needed.")
        with self._lock:
            self.folder, self._committer = kept.folder, Committer(kept)
        self._write(archive.about_row("seed", self.seed), *(archive.branch_row(branch) for branch in self.tree.branches.values()))
        for chunk in self.tree:
            picture = self._pictures.get(chunk.id)
            drawn = () if picture is None else (archive.picture_row(chunk.id, picture),)
            self._write(archive.chunk_rows(chunk), *drawn, archive.about_row("head", chunk.id), block=chunk.block)
        self._write(*(archive.bookmark_row(mark) for mark in self._bookmarks.values()))
        self._write(*(archive.action_row(*event) for event in self._events), archive.about_row("head", self.tree.head))
        self._events = []

    def close(self) -> int:
        """Leave a kept world whole. Returns how many changes could not be saved."""
        committer, self._committer, self.folder = self._committer, None, None
        if committer is None:
            return 0
        rows = [archive.about_row("played", self._now()), archive.about_row("head", self.tree.head)]
        if self._standing is not None:
            rows.append(archive.action_row(*self._standing))
        committer.add(Entry(tuple(rows)))
        return committer.close()

    # Play

    def add(self, output: ChunkOutput, block: BlockId | None, action: Action | None, used: Sequence[BlockId] = ()) -> Chunk:
        """A chunk was made; ``action`` None for one of the opening."""
        picture = shrunk(output.frames)
        self._settle()
        recalling, self._recalling = self._recalling, None
        if recalling is not None:
            self._log(recalling)
        with self._lock:
            follows, self._follows = self._follows, None
            chunk, begun = self.tree.grow(block, output.poses, output.clearance, action is None, follows, self._now())
            self._pictures[chunk.id] = picture
        if action is None:
            event = action_log.opened(chunk.id)
        else:
            event = action_log.made(chunk.id, action, [self._chunk_of.get(number) for number in used])
        if block is not None:
            self._chunk_of[block] = chunk.id
        rows: list[Statement] = [] if begun is None else [archive.branch_row(begun)]
        rows += [archive.chunk_rows(chunk), archive.picture_row(chunk.id, picture), archive.about_row("head", chunk.id)]
        self._log(event, *rows, block=block)
        return chunk

    def stand(self, chunk: int) -> Chunk:
        """Go to ``chunk``."""
        with self._lock:
            self.tree.stand(chunk)
            self._standing, self._recalling, self._follows = action_log.stood(chunk), None, None
        return self.tree.get(chunk)

    def recall(self, chunk: int) -> Chunk:
        """The next chunk will be made at the place of ``chunk``; the history goes on."""
        self._settle()
        found = self.tree.get(chunk)
        self._follows, self._recalling = chunk, action_log.recalled(chunk)
        return found

    def bookmark(self, name: str, chunk: int | None = None) -> Bookmark:
        """Give the place of ``chunk`` (the head if not given) a name. Raises `InputError` without a name or a place."""
        at = self.tree.head if chunk is None else self.tree.get(chunk).id
        if at is None or not name.strip():
            raise InputError("A bookmark needs a place and a name.", "Play a little, then write a name.")
        mark = Bookmark(name.strip(), at, self._now())
        with self._lock:
            self._bookmarks[mark.name] = mark
        self._write(archive.bookmark_row(mark))
        return mark

    def forget_bookmark(self, name: str) -> None:
        """Remove a bookmark; an unknown one is ignored."""
        with self._lock:
            self._bookmarks.pop(name, None)
        self._write(archive.no_bookmark(name))

    def rename_branch(self, branch: int, name: str) -> None:
        """Give a branch another name. Raises `InputError`."""
        with self._lock:
            renamed = self.tree.rename(branch, name)
        self._write(archive.branch_row(renamed))

    def delete_branch(self, branch: int) -> None:
        """Remove a branch and what belongs to it alone; see `take_freed`. Raises `InputError`."""
        self._settle()
        with self._lock:
            gone = self.tree.delete(branch)
            numbers = {chunk.id for chunk in gone}
            for number in numbers:
                self._pictures.pop(number, None)
            homeless = [name for name, mark in self._bookmarks.items() if mark.chunk in numbers]
            for name in homeless:
                del self._bookmarks[name]
        rows = (*archive.gone(branch, numbers), *map(archive.no_bookmark, homeless), archive.about_row("next", self.tree.next_ids))
        blocks = tuple(chunk.block for chunk in gone if chunk.block is not None)
        self._log(Event(action_log.DELETE, {"branch": branch}), *rows, frees=blocks)

    def take_freed(self) -> list[BlockId]:
        """Blocks that nothing refers to any more, for good: their bytes may go."""
        freed, self._freed = self._freed, []
        return freed if self._committer is None else freed + self._committer.take_freed()

    def lost(self, blocks: Iterable[BlockId]) -> None:
        """The memory has lost these blocks."""
        blocks = list(blocks)
        for block in blocks:
            chunk = self._chunk_of.pop(block, None)
            if chunk is not None and chunk in self.tree.chunks:
                with self._lock:
                    self.tree.without_block(chunk)
                self._write(archive.lost_block(chunk))
        self.durable(blocks)

    def durable(self, blocks: Iterable[BlockId]) -> None:
        """The bytes of these blocks are on the drive for good."""
        if self._committer is not None:
            self._committer.durable(blocks)

    # Looking

    def blocks(self) -> list[BlockId]:
        """Blocks of all branches."""
        return [chunk.block for chunk in self.tree if chunk.block is not None]

    def chunk_of(self, block: int) -> int | None:
        """The chunk whose keys and values ``block`` holds."""
        return self._chunk_of.get(BlockId(block))

    def picture(self, chunk: int) -> bytes | None:
        """JPEG of a chunk, if there is one. From any thread."""
        return self._pictures.get(chunk)

    @property
    def picture_bytes(self) -> int:
        """What the pictures take in memory."""
        return sum(map(len, list(self._pictures.values())))

    @property
    def degraded(self) -> tuple[str, ...]:
        """What doesn't work as it should."""
        committer = self._committer
        return (committer.note,) if committer is not None and committer.note else ()

    @property
    def committer(self) -> Committer | None:
        """Who writes a kept world's index, for measurements."""
        return self._committer

    def view(self) -> SessionView:
        """The present state, frozen. From any thread."""
        with self._lock:
            tree, committer = self.tree, self._committer
            path = tuple(chunk.id for chunk in tree.path()) if tree.head is not None else ()
            tips = {number: tree.tip(number) for number in tree.branches}
            return SessionView(
                self.seed, self.folder, tree.head, tree.branch, path, dict(tree.chunks), tuple(tree.branches.values()), tips,
                tuple(self._bookmarks.values()), committer.waiting if committer else 0,
            )  # fmt: skip

    # Writing

    def _settle(self) -> None:
        """Write down where play went before it goes on."""
        event, self._standing = self._standing, None
        if event is not None:
            self._log(event, archive.about_row("head", event.body["chunk"]))

    def _log(self, event: Event, *rows: Statement, block: BlockId | None = None, frees: tuple[BlockId, ...] = ()) -> None:
        if self._committer is None:
            self._events.append(event)
            self._freed += frees
        else:
            self._committer.add(Entry((*rows, archive.action_row(*event)), block, frees))

    def _write(self, *rows: Statement, block: BlockId | None = None) -> None:
        if self._committer is not None and rows:
            self._committer.add(Entry(rows, block))
