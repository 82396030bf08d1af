"""Cooking, the environment."""

import dataclasses
from typing import Unpack

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int32

from pairvdn.envs.base import Environment
from pairvdn.envs.cooking.actions import bring_along, intend, interact
from pairvdn.envs.cooking.kitchen import Kitchen, kitchen
from pairvdn.envs.cooking.observe import columns, observation_names, observe
from pairvdn.envs.cooking.observe_reach import reach, reach_names
from pairvdn.envs.cooking.recipes import progress
from pairvdn.envs.cooking.scene import scene
from pairvdn.envs.cooking.settings import Changes, Settings, VariantName, settings_from
from pairvdn.envs.cooking.start import start
from pairvdn.envs.cooking.state import FEATURES, CookingState, Cooks, Progress
from pairvdn.envs.scene import Scene
from pairvdn.types import EnvSpec, PRNGKey, TimeStep


class Cooking(Environment[CookingState]):
    """Cooks who chop, blend, plate and deliver dishes together: CookingZoo's rules (scheme3).

    World. A grid of tiles, x to the right, y down: floor, counters, cutboards, blenders, delivery
    squares. Only floor is walkable. Plates and foods lie on a tile, on a plate or in a hand; an
    agent holds at most one thing. A food is done if it is chopped, or (carrot, banana) mashed.

    | tile | takes, if nothing is on it | gives back to an empty hand |
    |---|---|---|
    | counter | anything | yes |
    | delivery square | anything | never |
    | cutboard | a food that is not chopped | yes |
    | blender | a carrot or banana that is not mashed | yes |

    Actions (5): 0 nothing, 1 left, 2 right, 3 down, 4 up; all are always allowed. An agent turns at
    once. Turned to floor it walks, unless another agent wants to end in that cell; all moves are
    settled together and not revised, so agents may swap cells, and one may walk into the
    cell of another that was just held up. Turned to another tile it touches it, agents one after
    the other by index, and the first rule that fits applies:

    1. a cutboard or blender with something raw on it: chop it, or switch the blender. A blender
       that is on mashes at the end of the step; two touches in one step cancel. A chopped bread
       becomes two;
    2. hand empty: take what lies there, a plate with all that is on it. A plate whose top food is
       of a class that the level lists before plates cannot be lifted;
    3. a plate lies there: put the done food in the hand on it;
    4. a plate in the hand: take the done food that lies there onto it, from a delivery square too;
    5. put down what is in the hand, if the tile takes it.

    Recipes. Each agent has one: a delivery square with a plate with ingredients. Its nodes are
    marked while they hold, judged by place alone: an ingredient that is ready anywhere, a plate at
    the place of all ingredients, that on a delivery square. One dish serves all agents that
    want it.

    Reward of agent i: 5 per node newly marked (-5 when unmarked), 20 when its recipe is done (-20
    when undone), and -5 / max_steps each step. The team gets the sum. The original pays nothing for
    a first ingredient on a plate; `plating_reward`, 0 unless given and meant for training, is paid
    for each, and taken back.

    End. Terminated when all recipes are done (`end_all`, else when any is); truncated at
    `max_steps`.

    Observation. For each class of the meta file, in its order, each thing's numbers, then zeros up
    to the class's count: x, y, 1 (tiles, plates); x, y, fresh, chopped, 1 (foods); x, y, not done,
    chopped, mashed, 1 (carrot, banana); x, y, left, right, down, up, 1 (agents). x and y are
    relative to the observer and divided by the level's width and height; in the observer's own
    slot they are absolute. Recipes, the time and held things are not observed, except by equal
    places.

    With `view="reach"` an agent observes the same in other numbers, nearly all of them 0 or 1: the
    contents of its four neighbour cells, row, column and held thing of each agent, the kind of tile
    that each thing is on and whether it is done, and the ways to things and tiles.

    State. The original numbers once, places relative to the middle of the level.

    Start. What the level file leaves open is drawn; agents face left.

    Not taken over from the original: its ignored seed, its endless loop on success, switches and
    blocks, vectors that outgrow their declared length, and its other action schemes.
    """

    name = "cooking"
    action_names = ("nothing", "left", "right", "down", "up")
    spec: EnvSpec = eqx.field(static=True)
    max_steps: int = eqx.field(static=True)
    settings: Settings = eqx.field(static=True)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.max_steps = settings.max_steps
        n = len(settings.recipes)
        kitchen(settings.level, settings.meta, n)  # raises if the level cannot be played
        self.spec = EnvSpec(
            num_agents=n,
            num_actions=len(self.action_names),
            observation_size=len(self.observation_names),
            state_size=columns(settings.meta).size,
            has_positions=True,
        )

    @property
    def observation_names(self) -> tuple[str, ...]:
        """A few words for each number that an agent observes."""
        if self.settings.view == "reach":
            return reach_names(self._kitchen())
        return observation_names(self.settings.meta)

    def reset(self, key: PRNGKey) -> tuple[CookingState, TimeStep]:
        """Lay out the level."""
        kitchen = self._kitchen()
        tiles, fixtures, objects, cooks = start(key, kitchen)
        state = CookingState(
            tiles=tiles,
            fixtures=fixtures,
            objects=objects,
            cooks=cooks,
            progress=progress(tiles, objects, self.settings.recipes, kitchen.slots),
            steps=jnp.zeros((), jnp.int32),
        )
        return state, self._time_step(state)

    def step(
        self, key: PRNGKey, state: CookingState, actions: Int32[Array, " n"]
    ) -> tuple[CookingState, TimeStep]:
        """Act once. Nothing is random, so `key` is not used."""
        del key
        kitchen, settings = self._kitchen(), self.settings
        intent = intend(state.tiles, kitchen.width, state.cooks, actions)
        cooks = Cooks(intent.cell, intent.facing, state.cooks.held)
        # All agents walk before any interacts: none does both, so the order does not matter.
        objects = bring_along(state.objects, cooks, kitchen.slots)
        objects, cooks = interact(state.tiles, objects, cooks, intent, kitchen.slots)
        after = progress(state.tiles, objects, settings.recipes, kitchen.slots)
        rewards = self._rewards(state.progress, after)
        state = dataclasses.replace(
            state, objects=objects, cooks=cooks, progress=after, steps=state.steps + 1
        )
        ended = after.done.all() if settings.end_all else after.done.any()
        return state, self._time_step(state, rewards, ended)

    def positions(
        self, observation: Float[Array, "n o"], state: Float[Array, " s"]
    ) -> Float[Array, "n 2"]:
        """Middles of the agents' cells, in cells, y up as in `scene`."""
        layout, level = columns(self.settings.meta), self.settings.level
        first, each = layout.first_agent, FEATURES["Agent"]
        agents = state[first : first + each * self.num_agents].reshape(self.num_agents, each)
        x = (agents[:, 0] + 0.5) * level.width + 0.5
        y = (0.5 - agents[:, 1]) * level.height - 0.5
        return jnp.stack([x, y], axis=1)

    def measures(self, state: CookingState) -> dict[str, Float[Array, ""]]:
        """All recipes done (0 or 1), the share of them done, and nodes marked, of all agents."""
        done = state.progress.done
        return {
            "served": done.all().astype(jnp.float32),
            "recipes_done": jnp.mean(done.astype(jnp.float32)),
            "nodes": jnp.sum(state.progress.nodes).astype(jnp.float32),
        }

    def scene(self, state: CookingState) -> Scene:
        """Tiles, agents, plates and foods."""
        return scene(state, self._kitchen())

    def _kitchen(self) -> Kitchen:
        return kitchen(self.settings.level, self.settings.meta, len(self.settings.recipes))

    def _rewards(self, before: Progress, after: Progress) -> Float[Array, " n"]:
        """Nodes gained, ingredients plated, the recipe done or undone, and the price of a step.

        r_i = node_reward (nodes_t - nodes_{t-1}) + plating_reward (plated_t - plated_{t-1})
            + recipe_reward [newly done] + recipe_penalty [newly undone]
            + max_time_penalty / max_steps
        """
        settings = self.settings
        nodes = (after.nodes - before.nodes).astype(jnp.float32) * settings.recipe_node_reward
        plated = (after.plated - before.plated).astype(jnp.float32) * settings.plating_reward
        won = (after.done & ~before.done).astype(jnp.float32) * settings.recipe_reward
        lost = (before.done & ~after.done).astype(jnp.float32) * settings.recipe_penalty
        return nodes + plated + won + lost + settings.max_time_penalty / settings.max_steps

    def _time_step(
        self,
        state: CookingState,
        rewards: Float[Array, " n"] | None = None,
        terminated: Bool[Array, ""] | bool = False,
    ) -> TimeStep:
        kitchen = self._kitchen()
        observation, global_state = observe(state, kitchen)
        return self.time_step(
            observation=reach(state, kitchen) if self.settings.view == "reach" else observation,
            state=global_state,
            rewards=rewards,
            terminated=terminated,
            truncated=state.steps >= self.max_steps,
        )


def cooking(variant: VariantName = "paper", **changes: Unpack[Changes]) -> Cooking:
    """Cooks who chop, blend, plate and deliver dishes together, after CookingZoo.

    Args:
        variant: The level and recipes to start from: `paper` is the paper's, in which two of three
            recipes cannot be cooked, `solvable` the same level with recipes that can, `coop` and
            `easy` are levels for two agents.
        changes: Settings that differ from the variant's.
    """
    return Cooking(settings_from(variant, {**changes}))
