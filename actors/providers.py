"""Chat providers: who answers, and how much patience is had with them.

    open_provider(settings, credentials, clock) -> ChatProvider

All retrying is done here: the SDK's own ignores a `retry-after` above a minute and cannot change key, model or
parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from actors.attempts import Answer, Trouble
from actors.chat import ChatFailure, ChatReply, Exchange
from actors.endpoints import Endpoint, endpoint_of, parse_spec
from actors.exchanges import estimate_prompt, estimate_tokens
from actors.keys import Credentials, KeyPool, Secret, redact
from actors.llm import ChatClient
from actors.patience import Clock, backoff
from actors.plan import LLMSettings
from actors.protocols import ChatProvider
from actors.replay import ReplayProvider
from search_spaces.errors import ProviderError, UsageError

TRIES = 6
"""Attempts at an exchange that may fail for no lasting reason; their waits add up to 15.5 s."""
ENLARGED = 2
"""Factor on the tokens of a reply after one that was empty for want of them."""


@dataclass(slots=True)
class _Course:
    """How far an exchange has come.

    Attributes:
        exchange: The exchange.
        began: When, on the monotonic clock, s.
        max_tokens: Tokens of the reply at most.
        enlarged: Whether that was raised already.
        failures: Attempts that failed for no lasting reason.
        prompt_tokens: Tokens read by failed attempts.
        completion_tokens: Tokens written by failed attempts.
        last: What the last attempt said.
    """

    exchange: Exchange
    began: float
    max_tokens: int
    enlarged: bool = False
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    last: str = ""

    def failed(self, code: str, reason: str, limit_tokens: int | None = None) -> ChatFailure:
        """End the exchange without a reply."""
        return ChatFailure(
            exchange=self.exchange.id,
            code=code,
            reason=reason,
            limit_tokens=limit_tokens,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
        )


class HTTPProvider:
    """A model behind HTTP, with the project's own patience; safe to use from several threads.

    A rate limit makes its key rest as long as the server asks, while other keys go on. What a key, a model or a
    parameter is refused for is remembered.

    Args:
        endpoint: Where requests go.
        models: Models to try in order, each when those before are gone.
        keys: Keys of this server alone; none for a server that wants none.
        settings: Temperature, sizes and times.
        clock: Time that waits pass in.
    """

    def __init__(
        self, endpoint: Endpoint, models: Sequence[str], keys: Sequence[Secret], settings: LLMSettings, clock: Clock
    ) -> None:
        self._endpoint = endpoint
        self._models = list(models)
        self._keys = tuple(keys)
        self._pool = KeyPool(keys, clock)
        self._settings = settings
        self._clock = clock
        self._client = ChatClient(endpoint, settings.timeout_s, clock)
        self._gone: dict[str, str] = {}
        self._dropped: set[str] = set()

    @property
    def model(self) -> str:
        """Name of the model that is asked now.

        Raises:
            ProviderError: All are gone.
        """
        for model in self._models:
            if model not in self._gone:
                return model
        raise ProviderError(
            f"{self._endpoint.origin} serves none of {', '.join(self._models)} ({'; '.join(self._gone.values())}); "
            "name another model with --llm"
        )

    def chat(self, exchange: Exchange) -> ChatReply | ChatFailure:
        """See `ChatProvider`."""
        course = _Course(exchange, self._clock.monotonic(), exchange.max_tokens or self._settings.max_tokens)
        while True:
            number, wait = self._pool.pick()
            if wait > 0:
                failure = self._pause(course, wait, "LLM_RATE")
                if failure is not None:
                    return failure
                continue
            model = self.model
            result = self._client.complete(self._pool.key(number), self._parameters(course, model))
            if isinstance(result, Answer):
                self._pool.worked(number)
                return self._reply(course, model, result)
            failure = self._react(course, number, model, replace(result, reason=redact(result.reason, self._keys)))
            if failure is not None:
                return failure

    def close(self) -> None:
        """See `ChatProvider`."""
        self._client.close()

    def _parameters(self, course: _Course, model: str) -> dict[str, Any]:
        parameters: dict[str, Any] = {
            "model": model,
            "messages": [message.to_json() for message in course.exchange.messages],
            "temperature": self._settings.temperature,
            "max_tokens": course.max_tokens,
        }
        return {name: value for name, value in parameters.items() if name not in self._dropped}

    def _react(self, course: _Course, number: int, model: str, trouble: Trouble) -> ChatFailure | None:
        course.last = trouble.reason
        course.prompt_tokens += trouble.prompt_tokens
        course.completion_tokens += trouble.completion_tokens
        match trouble.kind:
            case "key":
                self._pool.kill(number, trouble.reason)
            case "rate":
                self._pool.cool(number, max(trouble.wait_s or 0.0, backoff(self._pool.limited(number))))
            case "model":
                self._gone[model] = trouble.reason
            case "parameter":
                self._dropped.add(trouble.parameter or "")
            case "length" if not course.enlarged:
                course.enlarged = True
                course.max_tokens *= ENLARGED
            case "length":
                return course.failed("LLM_EMPTY", f"{trouble.reason}, also with {course.max_tokens} tokens")
            case "transient":
                course.failures += 1
                if course.failures >= TRIES:
                    return course.failed("LLM_UNREACHABLE", f"no usable answer in {TRIES} tries; last: {course.last}")
                return self._pause(course, max(trouble.wait_s or 0.0, backoff(course.failures)), "LLM_UNREACHABLE")
            case "too_large":
                return course.failed("LLM_TOO_LARGE", trouble.reason, trouble.limit_tokens)
            case "stopped":
                return course.failed("LLM_STOPPED", trouble.reason)
            case "refused":
                return course.failed("LLM_REFUSED", trouble.reason)
            case "misdirected":
                raise ProviderError(f"{self._endpoint.url} serves no chat: {trouble.reason}; check the URL of --llm")
        return None

    def _pause(self, course: _Course, seconds: float, code: str) -> ChatFailure | None:
        left = course.began + self._settings.patience_s - self._clock.monotonic()
        if seconds > left:
            return course.failed(
                code, f"asked to wait {seconds:.0f} s with {max(left, 0):.0f} s of patience left; last: {course.last}"
            )
        if not self._clock.wait(seconds):
            return course.failed("LLM_STOPPED", "the search was told to stop")
        return None

    def _reply(self, course: _Course, model: str, answer: Answer) -> ChatReply:
        prompt, completion = answer.prompt_tokens, answer.completion_tokens
        return ChatReply(
            exchange=course.exchange.id,
            text=redact(answer.text, self._keys),
            model=redact(answer.model, self._keys) or model,
            prompt_tokens=course.prompt_tokens + (estimate_prompt(course.exchange) if prompt is None else prompt),
            completion_tokens=course.completion_tokens
            + (estimate_tokens(answer.text) if completion is None else completion),
            wall_s=self._clock.monotonic() - course.began,
            finish=answer.finish,
        )


def open_provider(settings: LLMSettings, credentials: Credentials, clock: Clock) -> ChatProvider:
    """Open the provider that `settings.spec` names. Nothing is sent yet.

    Args:
        settings: Which model, and how.
        credentials: What `keys.take_credentials` took.
        clock: Time that waits pass in; `patience.SystemClock` outside tests.

    Raises:
        UsageError: A spec, URL or folder that cannot be used, or no key for Groq.
    """
    spec = parse_spec(settings.spec or "")
    if spec.kind == "replay":
        return ReplayProvider(Path(spec.target))
    endpoint = endpoint_of(spec, credentials.base_url, settings.allow_http)
    if spec.kind == "groq" and not credentials.keys:
        raise UsageError("--llm groq: no key; set GROQ_API_KEY (several separated by commas) or pass --keys FILE")
    return HTTPProvider(endpoint, spec.models, credentials.keys, settings, clock)
