"""Losses of a batch by numbers worked out by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from jaxtyping import Array
from probes import Probe, Tabular

from pairvdn import envs, values
from pairvdn.learning.losses import ErrorRule, TransitionLoss, huber
from pairvdn.learning.records import Transition
from pairvdn.learning.schedules import windows

ENV = Probe(jnp.zeros((2, 2, 2)), length=1)
SEES = jnp.eye(2)


def batch(*, discount: list[float], mask: Array | None = None) -> Transition:
    """Two transitions: seen 0, actions (0, 1), reward 1; seen 1, actions (1, 1), reward 2."""
    tm1 = jnp.stack([SEES[jnp.array([0, 0])], SEES[jnp.array([1, 1])]])
    t = tm1[::-1]
    everything = jnp.ones((2, 2, 2), jnp.bool_)
    return jax.vmap(Transition)(
        tm1,
        tm1.reshape(2, 4),
        jnp.array([[0, 1], [1, 1]], jnp.int32),
        jnp.array([1.0, 2.0]),
        jnp.array(discount),
        t,
        t.reshape(2, 4),
        everything if mask is None else mask,
    )


# Online: seen 0 is best at (0, 0), seen 1 at (1, 1). The target network disagrees on both.
ONLINE = jnp.array([[[5.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 3.0]]])
TARGET = jnp.array([[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]])


def errors(**arguments: object) -> tuple[float, float]:
    """The loss and the mean absolute error."""
    defaults: dict[str, object] = {"rule": ErrorRule(), "double_q": False, "num_heads": 1}
    settings = defaults | arguments
    heads = settings.pop("num_heads")
    transitions = settings.pop("transitions")
    criterion = TransitionLoss(ENV, **settings)
    loss, parts = criterion(Tabular(ONLINE, heads), Tabular(TARGET, heads), transitions)
    assert float(loss) == float(parts.loss)
    return float(loss), float(parts.td_error)


def test_target_network_chooses_and_values() -> None:
    # 1 + 0.5 * 8 - 1 = 4 and 2 + 0.5 * 4 - 3 = 1.
    assert errors(transitions=batch(discount=[0.5, 0.5])) == (8.5, 2.5)


@pytest.mark.parametrize(
    ("discount", "expected"), [([0.5, 0.5], 6.0), ([0.5, 0.0], 8.0), ([0.0, 0.0], 0.0)]
)
def test_the_greedy_value_is_that_of_episodes_that_go_on(
    discount: list[float], expected: float
) -> None:
    criterion = TransitionLoss(ENV)
    _, parts = criterion(Tabular(ONLINE, 1), Tabular(TARGET, 1), batch(discount=discount))
    assert float(parts.greedy_value) == expected


def test_double_q_lets_the_online_network_choose() -> None:
    # The second: online prefers (0, 0) in seen 0, worth 2 to the target: 2 + 0.5 * 2 - 3 = 0.
    assert errors(transitions=batch(discount=[0.5, 0.5]), double_q=True) == (8.0, 2.0)


def test_double_q_logs_the_value_of_the_actions_that_the_target_uses() -> None:
    """The target's own maximum would be a whole maximisation for a log."""

    def loss(double_q: bool) -> tuple[Array, Array]:
        criterion = TransitionLoss(ENV, double_q=double_q)
        found, parts = criterion(Tabular(ONLINE), Tabular(TARGET), batch(discount=[0.5, 0.5]))
        return found, parts.greedy_value

    # The target gives 8 to the online choice (1, 1) in seen 1, and 2 to (0, 0) in seen 0.
    assert float(loss(True)[1]) == 5.0
    maximisations = [
        str(jax.make_jaxpr(lambda q=q: loss(q))()).count("argmax[") for q in (True, False)
    ]
    assert maximisations == [1, 1]


def test_termination_takes_the_reward_alone() -> None:
    # 1 - 1 = 0 and 2 - 3 = -1.
    assert errors(transitions=batch(discount=[0.0, 0.0])) == (0.5, 0.5)


@pytest.mark.parametrize("double_q", [False, True])
def test_a_masked_action_is_never_the_maximum(double_q: bool) -> None:
    # Nobody may take action 1 next: 1 + 0.5 * 6 - 1 = 3 and 2 + 0.5 * 2 - 3 = 0.
    mask = jnp.broadcast_to(jnp.array([True, False]), (2, 2, 2))
    transitions = batch(discount=[0.5, 0.5], mask=mask)
    assert errors(transitions=transitions, double_q=double_q) == (4.5, 1.5)


