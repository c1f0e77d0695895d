"""Which provider `--llm` names, and whether its URL may be used."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from actors.keys import redact
from search_spaces.errors import UsageError

DEFAULT_MODEL = "openai/gpt-oss-120b"
"""Groq's largest open-weight model on all of its tiers (console.groq.com/docs/models)."""
GROQ_URL = "https://api.groq.com"
"""The host that the Groq SDK speaks to by default."""

_FORMS = "groq:MODEL[,MODEL...], openai:URL#MODEL or replay:FOLDER"


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """What `--llm` says.

    Attributes:
        kind: Which kind of provider.
        models: Models to try in order, each when those before are gone; empty for a replay.
        target: URL of an `openai` server, folder of a replay, empty for Groq.
    """

    kind: Literal["groq", "openai", "replay"]
    models: tuple[str, ...]
    target: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where chat requests go.

    Attributes:
        url: The one URL that is requested.
        origin: Scheme, host and port of it.
    """

    url: str
    origin: str


def parse_spec(spec: str) -> ProviderSpec:
    """Read the value of `--llm`.

    Raises:
        UsageError: It has none of the known forms, or holds a key.
    """
    if redact(spec) != spec:
        raise UsageError("--llm: holds what looks like a key; give it with its variable or --keys FILE instead")
    kind, _, rest = spec.partition(":")
    if kind == "groq":
        return ProviderSpec("groq", _models(rest or DEFAULT_MODEL, spec))
    if kind == "openai":
        url, mark, models = rest.rpartition("#")
        if not mark or not url:
            raise UsageError(
                f"--llm {_shown(spec)}: expected openai:URL#MODEL, such as openai:http://localhost:8000/v1#NAME"
            )
        return ProviderSpec("openai", _models(models, spec), url)
    if kind == "replay" and rest:
        return ProviderSpec("replay", (), rest)
    raise UsageError(f"--llm {_shown(spec)}: expected {_FORMS}")


def absolute_spec(spec: str) -> str:
    """Return a spec that means the same in every working directory: the folder of a replay made absolute.

    Raises:
        UsageError: See `parse_spec`.
    """
    parsed = parse_spec(spec)
    return f"replay:{Path(parsed.target).absolute()}" if parsed.kind == "replay" else spec


def check_spec(spec: str, allow_http: bool) -> None:
    """Refuse a spec that may not be written down or used.

    Raises:
        UsageError: See `parse_spec` and `endpoint_of`.
    """
    parsed = parse_spec(spec)
    if parsed.kind == "openai":
        endpoint_of(parsed, None, allow_http)


def endpoint_of(spec: ProviderSpec, base_url: str | None, allow_http: bool) -> Endpoint:
    """Return where requests to a Groq or OpenAI-compatible provider go.

    Args:
        spec: The provider.
        base_url: `GROQ_BASE_URL`; None for Groq's own host. An `openai` provider has its own.
        allow_http: Whether plain http beyond loopback is allowed.

    Raises:
        UsageError: The URL is no plain http(s) URL, holds a password, or would send a key in the open.
    """
    source = "--llm" if spec.kind == "openai" else "GROQ_BASE_URL"
    parts = _checked(spec.target if spec.kind == "openai" else base_url or GROQ_URL, source, allow_http)
    path = parts.path.rstrip("/")
    path = f"{path}/openai/v1" if spec.kind == "groq" else path or "/v1"
    origin = f"{parts.scheme}://{parts.netloc}"
    return Endpoint(f"{origin}{path}/chat/completions", origin)


def _models(text: str, spec: str) -> tuple[str, ...]:
    models = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not models or not all(name.isprintable() and len(name) <= 200 for name in models):
        raise UsageError(f"--llm {_shown(spec)}: expected at least one model name; forms are {_FORMS}")
    return models


def _checked(url: str, source: str, allow_http: bool) -> SplitResult:
    if not url.isascii() or not url.isprintable() or any(character in url for character in " \\"):
        raise UsageError(f"{source}: the URL holds a space, backslash, control or non-ASCII character")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise UsageError(f"{source}: expected http(s)://HOST[:PORT][/PATH], found something else") from None
    if "@" in parts.netloc:
        raise UsageError(
            f"{source}: the URL holds user or password; give a key with its variable or --keys FILE instead"
        )
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"{source}: expected http(s)://HOST[:PORT][/PATH], found {url!r}")
    if parts.query or parts.fragment:
        raise UsageError(f"{source}: expected a URL without query or fragment, at host {host}")
    if parts.scheme == "http" and not _is_loopback(host) and not allow_http:
        raise UsageError(
            f"{source}: plain http to {host} shows key and prompts to everyone on the way; use https, or --allow-http"
        )
    return parts


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(spec: str) -> str:
    """Return what may be printed of a spec that was not understood: a password hides before an @."""
    return "..." if "@" in spec or len(spec) > 200 else repr(spec)
