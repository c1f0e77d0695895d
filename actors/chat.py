"""What is asked of a language model, and what it answers."""

from dataclasses import dataclass
from typing import Literal

from actors.message import Message

Purpose = Literal["design", "repair", "critique"]
ChatRole = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage(Message):
    """One turn of a conversation with a model.

    Attributes:
        role: Who speaks.
        content: What is said; untrusted when the assistant speaks.
    """

    role: ChatRole
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange(Message):
    """One request to a model.

    Attributes:
        id: Unique in the search and the same on resume (see `DesignBrief.exchange_id`), so that a reply that is in the
            journal is never bought again.
        purpose: What it is for.
        generation: Generation that it serves.
        messages: The whole conversation so far.
        model: The model that was asked; None until a provider chose one.
        max_tokens: Tokens of the reply at most; None: as the settings say.
    """

    id: str
    purpose: Purpose
    generation: int
    messages: tuple[ChatMessage, ...]
    model: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply(Message):
    """What a model answered.

    Attributes:
        exchange: Id of the exchange.
        text: Its text; untrusted.
        model: The model that answered.
        prompt_tokens: Tokens of the request, as the provider counts them, over all tries; estimated where it does not
            say.
        completion_tokens: Tokens of the reply, hidden reasoning included, over all tries.
        wall_s: Seconds from the first try to the reply, waiting for rate limits included.
        finish: Why the model stopped: "stop", "length", or a provider's own word.
    """

    exchange: str
    text: str
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    wall_s: float = 0.0
    finish: str = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFailure(Message):
    """Why there is no reply, after all retries; another exchange may still succeed.

    Attributes:
        exchange: Id of the exchange.
        reason: One sentence without secrets.
        code: Stable reason code: `LLM_BUDGET` (token budget spent), `LLM_EMPTY` (no text, even with more room),
            `LLM_PROVIDER` (no exchange can ever succeed), `LLM_RATE` (a rate limit longer than the patience),
            `LLM_REFUSED` (this conversation will never be answered), `LLM_STOPPED` (the search ends), `LLM_TOO_LARGE`
            (the request can never fit), `LLM_UNREACHABLE` (no usable answer after all tries), `LLM_UNRECORDED` (a
            replay that does not hold it).
        limit_tokens: Tokens that the provider takes in one request, prompt and reply together; None unless it said so.
        prompt_tokens: Tokens that were read for nothing.
        completion_tokens: Tokens that were written for nothing.
    """

    exchange: str
    reason: str
    code: str = "LLM_UNREACHABLE"
    limit_tokens: int | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
