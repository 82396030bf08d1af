"""Box Jump, the environment."""

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int32

from pairvdn.envs.base import Environment, Share
from pairvdn.envs.box_jump.observe import (
    OWN_NUMBERS,
    SCALINGS,
    can_jump,
    observation_names,
    observe,
)
from pairvdn.envs.box_jump.physics import advance, drive, fell_off, no_memory, num_pairs
from pairvdn.envs.box_jump.reward import (
    MEASURE_MEANINGS,
    agent_rewards,
    count_best,
    measures,
    shares,
)
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
    """Boxes walk and jump; the team is rewarded for the greatest height that any box reaches.

    The main environment of the PairVDN paper (section 3.1, appendix B). Lengths are in box widths,
    x to the right, y up; the surface of the floor is at y = 0. The height h of a box is the height of
    its lower side above the floor, and 0 once the box has fallen off.

    | variant | `paper` (default): as in the appendix | `table1`: the settings behind the paper's numbers | `v1`: the authors' later release |
    |---|---|---|---|
    | start | on the floor, x shifted by up to 0.5 | 0.5 above the floor, kicked sideways by up to 3.75 | as `paper` |
    | look-back of the jump rule | 15 steps | 10 steps | 10 physics steps |
    | shared numbers observed | best height, elapsed time | best height / 15 | number of boxes |
    | `highest` | best height, from 0: the return is h | best / 15, from -15: the return is 1 + h / 15 | as `paper` |
    | a fallen box | costs 20 / max_steps a step | costs nothing | ends the episode, -100 |
    | physics of a step | 1 step of 1/40 s | 1 step of 1/40 s | 6 steps of 1/20 s, forces halved |
    | best height counted and observed | at once | a step late, observed two steps late | at once |
    | kick in the first observation | | hidden | |
    | fallen boxes | unseen | seen, with their true distance to the floor | unseen |
    | rotation | on | on | off |
    | floor | the map: 0 to 30 | -30 to 30 | the map |

    **World.** `num_boxes` unit squares of mass 1 and inertia 1/6. Gravity is 10, friction 0.8 between
    boxes and 0.4 with the floor (geometric mean of 0.8 and 0.2), angular damping 1; nothing bounces.
    `fixed_rotation=True` keeps boxes upright. Boxes start 1.5 apart around the middle of a map of
    width 30, which grows if needed to keep 3.75 free at each side. A box has fallen once its centre
    is below the floor and to the side of it: it keeps falling and touches nothing.
    `start_tower=k`, meant for training, starts each episode with 0 to k random boxes stacked at rest,
    shifted by up to 0.2. The height of that tower does not count as a gain.

    **Actions.** 0: nothing. 1, 2: a force of 10 to the left, right, unless the box already moves
    faster than 2 that way. 3: a force of 250 upwards (a change of velocity of 6.25), if the box can
    jump: its vertical speed was below 0.5 after each physics step of the look-back. All actions are
    always allowed; a jump does nothing if the box cannot jump.

    **Observation** of one agent:

    | number | meaning | `paper`, `v1` | `table1` |
    |---|---|---|---|
    | 1 | x | -1 to 1 over the map | 0 to 1 |
    | 2 | y | h, -1 once fallen | distance of the centre below y = 15, / 20 |
    | 3 | horizontal speed | / 2 | / 40 |
    | 4 | vertical speed | / 8, upwards positive | / 40, downwards positive |
    | 5 | angle | in quarter turns, folded to (-0.5, 0.5] | same |
    | 6 | angular velocity | / 2 | same |
    | 7, 8 | distance to the nearest box on the left, right that overlaps vertically by more than 0.1 | centre to centre / width of the map; 1 if there is none | same |
    | 9, 10 | distance to the nearest box above, below that overlaps horizontally by more than 0.1 | centre to centre / 20; if there is none, above 1, below the distance to the floor | same |
    | 11 | could jump | 0 or 1, as the jump rule decided in the physics step that led here; 0 at the start | same |
    | then | shared numbers | see variants | see variants |
    | then | one-hot identifier, with `agent_ids=True` | | |

    `scaling="boxes"` gives the same in box widths, with a finer scale at short range: x from the
    middle / 4, h / 2 (-1/2 once fallen), horizontal speed / 2, vertical speed / 4 upwards, and
    tanh(distance - 1) for 7 to 10, which is 0 where boxes touch.

    Number 11 is a physics step old, as in the authors' code: a box that landed just long enough ago
    jumps although it still observes 0. `jump_flag_lags=False` shows the rule of the next step. In
    `table1` rewards lag too: a step counts the best height before it, and the first two observations
    show the starting value. `fallen_seen=False` hides fallen boxes, which then observe 1, 1, 1, 0 for
    7 to 10 (with `boxes`, tanh(-1) for 10). The global state is 1 to 11 of every agent, then the
    shared numbers once.

    **Reward** of the team; each box gets 1/n of it, minus the cost of its own fall. The default
    `highest` is the increase of the episode's best height. The others, with T = max_steps, H the
    greatest h now and H_s the greatest h of boxes that can jump:

    | reward | value |
    |---|---|
    | `highest_stable` | as `highest`, for boxes that can jump |
    | `height_sq` | mean of h^2 / T |
    | `stable_sum` | 50 / (n T) times the sum of h^2 of boxes that can jump |
    | `dense_height`, `dense_height_stable` | 50 H / T, 50 H_s / T |
    | `dense_height_sq`, `dense_height_stable_sq` | 10 H^2 / T, 10 H_s^2 / T |
    | `dense_height_cube`, `dense_height_stable_cube` | 10 H^3 / T, 10 H_s^3 / T |

    `stacking_reward=c`, meant for training, adds c times the increase of stacking, and takes it back
    when stacking falls. Stacking is the mean size of a box's column: the box itself and all boxes
    whose centres are less than half a width to the side. The paper's reward ignores every tower but
    the highest.

    `gathering_reward=c`, meant for training, adds c times the decrease of the mean distance along x
    of two boxes, in box widths. The stacking reward alone also pays for a second tower far away.

    **End.** Truncated after `max_steps` (400). Terminated only on request: `fall_ends=True` (a box
    falls) or `target_height` (the best height reaches it).

    **Physics.** Plain JAX after Box2D 2.3: sequential impulses, 8 velocity and 3 position
    iterations, warm starting, at 16 boxes every pair in every sweep. Nothing is random after the
    reset.

    Args:
        variant: The parameters to start from: `paper` as in the appendix, `table1` behind the
            paper's numbers, `v1` of the authors' later release.
        arguments: Fields of `Parameters` that differ from the variant; None: the variant's value.
    """  # noqa: E501

    name = "box-jump"
    action_names = ("nothing", "left", "right", "jump")
    arguments_record: ClassVar[type] = Parameters  # documents `**arguments`
    measure_meanings = MEASURE_MEANINGS
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
        height = jnp.max(bodies.y) - 0.5
        start_best = jnp.float32(parameters.best_start)
        if parameters.start_tower:  # the initial tower is no gain
            start_best = jnp.maximum(start_best, height)
        # Rewards that lag count the initial state in the first step; others count from its result.
        best = jnp.maximum(start_best, height) if parameters.best_lags else start_best
        state = BoxJumpState(
            bodies=bodies,
            memory=no_memory(parameters),
            calm=jnp.zeros(n, jnp.int32),
            could_jump=jnp.zeros(n, bool),
            fallen=jnp.zeros(n, bool),
            best=best,
            counted=start_best,
            shown=start_best,
            best_stable=start_best,
            steps=jnp.int32(0),
        )
        seen = state
        if parameters.kick_hidden:
            at_rest = jax.tree.map(jnp.zeros_like, bodies.velocity)
            seen = eqx.tree_at(lambda s: s.bodies.velocity, state, at_rest)
        observation, global_state = in_lanes(self._observe, chunk=self._chunk)(seen)
        return state, self.time_step(observation=observation, state=global_state)

    def step(
        self, key: PRNGKey, state: BoxJumpState, actions: Int32[Array, " n"]
    ) -> tuple[BoxJumpState, TimeStep]:
        """Act once. Nothing is random, so `key` is not used."""
        actions = self.as_actions(actions, no_op=None)
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
        before = state

        def substep(_: Any, carry: Any) -> Any:
            state, ended = carry
            after = self._physics_step(state, actions)
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
        state = dataclasses.replace(
            state,
            counted=before.best if parameters.best_lags else state.best,
            shown=before.counted if parameters.best_lags else state.best,
            steps=state.steps + 1,
        )
        rewards = agent_rewards(
            before, state, can_jump(state, parameters), ended_by_fall, parameters
        )
        terminated = ended_by_fall
        if parameters.target_height is not None:
            terminated = terminated | (state.best >= parameters.target_height)
        return state, (*self._observe(state), rewards, terminated)

    def _physics_step(self, state: BoxJumpState, actions: Int32[Array, "n *b"]) -> BoxJumpState:
        parameters = self.parameters
        bodies = state.bodies
        able = can_jump(state, parameters)
        velocity = drive(bodies.velocity, actions, able, parameters)
        driven = Bodies(bodies.x, bodies.y, bodies.angle, velocity)
        bodies, memory = advance(driven, state.memory, state.fallen, parameters)
        calm = jnp.abs(bodies.velocity.y) < parameters.jump_calm
        moved = dataclasses.replace(
            state,
            bodies=bodies,
            memory=memory,
            calm=jnp.where(calm, state.calm + 1, 0),
            could_jump=able,
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
