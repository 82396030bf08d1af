"""Recorded episodes of the original CookingZoo: reading and packing them.

The recordings are a folder with `manifest.json` and an .npz per episode. What the tests compare
(actions, rewards, ends, observations, the global state) is packed losslessly into one file:

    python tests/envs/cooking/recordings.py FOLDER
"""

import io
import json
import lzma
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

PACKED = Path(__file__).parent / "data" / "recordings.npz.xz"
FIELDS = ("act", "rew", "term", "trunc", "obs", "gstate")
SUMMARIES = ("T", "ret", "seed", "eps", "obs_dim", "overlap_steps", "swap_steps", "recipe_nodes")


class Recording(NamedTuple):
    """One episode: its manifest entry and its arrays."""

    entry: dict
    arrays: dict[str, np.ndarray]


def read_folder(folder):
    """All episodes of the original format, except those with features that are left out."""
    entries = json.loads((folder / "manifest.json").read_text())["episodes"]
    recordings = []
    for entry in entries:
        if entry["optional_feature"]:
            continue
        with np.load(folder / entry["file"]) as arrays:
            kept = {name: arrays[name] for name in FIELDS if name in arrays}
        recordings.append(Recording(entry, kept))
    return recordings


def read_packed():
    """The episodes of this repository."""
    with np.load(io.BytesIO(lzma.decompress(PACKED.read_bytes()))) as arrays:
        entries = json.loads(arrays["manifest"].tobytes())
        return [
            Recording(
                entry,
                {name: arrays[f"{i}.{name}"] for name in FIELDS if f"{i}.{name}" in arrays},
            )
            for i, entry in enumerate(entries)
        ]


def pack(folder):
    """Write `PACKED` from a folder of recordings."""
    recordings = read_folder(folder)
    entries = [
        {key: value for key, value in entry.items() if key not in SUMMARIES}
        for entry, _ in recordings
    ]
    arrays = {
        f"{i}.{name}": array
        for i, recording in enumerate(recordings)
        for name, array in recording.arrays.items()
    }
    manifest = np.frombuffer(json.dumps(entries).encode(), np.uint8)
    whole = io.BytesIO()
    np.savez(whole, allow_pickle=False, manifest=manifest, **arrays)
    PACKED.parent.mkdir(exist_ok=True)
    PACKED.write_bytes(lzma.compress(whole.getvalue(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    pack(Path(sys.argv[1]))
