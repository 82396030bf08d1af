"""A module of a user that cannot be imported."""

raise RuntimeError("broken\non purpose")
