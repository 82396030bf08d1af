"""Train on all devices there are and print a checksum of what each of them has learned, as JSON.

With an address and a number, as one of two processes.
"""

import hashlib
import json
import sys

import jax
import numpy as np

from pairvdn.config import load_preset
from pairvdn.runs.devices.processes import Coordinator, connect
from pairvdn.runs.devices.shards import Shards
from pairvdn.runs.training import make_training

SMALL = {
    "learner.num_envs": 4,
    "learner.rounds_per_epoch": 2,
    "learner.updates_per_round": 4,
    "learner.replay_capacity": 256,
    "learner.batch_size": 8,
    "learner.random_agent_steps": 2,
    "method.hidden_sizes": (4,),
}


def main() -> None:
    if len(sys.argv) > 1:
        connect(Coordinator(sys.argv[1], int(sys.argv[2]), 2), {}, wait=60)
    config = load_preset("climbing/pairvdn").replace(SMALL)
    built = config.build()
    training = make_training(config, built, 0, Shards().layout(built, None))
    state = training.init()
    before = checksums(state.learned)
    for _ in range(3):
        state, _ = training.epoch(state)
    print(json.dumps({"before": before, "after": checksums(state.learned)}))


def checksums(learned: object) -> list[str]:
    """One for every device of this process, of all bits that it holds."""
    leaves = jax.tree.leaves(learned)
    digests = [hashlib.sha256() for _ in jax.local_devices()]
    for leaf in leaves:
        for digest, shard in zip(digests, leaf.addressable_shards, strict=True):
            digest.update(np.asarray(shard.data).tobytes())
    return [digest.hexdigest() for digest in digests]


if __name__ == "__main__":
    main()
