"""What one attempt at a model came to: an answer, or a trouble and what it calls for. Pure: no network, no waiting.

Servers differ in how they refuse, so a refusal is read from status, code, parameter and words together.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from actors.patience import retry_after
from actors.untrusted import clean, one_line

TroubleKind = Literal[
    "key", "length", "misdirected", "model", "parameter", "rate", "refused", "stopped", "too_large", "transient"
]

LONGEST_REPLY = 100_000
"""Characters of a reply that are kept; a program may have 16 000."""

_LIMIT_REQUESTED = re.compile(r"Limit (\d{1,12}),(?: Used \d{1,12},)? Requested (\d{1,12})")
_CONTEXT = re.compile(
    r"context[_ ](?:length|size|window)|exceed_context|too many tokens|request too large|prompt is too long",
    re.IGNORECASE,
)
_CONTEXT_LIMIT = re.compile(r"context (?:length|size|window)(?: is| of|:)? \(?(\d{3,12})", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model_not_found|model_decommissioned|model_terminated|model .{0,100}(?:not found|does not exist)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Text of a model.

    Attributes:
        text: What it wrote; untrusted, without lone surrogates, at most `LONGEST_REPLY` characters.
        finish: Why it stopped.
        model: Its name as the server gives it; empty when it does not.
        prompt_tokens: Tokens read; None when the server does not count.
        completion_tokens: Tokens written; None when the server does not count.
    """

    text: str
    finish: str
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """An attempt without a usable answer.

    Attributes:
        kind: `key`: never use this key again. `length`: the model ran out of tokens before it wrote anything.
            `misdirected`: no chat is served at this URL. `model`: the model is gone. `parameter`: a parameter is not
            taken. `rate`: too fast. `refused`: this conversation will never be answered. `stopped`: the search ends.
            `too_large`: it can never fit. `transient`: try again.
        reason: What the server said, one line, without control characters.
        wait_s: Seconds that the server wants to be left alone; None when it does not say.
        parameter: The parameter that is not taken.
        limit_tokens: Tokens of one request, prompt and reply together, that would fit; None when it does not say.
        prompt_tokens: Tokens read for nothing.
        completion_tokens: Tokens written for nothing.
    """

    kind: TroubleKind
    reason: str
    wait_s: float | None = None
    parameter: str | None = None
    limit_tokens: int | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


def read_answer(content: bytes) -> Answer | Trouble:
    """Read the body of a successful response, whatever a server or a proxy put there.

    Args:
        content: The body.

    Returns:
        The answer; or `length` for none because of the token limit, `transient` for anything else.
    """
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return Trouble(
            kind="transient", reason=f"expected JSON, found {one_line(content[:80].decode(errors='replace'))!r}"
        )
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return Trouble(kind="transient", reason="the response holds no choices[0].message")
    finish = choice.get("finish_reason")
    usage = body.get("usage")
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    text = _text(message.get("content"))
    if text.strip():
        return Answer(
            text=text,
            finish=one_line(finish) if isinstance(finish, str) else "stop",
            model=one_line(body["model"]) if isinstance(body.get("model"), str) else "",
            prompt_tokens=prompt,
            completion_tokens=completion,
        )
    return Trouble(
        kind="length" if finish == "length" else "transient",
        reason=f"the reply is empty (finish_reason {one_line(str(finish))!r})",
        prompt_tokens=prompt or 0,
        completion_tokens=completion or 0,
    )


def read_trouble(
    status: int, body: object, headers: Mapping[str, str], sent: Mapping[str, Any], wall: float
) -> Trouble:
    """Say what a response with an error status calls for.

    Args:
        status: HTTP status.
        body: Its body: parsed JSON, or text.
        headers: Its headers, names in lower case.
        sent: Parameters of the request.
        wall: Seconds since 1970 now.
    """
    message, code, parameter = _error_fields(body)
    said = one_line(message) or "no message"
    reason = f"HTTP {status}: {said}"
    words = f"{code} {message[:2000]}"
    limit = _too_large(status, words)
    if limit is not None:
        return Trouble(kind="too_large", reason=reason, limit_tokens=limit or None)
    if status in (401, 403) or code == "insufficient_quota":
        return Trouble(kind="key", reason=reason)
    if status == 429:
        return Trouble(kind="rate", reason=reason, wait_s=retry_after(headers, message, wall))
    if status >= 500 or status in (408, 409, 425):
        return Trouble(kind="transient", reason=reason, wait_s=retry_after(headers, message, wall))
    if status == 498:  # Groq: flex tier at capacity, try again later.
        return Trouble(kind="rate", reason=reason, wait_s=retry_after(headers, message, wall))
    if status in (400, 404, 410) and _NO_MODEL.search(words):
        return Trouble(kind="model", reason=reason)
    if status in (400, 422):
        unwanted = _unwanted(parameter, message, sent)
        if unwanted is not None:
            return Trouble(kind="parameter", reason=reason, parameter=unwanted)
    if 300 <= status < 400:
        return Trouble(kind="misdirected", reason=f"HTTP {status}: redirects are not followed; give the final URL")
    if status in (404, 405, 410):
        return Trouble(kind="misdirected", reason=reason)
    return Trouble(kind="refused", reason=reason)


def _text(content: object) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return clean(content[:LONGEST_REPLY]) if isinstance(content, str) else ""


def _count(usage: object, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


def _error_fields(body: object) -> tuple[str, str, str]:
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        code = error.get("code") if isinstance(error.get("code"), str) else error.get("type")
        return str(error.get("message") or ""), str(code or ""), str(error.get("param") or "")
    return (error if isinstance(error, str) else ""), "", ""


def _too_large(status: int, words: str) -> int | None:
    """Return the limit that a request can never fit in, 0 for an unknown one, None when it is not too large."""
    found = _LIMIT_REQUESTED.search(words)
    if found and int(found.group(2)) > int(found.group(1)):
        return int(found.group(1))
    if status == 413 or (status in (400, 422) and _CONTEXT.search(words)):
        context = _CONTEXT_LIMIT.search(words)
        return int(context.group(1)) if context else 0
    return None


def _unwanted(parameter: str, message: str, sent: Mapping[str, Any]) -> str | None:
    for name in ("temperature", "max_tokens"):
        if name in sent and (parameter == name or re.search(rf"\b{name}\b", message[:2000])):
            return name
    return None
