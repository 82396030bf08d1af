"""PettingZoo's environments, those of others and your own, as `HostEnvironment`."""
