"""A package's docstring is its map: it names every file, and none that is not there."""

import ast
import fnmatch
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = [
    *("search_spaces", "driving", "driving/kernel", "actors", "orchestrator"),
    *("orchestrator/bundle", "orchestrator/report"),
]


def mapped(package: str) -> set[str]:
    """The files and folders that a package's docstring names; `commands_*.py` stands for all such files."""
    text = ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8")))
    assert text is not None
    return set(re.findall(r"[a-z_*]+(?:\.py\b|/)", text))


@pytest.mark.parametrize("package", PACKAGES)
def test_the_map_names_every_file_and_no_other(package: str) -> None:
    files = {each.name for each in (ROOT / package).glob("*.py")} - {"__init__.py"}
    folders = {f"{each.parent.name}/" for each in (ROOT / package).glob("*/__init__.py")}
    named = mapped(package)
    unnamed = {each for each in files | folders if not any(fnmatch.fnmatch(each, name) for name in named)}
    assert unnamed == set()
    assert {name for name in named if not list((ROOT / package).glob(name.rstrip("/")))} == set()
