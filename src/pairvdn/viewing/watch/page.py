"""The page: recordings as data, and the files beside this one, in a single HTML file.

It loads nothing from a network, and its content security policy forbids that. The policy allows
scripts by their hashes, so text from files could not run even if it were not escaped.
"""

import base64
import hashlib
import io
import json
import string
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from pairvdn.runs.analysis.record import RecordedRun
from pairvdn.viewing import MissingPackageError
from pairvdn.viewing.watch.pack import named_arrays, pack

_COLOURS = 64  # of a picture that an environment rendered

# In order: each script may use those before it.
SCRIPTS = (
    "unpack.js",
    "format.js",
    "episode.js",
    "colours.js",
    "elements.js",
    "glossary.js",
    "edges.js",
    "scene.js",
    "timeline.js",
    "pair_panel.js",
    "pair_list.js",
    "agent_panel.js",
    "side.js",
    "player.js",
    "keys.js",
    "start.js",
)


def write_page(runs: Sequence[RecordedRun], path: Path) -> Path:
    """Write the page of one run, or of two that are shown side by side."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(make_page(runs), encoding="utf-8")
    return path


def make_page(runs: Sequence[RecordedRun]) -> str:
    """The whole page as text. The same recordings give the same text."""
    arrays = {
        f"{side}.{episode}.{name}": array
        for side, run in enumerate(runs)
        for episode, recording in enumerate(run.recordings)
        for name, array in named_arrays(recording).items()
    }
    packed = pack(arrays)
    about = {"runs": [_about(run) for run in runs], "arrays": packed.directory}
    style = _read("page.css")
    script = "\n".join(["(() => {", '"use strict";', *map(_read, SCRIPTS), "})();"])
    return string.Template(_read("page.html")).substitute(
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        about=_json(about),
        numbers=packed.text,
    )


def _about(run: RecordedRun) -> dict[str, Any]:
    return {
        "name": run.name,
        "environment": run.environment,
        "method": run.method,
        "checkpoint": run.checkpoint,
        "epoch": run.epoch,
        "seed": run.seed,
        "agents": run.num_agents,
        "actions": run.action_names,
        "observations": run.observation_names,
        "meanings": dict(run.measure_meanings),
        "episodes": [
            {
                "length": one.length,
                "actionRepeat": one.action_repeat,
                "measures": list(one.frames.measures),
                "pictures": [] if one.pictures is None else list(map(_png, one.pictures)),
            }
            for one in run.recordings
        ],
    }


def _png(pixels: UInt8[np.ndarray, "h w 3"]) -> str:
    """A picture as an address that holds all of it."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingPackageError("Pictures need Pillow: pip install 'pairvdn[view]'") from error
    file = io.BytesIO()
    Image.fromarray(pixels).quantize(_COLOURS).save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"


def _json(data: Any) -> str:
    """JSON for a script element: no character in it can start or end a tag."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def _read(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
