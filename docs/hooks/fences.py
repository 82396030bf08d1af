"""Blocks: formulas, commands that are marked, and tables whose intervals stay whole.

```math          a formula in TeX; becomes MathML here, which browsers draw without a script
```bash long     commands that take long; tests only parse them
```bash cluster  commands that need a cluster; tests only parse them
"""

import re
from typing import Any

import latex2mathml.converter
from mkdocs.config.defaults import MkDocsConfig

MARKS = {"long": "takes long", "cluster": "on a cluster"}
INTERVAL = re.compile(r"\[(-?[\d.,]*\d), (-?[\d.,]*\d)\]")
MOST_COLUMNS = 6  # in a wider table intervals must break, or it does not fit a screen


def on_config(config: MkDocsConfig) -> None:
    """Register the fence of formulas."""
    fences = config.mdx_configs["pymdownx.superfences"]["custom_fences"]
    fences.append({"name": "math", "class": "formula", "format": _formula})


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show the mark of a block of commands as its title, and keep intervals of tables whole."""
    titled = re.sub(
        rf"^(\s*)```bash ({'|'.join(MARKS)})$",
        lambda fence: f'{fence[1]}```bash title="{MARKS[fence[2]]}"',
        markdown,
        flags=re.MULTILINE,
    )
    return re.sub(r"^\|.*$", lambda row: _unbroken(row[0]), titled, flags=re.MULTILINE)


def _unbroken(row: str) -> str:
    """`6.25 [6.01, 6.49]`, which a browser may break before the bracket and nowhere else."""
    wide = row.count("|") - 1 > MOST_COLUMNS
    return row if wide else INTERVAL.sub("[\\1,\N{NO-BREAK SPACE}\\2]", row)


def _formula(source: str, language: str, css_class: str, *_: Any, **__: Any) -> str:
    """TeX to MathML."""
    formula = latex2mathml.converter.convert(source, display="block")
    return f'<div class="{css_class}">{formula}</div>'
