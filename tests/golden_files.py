"""Files under tests/golden/ that outputs are compared with; `UPDATE_GOLDEN=1 pytest ...` writes them anew."""

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def assert_golden(name: str, text: str) -> None:
    """Compare `text` with `golden/NAME`."""
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path} differs; if that is meant, run with UPDATE_GOLDEN=1"
