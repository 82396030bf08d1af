"""The browser of this machine, for tests of pages; run as a script it says what was skipped."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = f"the tests in a browser were SKIPPED: none of {', '.join(NAMES)} is installed"


def find_browser() -> str | None:
    """Where it is, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


if __name__ == "__main__":
    if find_browser() is None:
        print(MISSING)
