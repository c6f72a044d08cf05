"""Films, replays and clips of generated frames: encoded by ffmpeg in processes of their own, so that play never waits for them."""

from worldpager.engine.recorder.clips import CLIP_KINDS, export_clip
from worldpager.engine.recorder.encoder import FILM_HEIGHT, film_size
from worldpager.engine.recorder.ffmpeg import FRAGMENTS_ONLY, WHOLE_WHEN_CLOSED, describe_encoder, find_ffmpeg
from worldpager.engine.recorder.film_file import FilmFacts, FilmReader, film_facts, read_metadata, thumbnail
from worldpager.engine.recorder.recorder import QUEUED_CHUNKS, Recorder, RecorderReport
from worldpager.engine.recorder.replay import ReplayBuffer
from worldpager.engine.recorder.sound import SOUND_RATE, SoundSource
from worldpager.engine.recorder.timing import TIMINGS

__all__ = [
    "CLIP_KINDS", "FILM_HEIGHT", "FRAGMENTS_ONLY", "QUEUED_CHUNKS", "SOUND_RATE", "TIMINGS", "WHOLE_WHEN_CLOSED", "FilmFacts", "FilmReader",
    "Recorder", "RecorderReport", "ReplayBuffer", "SoundSource", "describe_encoder", "export_clip", "film_facts", "film_size",
    "find_ffmpeg", "read_metadata", "thumbnail",
]  # fmt: skip
