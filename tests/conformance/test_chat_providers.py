"""What every chat provider does, over HTTP or from a recording."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from actors.chat import ChatFailure, ChatMessage, ChatReply, Exchange
from actors.keys import Credentials, Secret
from actors.plan import LLMSettings
from actors.protocols import ChatProvider
from actors.providers import open_provider
from actors.replay import write_recording
from tests import groq_server as say
from tests.groq_server import GroqServer, Received, Response
from tests.virtual_clock import VirtualClock

TEXTS = {
    "g00-a0-p00": "hello",
    "g00-a0-p01": "caf\u00e9 \u4e2d\n```python\npass\n```",
    "g00-c00-critique": "x" * 50_000,
}
LACKING = "g07-a0-p00"


def exchange(identity: str) -> Exchange:
    return Exchange(id=identity, purpose="design", generation=0, messages=(ChatMessage(role="user", content=identity),))


def _answered(received: Received) -> Response:
    text = TEXTS.get(received.messages[-1]["content"])
    return say.error(400, "no such thing") if text is None else say.answer(text, usage=(7, 3))


@pytest.fixture(params=["groq", "openai", "replay"])
def provider(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChatProvider]:
    server = GroqServer(_answered)
    specs: dict[str, Callable[[], str]] = {
        "groq": lambda: "groq:m",
        "openai": lambda: f"openai:{server.url}#m",
        "replay": lambda: f"replay:{tmp_path}",
    }
    write_recording(
        tmp_path,
        [
            ChatReply(exchange=identity, text=text, model="m", prompt_tokens=7, completion_tokens=3)
            for identity, text in TEXTS.items()
        ],
    )
    settings = LLMSettings(spec=specs[request.param](), timeout_s=5.0)
    opened = open_provider(settings, Credentials((Secret("gsk_conformance0000"),), server.url), VirtualClock())
    yield opened
    opened.close()
    server.close()


def test_answers_with_the_whole_text_under_the_id_of_the_exchange(provider: ChatProvider) -> None:
    for identity, text in TEXTS.items():
        reply = provider.chat(exchange(identity))
        assert isinstance(reply, ChatReply)
        assert (reply.exchange, reply.text, reply.finish) == (identity, text, "stop")
        assert (reply.prompt_tokens, reply.completion_tokens) == (7, 3)
        assert reply.model
        assert reply.wall_s >= 0.0


def test_one_failed_exchange_is_a_value_and_the_next_one_works(provider: ChatProvider) -> None:
    failure = provider.chat(exchange(LACKING))
    assert isinstance(failure, ChatFailure)
    assert failure.exchange == LACKING
    assert failure.code.startswith("LLM_")
    assert failure.reason.isprintable()
    assert isinstance(provider.chat(exchange("g00-a0-p00")), ChatReply)


def test_results_walk_through_json(provider: ChatProvider) -> None:
    reply = provider.chat(exchange("g00-a0-p01"))
    failure = provider.chat(exchange(LACKING))
    assert type(reply).from_json(reply.to_json()) == reply
    assert type(failure).from_json(failure.to_json()) == failure


def test_many_threads_each_get_their_own_reply(provider: ChatProvider) -> None:
    wanted = list(TEXTS) * 8
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda identity: provider.chat(exchange(identity)), wanted))
    assert [reply.exchange for reply in replies] == wanted
    assert all(isinstance(reply, ChatReply) and reply.text == TEXTS[reply.exchange] for reply in replies)


def test_names_its_model_and_can_be_closed_twice(provider: ChatProvider) -> None:
    assert provider.model
    provider.close()
    provider.close()
