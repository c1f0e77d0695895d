"""The real Groq client against a loopback server that misbehaves in every way that was met."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from actors.chat import ChatFailure, ChatMessage, ChatReply, Exchange
from actors.endpoints import Endpoint
from actors.keys import Credentials, Secret
from actors.plan import LLMSettings
from actors.providers import HTTPProvider, open_provider
from search_spaces.errors import ProviderError, UsageError
from tests import groq_server as say
from tests.groq_server import GroqServer, Script
from tests.virtual_clock import VirtualClock

KEY = "gsk_" + "k1" * 20
SECOND = "gsk_" + "k2" * 20
SETTINGS = LLMSettings(spec="groq:first,second", timeout_s=5.0, patience_s=600.0, max_tokens=500)
EXCHANGE = Exchange(
    id="g00-a0-p00",
    purpose="design",
    generation=0,
    messages=(ChatMessage(role="system", content="Be brief."), ChatMessage(role="user", content="Say hello.")),
)


class Rig:
    """A provider with its server and clock."""

    def __init__(self, script: Script, settings: LLMSettings, keys: tuple[str, ...]) -> None:
        self.server = GroqServer(script)
        self.clock = VirtualClock()
        spec = (settings.spec or "").replace("http://localhost:1", self.server.url)
        credentials = Credentials(tuple(Secret(key) for key in keys), self.server.url)
        self.provider = open_provider(replace(settings, spec=spec), credentials, self.clock)

    def chat(self, exchange: Exchange = EXCHANGE) -> ChatReply | ChatFailure:
        return self.provider.chat(exchange)

    def close(self) -> None:
        self.provider.close()
        self.server.close()


@contextlib.contextmanager
def rig(*script: say.Response, settings: LLMSettings = SETTINGS, keys: tuple[str, ...] = (KEY,)) -> Iterator[Rig]:
    made = Rig(script, settings, keys)
    try:
        yield made
    finally:
        made.close()


def failure_of(result: ChatReply | ChatFailure) -> ChatFailure:
    assert isinstance(result, ChatFailure)
    assert KEY not in result.reason
    return result


def test_asks_as_groq_expects_and_keeps_what_it_said() -> None:
    with rig(say.answer("hello", usage=(11, 3))) as made:
        reply = made.chat()
    assert reply == ChatReply(
        exchange="g00-a0-p00", text="hello", model="scripted", prompt_tokens=11, completion_tokens=3, wall_s=0.0
    )
    (received,) = made.server.received
    assert received.path == "/openai/v1/chat/completions"
    assert received.authorization == f"Bearer {KEY}"
    assert received.body == {
        "model": "first",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say hello."}],
        "temperature": 0.8,
        "max_tokens": 500,
    }


@pytest.mark.parametrize(
    ("said", "waited"),
    [("3", 3.0), ("7.66s", 7.66), ("1m0.3s", 60.3), ("2m59.56s", 179.56), ("0", 0.5), (None, 0.5), ("soon", 0.5)],
)
def test_waits_as_long_as_a_rate_limit_says(said: str | None, waited: float) -> None:
    with rig(say.rate_limited(said), say.answer("hello")) as made:
        reply = made.chat()
    assert isinstance(reply, ChatReply)
    assert made.clock.waits == [pytest.approx(waited)]
    assert reply.wall_s == pytest.approx(waited)


def test_waits_until_a_date() -> None:
    with rig(say.rate_limited("Fri, 30 Oct 2026 12:01:30 GMT"), say.answer("hello")) as made:
        assert isinstance(made.chat(), ChatReply)
    assert made.clock.waits == [pytest.approx(90.0)]


def test_reads_the_wait_from_the_message_where_no_header_says_it() -> None:
    limited = say.rate_limited(
        None,
        "Rate limit reached on tokens per day (TPD): Limit 100000, Used 99000, Requested "
        "2000. Please try again in 1m26.4s.",
    )
    with rig(limited, say.answer("hello")) as made:
        assert isinstance(made.chat(), ChatReply)
    assert made.clock.waits == [pytest.approx(86.4)]


def test_does_not_wait_beyond_its_patience() -> None:
    with rig(say.rate_limited("1h")) as made:
        failure = failure_of(made.chat())
    assert failure.code == "LLM_RATE"
    assert "3600 s" in failure.reason
    assert "600 s of patience" in failure.reason
    assert made.clock.waits == []


def test_a_rate_limit_without_end_uses_up_the_patience_with_growing_waits() -> None:
    with rig(*[say.rate_limited("0")] * 40) as made:
        failure = failure_of(made.chat())
    assert failure.code == "LLM_RATE"
    assert made.clock.waits[:8] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
    assert sum(made.clock.waits) <= 600.0


def test_another_key_goes_on_while_one_rests() -> None:
    with rig(say.rate_limited("1m"), say.answer("one"), say.answer("two"), keys=(KEY, SECOND)) as made:
        assert isinstance(made.chat(), ChatReply)
        assert isinstance(made.chat(), ChatReply)
    assert made.clock.waits == []
    assert [each.authorization for each in made.server.received] == [f"Bearer {KEY}"] + [f"Bearer {SECOND}"] * 2


@pytest.mark.parametrize(
    "refusal",
    [
        say.error(401, "Invalid API Key", "invalid_api_key"),
        say.error(403, "Forbidden"),
        say.error(429, "You exceeded your current quota", "insufficient_quota"),
    ],
)
def test_a_refused_key_is_never_used_again(refusal: say.Response) -> None:
    with rig(refusal, say.answer("one"), say.answer("two"), keys=(KEY, SECOND)) as made:
        made.chat()
        made.chat()
    assert [each.authorization for each in made.server.received] == [f"Bearer {KEY}"] + [f"Bearer {SECOND}"] * 2


def test_without_a_key_left_the_provider_gives_up_without_naming_keys() -> None:
    with rig(say.error(401, f"Incorrect API key provided: {KEY}"), say.error(401, "no")) as made:
        with pytest.raises(ProviderError, match="none of 1 keys") as caught:
            made.chat()
        with pytest.raises(ProviderError):
            made.chat()
    assert KEY not in str(caught.value)
    assert len(made.server.received) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        say.error(500, "Internal server error"),
        say.error(503, "Service unavailable"),
        say.error(408, "Request timeout"),
        say.html(502),
        say.html(200),
        say.malformed(),
        say.choices_null(),
        say.answer(""),
        say.answer(None),
        say.Response(body=b"[1]"),
        say.Response(body=b"[" * 100_000),
        say.Response(body=b"null"),
        say.Response(body=b'{"choices": [{"message": null}]}'),
        say.Response(body=b'{"choices": {"a": 1}}'),
        say.Response(body=b"\xff\xfe"),
        say.Response(body=b" " * (5 * 1024 * 1024)),
        say.Response(body=b"x", headers={"content-encoding": "gzip"}),
    ],
    ids=lambda trouble: f"{trouble.status}-{trouble.body[:30]!r}",
)
def test_what_may_pass_is_tried_again(trouble: say.Response) -> None:
    with rig(trouble, say.answer("hello")) as made:
        reply = made.chat()
    assert isinstance(reply, ChatReply)
    assert reply.text == "hello"
    assert made.clock.waits == [0.5]


def test_what_does_not_pass_is_given_up() -> None:
    with rig(*[say.error(500, "Internal server error")] * 7) as made:
        failure = failure_of(made.chat())
    assert failure.code == "LLM_UNREACHABLE"
    assert "Internal server error" in failure.reason
    assert made.clock.waits == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert len(made.server.received) == 6


def test_a_server_that_is_not_there_is_a_failure() -> None:
    with GroqServer([]) as gone:
        url = gone.url
    provider = HTTPProvider(Endpoint(f"{url}/v1", url), ["m"], [], SETTINGS, VirtualClock())
    try:
        failure = failure_of(provider.chat(EXCHANGE))
    finally:
        provider.close()
    assert failure.code == "LLM_UNREACHABLE"


@pytest.mark.parametrize("slow", [say.hanging(), replace(say.answer("x" * 100), drip_s=0.05)], ids=["hangs", "drips"])
def test_a_request_is_bounded_in_whole(slow: say.Response) -> None:
    before = time.monotonic()
    with rig(slow, say.answer("hello"), settings=replace(SETTINGS, timeout_s=0.3)) as made:
        reply = made.chat()
        assert isinstance(reply, ChatReply)
        assert time.monotonic() - before < 3.0


def test_a_model_that_is_gone_is_replaced_by_the_next_and_remembered() -> None:
    with rig(say.model_gone("first"), say.answer("one", model=""), say.answer("two")) as made:
        reply = made.chat()
        made.chat()
        assert made.provider.model == "second"
    assert isinstance(reply, ChatReply)
    assert reply.model == "second"
    assert [each.body["model"] for each in made.server.received] == ["first", "second", "second"]


def test_without_a_model_left_the_provider_gives_up() -> None:
    decommissioned = say.error(400, "The model `second` has been decommissioned", "model_decommissioned")
    with (
        rig(say.model_gone("first"), decommissioned) as made,
        pytest.raises(ProviderError, match=r"serves none of first, second .*name another model"),
    ):
        made.chat()


def test_refused_parameters_are_dropped_once_and_for_all() -> None:
    temperature = say.error(
        400, "Unsupported value: 'temperature' does not support 0.8", "unsupported_value", "temperature"
    )
    length = say.error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    with rig(temperature, length, say.answer("one"), say.answer("two")) as made:
        made.chat()
        made.chat()
    sent = [sorted(set(each.body) - {"model", "messages"}) for each in made.server.received]
    assert sent == [["max_tokens", "temperature"], ["max_tokens"], [], []]


@pytest.mark.parametrize(
    ("refusal", "limit"),
    [
        (say.too_large(6000, 6627), 6000),
        (say.error(429, "Request too large ... (TPM): Limit 6000, Used 0, Requested 6627"), 6000),
        (say.error(413, "Payload too large"), None),
        (
            say.error(
                400, "This model's maximum context length is 2048 tokens. However, you requested 3000 max_tokens."
            ),
            2048,
        ),
        (say.error(400, "the request exceeds the available context size", "exceed_context_size_error"), None),
    ],
)
def test_a_request_that_can_never_fit_is_not_repeated(refusal: say.Response, limit: int | None) -> None:
    with rig(refusal) as made:
        failure = failure_of(made.chat())
    assert failure.code == "LLM_TOO_LARGE"
    assert failure.limit_tokens == limit


def test_an_empty_reply_for_want_of_tokens_gets_more_once() -> None:
    empty = say.answer("", finish="length", usage=(100, 500))
    with rig(empty, say.answer("hello", usage=(100, 700)), empty, empty) as made:
        reply = made.chat()
        failure = failure_of(made.chat())
    assert isinstance(reply, ChatReply)
    assert (reply.prompt_tokens, reply.completion_tokens) == (200, 1200)
    assert [each.body["max_tokens"] for each in made.server.received] == [500, 1000, 500, 1000]
    assert failure.code == "LLM_EMPTY"
    assert (failure.prompt_tokens, failure.completion_tokens) == (200, 1000)


def test_a_conversation_that_is_refused_is_not_repeated() -> None:
    with rig(say.error(400, "messages: content policy", "content_policy_violation")) as made:
        assert failure_of(made.chat()).code == "LLM_REFUSED"


def test_a_wrong_url_ends_it() -> None:
    with rig(say.error(404, "Unknown request URL")) as made, pytest.raises(ProviderError, match="serves no chat"):
        made.chat()


def test_no_redirect_is_followed_and_no_key_goes_elsewhere() -> None:
    with GroqServer([say.answer("stolen")]) as thief:
        redirect = say.Response(status=307, headers={"location": f"{thief.url}/openai/v1/chat/completions"})
        with rig(redirect) as made, pytest.raises(ProviderError, match="redirects are not followed"):
            made.chat()
    assert thief.received == []


def test_proxies_netrc_and_custom_headers_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    with GroqServer([say.answer("stolen")]) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("GROQ_API_KEY", "gsk_from_environment_0000")
        monkeypatch.setenv("GROQ_BASE_URL", proxy.url)
        monkeypatch.setenv("GROQ_CUSTOM_HEADERS", "X-Leak: gsk_in_a_header_0000000\nAuthorization: Bearer other")
        with rig(say.answer("hello")) as made:
            assert isinstance(made.chat(), ChatReply)
    assert proxy.received == []
    assert set(made.server.received[0].headers) <= {
        "host", "accept", "content-type", "content-length", "authorization", "user-agent", "connection"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "requested"),
    [
        ("", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1beta/openai/", "/v1beta/openai/chat/completions"),
    ],
)
def test_openai_compatible_servers_get_their_own_path_and_no_key_they_were_not_given(path: str, requested: str) -> None:
    settings = replace(SETTINGS, spec=f"openai:http://localhost:1{path}#org/model:8b")
    with rig(say.answer("hello"), settings=settings, keys=()) as made:
        assert isinstance(made.chat(), ChatReply)
    (received,) = made.server.received
    assert received.path == requested
    assert received.authorization is None
    assert received.body["model"] == "org/model:8b"


def test_a_server_that_wants_a_key_after_all() -> None:
    settings = replace(SETTINGS, spec="openai:http://localhost:1#m")
    with (
        rig(say.error(401, "no key"), settings=settings, keys=()) as made,
        pytest.raises(ProviderError, match="without a key"),
    ):
        made.chat()


def test_groq_without_a_key_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(UsageError, match="GROQ_API_KEY"):
        open_provider(SETTINGS, Credentials(), VirtualClock())


def test_replies_are_cleaned_and_redacted() -> None:
    body = (
        '{"choices": [{"message": {"content": "a\\ud800b '
        + KEY
        + " sk-"
        + "z" * 30
        + '"}}], "usage": {"prompt_tokens": -1}}'
    )
    with rig(say.Response(body=body.encode())) as made:
        reply = made.chat()
    assert isinstance(reply, ChatReply)
    assert reply.text == "a?b *** ***"
    assert reply.prompt_tokens > 5


def test_no_log_line_holds_a_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with rig(say.error(500, KEY), say.error(401, KEY), say.answer("hello"), keys=(KEY, SECOND)) as made:
        assert isinstance(made.chat(), ChatReply)
    assert len(caplog.records) > 3
    assert KEY not in caplog.text
    assert SECOND not in caplog.text


def test_text_may_come_in_parts() -> None:
    body = b'{"choices": [{"message": {"content": [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]}}]}'
    with rig(say.Response(body=body)) as made:
        reply = made.chat()
    assert isinstance(reply, ChatReply)
    assert reply.text == "hello"


def test_untrusted_error_texts_stay_on_one_line() -> None:
    with rig(say.error(400, "bad\x1b[31m\n\u202eevil" + "x" * 5000)) as made:
        failure = failure_of(made.chat())
    assert failure.reason.isprintable()
    assert len(failure.reason) < 400


def test_a_wait_ends_when_the_search_stops() -> None:
    with rig(say.rate_limited("10")) as made:
        made.clock.stopped = True
        assert failure_of(made.chat()).code == "LLM_STOPPED"


def test_closing_gives_up_requests_in_flight_at_once() -> None:
    with rig(say.hanging()) as made:
        results: list[ChatReply | ChatFailure] = []
        asking = threading.Thread(target=lambda: results.append(made.chat()))
        asking.start()
        while not made.server.received:
            time.sleep(0.01)
        before = time.monotonic()
        made.provider.close()
        asking.join(5.0)
        assert time.monotonic() - before < 2.0
        assert failure_of(results[0]).code == "LLM_STOPPED"
        assert failure_of(made.chat()).code == "LLM_STOPPED"
        made.provider.close()
