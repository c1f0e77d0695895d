"""API keys: where they come from, how they stay unseen, and which one is used next.

A key is held as a `Secret`, whose text shows only in `reveal`. The driver takes keys out of the environment before Ray
starts (`take_credentials`), because Ray's workers inherit the driver's environment.
"""

import json
import re
import stat
import threading
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from actors.patience import Clock
from search_spaces.errors import ProviderError, UsageError

KEY_VARIABLES = {"groq": "GROQ_API_KEY", "openai": "OPENAI_API_KEY"}
"""Environment variable that holds the keys of each kind of provider."""
_SECRET_VARIABLES = (*KEY_VARIABLES.values(), "GROQ_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS")
_KEY_SHAPED = re.compile(r"(?<![A-Za-z0-9])(?:gsk_|sk-)[A-Za-z0-9_\-]{12,}")
_SHORTEST_SECRET = 8
"""Characters; what local servers are given ("none", "ollama") is shorter, and no secret."""
MASK = "***"


class Secret:
    """A text that shows itself only when asked by name.

    Args:
        value: The secret text.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the secret text."""
        return self._value

    def __repr__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the driver hands to whoever opens the provider; never part of a configuration.

    Attributes:
        keys: Keys of the provider; empty for a server that wants none.
        base_url: `GROQ_BASE_URL`; None for the provider's own host.
    """

    keys: tuple[Secret, ...] = ()
    base_url: str | None = None


def take_credentials(spec: str | None, environ: MutableMapping[str, str], keys_file: Path | None = None) -> Credentials:
    """Take every key out of the environment and keep those that the provider may see.

    Args:
        spec: `groq:...`, `openai:...`, `replay:...` or None.
        environ: The environment, usually `os.environ`; key variables of all providers are removed from it.
        keys_file: File that holds the keys instead.

    Returns:
        The provider's credentials.

    Raises:
        UsageError: The file is missing, readable by others, or holds no keys; a key is not printable ASCII.
    """
    taken = {name: environ.pop(name, "") for name in _SECRET_VARIABLES}
    kind = (spec or "").partition(":")[0]
    if keys_file is not None:
        keys = read_keys(keys_file)
    else:
        variable = KEY_VARIABLES.get(kind, "")
        keys = _secrets(taken.get(variable, "").split(","), variable)
    if kind not in KEY_VARIABLES:
        keys = ()
    return Credentials(keys, environ.get("GROQ_BASE_URL") or None if kind == "groq" else None)


def read_keys(path: Path) -> tuple[Secret, ...]:
    """Read a file of keys: one a line (`#` starts a comment line), or a JSON list of strings.

    Raises:
        UsageError: See `take_credentials`.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise UsageError(f"--keys {path}: expected a regular file")
        if mode & 0o077:
            raise UsageError(
                f"--keys {path}: others may read it (mode {stat.S_IMODE(mode):04o}); run: chmod 600 {path}"
            )
        text = path.read_text(encoding="utf-8").lstrip("\ufeff").strip()
    except OSError as error:
        raise UsageError(f"--keys {path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--keys {path}: expected UTF-8 text") from error
    keys = _secrets(_entries(text, path), f"--keys {path}")
    if not keys:
        raise UsageError(f"--keys {path}: holds no key; expected one a line, or a JSON list of strings")
    return keys


def _entries(text: str, path: Path) -> list[str]:
    if text.startswith("{"):
        raise UsageError(f"--keys {path}: expected one key a line or a JSON list of strings, found a JSON object")
    if not text.startswith("["):
        return [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        # The parser's message quotes what it read, which is a key.
        raise UsageError(f"--keys {path}: starts like a JSON list but is none") from None
    if not all(isinstance(entry, str) for entry in entries):
        raise UsageError(f"--keys {path}: expected a JSON list of strings only")
    return list(entries)


def _secrets(entries: Sequence[str], source: str) -> tuple[Secret, ...]:
    texts = list(dict.fromkeys(entry.strip() for entry in entries if entry.strip()))
    for number, text in enumerate(texts, 1):
        if not text.isascii() or not text.isprintable() or " " in text:
            raise UsageError(f"{source}: key {number} holds a space, control or non-ASCII character")
    return tuple(Secret(text) for text in texts)


def redact(text: str, keys: Sequence[Secret] = ()) -> str:
    """Mask every given key of at least eight characters, and whatever has the shape of a key.

    Args:
        text: Any text: an error, a reply, a log line.
        keys: Keys that are known.
    """
    for value in sorted((key.reveal() for key in keys), key=len, reverse=True):
        if len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, MASK)
    return _KEY_SHAPED.sub(MASK, text)


class KeyPool:
    """Which key to use next: one that works and has cooled down longest. Safe to use from several threads.

    Args:
        keys: The keys; none at all stands for one request after the other without a key.
        clock: Time that keys cool down in.
    """

    def __init__(self, keys: Sequence[Secret], clock: Clock) -> None:
        self._keys: tuple[Secret | None, ...] = tuple(keys) or (None,)
        self._clock = clock
        self._ready = [clock.monotonic()] * len(self._keys)
        self._limited = [0] * len(self._keys)
        self._dead: dict[int, str] = {}
        self._lock = threading.Lock()

    def pick(self) -> tuple[int, float]:
        """Return the number of the key that is ready first, and the seconds until it is.

        Raises:
            ProviderError: No key is left.
        """
        with self._lock:
            alive = [number for number in range(len(self._keys)) if number not in self._dead]
            if not alive:
                raise ProviderError(self._obituary())
            number = min(alive, key=lambda each: (self._ready[each], each))
            return number, max(0.0, self._ready[number] - self._clock.monotonic())

    def key(self, number: int) -> Secret | None:
        """Return a key by number; None for no key."""
        return self._keys[number]

    def cool(self, number: int, seconds: float) -> None:
        """Leave a key alone for some seconds from now; a longer rest that it has already stays."""
        with self._lock:
            self._ready[number] = max(self._ready[number], self._clock.monotonic() + seconds)

    def limited(self, number: int) -> int:
        """Count one more rate limit in a row against a key, and return how many that makes."""
        with self._lock:
            self._limited[number] += 1
            return self._limited[number]

    def worked(self, number: int) -> None:
        """Forget the rate limits of a key that answered."""
        with self._lock:
            self._limited[number] = 0

    def kill(self, number: int, reason: str) -> None:
        """Never use a key again."""
        with self._lock:
            self._dead[number] = reason

    def _obituary(self) -> str:
        reasons = "; ".join(dict.fromkeys(self._dead.values()))
        if self._keys == (None,):
            return f"the server refuses requests without a key ({reasons}); set its key variable or pass --keys FILE"
        return f"none of {len(self._keys)} keys is accepted ({reasons}); give another with --keys FILE"
