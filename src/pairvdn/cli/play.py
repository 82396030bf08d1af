"""`pairvdn play`: a person takes the place of one agent."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairvdn.acting import GreedyPolicy, RandomPolicy
from pairvdn.cli.extras import drawing
from pairvdn.cli.flags import Parser, add_trust_flag
from pairvdn.cli.run_flags import add_checkpoint
from pairvdn.config.components import Component
from pairvdn.config.errors import ConfigError
from pairvdn.config.schema import parse
from pairvdn.envs import Environment, HasNames
from pairvdn.evaluation.game import Game
from pairvdn.runs.analysis.evaluate import env_for, require_setting
from pairvdn.runs.errors import RunError
from pairvdn.runs.folder import PRETRAINED, pretrained_names
from pairvdn.runs.load import load

ABOUT = """Take the place of one agent, with the keyboard, in a window; a trained run plays the
others: --run, or the team that comes with the package (`pairvdn list pretrained`), or, where there
is none, they act at random. A pair-wise method answers you within the same step:
your action is fixed, and the others take the best joint action that holds it. The keys follow from
the names of the environment's actions (arrows or WASD, space) and stand in the window."""


def main(arguments: Sequence[str]) -> int:
    """Play until the window is closed."""
    parser = Parser("play", ABOUT)
    parser.add_argument("env", metavar="ENVIRONMENT", help="for example box-jump")
    parser.add_argument(
        "--run",
        metavar="RUN",
        type=Path,
        help="plays the others; --run none: at random",
    )
    parser.add_argument("--agent", default="0", metavar="N", help="which one you are (now 0)")
    parser.add_argument("--seed", default="0", metavar="N", help="of the episodes (now 0)")
    parser.add_argument(
        "--max-steps", metavar="N", help="length of an episode; default: that of the environment"
    )
    add_checkpoint(parser)
    add_trust_flag(parser)
    given = parser.parse_all(arguments)
    game, others = _game(given)
    names = _action_names(game.env)
    window, play = drawing("window"), drawing("play")
    print(f"{others}\n{' | '.join(play.Seat(game, names).legend)}")
    try:
        deque(play.play(game, names, title=f"pairvdn: {game.env.name}"), maxlen=0)
    except window.NoScreenError as error:
        raise RunError(str(error)) from error
    return 0


def _game(given: Any) -> tuple[Game, str]:
    """The game, and who plays the others."""
    agent = parse("--agent", int, given.agent)
    seed = parse("--seed", int, given.seed)
    require_setting(0, 2**32 - 1, seed=seed)
    max_steps = None if given.max_steps is None else parse("--max-steps", int, given.max_steps)
    run = _shipped(given.env) if given.run is None else given.run
    if run is None or str(run) == "none":
        env = _new_env(given.env, max_steps)
        require_setting(0, env.num_agents - 1, agent=agent)
        text = "The others act at random; --run RUN lets a trained run play them."
        return Game(env, RandomPolicy(), agent=agent, seed=seed), text
    loaded = load(run, given.checkpoint, trust=given.trust)
    if loaded.config.env.name != given.env:
        raise ConfigError(f"{run} plays {loaded.config.env.name}, not {given.env}.")
    env = _pure(env_for(loaded, max_steps))
    require_setting(0, env.num_agents - 1, agent=agent)
    others = GreedyPolicy(env, loaded.value)
    text = f"{run} ({loaded.config.method.name}, epoch {loaded.epoch}) plays the others."
    repeat = loaded.action_repeat
    return Game(env, others, agent=agent, action_repeat=repeat, seed=seed), text


def _shipped(env: str) -> str | None:
    """The team for this environment that comes with the package."""
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
