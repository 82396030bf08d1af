"""A person among the agents: the others answer, exactly, to what the person does."""

import itertools

import jax
import numpy as np
import pytest

from pairvdn import values
from pairvdn.acting import GreedyPolicy, PersonPolicy, RandomPolicy
from pairvdn.acting.policy import tables
from pairvdn.envs import make
from pairvdn.evaluation.game import Game

PERSON = 1


@pytest.fixture(scope="module")
def env():
    return make("ring-game", num_agents=4, num_actions=3)


def value_for(env, method: str):
    return values.maker(method, env.spec, hidden_sizes=(8,))(key=jax.random.key(2))


def answers(env, value) -> list[np.ndarray]:
    """What all do, for each action of the person."""
    _, timestep = env.reset(jax.random.key(0))

    def answer(action: int) -> np.ndarray:
        policy = PersonPolicy(GreedyPolicy(env, value), PERSON, lambda _: action)
        return np.asarray(
            policy.act(jax.random.key(0), policy.init(jax.random.key(0)), timestep)[0]
        )

    return [answer(action) for action in range(env.num_actions)]


def test_the_answer_is_the_best_of_all_joint_actions_that_hold_the_persons(env) -> None:
    value = value_for(env, "pairvdn")
    _, timestep = env.reset(jax.random.key(0))
    held = tables(env, value, timestep.observation, timestep.state)
    joint = np.array(list(itertools.product(range(3), repeat=4)), np.int32)
    worth = np.asarray(jax.vmap(lambda actions: value.evaluate(held, actions)[0])(joint))
    for action, answer in enumerate(answers(env, value)):
        allowed = joint[:, PERSON] == action
        best = joint[allowed][worth[allowed].argmax()]
        np.testing.assert_array_equal(answer, best)


def test_agents_who_maximise_alone_do_the_same_whatever_the_person_does(env) -> None:
    found = np.array(answers(env, value_for(env, "vdn")))
    assert found[:, PERSON].tolist() == [0, 1, 2]
    others = np.delete(found, PERSON, axis=1)
    assert (others == others[0]).all()


def test_all_decide_together_every_so_many_steps() -> None:
    env = make("gather", max_steps=6)
    game = Game(env, RandomPolicy(), action_repeat=3, seed=0)
    taken = []
    for action in (0, 1, 2, 3, 4):  # only the first and the fourth are choices
        assert game.is_choosing == (action % 3 == 0)
        game.step(action)
        taken.append(np.asarray(game.actions).tolist())
    assert [one[0] for one in taken] == [0, 0, 0, 3, 3]
    assert taken[0] == taken[1] == taken[2] != taken[3] == taken[4]
    game.step(0)
    assert (game.steps, game.has_ended) == (6, True)
    with pytest.raises(ValueError, match="has ended"):
        game.step(0)
    game.restart()
    assert (game.steps, game.total, game.has_ended) == (0, 0.0, False)


def test_a_place_that_is_not_there_is_refused(env) -> None:
    with pytest.raises(ValueError, match="agent must be from 0 to 3, not 4"):
        Game(env, RandomPolicy(), agent=4)
