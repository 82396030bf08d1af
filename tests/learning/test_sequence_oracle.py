"""Sequences beside an oracle that knows the rules of the game and trusts no flag of a frame.

Every observation says which episode it belongs to and how far it is, so the oracle can tell from
observations and actions alone where memories start anew, what is paid, and what is bootstrapped.
"""

import functools
import itertools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int32
from probes import quick_jit

from pairvdn import values
from pairvdn.acting.policy import EpsilonGreedyPolicy, GreedyPolicy, side_by_side
from pairvdn.envs import Environment
from pairvdn.envs.scene import Scene
from pairvdn.learning import BlockLoss, ErrorRule, ReturnRule, Sequence, SequenceLoss
from pairvdn.learning.collector import Collector
from pairvdn.learning.recorders import Sequences
from pairvdn.types import EnvSpec, PRNGKey, TimeStep

AGENTS, ACTIONS, DISCOUNT, BURN_IN, LENGTH = 2, 3, 0.9, 2, 5


class Told(Environment[Int32[Array, "2"]]):
    """Episode e has 3 + e % 4 steps; odd ones terminate, even ones are truncated."""

    name: str = "told"
    spec: EnvSpec = EnvSpec(AGENTS, ACTIONS, observation_size=2, state_size=2)
    max_steps: int = 6

    def _time_step(self, state: Array, paid: Array, over: Array) -> TimeStep:
        odd, seen = state[0] % 2 == 1, state.astype(jnp.float32) / 10
        agent, action = jnp.indices((AGENTS, ACTIONS))
        return self.time_step(
            observation=jnp.broadcast_to(seen, (AGENTS, 2)),
            state=seen,
            mask=(state.sum() + agent + action) % 3 != 0,
            rewards=paid,
            terminated=over & odd,
            truncated=over & ~odd,
        )

    def reset(self, key: PRNGKey) -> tuple[Array, TimeStep]:
        state = jnp.stack([jax.random.randint(key, (), 0, 40), jnp.int32(0)])
        return state, self._time_step(state, jnp.float32(0), jnp.bool_(False))

    def step(self, key: PRNGKey, state: Array, actions: Array) -> tuple[Array, TimeStep]:
        after = state + jnp.array([0, 1])
        chosen = actions.astype(jnp.float32)
        reward = jnp.sin(state.sum().astype(jnp.float32)) + 3.0 * chosen[0] - 2.0 * chosen[1]
        return after, self._time_step(after, reward, after[1] == 3 + state[0] % 4)

    def scene(self, state: Array) -> Scene:
        return Scene(bounds=jnp.zeros(4))


class Seen(NamedTuple):
    """What the oracle reads from one frame."""

    episode: int
    step: int
    observation: Any
    actions: Any

    @property
    def left(self) -> int:
        return 3 + self.episode % 4 - self.step

    @property
    def is_final(self) -> bool:  # and truncated: terminated episodes have no such frame
        return self.left == 0

    @property
    def terminates(self) -> bool:
        return self.left == 1 and self.episode % 2 == 1

    @property
    def reward(self) -> float:
        return np.sin(self.episode + self.step) + 3.0 * self.actions[0] - 2.0 * self.actions[1]

    @property
    def allowed(self) -> list[tuple[int, ...]]:
        base = self.episode + self.step
        each = [[a for a in range(ACTIONS) if (base + i + a) % 3] for i in range(AGENTS)]
        return list(itertools.product(*each))


def seen_in(sequence: Sequence) -> list[Seen]:
    frames = sequence.frames
    told = np.rint(10 * frames.observation[:, 0]).astype(int)
    return [
        Seen(int(episode), int(step), frames.observation[time], frames.actions[time])
        for time, (episode, step) in enumerate(told)
    ]


@eqx.filter_jit
def stepped(value: Any, carry: Any, observation: Array, actions: Array, joint: Array) -> Any:
    """The values of these joint actions, and the carry after `actions`."""
    features, carry = value.encoder(carry, observation)
    tables = value.tables(features, observation[0])
    known = jax.vmap(lambda one: value.evaluate(tables, one)[0])(joint)
    return known, value.encoder.acted(carry, actions)


def played(value: Any, sequence: Sequence) -> tuple[list[dict[tuple[int, ...], float]], list[Any]]:
    """The values of all joint actions at every frame, and the carry with which it was seen."""
    every = list(itertools.product(range(ACTIONS), repeat=AGENTS))
    joint = jnp.array(every, jnp.int32)
    fresh = value.encoder.init_carry()
    carry, told, carries = sequence.carry, [], []
    for seen in seen_in(sequence):
        carry = fresh if seen.step == 0 else carry
        carries.append(carry)
        known, carry = stepped(value, carry, seen.observation, seen.actions, joint)
        told.append(dict(zip(every, np.asarray(known).tolist(), strict=True)))
    return told, carries


def h(x: float) -> float:
    return np.sign(x) * (np.sqrt(abs(x) + 1) - 1) + 1e-3 * x


def h_inverse(y: float) -> float:
    inside = np.sqrt(1 + 4e-3 * (abs(y) + 1 + 1e-3)) - 1
    return np.sign(y) * ((inside / 2e-3) ** 2 - 1)


