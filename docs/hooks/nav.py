"""The order of the site: entries of `nav` in mkdocs.yml are patterns, in the order of reading.

A page belongs to the first pattern that matches it. A pattern without a page is left out, a page
without a pattern is what `validation.nav.omitted_files` complains about.
"""

import fnmatch
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files


@event_priority(-100)  # after the hook that adds pages
def on_files(files: Files, *, config: MkDocsConfig) -> None:
    """Turn the patterns into the pages that there are."""
    shown = [file for file in files.documentation_pages() if file.inclusion.is_in_nav()]
    config.nav = _expanded(config.nav, sorted(file.src_uri for file in shown))


def _expanded(entries: list[Any], free: list[str]) -> list[Any]:
    """The entries with pages instead of patterns; pages that are used are taken out of `free`."""
    pages: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            sections = {name: _expanded(inside, free) for name, inside in entry.items()}
            pages += [{name: inside} for name, inside in sections.items() if inside]
        else:
            found = fnmatch.filter(free, entry)
            free[:] = [page for page in free if page not in found]
            pages += found
    return pages
