import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxprs_in_params
from unchecked_types import unchecked_types

from pairvdn import envs
from pairvdn.envs.cooking.kitchen import kitchen
from pairvdn.envs.cooking.level import parse_level, parse_meta
from pairvdn.envs.cooking.recipes import RECIPES, progress
from pairvdn.envs.cooking.state import FOODS, Objects, Tile

ALONE = {"MAX_COUNT": 1, "X_POSITION": [1], "Y_POSITION": [1]}


def at(x, y, **more):
    return {"COUNT": 1, "X_POSITION": x, "Y_POSITION": y, **more}


def room(**changes):
    """A level file: one agent before a board, a plate and a tomato; `changes` replace keys."""
    return {
        "LEVEL_LAYOUT": "-----\n-   -\n-   -\n-   -\n-----",
        "STATIC_OBJECTS": [{"Cutboard": at([0], [2])}, {"Deliversquare": at([4], [2])}],
        "DYNAMIC_OBJECTS": [{"Plate": at([2], [4])}, {"Tomato": at([2], [0])}],
        "AGENTS": [
            {"MAX_COUNT": 1, "X_POSITION": [2], "Y_POSITION": [1]},
            {"MAX_COUNT": 1, "X_POSITION": [2], "Y_POSITION": [3]},
        ],
        **changes,
    }


@pytest.fixture
def kitchen_from(tmp_path):
    """Builds the environment of a level file with these contents."""

    def build(data, recipes=("TomatoSalad", "TomatoSalad"), **arguments):
        path = tmp_path / "level.json"
        path.write_text(json.dumps(data))
        return envs.make("cooking", level=str(path), recipes=recipes, **arguments)

    return build


@pytest.mark.slow  # the variant `paper` is checked with all registered environments
@pytest.mark.parametrize("variant", ["coop", "easy"])
def test_presets_keep_the_contract(variant):
    assert envs.check_env(envs.make("cooking", variant=variant, max_steps=12)) is None


@pytest.mark.parametrize(
    ("variant", "agents", "size"),
    [("paper", 3, 119), ("solvable", 3, 119), ("coop", 2, 278), ("easy", 2, 70)],
)
def test_sizes(variant, agents, size):
    env = envs.make("cooking", variant=variant)
    assert (env.num_agents, env.observation_size, env.state_size) == (agents, size, size)


def test_a_level_file_of_the_user_can_be_played_to_the_end(kitchen_from):
    """Agent 0 takes the tomato to the board and chops it, agent 1 puts out the plate."""
    env = kitchen_from(room(), max_steps=100, plating_reward=2.0)
    up, down, left, right = 4, 3, 1, 2
    tomato = [up, left, down, left, left, left, right, right, right]
    plate = [down, right, up, right, up, 0, 0, 0, 0]
    key = jax.random.key(0)
    state, _ = jax.jit(env.reset)(key)
    actions = jnp.array([tomato, plate], jnp.int32).T
    before = env.measures(state)
    state, steps = jax.lax.scan(lambda state, act: env.step(key, state, act), state, actions)
    paid = np.full((9, 2), -5 / 100)
    paid[4] += 5  # the tomato is chopped
    paid[8] += 2 + 2 * 5 + 20  # and on the plate, and thereby delivered
    np.testing.assert_allclose(steps.agent_rewards, paid, atol=2e-6)
    assert steps.terminated.tolist() == [False] * 8 + [True]
    assert {name: float(value) for name, value in before.items()} == dict.fromkeys(before, 0.0)
    after = {name: float(value) for name, value in env.measures(state).items()}
    assert after == {"served": 1.0, "recipes_done": 1.0, "nodes": 6.0}


