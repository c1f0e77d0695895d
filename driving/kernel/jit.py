"""One typed wrapper around numba, with the options that every kernel function shares.

`error_model="numpy"` makes a division by zero IEEE instead of a Python error; `_nrt=False` leaves out the reference
counting of array views (+14-18 % speed, so no array may be allocated in compiled code). Neither `fastmath` nor
explicit signatures: the first breaks bitwise equality with highway-env, the second compiles at import.

numba keys its disk cache on one source file only; a change in an imported file would load stale machine code. The
cache directory therefore carries a hash of every source that is compiled (the kernel, `reward_state.py` and the table
that it fills) and of the options.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from search_spaces import state

P = ParamSpec("P")
R = TypeVar("R")

OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "nogil": True, "cache": True}


def cache_directory() -> Path:
    """Return the directory of compiled kernels for exactly these sources, options and numba release.

    Returns:
        A path below `REWARD_ORCHESTRATOR_CACHE`, else below `~/.cache/reward-orchestrator`. It need not exist.
    """
    from numba import __version__ as numba_release

    digest = hashlib.sha256(repr((sorted(OPTIONS.items()), numba_release)).encode())
    kernel = Path(__file__).parent
    for source in [*sorted(kernel.glob("*.py")), kernel.parent / "reward_state.py", Path(state.__file__)]:
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    root = os.environ.get("REWARD_ORCHESTRATOR_CACHE") or Path.home() / ".cache" / "reward-orchestrator"
    return Path(root) / f"numba-{digest.hexdigest()[:16]}"


def _decorator(**extra: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    import numba

    numba.config.CACHE_DIR = str(cache_directory())
    decorate: Callable[[Callable[P, R]], Callable[P, R]] = numba.njit(**{**OPTIONS, **extra})
    return decorate


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` on its first call (or load it from the cache) and release the GIL while it runs."""
    return _decorator()(function)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` and inline it into its callers."""
    return _decorator(inline="always")(function)
