"""Processes meet and compare: what differs is named to all, and nobody waits for ever."""

import json
import socket
import threading
from typing import Any

import pytest
from processes import free_port

from pairvdn.config.errors import ConfigError
from pairvdn.runs.devices.distributed import Meeting, compare, differences, slurm_meeting
from pairvdn.runs.errors import RunError


def met(
    settings: list[dict[str, Any]],
    indices: list[int] | None = None,
    *,
    seconds: float = 20.0,
    size: int | None = None,
) -> list[Exception | None]:
    """What came of it for each process; they are threads here, for sockets make no difference."""
    address = f"127.0.0.1:{free_port()}"
    indices = list(range(len(settings))) if indices is None else indices
    came: list[Exception | None] = [None] * len(settings)

    def join(place: int) -> None:
        meeting = Meeting(address, indices[place], size or len(settings))
        try:
            compare(settings[place], meeting, seconds=seconds)
        except (ConfigError, RunError) as error:
            came[place] = error

    threads = [threading.Thread(target=join, args=(place,)) for place in range(len(settings))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    return came


def test_the_same_settings_fit() -> None:
    assert met([{"seed": 1, "sizes": (2, 3)}] * 3) == [None] * 3


def test_what_differs_is_named_to_all() -> None:
    came = met([{"seed": 1, "epochs": 5}, {"seed": 1, "epochs": 5}, {"seed": 2, "epochs": 5}])
    for error in came:
        assert isinstance(error, ConfigError)
        assert "seed is 1 in process 0 and 2 in process 2" in str(error)
        assert "epochs" not in str(error)


def test_a_setting_that_one_does_not_have_differs() -> None:
    assert differences({0: {}, 1: {"new": True}}) == [
        'new is "not set" in process 0 and true in process 1'
    ]


def test_two_with_the_same_number_are_refused() -> None:
    for error in met([{}, {}, {}], [0, 1, 1]):
        assert isinstance(error, ConfigError)
        assert "two processes say that they are number 1" in str(error)


def test_who_does_not_come_is_named() -> None:
    came = met([{}, {}], [0, 2], seconds=0.5, size=4)
    assert "missing: 1, 3" in str(came[0])
    assert all(isinstance(error, RunError) for error in came)


def test_nobody_at_the_address() -> None:
    (error,) = met([{}], [1], seconds=0.3, size=2)
    assert isinstance(error, RunError)
    assert "Process 0 did not answer at 127.0.0.1" in str(error)


def test_strangers_are_not_counted() -> None:
    port = free_port()
    came: list[Exception] = []

    def listen() -> None:
        try:
            compare({}, Meeting(f"127.0.0.1:{port}", 0, 2), seconds=2)
        except RunError as error:
            came.append(error)

    thread = threading.Thread(target=listen)
    thread.start()
    for text in (b"GET / HTTP/1.0\r\n\r\n", json.dumps([1]).encode() + b"\n", b"{}\n"):
        for _ in range(100):
            try:
                connection = socket.create_connection(("127.0.0.1", port), timeout=5)
                break
            except ConnectionRefusedError:
                thread.join(timeout=0.02)
        with connection:
            connection.sendall(text)
    thread.join(timeout=30)
    assert "missing: 1" in str(came[0])


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(RunError, match=f"cannot listen on port {port}"):
            compare({}, Meeting(f"127.0.0.1:{port}", 0, 2), seconds=1)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("here", 0, 2), "HOST:PORT"),
        (("here:0", 0, 2), "HOST:PORT"),
        (("here:80", 0, 1), "at least 2"),
        (("here:80", 2, 2), "from 0 to 1"),
    ],
)
def test_a_meeting_that_cannot_be(arguments: tuple[str, int, int], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        Meeting(*arguments)


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("n1", "n1"),
        ("n1,n2", "n1"),
        ("gpu-[001-015],host2", "gpu-001"),
        ("gpu[007,009-015]", "gpu007"),
    ],
)
def test_tasks_of_slurm_meet_at_the_first_node(nodes: str, first: str) -> None:
    step = {"SLURM_JOB_ID": "4099", "SLURM_STEP_NODELIST": nodes, "SLURM_PROCID": "3"}
    assert slurm_meeting(step | {"SLURM_NTASKS": "8"}) == Meeting(f"{first}:61443", 3, 8)
    assert slurm_meeting(step | {"SLURM_NTASKS": "1"}) is None
    assert slurm_meeting(step) is None
