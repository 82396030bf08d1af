"""The README shows the results that docs/results marks for it."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "docs/main_table.py"))


def test_the_readme_has_the_main_results_of_now():
    readme = (ROOT / "README.md").read_text()
    assert readme == SCRIPT["filled"](readme), "run `make main-table`"
    assert SCRIPT["main_results"]() in readme
    assert "| " in SCRIPT["main_results"]()


def test_an_old_table_is_found():
    old = f"# x\n\n{SCRIPT['OPEN']}\n\n| old |\n\n{SCRIPT['CLOSE']}\n\nMore.\n"
    new = SCRIPT["filled"](old)
    assert "| old |" not in new
    assert new.endswith(f"{SCRIPT['CLOSE']}\n\nMore.\n")
