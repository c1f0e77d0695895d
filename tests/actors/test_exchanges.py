import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from actors.chat import ChatFailure, ChatMessage, ChatReply, Exchange
from actors.exchanges import Exchanges, estimate_prompt
from search_spaces.errors import ProviderError
from tests.memory_log import MemoryLog


def exchange(identity: str, max_tokens: int | None = 100) -> Exchange:
    messages = (ChatMessage(role="user", content="x" * 300),)
    return Exchange(id=identity, purpose="design", generation=0, messages=messages, max_tokens=max_tokens)


class Answering:
    """A provider that answers with what it is given, and remembers the log as it was when it was asked."""

    model = "m"

    def __init__(self, log: MemoryLog, result: ChatReply | ChatFailure | None = None) -> None:
        self.log = log
        self.result = result
        self.asked: list[str] = []

    def chat(self, request: Exchange) -> ChatReply | ChatFailure:
        assert self.log.exchanges[request.id].model == "m"
        assert request.id not in self.log.results
        self.asked.append(request.id)
        return self.result or ChatReply(
            exchange=request.id, text="hello", model="m", prompt_tokens=80, completion_tokens=20
        )

    def close(self) -> None: ...


def test_asked_is_written_before_and_the_reply_after() -> None:
    log = MemoryLog()
    provider = Answering(log)
    reply = Exchanges(provider, log, 10_000, 500).ask(exchange("a"))
    assert log.results == {"a": reply}
    assert log.tokens_spent() == 100


def test_a_reply_that_is_written_is_never_bought_again() -> None:
    log = MemoryLog()
    reply = ChatReply(exchange="a", text="old", model="m", prompt_tokens=1, completion_tokens=1)
    log.replied(reply)
    provider = Answering(log)
    assert Exchanges(provider, log, 10_000, 500).ask(exchange("a")) == reply
    assert provider.asked == []


@pytest.mark.parametrize(
    ("code", "asks"), [("LLM_TOO_LARGE", 0), ("LLM_EMPTY", 0), ("LLM_RATE", 1), ("LLM_STOPPED", 1)]
)
def test_only_lasting_failures_are_remembered(code: str, asks: int) -> None:
    log = MemoryLog()
    log.failed(ChatFailure(exchange="a", code=code, reason="."))
    provider = Answering(MemoryLog())
    provider.log.exchanges = log.exchanges
    result = Exchanges(provider, log, 10_000, 500).ask(exchange("a"))
    assert len(provider.asked) == asks
    assert isinstance(result, ChatReply) == bool(asks)


def test_a_failure_that_was_acted_upon_stays_one() -> None:
    class Settled(MemoryLog):
        def settled(self, exchange: Exchange) -> bool:
            return exchange.id == "a"

    log = Settled()
    for identity in ("a", "b"):
        log.failed(ChatFailure(exchange=identity, code="LLM_RATE", reason="."))
    provider = Answering(MemoryLog())
    provider.log.exchanges = log.exchanges
    exchanges = Exchanges(provider, log, 10_000, 500)
    assert isinstance(exchanges.ask(exchange("a")), ChatFailure)
    assert isinstance(exchanges.ask(exchange("b")), ChatReply)


def test_the_token_budget_counts_the_log_and_what_is_in_flight() -> None:
    log = MemoryLog()
    largest = estimate_prompt(exchange("a")) + 100
    exchanges = Exchanges(Answering(log), log, 100 + largest, 500)
    assert isinstance(exchanges.ask(exchange("a")), ChatReply)
    assert isinstance(exchanges.ask(exchange("b")), ChatReply)
    refused = exchanges.ask(exchange("c"))
    assert isinstance(refused, ChatFailure)
    assert refused.code == "LLM_BUDGET"
    assert "c" not in log.exchanges
    assert log.find("c") == refused
    unsaid = exchanges.ask(exchange("d", max_tokens=None))
    assert isinstance(unsaid, ChatFailure)


def test_requests_at_the_same_time_cannot_overdraw_the_budget() -> None:
    log = MemoryLog()
    gate = threading.Event()

    class Slow(Answering):
        def chat(self, request: Exchange) -> ChatReply | ChatFailure:
            gate.wait(10.0)
            return super().chat(request)

    largest = estimate_prompt(exchange("a")) + 100
    exchanges = Exchanges(Slow(log), log, 3 * largest, 500)
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(exchanges.ask, exchange(f"e{number}")) for number in range(8)]
        while len(log.exchanges) < 3 or len(log.results) < 5:
            gate.wait(0.01)
        gate.set()
        results = [future.result() for future in futures]
    assert sum(isinstance(result, ChatReply) for result in results) == 3


def test_a_provider_that_gives_up_is_written_down_too() -> None:
    log = MemoryLog()

    class Broken(Answering):
        def chat(self, request: Exchange) -> ChatReply | ChatFailure:
            raise ProviderError("no usable key")

    with pytest.raises(ProviderError):
        Exchanges(Broken(log), log, 10_000, 500).ask(exchange("a"))
    failure = log.find("a")
    assert isinstance(failure, ChatFailure)
    assert failure.code == "LLM_PROVIDER"
