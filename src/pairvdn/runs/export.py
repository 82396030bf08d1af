"""Exporting a run: its value without the training state, small enough to share."""

from pathlib import Path

import equinox as eqx

from pairvdn.runs import checkpoint as checkpoints
from pairvdn.runs.errors import FolderError
from pairvdn.runs.files import make_folder, read_text, require_no_link, write_text
from pairvdn.runs.folder import VALUE_INSIDE, RunFolder, require_new
from pairvdn.runs.load import Which, load
from pairvdn.runs.saving import explained


def export(
    folder: str | Path, out: str | Path, checkpoint: Which = "last", *, trust: bool = False
) -> int:
    """Copy the value, config and versions of a run into a new folder, and return its size in bytes.

    `load`, evaluate, watch and play accept the copy. It cannot be trained further: it lacks the
    replay, the environments, the optimiser's state and the target network.
    """
    loaded, small = load(folder, checkpoint, trust=trust), RunFolder(Path(out))
    require_new(small.path)
    names = ("versions.json", "config.toml")
    require_no_link(*(loaded.folder / name for name in names))  # to a file that is not to be shared
    texts = {name: _text(loaded.folder / name) for name in names}
    with explained(small.path):
        make_folder(small.checkpoints)
        checkpoints.write(
            small.checkpoint_at(loaded.epoch),
            {"learner": eqx.filter(loaded.value, eqx.is_array)},
            {"epoch": loaded.epoch},
            inside=VALUE_INSIDE,
        )
        for name, text in texts.items():
            write_text(small.path / name, text)
    return sum(file.stat().st_size for file in small.path.rglob("*") if file.is_file())


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except FileNotFoundError as error:
        raise FolderError(f"{file.parent} cannot be exported: it has no {file.name}.") from error
