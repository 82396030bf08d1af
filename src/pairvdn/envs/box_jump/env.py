"""Box Jump, the environment."""

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.envs.base import Environment, Share
from pairvdn.envs.box_jump.compute_once import Once, once_by
from pairvdn.envs.box_jump.observe import (
    OWN_NUMBERS,
    SCALINGS,
    can_jump,
    observation_names,
    observe,
)
from pairvdn.envs.box_jump.physics import advance, drive, fell_off, no_memory, num_pairs
from pairvdn.envs.box_jump.reward import agent_rewards, count_best, measures, shares
from pairvdn.envs.box_jump.scene import scene
from pairvdn.envs.box_jump.start import start
from pairvdn.envs.box_jump.types import Bodies, BoxJumpState
from pairvdn.envs.box_jump.variants import Parameters, VariantName, parameters_from
from pairvdn.envs.scene import Scene
from pairvdn.lanes import in_lanes
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

CHUNK_BYTES = 2**22  # of contacts in a chunk, which must fit the cache
MOST_EXAMPLES = 512  # in a chunk
PAIR_BYTES = {False: 64, True: 32}  # of a contact between boxes, by `fixed_rotation`


class BoxJump(Environment[BoxJumpState]):
    """Boxes that walk and jump; the team is rewarded for the height that any of them reaches.

    The main environment of the PairVDN paper (section 3.1, appendix B). Lengths are in box widths,
    x to the right, y up, the floor's surface at y = 0. The height h of a box is that of its lower
    side above the floor, 0 once it fell off.

    | variant | `paper` (default): what the appendix says | `table1`: what the paper's numbers were made with | `v1`: the authors' later release |
    |---|---|---|---|
    | start | on the floor, x shifted by up to 0.5 | 0.5 above the floor, kicked sideways by up to 3.75 | as `paper` |
    | look-back of the jump rule | 15 steps | 10 steps | 10 physics steps |
    | shared numbers observed | best height, elapsed time | best height / 15 | number of boxes |
    | `highest` | best height, from 0: the return is h | best / 15, from -15: the return is 1 + h / 15 | as `paper` |
    | a fallen box | costs 20 / max_steps a step | costs nothing | ends the episode, -100 |
    | physics of a step | 1 step of 1/40 s | 1 step of 1/40 s | 6 steps of 1/20 s, forces halved |
    | rotation | on | on | off |
    | floor | the map: 0 to 30 | -30 to 30 | the map |

    **World.** `num_boxes` unit squares of mass 1 and inertia 1/6, gravity 10, friction 0.8 between
    boxes and 0.4 with the floor (geometric mean of 0.8 and 0.2), no restitution, angular damping 1;
    `fixed_rotation=True` keeps them upright. They start 1.5 apart around the middle of a map 30
    wide, which grows so that 3.75 stay free at each side. A box whose centre is below the floor's
    level and beside the floor has fallen: it falls for ever, touches nothing and is not seen.
    `start_tower=k`, meant for training: each episode starts with 0 to k random boxes on each other,
    shifted by up to 0.2, at rest; the height of that tower is no gain.

    **Actions.** 0 nothing. 1, 2: a force of 10 to the left, right, unless the box already moves
    faster than 2 that way. 3: a force of 250 upwards (a change of velocity of 6.25), if the box can
    jump: its vertical speed was below 0.5 after each physics step of the look-back. All actions are
    always allowed; a jump that is not possible does nothing.

    **Observation** of one agent:

    | | | `paper`, `v1` | `table1` |
    |---|---|---|---|
    | 1 | x | -1 to 1 over the map | 0 to 1 |
    | 2 | y | h, -1 once fallen | distance of the centre below y = 15, / 20 |
    | 3 | horizontal speed | / 2 | / 40 |
    | 4 | vertical speed | / 8, upwards positive | / 40, downwards positive |
    | 5 | angle | in quarter turns, folded to (-0.5, 0.5] | the same |
    | 6 | angular velocity | / 2 | the same |
    | 7, 8 | left, right: to the nearest box there that overlaps vertically by more than 0.1 | centre to centre / width of the map, 1 where there is none | the same |
    | 9, 10 | above, below: the same, horizontally | centre to centre / 20; above 1 where there is none; below then to the floor | the same |
    | 11 | can jump | 0 or 1 | the same |
    | then | numbers that all share | see variants | see variants |
    | then | `agent_ids=True`: one-hot identifier | | |

    `scaling="boxes"` gives the same in box widths, with room for what is near: x from the middle
    / 4, h / 2 (-1/2 once fallen), horizontal speed / 2, vertical / 4 upwards, and for 7 to 10
    tanh(distance - 1), which is 0 where boxes touch.

    A fallen box sees 1, 1, 1, 0 for 7 to 10 (tanh(-1) for 10 with `boxes`). The global state is 1 to 11 of every agent, then the
    shared numbers once.

    **Reward** of the team; each box gets 1/n of it, less what its own fall costs. `highest`: what
    the best height of the episode gained in this step. With T = max_steps, H the greatest h now
    and H_s the same over boxes that can jump: `highest_stable` (the best height of boxes that can
    jump), `height_sq` (mean of h^2 / T), `stable_sum` (50 / (n T) times the sum of h^2 of boxes that
    can jump), `dense_height` (50 H / T), `dense_height_sq` (10 H^2 / T), `dense_height_cube`
    (10 H^3 / T), and the same three of H_s: `dense_height_stable`, `dense_height_stable_sq`,
    `dense_height_stable_cube`.

    `stacking_reward=c`, meant for training, adds c for each box by which stacking grows, and takes it
    back. Stacking is the mean over boxes of the number of boxes in their column: the box itself and
    those above and below it, less than half a width aside. The paper's reward ignores all towers but
    the highest.

    **End.** Truncated after `max_steps` (400). Terminated only if asked for: `fall_ends=True` (a box
    falls), `target_height` (the best height reaches it).

    **Physics.** Plain JAX after Box2D 2.3: sequential impulses, 8 velocity and 3 position
    iterations, warm starting, at 16 boxes every pair in every sweep. Nothing is random after the
    reset.

    Args:
        variant: The set of numbers to start from: `paper` is what the appendix says, `table1` what
            the paper's numbers were made with, `v1` the authors' later release.
        arguments: Fields of `Parameters` that differ from the variant; None means the variant's
            value.
    """  # noqa: E501

    name = "box-jump"
    action_names = ("nothing", "left", "right", "jump")
    arguments_record: ClassVar[type] = Parameters  # documents `**arguments`
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    parameters: Parameters = eqx.field(static=True)

    def __init__(self, variant: VariantName = "paper", **arguments: Any) -> None:
        parameters = parameters_from(variant, arguments)
        n, shared = parameters.num_boxes, len(parameters.shared_numbers)
        self.parameters = parameters
        self.max_steps = parameters.max_steps
        self.spec = EnvSpec(
            num_agents=n,
            num_actions=len(self.action_names),
            observation_size=OWN_NUMBERS + shared + (n if parameters.agent_ids else 0),
            state_size=OWN_NUMBERS * n + shared,
            has_positions=True,
        )

    @property
    def seconds_per_step(self) -> float:
        """The simulated time of a step."""
        return self.parameters.substeps * self.parameters.time_step

    @property
    def _chunk(self) -> int:
        """The number of examples that are simulated together."""
        example = num_pairs(self.parameters) * PAIR_BYTES[self.parameters.fixed_rotation]
        return min(max(CHUNK_BYTES // example, 32), MOST_EXAMPLES)

    @property
    def observation_names(self) -> tuple[str, ...]:
        """A few words for each number that an agent observes."""
        return observation_names(self.parameters)

    def reset(self, key: PRNGKey) -> tuple[BoxJumpState, TimeStep]:
        """Put the boxes in a row around the middle of the map."""
        parameters, n = self.parameters, self.num_agents
        bodies = start(key, parameters)
        best = jnp.float32(parameters.best_start)
        if parameters.start_tower:  # the initial tower is no gain
            best = jnp.maximum(best, jnp.max(bodies.y) - 0.5)
        state = BoxJumpState(
            bodies=bodies,
            memory=no_memory(parameters),
            calm=jnp.zeros(n, jnp.int32),
            fallen=jnp.zeros(n, bool),
            best=best,
            best_stable=best,
            steps=jnp.int32(0),
        )
        observation, global_state = in_lanes(self._observe, chunk=self._chunk)(state)
        return state, self.time_step(observation=observation, state=global_state)

    def step(
        self, key: PRNGKey, state: BoxJumpState, actions: Int32[Array, " n"]
    ) -> tuple[BoxJumpState, TimeStep]:
        """Act once. Nothing is random, so `key` is not used."""
        act = in_lanes(self.step_in_lanes, chunk=self._chunk)
        state, (observation, global_state, rewards, terminated) = act(state, actions)
        return state, self.time_step(
            observation=observation,
            state=global_state,
            rewards=rewards,
            terminated=terminated,
            truncated=state.steps >= self.max_steps,
        )

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Centres of the boxes in box widths; a fallen box is at its observed height."""
        scaling = SCALINGS[self.parameters.scaling]
        x = scaling.place_x(observation[:, 0], self.parameters.width)
        return jnp.stack([x, scaling.place_y(observation[:, 1])], axis=1)

    def _observe(self, state: BoxJumpState) -> tuple[Float[Array, "n o *b"], Float[Array, "s *b"]]:
        return observe(state, self.parameters)

    def step_in_lanes(
        self, state: BoxJumpState, actions: Int32[Array, "n *b"]
    ) -> tuple[BoxJumpState, tuple[Array, Array, Array, Array]]:
        """One step of a batch, whose axis is the last: see `pairvdn.lanes`."""
        parameters = self.parameters
        once = once_by(state.steps)
        before = state

        def substep(_: Any, carry: Any) -> Any:
            state, ended = carry
            after = self._physics_step(state, actions, once)
            if parameters.fall_ends and parameters.substeps > 1:
                # The episode ends at the physics step of a fall: later substeps change nothing.
                after = jax.tree.map(
                    lambda new, old: jnp.where(jnp.broadcast_to(ended, new.shape), old, new),
                    after,
                    state,
                )
            return after, ended | (parameters.fall_ends & jnp.any(after.fallen, axis=0))

        state, ended_by_fall = jax.lax.fori_loop(
            0, parameters.substeps, substep, (state, jnp.zeros_like(state.best, bool))
        )
        state = dataclasses.replace(state, steps=state.steps + 1)
        rewards = agent_rewards(
            before, state, can_jump(state, parameters), ended_by_fall, parameters
        )
        terminated = ended_by_fall
        if parameters.target_height is not None:
            terminated = terminated | (state.best >= parameters.target_height)
        return state, (*self._observe(state), rewards, terminated)

    def _physics_step(
        self, state: BoxJumpState, actions: Int32[Array, "n *b"], once: Once
    ) -> BoxJumpState:
        parameters = self.parameters
        bodies = state.bodies
        velocity = drive(bodies.velocity, actions, can_jump(state, parameters), parameters)
        driven = Bodies(bodies.x, bodies.y, bodies.angle, velocity)
        bodies, memory = advance(driven, state.memory, state.fallen, parameters, once)
        calm = jnp.abs(bodies.velocity.y) < parameters.jump_calm
        moved = dataclasses.replace(
            state,
            bodies=bodies,
            memory=memory,
            calm=jnp.where(calm, state.calm + 1, 0),
            fallen=state.fallen | fell_off(bodies, parameters),
        )
        return count_best(moved, can_jump(moved, parameters))

    def scene(self, state: BoxJumpState) -> Scene:
        """Boxes, the floor, and a line at the best height so far."""
        return scene(state, self.parameters)

    def measures(self, state: BoxJumpState) -> dict[str, Float[Array, ""]]:
        """Best height, in boxes and in the paper's unit, how close boxes stay, how many fell."""
        return measures(state, self.parameters)

    def shares(self, state: BoxJumpState, actions: Int32[Array, " n"]) -> dict[str, Share]:
        """Of the jumps with a load, those in which the load jumps too."""
        return shares(state, actions, self.parameters)
