"""A log of exchanges without a journal."""

import threading

from actors.chat import ChatFailure, ChatReply, Exchange


class MemoryLog:
    """An `ExchangeLog` that lives as long as its test."""

    def __init__(self) -> None:
        self.exchanges: dict[str, Exchange] = {}
        self.results: dict[str, ChatReply | ChatFailure] = {}
        self._tokens = 0
        self._lock = threading.Lock()

    def find(self, exchange_id: str) -> ChatReply | ChatFailure | None:
        """See `ExchangeLog`."""
        return self.results.get(exchange_id)

    def settled(self, exchange: Exchange) -> bool:
        """See `ExchangeLog`."""
        return False

    def asked(self, exchange: Exchange) -> None:
        """See `ExchangeLog`."""
        self.exchanges[exchange.id] = exchange

    def replied(self, reply: ChatReply) -> None:
        """See `ExchangeLog`."""
        self._keep(reply)

    def failed(self, failure: ChatFailure) -> None:
        """See `ExchangeLog`."""
        self._keep(failure)

    def tokens_spent(self) -> int:
        """See `ExchangeLog`."""
        return self._tokens

    def _keep(self, result: ChatReply | ChatFailure) -> None:
        with self._lock:
            self.results[result.exchange] = result
            self._tokens += result.prompt_tokens + result.completion_tokens
