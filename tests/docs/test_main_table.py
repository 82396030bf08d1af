"""The README shows results as they stand in docs/results, and not as they once were."""

import re

from docs_pages import ROOT


def test_the_main_table_is_that_of_a_page_of_results():
    readme = (ROOT / "README.md").read_text()
    shown = re.findall(r"<!-- results:[\w-]+ -->\n+(.*?)\n+<!-- /results", readme, re.DOTALL)
    assert shown
    pages = [page.read_text() for page in (ROOT / "docs/results").glob("*.md")]
    assert [table for table in shown if not any(table in page for page in pages)] == []
