"""One HTML file that shows what agents do, and why; docs/watch.md explains it."""

from pairvdn.viewing.watch.page import make_page, write_page

__all__ = ["make_page", "write_page"]
