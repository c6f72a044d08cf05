"""The world that the street plays: its camera, its memory's index, its history; and the moves in it that are no play.

Going back, switching branches and opening a kept world put the camera and the index in place at once; the model's window is rebuilt from
stored blocks (which are int4) only when the next chunk is made, so that scrubbing through time costs nothing. That rebuilding may wait for
the drive: nobody is playing at that moment.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from worldpager.engine.errors import InputError
from worldpager.engine.mailbox import DeleteBranch, ForgetBookmark, GoTo, Keep, Recall, RenameBranch, SetBookmark, WorldMove
from worldpager.engine.models.base import BlockKV, ChunkOutput, MemoryView, PastChunk, Resumable, WorldModel
from worldpager.engine.pose.track import PoseTrack
from worldpager.engine.retrieval.policy import RetrievalPolicy
from worldpager.engine.session.archive import Archive
from worldpager.engine.session.branch import Chunk
from worldpager.engine.session.memory import ChunkMemory, wait_for
from worldpager.engine.session.session import Session
from worldpager.engine.session.thumbnails import enlarged
from worldpager.engine.session.window import load_window, save_window
from worldpager.engine.telemetry.counters import Counters
from worldpager.engine.telemetry.snapshot import TIER_NONE
from worldpager.engine.types import Action, BlockId, Frames, Pose

log = logging.getLogger(__name__)

FETCH_SECONDS = 10.0
"""Longest wait for a block that a window is rebuilt from."""


class World:
    """See the module. All calls come from the generator's thread."""

    def __init__(
        self,
        model: WorldModel,
        memory: ChunkMemory,
        policies: Mapping[str, RetrievalPolicy],
        counters: Counters,
        session: Session,
        *,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        self._model, self._memory, self._policies, self._counters, self._wait = model, memory, policies, counters, wait
        self.session = session
        self.track = PoseTrack(model.motion, Pose(0, 0, 0, 0, 0))
        self.owed = False
        """A chunk must be made even while no control is held: the view of a place just recalled."""
        self._sink: BlockId | None = None
        self._window: deque[BlockId | None] = deque(maxlen=model.spec.window)
        self._behind: int | None = None
        """The chunk whose window the model must take up before it makes the next one."""
        self._exact: Mapping[str, Tensor] | None = None
        """That window to the bit, if it was saved."""
        self._used = ""
        self._unfilled: set[str] = set()
        """Policies whose index isn't filled for the place where play stands."""
        self._asleep = len(session.tree) > 0
        self._woken = False
        """Reopened, and not gone on yet."""
        self._fresh = False
        """Play has moved: the next chunk waits for its memory."""

    # Play

    def begin(self, seed: int) -> None:
        """Forget everything; another world begins."""
        self._memory.drop(self.session.blocks())
        self._forget_index()
        self._sink, self._behind, self.owed = None, None, False
        self._unfilled.clear()
        self._counters.begin_world(seed, self._memory.counters())
        self.session.begin(seed)

    def remember(self, output: ChunkOutput, action: Action | None = None, used: Sequence[BlockId] = ()) -> None:
        """Store the chunk and index it by its poses. The memory may refuse it; then the world is poorer by a chunk."""
        block = self._memory.put(output.kv)
        self.track.see(output.clearance)
        if self._model.spec.keeps_sink and self.chunks == 0:
            self._sink = block
        self._window.append(block)
        if block is not None:
            self._index(block, output.poses)
        self.session.add(output, block, action, used)

    def seen_anyway(self, newest: int | None = None) -> list[BlockId]:
        """Blocks that the model itself holds: the sink and the window (its ``newest`` chunks alone if given)."""
        window = list(self._window)
        held = [self._sink, *(window if newest is None else window[len(window) - newest :])]
        return [block for block in held if block is not None]

    def poll(self) -> None:
        """Collect finished moves; let the index follow the bytes."""
        self._memory.poll()
        self.session.durable(self._memory.take_durable())
        self._memory.drop(self.session.take_freed())

    def await_memory(self, wanted: Sequence[BlockId]) -> None:
        """The first chunk at a place gone to waits for its memory; never any other."""
        if self._fresh:
            self._fresh = self.owed = False
            wait_for(self._memory, wanted, FETCH_SECONDS, self._wait)

    def lost(self, blocks: list[BlockId]) -> None:
        """The memory has lost ``blocks``: nothing may ask for them again."""
        self._counters.forget(blocks)
        for policy in self._policies.values():
            policy.drop(blocks)
        self.session.lost(blocks)

    @property
    def chunks(self) -> int:
        """Chunks of the world so far, along the path to where play stands."""
        tree = self.session.tree
        return 0 if tree.head is None else tree.get(tree.head).number + 1

    def use(self, policy: str) -> None:
        """Retrieval goes by ``policy`` from now on; it learns what it has missed. Going places fills the index in use alone."""
        self._used = policy
        if policy in self._unfilled:
            self._unfilled.remove(policy)
            self._policies[policy].clear()
            for past in self.session.tree.path():
                if past.block is not None:
                    self._policies[policy].add(past.block, past.poses)

    def births(self, blocks: Iterable[BlockId]) -> list[int]:
        """The number of each block's chunk along its path."""
        numbers = [self.session.chunk_of(block) for block in blocks]
        return [0 if number is None else self.session.tree.get(number).number for number in numbers]

    @property
    def reopens(self) -> bool:
        """Whether the session holds a world that play hasn't taken up yet."""
        return self._asleep

    @property
    def kept(self) -> bool:
        """Whether this world outlasts the program and has begun."""
        return self.session.folder is not None and len(self.session.tree) > 0

    @property
    def start(self) -> int:
        """The chunk of the player's start view: the last of the opening."""
        path = self.session.tree.path()
        return next((chunk.id for chunk in reversed(path) if chunk.opening), path[0].id)

    def picture(self, chunk: Chunk) -> Frames:
        """What is shown of a chunk of the past: its small picture in the size of the model's frames."""
        spec = self._model.spec
        return enlarged(self.session.picture(chunk.id) or b"", spec.width, spec.height)

    def close(self) -> int:
        """Leave a kept world whole and end the memory. Returns how many chunks could not be saved."""
        kept = self.session.folder
        if kept is None:
            self.session.close()
            self._memory.close()
            return 0
        state = self.window_state()
        lost = self._memory.close(keep=True)
        self.session.durable(self._memory.take_durable())
        if state is not None:
            save_window(kept, *state)
        lost += self.session.close()
        if lost:
            log.error("%d changes of the world in %s could not be saved", lost, kept)
        return lost

    # Moves

    def obey(self, command: WorldMove) -> Chunk | None:
        """Do what a command asks. Returns the chunk to be shown, if play has moved. Raises `WorldPagerError` when it can't be done."""
        match command:
            case GoTo(number):
                return self.stand(number)
            case Recall(number):
                return self.recall(number)
            case SetBookmark(name, number):
                self.session.bookmark(name, number)
            case ForgetBookmark(name):
                self.session.forget_bookmark(name)
            case RenameBranch(branch, name):
                self.session.rename_branch(branch, name)
            case DeleteBranch(branch):
                self.session.delete_branch(branch)
            case Keep(folder):
                self.keep(folder)
        return None

    def keep(self, folder: Path) -> None:
        """Keep this scratch world in ``folder`` from now on. Raises `WorldPagerError`; then it is a scratch world as before."""
        if self.session.folder is not None:
            raise InputError(f"This world is kept already, in {self.session.folder}.", "Nothing more is needed.")
        self._resumable()
        archive = Archive.create(folder, self.session.about)
        try:
            self._memory.keep(folder)
        except BaseException:
            archive.discard()
            raise
        self.session.keep(archive)

    def stand(self, chunk: int) -> Chunk:
        """Go to ``chunk``, on whatever branch it is. Raises `InputError` when that can't be; nothing has changed then."""
        self._resumable()
        found = self.session.tree.get(chunk)
        self._woken = False
        self.session.stand(chunk)
        path = self.session.tree.path()
        self._forget_index()
        here = [past for past in path if past.block is not None]
        tiers = self._memory.tier_of(np.array([past.block for past in here], np.int64))
        self._unfilled = {name for name in self._policies if name != self._used}
        self.session.lost([past.block for past, tier in zip(here, tiers, strict=True) if tier == TIER_NONE and past.block is not None])
        for past, tier in zip(here, tiers, strict=True):
            if tier != TIER_NONE and past.block is not None:
                self._index(past.block, past.poses)
        self._counters.stand_at(len(path), sum(len(past.poses) for past in path))
        self._look_from(found)
        return found

    def recall(self, chunk: int) -> Chunk:
        """Put the camera where ``chunk`` was seen from; the next chunk shows that place, and history goes on. Raises `InputError`."""
        self._resumable()
        found = self.session.recall(chunk)
        self._woken = False
        self._look_from(found)
        self.owed = True
        return found

    def take_up(self) -> None:
        """Make the model see what it should have seen, if play has moved. Raises `InputError` when memory has lost all of that."""
        if self._behind is None:
            return
        tree, at = self.session.tree, self._behind
        assert tree.head is not None
        number, root = tree.get(tree.head).number, tree.root_of(at)
        newest = list(islice(self._fetched(tree.seen_before(at, number + 1)), max(1, self._model.spec.window)))
        if not newest:
            raise InputError(f"The memory of chunk {at} and of those before it is lost.", "Go to another one, or begin a new world.")
        newest[0] = PastChunk(newest[0].kv, tree.get(at).poses)
        sink = next(self._fetched([root]), newest[-1])
        self._resumable().restore(self.session.seed, number, sink, newest)
        exact, self._exact, self._behind = self._exact, None, None
        self._fresh = True
        if exact is not None:
            try:
                self._resumable().take_window_state(exact)
            except ValueError as error:
                log.warning("the saved window doesn't fit: %s", error)
                exact = None
        if self._woken:
            self._woken = False
            self.session.reopened(exact is not None)

    def reopen(self) -> Chunk:
        """Stand at the head of a session that was opened, with the window that was saved when it was closed, if it is of that chunk."""
        head = self.session.tree.head
        if head is None:
            raise InputError("This world has no chunk yet.", "Begin a new one.")
        self._asleep = False
        self._counters.begin_world(self.session.seed, self._memory.counters())
        found = self.stand(head)
        self.session.forget_moves()
        self._woken = True
        if self.session.folder is not None:
            self._exact = load_window(self.session.folder, head)
        return found

    def window_state(self) -> tuple[int, dict[str, Tensor]] | None:
        """(chunk, the model's window after it, to the bit); None where the model hasn't taken it up or can't tell."""
        head = self.session.tree.head
        if head is None or self._asleep or self._behind is not None or not hasattr(self._model, "window_state"):
            return None
        return head, self._resumable().window_state()

    # Inner parts

    def _resumable(self) -> Resumable:
        if not hasattr(self._model, "restore"):
            raise InputError(f"The model {self._model.spec.name} can't go back in time.", "Begin a new world instead.")
        return self._model  # type: ignore[return-value]

    def _index(self, block: BlockId, poses: Sequence[Pose]) -> None:
        for name, policy in self._policies.items():
            if name not in self._unfilled:
                policy.add(block, poses)
        self._counters.remember(block, poses[-1])

    def _forget_index(self) -> None:
        for policy in self._policies.values():
            policy.clear()
        self._counters.forget_all()
        self._window.clear()

    def _look_from(self, chunk: Chunk) -> None:
        """Camera, window and sink as they were after ``chunk``; the model follows when it must."""
        tree = self.session.tree
        self.track = PoseTrack(self._model.motion, chunk.poses[-1])
        self.track.see(chunk.clearance)
        self._window.clear()
        self._window.extend(past.block for past in reversed(tree.seen_before(chunk.id, self._model.spec.window)))
        self._sink = tree.root_of(chunk.id).block
        self._behind, self._exact, self.owed = chunk.id, None, False

    def _tier(self, block: BlockId) -> int:
        return int(self._memory.tier_of(np.array([block], np.int64))[0])

    def _fetched(self, chunks: Iterable[Chunk]) -> Iterator[PastChunk]:
        """Those of ``chunks`` that memory still has, unplaced. Waits for the drive, `FETCH_SECONDS` at most for each."""
        memory: ChunkMemory = getattr(self._memory, "plain", self._memory)
        kv, device = self._model.spec.kv, self._model.device
        for past in chunks:
            block = past.block
            if block is None or not wait_for(memory, [block], FETCH_SECONDS, self._wait) or self._tier(block) == TIER_NONE:
                continue
            shape = (kv.layers, 1, kv.tokens, kv.heads, kv.head_dim)
            view = MemoryView(torch.empty(shape, device=device), torch.empty(shape, device=device))
            working = memory.take([block])
            if working.ids == (block,):
                memory.place(working, view, 0.0)
                yield PastChunk(BlockKV(view.keys[:, 0], view.values[:, 0]), past.poses)
