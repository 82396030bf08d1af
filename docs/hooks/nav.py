"""The order of the site: entries of `nav` in mkdocs.yml are patterns, in the order of reading.

A page belongs to the first pattern that matches it. A pattern without a page is left out, a page
without a pattern is what `validation.nav.omitted_files` complains about.
"""

import fnmatch
import posixpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

LIST = "<!-- pages of this folder -->"


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


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write the pages of a folder where a page asks for them."""
    if LIST not in markdown:
        return markdown
    folder = posixpath.dirname(page.file.src_uri)
    others = [
        file
        for file in files.documentation_pages()
        if posixpath.dirname(file.src_uri) == folder and file is not page.file
    ]
    entries = [f"- [{_title(file.content_string)}]({file.name}.md)" for file in others]
    return markdown.replace(LIST, "\n".join(entries))


def _title(markdown: str) -> str:
    return markdown.partition("\n")[0].removeprefix("# ")
