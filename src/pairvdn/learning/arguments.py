"""Checks of hyper-parameters, so that a wrong one is named before anything is compiled."""


def require_at_least(minimum: int | float, **arguments: int | float) -> None:
    """Raise ValueError unless every argument is at least `minimum`."""
    for name, value in arguments.items():
        if not value >= minimum:
            raise ValueError(f"{name} must be at least {minimum:g}, not {value!r}.")


def require_within(low: int | float, high: int | float, **arguments: int | float) -> None:
    """Raise ValueError unless every argument lies from `low` to `high`."""
    for name, value in arguments.items():
        if not low <= value <= high:
            raise ValueError(f"{name} must be from {low:g} to {high:g}, not {value!r}.")
