"""`pairvdn play`: a person plays one agent."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairvdn.acting import GreedyPolicy, RandomPolicy
from pairvdn.cli.flags import Parser, Whole
from pairvdn.config.components import Component
from pairvdn.config.errors import ConfigError
from pairvdn.envs import Environment, HasNames
from pairvdn.evaluation.game import Game
from pairvdn.runs.analysis.evaluate import env_for, require_setting
from pairvdn.runs.errors import RunError
from pairvdn.runs.folder import PRETRAINED, pretrained_names
from pairvdn.runs.load import load

ABOUT = """Play one agent, with the keyboard, in a window. A trained run plays the other agents:
--run, or the shipped one of this environment (`pairvdn list pretrained`). If there is none, they
act at random. A pair-wise method responds within the same step: your action is fixed, and the
others take the best joint action that contains it. The keys depend on the names of the actions
(arrows or WASD, space); the window shows them."""


def main(arguments: Sequence[str]) -> int:
    """Play until the window is closed."""
    parser = Parser("play", ABOUT)
    parser.add_argument("env", metavar="ENVIRONMENT", help="for example box-jump")
    parser.add_argument(
        "--run", type=Path, metavar="RUN", help="the run that plays the others; none: at random"
    )
    number: dict[str, Any] = {
        "action": Whole,
        "least": None,
    }  # the ranges depend on the environment
    parser.add_argument("--agent", default=0, help="your agent; default: 0", **number)
    parser.add_argument("--seed", default=0, help="seed of the episodes; default: 0", **number)
    parser.add_argument(
        "--max-steps", help="length of an episode; default: that of the environment", **number
    )
    parser.add_checkpoint()
    parser.add_trust()
    given = parser.parse_all(arguments)
    game, others = _game(given)
    names = _action_names(game.env)
    from pairvdn.viewing.play import Seat, play
    from pairvdn.viewing.window import NoScreenError

    print(f"{others}\n{' | '.join(Seat(game, names).legend)}")
    try:
        deque(play(game, names, title=f"pairvdn: {game.env.name}"), maxlen=0)
    except NoScreenError as error:
        raise RunError(str(error)) from error
    return 0


def _game(given: Any) -> tuple[Game, str]:
    """The game, and a sentence about the players of the other agents."""
    agent, seed = given.agent, given.seed
    require_setting(0, 2**32 - 1, seed=seed)
    run = _shipped(given.env) if given.run is None else given.run
    if run is None or str(run) == "none":
        env = _new_env(given.env, given.max_steps)
        require_setting(0, env.num_agents - 1, agent=agent)
        text = "The others act at random; with --run RUN a trained run plays them."
        return Game(env, RandomPolicy(), agent=agent, seed=seed), text
    loaded = load(run, given.checkpoint, trust=given.trust)
    if loaded.config.env.name != given.env:
        raise ConfigError(f"{run} plays {loaded.config.env.name}, not {given.env}.")
    env = _pure(env_for(loaded, given.max_steps))
    require_setting(0, env.num_agents - 1, agent=agent)
    others, repeat = GreedyPolicy(env, loaded.value), loaded.action_repeat
    text = f"{run} ({loaded.config.method.name}, epoch {loaded.epoch}) plays the others."
    return Game(env, others, agent=agent, action_repeat=repeat, seed=seed), text


def _shipped(env: str) -> str | None:
    """The shipped run of an environment, if there is one."""
    return f"{PRETRAINED}{env}" if env in pretrained_names() else None


def _new_env(name: str, max_steps: int | None) -> Environment[Any]:
    arguments = {} if max_steps is None else {"max_steps": max_steps}
    return _pure(Component("env", name, arguments).build())


def _pure(env: Any) -> Environment[Any]:
    if not isinstance(env, Environment):
        raise ConfigError(f"{env.name} is stepped in Python; play needs an environment in JAX.")
    return env


def _action_names(env: Environment[Any]) -> tuple[str, ...]:
    return (
        env.action_names if isinstance(env, HasNames) else tuple(map(str, range(env.num_actions)))
    )