@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_are_marked_node_by_node(recipe):
    foods = [{food: at(list(range(1, 10)), [0])} for food in FOODS]
    data = room(
        LEVEL_LAYOUT="-" * 12 + "\n-" + " " * 10 + "-\n" + "-" * 12,
        STATIC_OBJECTS=[],
        DYNAMIC_OBJECTS=[{"Plate": at([10], [0])}, *foods],
        AGENTS=[ALONE],
    )
    things = ("Plate", *FOODS)
    meta = parse_meta([{"Counter": 26, "Agent": 1, **dict.fromkeys(things, 2)}])
    slots = kitchen(parse_level(data), meta, 1).slots
    wanted = RECIPES[recipe]
    possible = recipe != "no_recipe"
    chopped = [(kind, False) in wanted for kind in slots.classes]
    mashed = [(kind, True) in wanted for kind in slots.classes]
    ready = np.array(chopped) | np.array(mashed)
    is_plate = np.array([kind == "Plate" for kind in slots.classes])

    def judge(cell, made, tiles):
        objects = Objects(
            cell=jnp.asarray(cell, jnp.int32),
            plate=jnp.full(slots.count, -1, jnp.int32),
            stuck=jnp.zeros(slots.count, bool),
            chopped=jnp.asarray(chopped) & made,
            mashed=jnp.asarray(mashed) & made,
        )
        result = progress(jnp.asarray(tiles, jnp.int32), objects, (recipe,), slots)
        return int(result.nodes[0]), int(result.plated[0]), bool(result.done[0])

    apart = np.arange(slots.count)
    together = np.where(is_plate | ready, 3, apart + 4)
    lacking = np.where(ready & (np.cumsum(ready) == 1), 35, together)
    counters = np.full(36, Tile.COUNTER)
    delivery = np.where(np.arange(36) == 3, Tile.DELIVERY, counters)
    leaves = len(wanted) * possible
    assert judge(apart, False, counters) == (0, 0, False)
    assert judge(apart, True, counters) == (leaves, 0, False)
    assert judge(lacking, True, delivery) == (leaves, max(leaves - 1, 0), False)
    assert judge(together, False, delivery) == (0, 0, False)
    assert judge(together, True, counters) == (leaves + possible, leaves, False)
    assert judge(together, True, delivery) == (leaves + 2 * possible, leaves, possible)


# Mean and deviation of the original over 40 episodes of random play, summed over agents.
ORIGINAL = {
    "coop_test": (("TomatoLettuceSalad", "CarrotBanana"), -4.9, 4.4),
    "simple_rec_fixed": (("TomatoLettuceSalad", "CarrotBanana", "CarrotBanana"), -4.1, 7.7),
    "simple_rec_random": (("TomatoLettuceSalad",) * 3, 15.4, 28.0),
}


@pytest.mark.parametrize("level", ORIGINAL)
def test_random_play_is_paid_as_in_the_original(level):
    recipes, mean, deviation = ORIGINAL[level]
    env = envs.make("cooking", level=level, recipes=recipes)
    episodes = 256
    shape = (episodes, env.max_steps, env.num_agents)
    actions = np.random.default_rng(0).integers(0, env.num_actions, shape, np.int32)

    @jax.jit
    @jax.vmap
    def play(key, actions):
        def act(carry, actions):
            state, alive, total = carry
            state, told = env.step(key, state, actions)
            total += jnp.where(alive, told.reward, 0.0)
            return (state, alive & ~told.terminated, total), None

        state, _ = env.reset(key)
        start = (state, jnp.asarray(True), jnp.float32(0))
        return jax.lax.scan(act, start, actions)[0][2]

    returns = np.asarray(play(jax.random.split(jax.random.key(1), episodes), actions))
    error = math.hypot(deviation / math.sqrt(40), returns.std() / math.sqrt(episodes))
    assert abs(returns.mean() - mean) < 3 * error


def test_an_optional_thing_is_dropped_before_every_try(kitchen_from):
    """p = 1/2; half of the tries hit floor: p q / (1 - p (1 - q)) = 1/3."""
    tomatoes = at([0, 1], [1], OPTIONAL=0.5)
    env = kitchen_from(room(DYNAMIC_OBJECTS=[{"Plate": at([2], [4])}, {"Tomato": tomatoes}]))
    keys = jax.random.split(jax.random.key(0), 3000)
    cells = np.asarray(jax.jit(jax.vmap(env.reset))(keys)[0].objects.cell)
    assert (cells[:, 0] == 22).all()
    assert set(cells[:, 1]) == {-1, 5}
    assert abs((cells[:, 1] == 5).mean() - 1 / 3) < 3 * math.sqrt(2 / 9 / 3000)


def test_starts_are_drawn_from_all_places_that_are_free():
    env = envs.make("cooking", variant="coop")
    states, _ = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(0), 500))
    first = env.settings.meta.index(("Deliversquare", 2))
    skip = sum(count for _, count in env.settings.meta[:first])
    squares = np.asarray(states.fixtures)[:, skip : skip + 2]
    assert {tuple(pair) for pair in squares.tolist()} == {(2, 4), (4, 2)}
    carrots = np.asarray(states.objects.cell)[:, -1]
    assert set(carrots.tolist()) == {6 * 7 + 1, 6 * 7 + 2}  # the only counters left to it
    agents = np.asarray(states.cooks.cell)
    assert len(set(agents[:, 0].tolist())) == len(set(agents[:, 1].tolist())) == 10


