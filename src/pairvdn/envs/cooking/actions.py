"""The effects of actions: turn, walk, pick up, put down, chop, blend, fill plates.

All moves are settled together. Then agents interact one after another, by index, each seeing the
changes of the agents before it.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32

from pairvdn.envs.cooking.kitchen import Slots
from pairvdn.envs.cooking.state import Cooks, Objects, Tile

NOTHING, LEFT, RIGHT, DOWN, UP = range(5)
PerSlot = Bool[Array, " m"]


class Intent(NamedTuple):
    """The outcome of the actions, once collisions are settled."""

    facing: Int32[Array, " n"]
    cell: Int32[Array, " n"]  # of each agent afterwards
    touched: Int32[Array, " n"]  # the tile that it faces
    touches: Bool[Array, " n"]  # whether it interacts with that tile


def intend(
    tiles: Int32[Array, " cells"], width: int, cooks: Cooks, actions: Int32[Array, " n"]
) -> Intent:
    """Settle all moves at once.

    An agent's target is the floor that it faces, else its own cell. It stays if another agent has
    the same target. This is not revised, so an agent may walk into the cell of one that had to
    stay, and both share it; agents may also swap cells.
    """
    height = tiles.shape[0] // width
    right = (actions == RIGHT).astype(jnp.int32) - (actions == LEFT).astype(jnp.int32)
    down = (actions == DOWN).astype(jnp.int32) - (actions == UP).astype(jnp.int32)
    x, y = cooks.cell % width + right, cooks.cell // width + down
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    target = jnp.where(inside, y * width + x, cooks.cell)
    walkable = tiles[target] == Tile.FLOOR
    wanted = jnp.where(walkable, target, cooks.cell)
    contested = jnp.sum(wanted[:, None] == wanted[None, :], axis=1) > 1
    return Intent(
        facing=jnp.where(actions == NOTHING, cooks.facing, actions),
        cell=jnp.where(contested, cooks.cell, wanted),
        touched=target,
        touches=~walkable,
    )


class Touch(NamedTuple):
    """One agent and the tile that it interacts with."""

    touches: Bool[Array, ""]
    tile: Int32[Array, ""]  # kind of the tile
    there: Int32[Array, ""]  # cell of the tile
    own: Int32[Array, ""]  # the agent's cell
    held: Int32[Array, ""]


class Seen(NamedTuple):
    """The facts that the rules depend on."""

    here: PerSlot  # on the tile, with or without a plate
    raw: PerSlot  # on the tile and not done
    plate_here: PerSlot
    last: PerSlot  # the last of `here`
    top: PerSlot  # the last that is on the tile without a plate
    in_hand: PerSlot
    done: PerSlot


class Rules(NamedTuple):
    """Which rule applies; at most one does."""

    operate: Bool[Array, ""]
    take: Bool[Array, ""]
    serve: Bool[Array, ""]  # from the hand onto the plate on the tile
    scoop: Bool[Array, ""]  # from the tile onto the plate in the hand
    put: Bool[Array, ""]


def interact(
    tiles: Int32[Array, " cells"], objects: Objects, cooks: Cooks, intent: Intent, slots: Slots
) -> tuple[Objects, Cooks]:
    """Let every agent act in turn, then let the blenders run."""

    def act(
        carry: tuple[Objects, PerSlot], touch: Touch
    ) -> tuple[tuple[Objects, PerSlot], Int32[Array, ""]]:
        objects, blending = carry
        seen = _see(touch, objects, slots)
        rules = _apply(touch, seen, objects, slots)
        # A second touch of a loaded blender switches it off again. It never stays on: its contents
        # are mashed at the end of the step.
        blending ^= seen.raw & (rules.operate & (touch.tile == Tile.BLENDER))
        objects = _chop(touch, seen, rules, objects, slots)
        objects, held = _carry(touch, seen, rules, objects, slots)
        return (objects, blending), held

    turns = Touch(intent.touches, tiles[intent.touched], intent.touched, cooks.cell, cooks.held)
    start = (objects, jnp.zeros(slots.count, bool))
    (objects, blending), held = jax.lax.scan(act, start, turns)
    mashed = objects.mashed | blending
    return dataclasses.replace(objects, mashed=mashed), dataclasses.replace(cooks, held=held)


def bring_along(objects: Objects, cooks: Cooks, slots: Slots) -> Objects:
    """Move held objects, and the contents of a held plate, to the cell of their agent."""
    outermost = jnp.where(objects.plate < 0, slots.numbers, objects.plate)
    carried = cooks.held[:, None] == outermost[None, :]
    place = jnp.max(jnp.where(carried, cooks.cell[:, None], -1), axis=0)
    return dataclasses.replace(objects, cell=jnp.where(place < 0, objects.cell, place))


def _see(touch: Touch, objects: Objects, slots: Slots) -> Seen:
    here = objects.cell == touch.there
    done = objects.chopped | objects.mashed
    return Seen(
        here=here,
        raw=here & ~done & ~slots.is_plate,
        plate_here=here & slots.is_plate,
        last=slots.numbers == _last(here, slots),
        top=slots.numbers == _last(here & (objects.plate < 0), slots),
        in_hand=slots.numbers == touch.held,
        done=done,
    )


def _apply(touch: Touch, seen: Seen, objects: Objects, slots: Slots) -> Rules:
    """The first rule that matches, in this order."""
    tile, full = touch.tile, touch.held >= 0
    machine = (tile == Tile.CUTBOARD) | (tile == Tile.BLENDER)
    operate = touch.touches & machine & seen.raw.any()
    idle = touch.touches & ~operate
    empty, plate_here = ~seen.here.any(), seen.plate_here.any()
    lifts = (tile != Tile.DELIVERY) & ~(seen.here & objects.stuck).any()
    holds_plate = (seen.in_hand & slots.is_plate).any()
    return Rules(
        operate=operate,
        take=idle & ~full & ~empty & lifts,
        serve=idle & plate_here & (seen.in_hand & seen.done).any(),
        scoop=idle & ~plate_here & holds_plate & (seen.last & seen.done).any(),
        put=idle & full & empty & _accepts(tile, seen, objects, slots),
    )


def _accepts(tile: Int32[Array, ""], seen: Seen, objects: Objects, slots: Slots) -> Bool[Array, ""]:
    """Whether an empty tile accepts the held object."""
    for_board = (seen.in_hand & ~slots.is_plate & ~objects.chopped).any()
    for_blender = (seen.in_hand & slots.is_blendable & ~objects.mashed).any()
    anything = (tile == Tile.COUNTER) | (tile == Tile.DELIVERY)
    return anything | ((tile == Tile.CUTBOARD) & for_board) | ((tile == Tile.BLENDER) & for_blender)


def _chop(touch: Touch, seen: Seen, rules: Rules, objects: Objects, slots: Slots) -> Objects:
    """Chop the food on the board; a bread becomes two."""
    cut = seen.raw & (rules.operate & (touch.tile == Tile.CUTBOARD))
    unborn = slots.is_bread & (objects.cell < 0)
    first = slots.numbers == jnp.min(jnp.where(unborn, slots.numbers, slots.count))
    born = first & (cut & slots.is_bread).any()
    return dataclasses.replace(
        objects,
        cell=jnp.where(born, touch.there, objects.cell),
        chopped=objects.chopped | cut | born,
    )


def _carry(
    touch: Touch, seen: Seen, rules: Rules, objects: Objects, slots: Slots
) -> tuple[Objects, Int32[Array, ""]]:
    """Move objects between hand, tile and plates. The contents of a plate move with it."""
    top, last = _last(seen.top, slots), _last(seen.last, slots)
    plate_there = _last(seen.plate_here, slots)
    lifted = (seen.top | (objects.plate == top)) & rules.take
    scooped = seen.last & rules.scoop
    served = seen.in_hand & rules.serve
    # Where these two rules apply, `top` and `touch.held` are slots, not the -1 of "on no plate".
    laid = (seen.in_hand | (objects.plate == touch.held)) & rules.put
    cell = jnp.where(lifted | scooped, touch.own, objects.cell)
    plate = jnp.where(served, plate_there, objects.plate)
    buried = (seen.plate_here & rules.serve & (touch.held < plate_there)) | (
        seen.in_hand & rules.scoop & (last < touch.held)
    )
    filled = (seen.plate_here & rules.serve) | (seen.in_hand & rules.scoop)
    moved = dataclasses.replace(
        objects,
        cell=jnp.where(served | laid, touch.there, cell),
        plate=jnp.where(scooped, touch.held, plate),
        stuck=jnp.where(filled, buried, objects.stuck),
    )
    held = jnp.where(rules.serve | rules.put, -1, touch.held)
    return moved, jnp.where(rules.take, top, held)


def _last(chosen: PerSlot, slots: Slots) -> Int32[Array, ""]:
    """The greatest chosen slot, or -1."""
    return jnp.max(jnp.where(chosen, slots.numbers, -1))