def test_huber_is_quadratic_inside_and_linear_outside() -> None:
    values = huber(jnp.array([0.0, 0.5, -1.0, 3.0, -5.0]))
    assert values.tolist() == [0.0, 0.125, 0.5, 2.5, 4.5]
    slope = jax.vmap(jax.grad(huber))(jnp.array([0.5, 3.0, -5.0]))
    assert slope.tolist() == [0.5, 1.0, -1.0]
    assert jax.grad(huber)(0.0) == 0.0
    # Errors 4 and 1 as above: (3.5 + 0.5) / 2.
    assert errors(transitions=batch(discount=[0.5, 0.5]), rule=ErrorRule("huber")) == (2.0, 2.5)


def test_the_delta_of_huber_is_the_largest_slope() -> None:
    values = huber(jnp.array([0.5, -2.0, 6.0]), 2.0)
    assert values.tolist() == [0.125, 2.0, 2 * (6 - 1)]
    slope = jax.vmap(jax.grad(lambda error: huber(error, 2.0)))(jnp.array([0.5, 6.0, -5.0]))
    assert slope.tolist() == [0.5, 2.0, -2.0]
    # Errors 4 and 1 as above: 2 (4 - 1) and 1/2.
    assert errors(transitions=batch(discount=[0.5, 0.5]), rule=ErrorRule("huber", 2.0)) == (
        3.25,
        2.5,
    )


def test_a_rescaled_value_has_a_rescaled_target() -> None:
    # h(1 + 0.5 h⁻¹(8)) - 1 and h(2 + 0.5 h⁻¹(4)) - 3; without ε, h⁻¹(8) = 80 and h⁻¹(4) = 24.
    loss, _ = errors(transitions=batch(discount=[0.5, 0.5]), rule=ErrorRule(rescale=True))
    expected = ((42**0.5 - 1 - 1) ** 2 + (15**0.5 - 1 - 3) ** 2) / 2
    assert loss == pytest.approx(expected, rel=0.02)


def test_every_head_counts_once() -> None:
    assert errors(transitions=batch(discount=[0.5, 0.5]), num_heads=3) == (8.5, 2.5)


def test_gradient_goes_to_what_was_done_and_not_through_the_target() -> None:
    def loss(weights: Array) -> Array:
        value = Tabular(weights)
        return TransitionLoss(ENV, double_q=True)(value, value, batch(discount=[0.5, 0.5]))[0]

    gradient = jax.grad(loss)(ONLINE)
    touched = {tuple(place) for place in jnp.argwhere(gradient != 0).tolist()}
    assert touched <= {(0, 0, 1), (1, 1, 1)}
    # δ = 1 + 0.5 * 3 - 1 = 1.5 and 2 + 0.5 * 5 - 3 = 1.5; gradient -2 δ / 2.
    assert gradient[0, 0, 1] == gradient[1, 1, 1] == -1.5


@pytest.mark.parametrize("method", ["pairvdn-learned", "sop-cg", "qplex", "casec"])
def test_the_loss_uses_masks_and_the_choices_of_the_online_network(method: str) -> None:
    """By hand: V_i of allowed actions, pairs of the online network, and the value's own penalty."""
    env = envs.make("crossroads", num_agents=4)
    make = values.maker(method, env.spec, hidden_sizes=(8,))
    value, target = make(key=jax.random.key(0)), make(key=jax.random.key(1))
    keys = jax.random.split(jax.random.key(2), 4)
    seen = jax.random.normal(keys[0], (2, 5, *env.reset(keys[0])[1].observation.shape))
    state = jax.random.normal(keys[1], (2, 5, env.state_size))
    mask = jax.random.bernoulli(keys[2], 0.5, (2, 5, 4, 2)).at[..., 0].set(True)
    actions = jnp.zeros((5, 4), jnp.int32)
    ones = jnp.ones(5)
    transitions = jax.vmap(Transition)(
        seen[0], state[0], actions, ones, ones, seen[1], state[1], mask[1], mask[0]
    )
    found, _ = eqx.filter_jit(TransitionLoss(env, double_q=True))(value, target, transitions)

    @jax.jit
    @jax.vmap
    def by_hand(seen: Array, state: Array, mask: Array) -> Array:
        before, online = (value.tables_of(seen[time], state[time]) for time in (0, 1))
        after = target.tables_of(seen[1], state[1])
        best, _ = value.greedy(online, mask[1])
        if method == "qplex":
            before = value.with_mask(before, mask[0])
            worth = target.evaluate(target.with_mask(after, mask[1]), best)
        else:
            worth = target.evaluate_on(after, best, online)
        error = 1 + worth - value.evaluate(before, actions[0])
        return error[0] ** 2 + values.penalty(value, before)

    per_row = by_hand(*(jnp.swapaxes(x, 0, 1) for x in (seen, state, mask)))
    assert float(found) == pytest.approx(float(per_row.mean()), rel=1e-4)


def test_only_values_that_read_masks_store_those_before_a_step() -> None:
    spec = ENV.spec
    stores = {name: windows(values.maker(name, spec), 1).keeps_mask for name in ("vdn", "qplex")}
    assert stores == {"vdn": False, "qplex": True}
