"""One HTML file that shows what the agents do, and why; docs/watch.md says how to read it."""

from pairvdn.viewing.watch.page import make_page, write_page

__all__ = ["make_page", "write_page"]
