"""The picture in docs/watch.md: the page of one or two runs, as chromium shows it.

python docs/watch_picture.py RUN [RUN2] --out FILE.png [--step 240]
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from pairvdn.runs.analysis.evaluate import Settings
from pairvdn.runs.analysis.record import record_both, record_run
from pairvdn.viewing.watch import write_page

SETTINGS = Settings(episodes=1, max_steps=1000)


def main() -> None:
    """Record, write the page, open it at a step, take its picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--step", default="240")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        several = len(given.runs) > 1
        runs = (
            record_both(*given.runs, SETTINGS) if several else [record_run(*given.runs, SETTINGS)]
        )
        page_file = write_page(runs, Path(folder) / "page.html")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(page_file.as_uri())
        page.wait_for_selector("body.ready")
        page.locator("#scrub").fill(given.step)
        page.locator("#scrub").blur()
        page.locator(".pair-list .row").filter(has_text="◆").first.click()
        page.screenshot(path=given.out)
        browser.close()


if __name__ == "__main__":
    main()
