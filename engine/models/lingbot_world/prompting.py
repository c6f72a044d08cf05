"""Another prompt while the world is played: kept vectors at once; a new text is encoded beside the street and taken when it is ready."""

from __future__ import annotations

import threading

from torch import Tensor

from worldpager.engine.errors import WorldPagerError
from worldpager.engine.models.wan.prompts import Encoder, prompt_file, prompt_vectors


class _StoppedError(Exception):
    """Another prompt was asked for meanwhile, or play ends."""


class Prompting:
    """``encoder`` None: only kept prompts can be heard. ``width`` of the vectors. All calls come from the generator's thread."""

    def __init__(self, encoder: Encoder | None, width: int) -> None:
        self._encoder, self._width = encoder, width
        self._ready: Tensor | None = None
        self._note = ""
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def notes(self) -> tuple[str, ...]:
        """What is going on, for the window."""
        return (self._note,) if self._note else ()

    def ask(self, prompt: str) -> None:
        """Hear ``prompt`` from the next chunk on, or as soon as it is encoded. Raises `InputError`, and nothing changes, if it can't be."""
        if self._encoder is None or not prompt.strip() or prompt_file(prompt).is_file():
            ready = prompt_vectors(prompt, None, self._width)
            self.close()
            self._ready = ready
            return
        self.close()
        self._note = "the new prompt is being encoded"
        self._thread = threading.Thread(target=self._encode, args=(prompt, self._encoder), name="prompt")
        self._thread.start()

    def take(self) -> Tensor | None:
        """The vectors of a prompt that has become ready since the last call."""
        ready, self._ready = self._ready, None
        return ready

    def close(self) -> None:
        """Stop encoding; waits for the layer under way."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._thread, self._stop, self._note, self._ready = None, threading.Event(), "", None

    def _encode(self, prompt: str, encoder: Encoder) -> None:
        stop = self._stop

        def tell(share: float) -> None:
            if stop.is_set():
                raise _StoppedError
            self._note = f"the new prompt is being encoded: {share:.0%}"

        try:
            ready = prompt_vectors(prompt, encoder, self._width, tell=tell)
        except _StoppedError:
            return
        except WorldPagerError as error:
            self._note = f"the new prompt could not be encoded: {error}"
        else:
            self._ready, self._note = ready, ""
