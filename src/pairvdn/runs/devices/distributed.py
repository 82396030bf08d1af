"""Processes that are to train together meet and compare their settings, before anything else.

JAX would start with any settings and then wait for ever in the first exchange that does not fit;
if a process never comes it ends the others with a stack trace. So all meet here first: on the
address of JAX's coordinator, before JAX uses it, every process tells the first one its settings, a
line of JSON, and is told what differs. What others say is compared, and never acted upon.
"""

import contextlib
import dataclasses
import json
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax

from pairvdn.config.errors import ConfigError
from pairvdn.runs.errors import RunError
from pairvdn.runs.versions import software

_LONGEST = 2**20  # bytes of a line
_PATIENCE = 5.0  # seconds for a line of somebody who has connected


@dataclasses.dataclass(frozen=True)
class Meeting:
    """Where `size` processes meet, and which of them this is."""

    coordinator: str  # HOST:PORT, where the first process listens
    index: int
    size: int

    def __post_init__(self) -> None:
        host, _, port = self.coordinator.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 2**16:
            raise ConfigError(f"--coordinator must be HOST:PORT, not {self.coordinator!r}.")
        if self.size < 2:
            raise ConfigError(f"--num-processes must be at least 2, not {self.size}.")
        if not 0 <= self.index < self.size:
            raise ConfigError(f"--process-id must be from 0 to {self.size - 1}, not {self.index}.")

    @property
    def address(self) -> tuple[str, int]:
        """The coordinator's, as sockets want it."""
        host, _, port = self.coordinator.rpartition(":")
        return host.strip("[]"), int(port)


def slurm_meeting(environment: Mapping[str, str] = os.environ) -> Meeting | None:
    """The tasks of a SLURM job step, if this is one of several.

    The first node of the step coordinates; the port follows from the job, as jobs share nodes.
    """
    names = ("SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_NTASKS", "SLURM_PROCID")
    if not all(name in environment for name in names):
        return None
    job, nodes, size, index = (environment[name] for name in names)
    if int(size) < 2:
        return None
    port = 61440 + int(job) % 4096
    return Meeting(f"{_first_node(nodes)}:{port}", int(index), int(size))


def _first_node(nodes: str) -> str:
    """`node[001-015,20],host2` -> `node001`."""
    match = re.match(r"([^,\[]+)(?:\[([^\],-]+))?", nodes)
    if match is None:
        raise ConfigError(f"SLURM_STEP_NODELIST={nodes!r} names no node; use --coordinator.")
    return match[1] + (match[2] or "")


def meet(meeting: Meeting, settings: Mapping[str, Any], *, seconds: int | float) -> None:
    """Wait for all processes, compare, and start `jax.distributed`; nothing may be computed before.

    Settings are those given, and the versions of what computes.
    """
    compare({"processes": meeting.size, **software(), **settings}, meeting, seconds=seconds)
    jax.distributed.initialize(
        meeting.coordinator,
        meeting.size,
        meeting.index,
        # Everybody is there. At the end all finish together; who fails alone ends the others soon.
        initialization_timeout=60,
        shutdown_timeout_seconds=10,
    )


def compare(settings: Mapping[str, Any], meeting: Meeting, *, seconds: int | float) -> None:
    """Return in all processes when all have come with the same settings.

    `ConfigError` names what differs, in every process; `RunError` says who did not come in time.
    """
    told = json.loads(json.dumps(settings))  # tuples become lists, as they will for the others
    (_listen if meeting.index == 0 else _ask)(meeting, told, time.monotonic() + seconds)


def differences(told: Mapping[int, Mapping[str, Any]]) -> list[str]:
    """What the processes do not agree on, in words."""
    names = dict.fromkeys(name for settings in told.values() for name in settings)
    found = []
    for name in names:
        values = {index: json.dumps(one.get(name, "not set")) for index, one in told.items()}
        other = next((index for index in values if values[index] != values[0]), None)
        if other is not None:
            found.append(
                f"{name} is {values[0]} in process 0 and {values[other]} in process {other}"
            )
    return found


