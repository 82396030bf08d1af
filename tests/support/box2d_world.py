"""Box Jump in real Box2D: the same boxes, floor, forces and rules, for comparison.

Tests replay scenes and policies in it, and the benchmark times its C++ `world.Step`.
"""

import warnings
from typing import Any

import numpy as np

from pairvdn.envs.box_jump.variants import Parameters

with warnings.catch_warnings():
    # SWIG's types warn when they are made; as an error that crashes the interpreter.
    warnings.simplefilter("ignore", DeprecationWarning)
    import Box2D

LEFT, RIGHT, JUMP = 1, 2, 3
FLOOR_DEPTH = 10.0


class Box2DWorld:
    """One episode; arrays are over boxes, in the units of `BoxJump`."""

    def __init__(
        self,
        parameters: Parameters,
        x: Any,
        y: Any,
        *,
        angle: Any = 0.0,
        vx: Any = 0.0,
        vy: Any = 0.0,
    ) -> None:
        self.parameters = parameters
        self.world = Box2D.b2World(gravity=(0.0, -parameters.gravity))
        self.physics = self.world.Step  # the benchmark puts a clock here
        left, right = parameters.floor_left, parameters.width
        self.world.CreateStaticBody(
            position=((left + right) / 2, -FLOOR_DEPTH / 2),
            fixtures=Box2D.b2FixtureDef(
                shape=Box2D.b2PolygonShape(box=((right - left) / 2, FLOOR_DEPTH / 2)),
                friction=parameters.floor_friction,
            ),
        )
        places = np.broadcast_arrays(x, y, angle, vx, vy)
        self.boxes = [self._box(*map(float, place)) for place in zip(*places, strict=True)]
        n = len(self.boxes)
        self.calm = np.zeros(n, int)
        self.could_jump = np.zeros(n, bool)  # in the last physics step
        self.fallen = np.zeros(n, bool)
        self.best = parameters.best_start

    def _box(self, x: float, y: float, angle: float, vx: float, vy: float) -> Any:
        return self.world.CreateDynamicBody(
            position=(x, y),
            angle=angle,
            linearVelocity=(vx, vy),
            angularDamping=self.parameters.angular_damping,
            fixedRotation=self.parameters.fixed_rotation,
            fixtures=Box2D.b2FixtureDef(
                shape=Box2D.b2PolygonShape(box=(0.5, 0.5)),
                density=1.0,
                friction=self.parameters.box_friction,
            ),
        )

    def step(self, actions: Any) -> None:
        """One environment step."""
        for _ in range(self.parameters.substeps):
            self._physics_step(actions)

    def _physics_step(self, actions: Any) -> None:
        parameters = self.parameters
        can_jump = self.could_jump = self.can_jump
        for i, (box, action) in enumerate(zip(self.boxes, np.asarray(actions), strict=True)):
            vx = box.linearVelocity.x
            if action == LEFT and vx >= -parameters.walk_speed:
                box.ApplyForceToCenter((-parameters.walk_force, 0.0), True)
            if action == RIGHT and vx <= parameters.walk_speed:
                box.ApplyForceToCenter((parameters.walk_force, 0.0), True)
            if action == JUMP and can_jump[i]:
                box.ApplyForceToCenter((0.0, parameters.jump_force), True)
        self.physics(
            parameters.time_step, parameters.velocity_iterations, parameters.position_iterations
        )
        self.world.ClearForces()
        self._look()

    def _look(self) -> None:
        parameters = self.parameters
        _, vy = self.velocities
        x, y, _ = self.places
        self.calm = np.where(np.abs(vy) < parameters.jump_calm, self.calm + 1, 0)
        fell = (y < 0) & ((x < parameters.floor_left) | (x > parameters.width)) & ~self.fallen
        for i in np.flatnonzero(fell):
            self.boxes[i].fixtures[0].filterData.maskBits = 0
            self.boxes[i].fixtures[0].Refilter()
        self.fallen |= fell
        self.best = max(self.best, float(self.heights.max()))

    @property
    def can_jump(self) -> np.ndarray:
        """Whether each box stood for long enough."""
        return (self.calm >= self.parameters.look_back) & ~self.fallen

    @property
    def places(self) -> np.ndarray:
        """x, y and angle: [3, n]."""
        return np.array([(*box.position, box.angle) for box in self.boxes]).T

    @property
    def velocities(self) -> np.ndarray:
        """vx and vy: [2, n]."""
        return np.array([tuple(box.linearVelocity) for box in self.boxes]).T

    @property
    def heights(self) -> np.ndarray:
        """How far each box is above its place on the floor; 0 once it fell."""
        return np.where(self.fallen, 0.0, np.maximum(self.places[1] - 0.5, 0.0))


def start_like(state: Any, parameters: Parameters) -> Box2DWorld:
    """A world with the boxes where a (fresh, single) `BoxJumpState` has them."""
    bodies = state.bodies
    return Box2DWorld(
        parameters,
        np.asarray(bodies.x),
        np.asarray(bodies.y),
        angle=np.asarray(bodies.angle),
        vx=np.asarray(bodies.velocity.x),
        vy=np.asarray(bodies.velocity.y),
    )
