"""`check_env` on every environment of the registry."""

import pytest

from pairvdn import envs


@pytest.mark.parametrize("name", envs.names())
def test_every_registered_environment_keeps_the_contract(name: str) -> None:
    env = envs.make(name)
    assert env.name == name
    assert envs.check_env(env) is None
