"""Where the camera is and how actions move it: held controls and mouse become one pose per frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from worldpager.engine.types import Action, Button, Motion, Pose

KEEP_AWAY = 0.35
"""Cells that stay free between the camera and what stands ahead; nearer, the picture is a flat colour."""
OWED_LIMIT = math.pi
"""Radians of mouse turning that may be owed to later chunks."""
SETTLED = 1e-4
"""Radians; less is not owed."""


@dataclass(frozen=True, slots=True)
class Stance:
    """A camera at rest between two chunks.

    ``room`` is how many cells it may still go in the world direction ``ahead`` (radians): a wall is taken to stand across that
    direction, so that walking obliquely slides along it. ``owed_turn`` and ``owed_look`` are radians that the mouse asked for and the
    limit of a frame held back.
    """

    pose: Pose
    room: float = math.inf
    ahead: float = 0.0
    owed_turn: float = 0.0
    owed_look: float = 0.0

    @property
    def settled(self) -> bool:
        """True when nothing is owed: with no control held the camera stays where it is."""
        return self.owed_turn == 0.0 and self.owed_look == 0.0


def move(stance: Stance, action: Action, motion: Motion, frames: int) -> tuple[Stance, tuple[Pose, ...]]:
    """The next ``frames`` poses when ``action`` is held through them, and the stance after the last.

    Mouse degrees are spread evenly. Walking goes along the yaw of its frame (see `Motion.heading`); both directions at once are no faster
    than one.
    """
    turn, owed_turn = _spread(
        stance.owed_turn + math.radians(action.turn),
        _held(action, Button.TURN_LEFT, Button.TURN_RIGHT) * motion.turn,
        motion.turn_limit,
        frames,
    )
    look, owed_look = _spread(
        stance.owed_look + math.radians(action.look),
        _held(action, Button.LOOK_UP, Button.LOOK_DOWN) * motion.look,
        motion.turn_limit,
        frames,
    )
    forward, left = _held(action, Button.FORWARD, Button.BACK), _held(action, Button.LEFT, Button.RIGHT)
    speed = (motion.run if action.buttons & Button.RUN else motion.walk) / (math.hypot(forward, left) or 1.0)
    poses = []
    for _ in range(frames):
        yaw = stance.pose.yaw + turn
        pitch = max(-motion.pitch_limit, min(motion.pitch_limit, stance.pose.pitch + look))
        turned = replace(stance, pose=stance.pose._replace(yaw=yaw, pitch=pitch))
        stance = _walk(turned, yaw - turn * (1 - motion.heading), forward * speed, left * speed)
        poses.append(stance.pose)
    at_limit = abs(stance.pose.pitch) >= motion.pitch_limit
    return replace(stance, owed_turn=owed_turn, owed_look=0.0 if at_limit else owed_look), tuple(poses)


def _held(action: Action, positive: Button, negative: Button) -> int:
    """1, -1, or 0 when neither or both are held."""
    return bool(action.buttons & positive) - bool(action.buttons & negative)


def _spread(mouse: float, keys: float, limit: float, frames: int) -> tuple[float, float]:
    """(radians a frame, radians owed): ``mouse`` in all and ``keys`` a frame within ``limit`` a frame."""
    rate = max(-limit, min(limit, mouse / frames + keys))
    done = rate - max(-limit, min(limit, keys))
    owed = mouse - done * frames
    return rate, max(-OWED_LIMIT, min(OWED_LIMIT, owed)) if abs(owed) > SETTLED else 0.0


def _walk(stance: Stance, heading: float, forward: float, left: float) -> Stance:
    """One frame's steps in cells along ``heading``. Progress towards what stands ahead ends at ``room``; the rest slides."""
    pose = stance.pose
    dx = forward * math.cos(heading) - left * math.sin(heading)
    dy = forward * math.sin(heading) + left * math.cos(heading)
    ux, uy = math.cos(stance.ahead), math.sin(stance.ahead)
    progress = dx * ux + dy * uy
    excess = max(0.0, progress - stance.room)
    moved = pose._replace(x=pose.x + dx - excess * ux, y=pose.y + dy - excess * uy)
    return replace(stance, pose=moved, room=max(0.0, stance.room - (progress - excess)))


class PoseTrack:
    """The camera of one world."""

    def __init__(self, motion: Motion, start: Pose) -> None:
        self._motion = motion
        self._stance = Stance(start)

    @property
    def pose(self) -> Pose:
        """The pose of the newest frame."""
        return self._stance.pose

    @property
    def stance(self) -> Stance:
        """The pose and what bounds the next one."""
        return self._stance

    def advance(self, action: Action, frames: int) -> tuple[Pose, ...]:
        """Move by ``action`` and return the poses of the chunk, one per frame."""
        self._stance, poses = move(self._stance, action, self._motion, frames)
        return poses

    def see(self, clearance: float) -> None:
        """Take in the free distance straight ahead of the newest pose in cells. Not a number counts as not known: free."""
        room = math.inf if math.isnan(clearance) else max(0.0, clearance - KEEP_AWAY)
        self._stance = replace(self._stance, room=room, ahead=self._stance.pose.yaw)