def test_positions_and_scene_agree_with_the_state():
    env = envs.make("cooking", variant="easy")
    state, told = jax.jit(env.reset)(jax.random.key(3))
    places = jax.jit(env.positions)(told.observation, told.state)
    x, y = np.divmod(np.asarray(state.cooks.cell), 5)[::-1]
    np.testing.assert_allclose(places, np.stack([x + 0.5, 4.5 - y], axis=1), atol=1e-5)
    circles = jax.jit(env.scene)(state).circles
    shown = {int(agent): circles.centre[i] for i, agent in enumerate(circles.agent) if agent >= 0}
    np.testing.assert_allclose([shown[0], shown[1]], places, atol=1e-5)


def count_equations(jaxpr):
    inner = [sub for equation in jaxpr.eqns for sub in jaxprs_in_params(equation.params)]
    return len(jaxpr.eqns) + sum(count_equations(sub) for sub in inner)


def test_a_step_does_not_grow_with_the_number_of_agents(kitchen_from):
    crowd = room(AGENTS=[{"MAX_COUNT": 4, "X_POSITION": [1, 2, 3], "Y_POSITION": [1, 2, 3]}])

    def size(agents):
        env = kitchen_from(crowd, recipes=("TomatoSalad",) * agents)
        key = jax.random.key(0)
        state, _ = jax.eval_shape(env.reset, key)
        actions = jax.ShapeDtypeStruct((agents,), jnp.int32)
        return count_equations(jax.make_jaxpr(env.step)(key, state, actions).jaxpr)

    assert size(2) == size(4) > 100


CROWDED = [{"Plate": {"COUNT": 2, "X_POSITION": [2], "Y_POSITION": [4]}}]
WRONG_LEVELS = {
    "LEVEL_LAYOUT must be non-empty and equally long": room(LEVEL_LAYOUT="--\n-"),
    "may name Cutboard, Blender, Deliversquare, not 'Switch'": room(
        STATIC_OBJECTS=[{"Switch": at([2], [2])}]
    ),
    "outside the level of 5 x 5": room(DYNAMIC_OBJECTS=[{"Plate": at([5], [0])}]),
    "Plate may find no free cell: it has 1": room(DYNAMIC_OBJECTS=CROWDED),
    "Plate may find no free cell: it has 0": room(DYNAMIC_EXCLUDED_POSITIONS=[[2, 4]]),
    "at least one plate or food": room(DYNAMIC_OBJECTS=[]),
    "room for 1 agents, not 2": room(AGENTS=[ALONE]),
    "Y_POSITION is missing in Plate": room(DYNAMIC_OBJECTS=[{"Plate": {"X_POSITION": [2]}}]),
    "OPTIONAL from 0 to 1": room(DYNAMIC_OBJECTS=[{"Plate": at([2], [4], OPTIONAL=2)}]),
}


@pytest.mark.parametrize("message", WRONG_LEVELS)
def test_a_level_that_cannot_be_played_is_refused(message, kitchen_from):
    with pytest.raises(ValueError, match=message):
        kitchen_from(WRONG_LEVELS[message])


def test_a_meta_file_without_room_is_refused(kitchen_from, tmp_path):
    meta = tmp_path / "meta.json"
    bread = room(DYNAMIC_OBJECTS=[{"Plate": at([2], [4])}, {"Bread": at([1], [0])}])
    counts = {"Cutboard": 1, "Counter": 14, "Deliversquare": 1, "Plate": 1, "Bread": 1, "Agent": 2}
    meta.write_text(json.dumps([counts]))
    with pytest.raises(ValueError, match=r"may have 2 of Bread .* has room for only 1"):
        kitchen_from(bread, meta=str(meta))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variant": "papr"}, "variant must be one of paper, solvable"),
        ({"level": "nowhere"}, "known are coop_test, .* and paths ending in .json"),
        ({"level": "nowhere.json"}, "There is no level file"),
        ({"recipes": ("Soup",)}, "recipes must be one of TomatoSalad, .*, not 'Soup'"),
        ({"recipes": ("TomatoSalad",) * 5}, "recipes must have 1 to 4"),
        ({"max_step": 5}, "did you mean 'max_steps'?"),
        ({"max_steps": 0}, "max_steps must be at least 1"),
        ({"recipe_reward": math.inf}, "recipe_reward must be a finite number"),
        ({"view": "all"}, "view must be one of original, reach, not 'all'"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message), unchecked_types():
        envs.make("cooking", **arguments)
