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
    """Cooks chop, blend, plate and deliver dishes together, with CookingZoo's rules (scheme3).

    **World.** A grid of tiles, x to the right, y down: floor, counters, cutboards, blenders,
    delivery squares. Agents walk on floor only. A plate or food is on a tile, on a plate or in a
    hand. An agent holds at most one thing. A food is ready once it is chopped or, for carrot and
    banana, chopped or mashed.

    | tile | accepts, if empty | an empty hand can take it back |
    |---|---|---|
    | counter | anything | yes |
    | delivery square | anything | no |
    | cutboard | a food that is not chopped | yes |
    | blender | a carrot or banana that is not mashed | yes |

    **Actions** (5): 0 nothing, 1 left, 2 right, 3 down, 4 up. All are always allowed. An agent
    turns at once. Facing floor, it walks, unless another agent wants to be in that cell. All moves
    are resolved together and not revised: agents may swap cells, and an agent may enter the cell of
    one that was just blocked. Facing any other tile, it touches the tile. Touches happen in the
    order of agents, and the first rule that fits applies:

    1. A cutboard or blender with a raw food on it: chop the food, or switch the blender. A blender
       that is on mashes at the end of the step; two touches in one step cancel. A chopped bread
       becomes two.
    2. An empty hand: take the thing on the tile, a plate with its contents. A plate cannot be
       lifted if its top food belongs to a class that the level lists before plates.
    3. A plate on the tile: put the ready food in the hand on it.
    4. A plate in the hand: take the ready food on the tile onto it, also from a delivery square.
    5. Put down the thing in the hand, if the tile accepts it.

    **Recipes.** Each agent has one, a tree: a delivery square with a plate with ingredients. A node
    is marked while it holds: an ingredient prepared as the recipe asks, in any cell; a plate in the
    same cell as all ingredients; that plate on a delivery square. One dish serves all agents with
    that recipe.

    **Reward** of agent i: 5 per newly marked node (-5 when it is unmarked), 20 when its recipe is
    done (-20 when undone), and -5 / `max_steps` in each step. The team's reward is the sum. The
    original pays nothing for the first ingredient on a plate. `plating_reward`, meant for training,
    is paid for each one and taken back when it is removed.

    **End.** Terminated when all recipes are done, or with `end_all=False` when any is; truncated
    after `max_steps`.

    **Observation.** For each class of the meta file, in order, the numbers of each thing, then
    zeros up to the class's count: x, y, 1 (tiles, plates); x, y, fresh, chopped, 1 (foods); x, y,
    fresh, chopped, mashed, 1 (carrot, banana); x, y, left, right, down, up, 1 (agents). x and y are
    relative to the observer and divided by the level's width and height; the observer's own are
    absolute. Recipes and time are not observed. A held thing shows only by being in the cell of an
    agent.

    `view="reach"` encodes the same information in other numbers, nearly all 0 or 1: the contents of
    the four neighbouring cells; row, column and held thing of each agent; for each thing the tile
    under it and whether it is ready; and the offsets to things and tiles.

    **State.** The original observation once, with positions relative to the middle of the level.

    **Start.** Positions that the level file leaves open are random. Agents face left.

    Left out of the original: its ignored seed, its endless loop on success, switches and blocks,
    vectors that outgrow their declared length, and its other action schemes.
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
        actions = self.as_actions(actions)
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

    @property
    def measure_meanings(self) -> dict[str, str]:
        """A sentence for each measure."""
        return {
            "served": "1 when all recipes are done, otherwise 0.",
            "recipes_done": "Share of the recipes that are done.",
            "nodes": "Steps of recipes that are complete, of all agents together.",
        }

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
    """Cooks chop, blend, plate and deliver dishes together, after CookingZoo.

    Args:
        variant: The level and recipes to start from: `paper` is the paper's, where two of three
            recipes cannot be cooked, `solvable` the same level with recipes that can, `coop` and
            `easy` are levels for two agents.
        changes: Settings that differ from the variant's.
    """
    return Cooking(settings_from(variant, {**changes}))
