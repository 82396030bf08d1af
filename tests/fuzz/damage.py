"""Random damage to the files of a run: flipped and lost bytes, links, pipes, crafted JSON."""

import json
import os
import random
import zlib
from pathlib import Path

from nasty import crafted_json, mutated_bytes

from pairvdn.runs.files import signed


def contents(folder: Path) -> dict[str, object]:
    """Everything in a folder, with links as links."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def damage(chance: random.Random, run: Path, elsewhere: Path) -> None:
    """Damage one file of a run."""
    found = [path for path in sorted(run.rglob("*")) if path.is_file() and not path.is_symlink()]
    path = chance.choice([path for path in found if path.name != "lock"])
    how = chance.random()
    if path.suffix in (".json", ".jsonl") and path.name != "versions.json" and how < 0.4:
        craft(chance, path)
        return
    if how < 0.75:
        path.write_bytes(mutated_bytes(chance, path.read_bytes()))
        return
    path.unlink()
    if how < 0.8:
        os.mkfifo(path)
    elif how < 0.85:
        path.mkdir()
    elif how < 0.92:
        path.symlink_to(elsewhere)


def craft(chance: random.Random, path: Path) -> None:
    """Change a JSON file, or one of its lines, and give it a right checksum."""
    lines = path.read_text().splitlines(keepends=True) if path.suffix == ".jsonl" else []
    at = chance.randrange(len(lines)) if lines else 0
    try:
        plain = json.loads(lines[at] if lines else path.read_text())
    except ValueError:  # damaged before
        return
    if isinstance(plain, dict):
        plain.pop("crc32", None)
    crafted = crafted_json(chance, plain)
    text = json.dumps(crafted)
    if path.name == "manifest.json" and isinstance(crafted, dict):
        checksum = zlib.crc32(json.dumps(crafted, sort_keys=True).encode())
        text = json.dumps({**crafted, "crc32": checksum})
    elif isinstance(crafted, dict):
        text = signed(text)
    lines[at : at + 1] = [f"{text}\n"]
    path.write_text("".join(lines))
