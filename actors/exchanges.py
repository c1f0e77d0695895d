"""The log that lets every reply be bought only once, and the token budget.

    ask = Exchanges(provider, log, token_budget).ask
    ask(exchange) -> ChatReply | ChatFailure

An exchange is written down before its request leaves, and again before its reply is used, so that a search that was
killed finds each reply that arrived, by its id, instead of asking again. Ids are functions of the search alone.
"""

import threading
from dataclasses import replace
from typing import Protocol

from actors.chat import ChatFailure, ChatReply, Exchange
from actors.protocols import ChatProvider
from search_spaces.errors import ProviderError

LASTING = frozenset({"LLM_EMPTY", "LLM_REFUSED", "LLM_TOO_LARGE"})
"""Codes of failures that asking again would only repeat, and pay for again."""

CHARACTERS_PER_TOKEN = 3.0
"""Characters of English prose and Python in a token, on the low side, so that estimates are on the high side; OpenAI's
rule of thumb is 4."""
_FRAME_TOKENS = 4
"""Tokens that a chat template spends around each message (OpenAI's cookbook counts 3 to 4)."""


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a model makes of `text`, on the high side."""
    return int(len(text) / CHARACTERS_PER_TOKEN) + 1


def estimate_prompt(exchange: Exchange) -> int:
    """Estimate the tokens of an exchange's whole conversation, on the high side."""
    return sum(estimate_tokens(message.content) + _FRAME_TOKENS for message in exchange.messages)


class ExchangeLog(Protocol):
    """Where exchanges are written down: the journal, in a search. Called from several threads."""

    def find(self, exchange_id: str) -> ChatReply | ChatFailure | None:
        """Return what is written of an exchange: its reply, else its last failure, else None."""
        ...

    def settled(self, exchange: Exchange) -> bool:
        """Return whether what came of the exchange has been acted upon, so that a failure must stay one."""
        ...

    def asked(self, exchange: Exchange) -> None:
        """Write down a request that is about to leave; `model` names the model that will be asked."""
        ...

    def replied(self, reply: ChatReply) -> None:
        """Write down a reply that is about to be used."""
        ...

    def failed(self, failure: ChatFailure) -> None:
        """Write down that there is no reply."""
        ...

    def tokens_spent(self) -> int:
        """Return the tokens of all replies and failures that are written."""
        ...


class Exchanges:
    """A provider behind a log and a token budget; safe to use from several threads.

    Args:
        provider: Whoever answers.
        log: Where every exchange is written down.
        token_budget: Tokens at most, over all that the log holds; what is in flight counts at its largest.
        max_tokens: Tokens of a reply at most where an exchange does not say.
    """

    def __init__(self, provider: ChatProvider, log: ExchangeLog, token_budget: int, max_tokens: int) -> None:
        self._provider = provider
        self._log = log
        self._budget = token_budget
        self._max_tokens = max_tokens
        self._in_flight = 0
        self._lock = threading.Lock()

    def ask(self, exchange: Exchange) -> ChatReply | ChatFailure:
        """Return the reply that is written down, or ask for it and write it down.

        Raises:
            ProviderError: No exchange can ever succeed; it is written down as a failure `LLM_PROVIDER` first.
        """
        known = self._log.find(exchange.id)
        if isinstance(known, ChatReply):
            return known
        if known is not None and (known.code in LASTING or self._log.settled(exchange)):
            return known
        largest = estimate_prompt(exchange) + (exchange.max_tokens or self._max_tokens)
        refusal = self._reserve(exchange, largest)
        if refusal is not None:
            self._log.failed(refusal)
            return refusal
        try:
            return self._send(exchange)
        finally:
            with self._lock:
                self._in_flight -= largest

    def _send(self, exchange: Exchange) -> ChatReply | ChatFailure:
        try:
            self._log.asked(replace(exchange, model=self._provider.model))
            result = self._provider.chat(exchange)
        except ProviderError as error:
            self._log.failed(ChatFailure(exchange=exchange.id, code="LLM_PROVIDER", reason=str(error)))
            raise
        if isinstance(result, ChatReply):
            self._log.replied(result)
        else:
            self._log.failed(result)
        return result

    def _reserve(self, exchange: Exchange, tokens: int) -> ChatFailure | None:
        with self._lock:
            spent = self._log.tokens_spent()
            if spent + self._in_flight + tokens <= self._budget:
                self._in_flight += tokens
                return None
            return ChatFailure(
                exchange=exchange.id,
                code="LLM_BUDGET",
                reason=f"of the token budget of {self._budget}, {spent} are spent and {self._in_flight} in flight, and "
                f"this request may need {tokens}; raise llm.token_budget to go on with the LLM",
            )
