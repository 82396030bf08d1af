"""Box Jump as the authors run it for their table 1, on real Box2D, written box by box.

It shares only the world (`box2d_world`) with ours: a box keeps a list of the vertical speeds that
it recorded, one at the start of every step, and the score keeps its history.
"""

from typing import Any

import numpy as np
from box2d_world import Box2DWorld

OVERLAP = 0.1
WINDOW, WINDOW_TOP = 20.0, 15.0
LOOK_BACK = 10
SCORE_START = -15.0


class AuthorsBoxJump:
    """An episode in a fresh `world`; observations as in the table of `BoxJump`, `table1`."""

    def __init__(self, world: Box2DWorld) -> None:
        self.world = world
        self.speeds: list[list[float]] = [[] for _ in world.boxes]
        self.best = SCORE_START
        self.shown_best = SCORE_START

    def first_observation(self) -> np.ndarray:
        """Before the kick reaches the bodies."""
        observation = self._observe()
        observation[:, 2] = 0.0
        return observation

    def step(self, actions: Any) -> tuple[np.ndarray, float]:
        """Record speeds and the score, then let the physics run."""
        for box, speeds in zip(self.world.boxes, self.speeds, strict=True):
            speeds.append(box.linearVelocity.y)
        self.shown_best = self.best
        self.best = max(self.best, float(self.world.heights.max()))
        for able, by_rule in zip(self._flags(), self.world.can_jump, strict=True):
            assert able == by_rule  # the rule of a jump includes the newest speed
        self.world.step(actions)
        return self._observe(), (self.best - self.shown_best) / 15.0

    def _flags(self) -> list[bool]:
        return [
            len(speeds) >= LOOK_BACK and all(abs(v) < 0.5 for v in speeds[-LOOK_BACK:])
            for speeds in self.speeds
        ]

    def _observe(self) -> np.ndarray:
        x, y, angle = self.world.places
        vx, vy = self.world.velocities
        width = self.world.parameters.width
        rows = []
        for i, able in enumerate(self._flags()):
            turns = angle[i] / (np.pi / 2)
            others = [j for j in range(len(x)) if j != i]
            level = [j for j in others if abs(y[j] - y[i]) < 1 - OVERLAP]
            column = [j for j in others if abs(x[j] - x[i]) < 1 - OVERLAP]
            left = [x[i] - x[j] for j in level if x[j] < x[i]]
            right = [x[j] - x[i] for j in level if x[j] > x[i]]
            above = [y[j] - y[i] for j in column if y[j] > y[i]]
            below = [y[i] - y[j] for j in column if y[j] < y[i]]
            rows.append(
                [
                    *(x[i] / width, (WINDOW_TOP - y[i]) / WINDOW, vx[i] / 40, -vy[i] / 40),
                    *(turns - np.ceil(turns - 0.5), self.world.boxes[i].angularVelocity / 2),
                    min(left) / width if left else 1.0,
                    min(right) / width if right else 1.0,
                    min(above) / WINDOW if above else 1.0,
                    (min(below) if below else y[i]) / WINDOW,
                    float(able),
                    self.shown_best / 15.0,
                ]
            )
        return np.array(rows)
