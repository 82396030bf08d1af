"""Blocks: formulas, and commands that are marked.

```math          a formula in TeX; becomes MathML here, which browsers draw without a script
```bash long     commands that take long; tests only parse them
```bash cluster  commands that need a cluster; tests only parse them
"""

import re
from typing import Any

import latex2mathml.converter
from mkdocs.config.defaults import MkDocsConfig

MARKS = {"long": "takes long", "cluster": "on a cluster"}


def on_config(config: MkDocsConfig) -> None:
    """Register the fence of formulas."""
    fences = config.mdx_configs["pymdownx.superfences"]["custom_fences"]
    fences.append({"name": "math", "class": "formula", "format": _formula})


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show the mark of a block of commands as its title."""
    return re.sub(
        rf"^(\s*)```bash ({'|'.join(MARKS)})$",
        lambda fence: f'{fence[1]}```bash title="{MARKS[fence[2]]}"',
        markdown,
        flags=re.MULTILINE,
    )


def _formula(source: str, language: str, css_class: str, *_: Any, **__: Any) -> str:
    """TeX to MathML."""
    formula = latex2mathml.converter.convert(source, display="block")
    return f'<div class="{css_class}">{formula}</div>'
