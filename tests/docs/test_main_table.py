"""The README shows results as they stand in docs/results, and not as they once were."""

import re

from docs_pages import ROOT


def test_the_main_table_is_that_of_a_page_of_results():
    readme = (ROOT / "README.md").read_text()
    marked = r"<!-- (results|table):[\w-]+ -->\n+(.*?)\n+<!-- /\1"
    shown = [found[2] for found in re.finditer(marked, readme, re.DOTALL)]
    assert shown
    pages = [page.read_text() for page in (ROOT / "docs/results").glob("*.md")]
    assert [table for table in shown if not any(table in page for page in pages)] == []
