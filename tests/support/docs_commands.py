"""Commands in texts, held against what would run them: parsers, targets, files and extras.

Nothing is run. `complaints` names every command of a page that could not be, in blocks of commands
word by word, elsewhere (in running text, and in a synopsis) as far as a mention can be wrong: an
unknown sub-command, target or flag.
"""

import contextlib
import dataclasses
import io
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from docs_pages import ONLY_PARSED, ROOT, blocks, prose

from pairvdn.cli import COMMANDS, main
from pairvdn.cli.flags import Parser, changed
from pairvdn.cli.train import preset_config
from pairvdn.config.errors import ConfigError

ANY_PRESET = "box-jump/pairvdn"


class Parsed(BaseException):
    """A command line was understood, and is not to be run."""

    def __init__(self, parser: Parser, given: Any) -> None:
        self.parser, self.given = parser, given


@contextlib.contextmanager
def stopped_after_parsing(*, before: bool = False) -> Iterator[None]:
    """`main` raises `Parsed` where its parser has done, or would begin with, its work."""
    parse_all = Parser.parse_all

    def stop(parser: Parser, arguments: Sequence[str]) -> Any:
        raise Parsed(parser, None if before else parse_all(parser, arguments))

    Parser.parse_all = stop  # type: ignore[method-assign]
    try:
        yield
    finally:
        Parser.parse_all = parse_all  # type: ignore[method-assign]


def complaint_of_pairvdn(words: Sequence[str]) -> str | None:
    """What `pairvdn` says against these arguments before it does anything."""
    said = io.StringIO()
    try:
        with (
            stopped_after_parsing(),
            contextlib.redirect_stderr(said),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            return said.getvalue() if main(words) else None  # else: --help or --version
    except Parsed as parsed:
        if not hasattr(parsed.given, "preset"):
            return None
        try:  # values of flags, too
            changed(preset_config(Parser(words[0], ""), words[1:], ANY_PRESET), parsed.given)
        except ConfigError as error:
            return str(error)
        return None


def complaint_of_make(words: Sequence[str]) -> str | None:
    """Targets must be in the Makefile."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    wrong = [word for word in words if "=" not in word and word not in targets]
    return f"make has no target {wrong[0]}" if wrong else None


def complaint_of_python(words: Sequence[str]) -> str | None:
    """A script must be in the repository."""
    script = words[0] if words else ""
    if script == "-m" or (script.endswith(".py") and (ROOT / script).is_file()):
        return None
    return f"there is no script {script}"


def complaint_of_pip(words: Sequence[str]) -> str | None:
    """Extras must exist."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    known = extras["optional-dependencies"]
    asked = re.findall(r"(?:pairvdn|\.)\[([\w,]+)\]", " ".join(words))
    wrong = [one for group in asked for one in group.split(",") if one not in known]
    return f"pairvdn has no extra {wrong[0]}" if wrong else None


def complaint_of_source(words: Sequence[str]) -> str | None:
    """Only the environment that make sets up."""
    return None if words == [".venv/bin/activate"] else f"there is no {' '.join(words)} to source"


def complaint_of_ray(words: Sequence[str]) -> str | None:
    """Commands and options must be among those of Ray's own parser."""
    from ray.scripts.scripts import cli

    command, *rest = words
    if command not in cli.commands:
        return f"ray has no command {command}"
    known = {option for param in cli.commands[command].params for option in param.opts}
    wrong = [one for one in rest if one.startswith("--") and one.partition("=")[0] not in known]
    return f"ray {command} has no option {wrong[0]}" if wrong else None


CHECKS = {
    "make": complaint_of_make,
    "pairvdn": complaint_of_pairvdn,
    "pip": complaint_of_pip,
    "python": complaint_of_python,
    "ray": complaint_of_ray,
    "source": complaint_of_source,
}


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of a script: its line, its words, and the variables that are set by then."""

    line: int
    words: list[str]
    variables: dict[str, str]


def commands(text: str) -> Iterator[Command]:
    """The lines of a script as words, continuation lines joined and variables put in."""
    variables: dict[str, str] = {}
    lines = enumerate(re.sub(r"\\\n", lambda _: " \0", text).splitlines())
    skipped = 0
    for number, line in lines:
        start, skipped = number + skipped, skipped + line.count("\0")
        known = "|".join(variables) or "(?!)"
        with_values = re.sub(
            rf"\$({known})\b", lambda one: variables[one[1]], line.replace("\0", "")
        )
        words = shlex.split(with_values.removesuffix("&"), comments=True)
        while words and re.fullmatch(r"\w+=.*", words[0]):
            variable, _, value = words.pop(0).partition("=")
            variables[variable] = value
        if words:
            yield Command(start, words, dict(variables))


def complaints(page: Path) -> list[str]:
    """Everything that is wrong with the commands of a page."""
    found = []
    for block in blocks(page):
        if block.kind in ("bash", *ONLY_PARSED):
            for command in commands(block.text):
                said = _of_command(command, any_tool=block.kind == "bash cluster")
                found += [f"{page.name}:{block.line + command.line}: {said}"] if said else []
        elif block.kind == "text":
            for line, text in enumerate(block.text.splitlines()):
                if re.match(r"(pairvdn|make) [a-z]", text):
                    found += _of_mention(text, f"{page.name}:{block.line + line}")
    for line, text in enumerate(prose(page).splitlines(), start=1):
        for mention in re.findall(r"`((?:pairvdn|make|pip|python) [^`]+)`", text):
            found += _of_mention(mention, f"{page.name}:{line}")
    return found


def _of_command(command: Command, *, any_tool: bool) -> str:
    """A script for a cluster may call what is there and not here, and ours through it."""
    ours = command.words.index("pairvdn") if any_tool and "pairvdn" in command.words else 0
    tool, *words = command.words[ours:]
    if tool not in CHECKS:
        return "" if any_tool else f"tests know no command {tool}"
    with _modules_in(command.variables.get("PYTHONPATH")):
        return (CHECKS[tool](words) or "").strip()


@contextlib.contextmanager
def _modules_in(folder: str | None) -> Iterator[None]:
    before = list(sys.path)
    sys.path[:0] = [] if folder is None else [str(ROOT / folder)]
    try:
        yield
    finally:
        sys.path[:] = before


def _of_mention(text: str, place: str) -> list[str]:
    tool, *words = text.partition("#")[0].split()
    said = _pairvdn_mentioned(words) if tool == "pairvdn" else CHECKS[tool](words)
    return [f"{place}: {said.strip()}"] if said else []


def _pairvdn_mentioned(words: Sequence[str]) -> str | None:
    """A mention may leave out arguments and put others in brackets; what it names must exist."""
    if words[0] not in COMMANDS:
        return f"there is no command {words[0]}"
    flags = {flag for word in words for flag in re.findall(r"--[a-z][\w.-]*", word)}
    if not flags or complaint_of_pairvdn(words) is None:
        return None
    try:
        with stopped_after_parsing(before=True):
            actions = words[1:2] if words[0] == "study" else []
            main([words[0], *actions, ANY_PRESET])
    except Parsed as parsed:
        wrong = sorted(flags - set(parsed.parser._option_string_actions))
        return f"pairvdn {words[0]} has no flag {wrong[0]}" if wrong else None
    return None
