"""`python -m pairvdn`: the command line where the script is not on the path."""

import sys

from pairvdn.cli import main

if __name__ == "__main__":
    # `python -m` puts the current folder on the path; the command `pairvdn` does not. Code in the
    # current folder must not be imported unless the user asks for it.
    if not sys.flags.safe_path:
        sys.path.pop(0)
    sys.exit(main())
