"""What lies outside docs/: README and its like become pages of the site, and so do linked files.

Pages link to files as they lie in the repository (`../src/pairvdn/...`), which is what works where
that is read. Here such a link leads to a copy on the site, so that this can be read alone.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
# Pages of the repository that are chapters of the site: where they lie -> their names there.
CHAPTERS = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json", ".cff": "yaml"}
LINK = re.compile(r"(\]\()([^)#\s]*)((?:#[^)\s]*)?\))")


def on_files(files: Files, *, config: MkDocsConfig) -> None:
    """Add the chapters, and a page for every file outside docs/ that a page links to."""
    for path, uri in CHAPTERS.items():
        files.append(File.generated(config, uri, content=(ROOT / path).read_text()))
    waiting = [file.src_uri for file in files.documentation_pages()]
    while waiting:
        uri = waiting.pop()
        for path in _outside(files.get_file_from_path(uri).content_string, _origin(uri)):
            if files.get_file_from_path(_page_of(path)) is None:
                copy = File.generated(
                    config,
                    _page_of(path),
                    content=_content(path),
                    inclusion=InclusionLevel.NOT_IN_NAV,
                )
                files.append(copy)
                waiting.append(copy.src_uri)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links to files of the repository lead to their pages."""
    origin = _origin(page.file.src_uri)
    here = posixpath.dirname(page.file.src_uri)

    def replace(link: re.Match[str]) -> str:
        path = _target(link[2], origin)
        if path is None or files.get_file_from_path(_page_of(path)) is None:
            return link[0]
        return link[1] + posixpath.relpath(_page_of(path), here or ".") + link[3]

    return LINK.sub(replace, markdown)


def _outside(markdown: str, origin: str) -> Iterator[str]:
    """The files outside docs/ that a page links to, by their paths in the repository."""
    for link in LINK.finditer(markdown):
        path = _target(link[2], origin)
        if path is not None and not path.startswith("docs/"):
            yield path


def _target(link: str, origin: str) -> str | None:
    """The file of the repository that a link in `origin` leads to; a folder means its README."""
    if not link or "://" in link:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    if path.startswith("..") or not (ROOT / path).exists():
        return None
    return posixpath.join(path, "README.md") if (ROOT / path).is_dir() else path


def _origin(uri: str) -> str:
    """Where the text of a page lies in the repository."""
    origins = {page: path for path, page in CHAPTERS.items()}
    if uri.startswith("source/"):
        return uri.removeprefix("source/").removesuffix(".md")
    return origins.get(uri, f"docs/{uri}")


def _page_of(path: str) -> str:
    """The page, or file, of the site that shows a file of the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return CHAPTERS.get(path, f"source/{path}.md")


def _content(path: str) -> str:
    """A page as it is; anything else as a listing under its name."""
    text = (ROOT / path).read_text()
    if path.endswith(".md"):
        return text
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f"# {path}\n\n~~~~{language}\n{text}\n~~~~\n"
