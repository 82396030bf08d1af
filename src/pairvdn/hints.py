"""What to say to someone who names what there is not."""

import difflib
from collections.abc import Iterable


def hint(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """The nearest known name; if none is near, `otherwise`, or all of them."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return otherwise or (f"known are {', '.join(known)}." if known else "there are none.")