def _listen(meeting: Meeting, settings: Mapping[str, Any], deadline: float) -> None:
    """Let every other process tell its settings, then tell all what differs."""
    told: dict[int, Mapping[str, Any]] = {0: settings}
    with contextlib.ExitStack() as open_lines:
        server = open_lines.enter_context(_server(meeting))
        lines: list[_Line] = []
        while len(told) < meeting.size:
            line = open_lines.enter_context(_next_line(server, meeting, told, deadline))
            message = line.read()
            if message is None or not {"process", "settings"} <= message.keys():
                continue  # somebody else, a port scanner say
            index = message["process"]
            if index in told:
                raise _refused([*lines, line], [f"two processes say that they are number {index}"])
            told[index] = message["settings"]
            lines.append(line)
        found = differences(told)
        if found:
            raise _refused(lines, found)
        for line in lines:
            line.write({"differences": []})


def _refused(lines: Sequence["_Line"], found: list[str]) -> ConfigError:
    for line in lines:
        line.write({"differences": found})
    return _misfit(found)


def _misfit(found: Sequence[str]) -> ConfigError:
    return ConfigError(f"The processes do not fit together: {'; '.join(found)}.")


def _ask(meeting: Meeting, settings: Mapping[str, Any], deadline: float) -> None:
    """Tell the first process one's settings and hear what differs."""
    while True:
        try:
            connection = socket.create_connection(meeting.address, timeout=_PATIENCE)
            break
        except OSError as error:
            if time.monotonic() > deadline:
                raise RunError(
                    f"Process 0 did not answer at {meeting.coordinator} in time ({error}): was "
                    "it started there, and is the port open? --wait allows more time."
                ) from error
            time.sleep(0.1)
    with _Line(connection) as line:
        line.write({"process": meeting.index, "settings": settings})
        answer = line.read(max(0.1, deadline - time.monotonic()) + _PATIENCE)
    if answer is None:
        raise RunError(
            f"Process 0 at {meeting.coordinator} has ended, or others did not come in time; it "
            "says why."
        )
    if answer["differences"]:
        raise _misfit(answer["differences"])


@contextlib.contextmanager
def _server(meeting: Meeting) -> Iterator[socket.socket]:
    try:
        server = socket.create_server(("", meeting.address[1]), backlog=meeting.size)
    except OSError as error:
        raise RunError(
            f"Process 0 cannot listen on port {meeting.address[1]}: {error}; choose another "
            "--coordinator."
        ) from error
    with server:
        yield server


def _next_line(
    server: socket.socket, meeting: Meeting, told: Mapping[int, Any], deadline: float
) -> "_Line":
    server.settimeout(max(0.01, deadline - time.monotonic()))
    try:
        return _Line(server.accept()[0])
    except TimeoutError:
        missing = [str(index) for index in range(meeting.size) if index not in told]
        raise RunError(
            f"Only {len(told)} of {meeting.size} processes came in time; missing: "
            f"{', '.join(missing)}. --wait allows more time."
        ) from None


class _Line:
    """A connection over which each side sends one line of JSON."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def __enter__(self) -> "_Line":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def write(self, message: Mapping[str, Any]) -> None:
        """Send; whoever has gone meanwhile is not our concern."""
        with contextlib.suppress(OSError):
            self._connection.sendall(json.dumps(message).encode() + b"\n")

    def read(self, seconds: float = _PATIENCE) -> dict[str, Any] | None:
        """What the other side says; None if it does not speak as we do."""
        self._connection.settimeout(seconds)
        try:
            with self._connection.makefile("rb") as file:
                message = json.loads(file.readline(_LONGEST))
        except (OSError, ValueError):
            return None
        return message if isinstance(message, dict) else None