def expected(
    online: Any, target: Any, sequence: Sequence, rule: ErrorRule, returns: ReturnRule, double: bool
) -> list[tuple[float, float]]:
    """(prediction, target) of every step that is learned."""
    seen, last = seen_in(sequence), BURN_IN + LENGTH
    chooses, _ = played(online, sequence)
    judges, _ = played(target, sequence)

    def best(time: int) -> float:
        chooser = chooses if double else judges
        action = max(seen[time].allowed, key=lambda joint: chooser[time][joint])
        value = judges[time][action]
        return h_inverse(value) if rule.rescale else value

    def goal(time: int, steps: int) -> float:
        """The return from a frame on, over so many steps or with λ."""
        if seen[time].terminates:
            return seen[time].reward
        after = time + 1
        bootstrap = best(after)
        if after == last or seen[after].is_final:
            rest = bootstrap
        elif returns.trace_decay is None:
            rest = bootstrap if steps == 1 else goal(after, steps - 1)
        else:
            decay = returns.trace_decay
            rest = (1 - decay) * bootstrap + decay * goal(after, steps)
        return seen[time].reward + DISCOUNT * rest

    told = []
    for time in range(BURN_IN, last):
        if not seen[time].is_final:
            wanted = goal(time, returns.n_step)
            predicted = chooses[time][tuple(map(int, seen[time].actions))]
            told.append((predicted, h(wanted) if rule.rescale else wanted))
    return told


def value_of(seed: int, encoder: str = "gru") -> Any:
    make = eqx.filter_jit(values.make)
    return make(
        "pairvdn",
        Told().spec,
        key=jax.random.PRNGKey(seed),
        hidden_sizes=(8,),
        layer_norm=True,
        encoder=encoder,
        encoder_size=6,
        inputs=("observation", "action", "identifier"),
    )


@functools.cache
def collected(encoder: str = "gru") -> list[Sequence]:
    """Four sequences of each of two environments, in the order of time."""
    env, value = Told(), value_of(0, encoder)
    actor = side_by_side(EpsilonGreedyPolicy(GreedyPolicy(env, value), jnp.float32(0.5)))
    collector = Collector(
        env, num_envs=2, discount=DISCOUNT, recorder=Sequences(LENGTH, burn_in=BURN_IN)
    )
    start = quick_jit(collector.start, static_argnums=(1, 2))
    _, block, _ = start(jax.random.PRNGKey(3), actor, 4 * LENGTH)
    block = jax.tree.map(np.asarray, block)
    count = len(block.frames.acted)
    return [jax.tree.map(lambda leaf, row=row: leaf[row], block) for row in range(count)]


def stacked(sequences: list[Sequence]) -> Sequence:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *sequences)


def test_stored_carries_are_those_of_the_episode_so_far() -> None:
    value = value_of(0)
    for first, second in itertools.pairwise(collected()[::2]):  # of one environment
        _, carries = played(value, first)
        jax.tree.map(
            lambda ours, told: np.testing.assert_allclose(ours, told, atol=1e-5),
            second.carry,
            carries[LENGTH],
        )


@pytest.mark.parametrize(
    ("encoder", "rule"), [("gru", ErrorRule()), ("mlp", ErrorRule(rescale=True))]
)
def test_blocks_are_labelled_as_the_oracle_says(encoder: str, rule: ErrorRule) -> None:
    value, returns = value_of(0, encoder), ReturnRule(trace_decay=0.7)
    sequences = collected(encoder)
    criterion = BlockLoss(Told(), rule, returns, BURN_IN)
    items = eqx.filter_jit(criterion.prepare)(value, stacked(sequences))
    pairs = [expected(value, value, one, rule, returns, False) for one in sequences]
    for row, told in enumerate(pairs):
        acted = sequences[row].frames.acted[BURN_IN:-1]
        np.testing.assert_allclose(
            items.target[row, :, 0][acted], [goal for _, goal in told], rtol=1e-4, atol=1e-4
        )
    errors = np.array([goal - predicted for one in pairs for predicted, goal in one])
    loss, _ = eqx.filter_jit(criterion)(value, None, items)
    assert float(loss) == pytest.approx(np.mean(errors**2), rel=1e-3)


@pytest.mark.parametrize(
    ("returns", "double"), [(ReturnRule(3), True), (ReturnRule(trace_decay=0.7), False)]
)
def test_replayed_sequences_have_the_loss_of_the_oracle(returns: ReturnRule, double: bool) -> None:
    online, target, rule = value_of(1), value_of(2), ErrorRule(rescale=True)
    sequences = collected()  # played by a third network: carries are stale
    criterion = SequenceLoss(Told(), rule, returns, BURN_IN, double)
    loss, _ = eqx.filter_jit(criterion)(online, target, stacked(sequences))
    pairs = [expected(online, target, one, rule, returns, double) for one in sequences]
    errors = np.array([goal - predicted for one in pairs for predicted, goal in one])
    assert float(loss) == pytest.approx(np.mean(errors**2), rel=1e-3)
