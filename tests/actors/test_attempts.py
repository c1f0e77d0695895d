import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.attempts import Answer, Trouble, read_answer, read_trouble

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SENT = {"model": "m", "temperature": 0.8, "max_tokens": 500}


@given(st.binary())
def test_any_bytes_are_an_answer_or_a_trouble(content: bytes) -> None:
    assert isinstance(read_answer(content), Answer | Trouble)


@given(JSON, JSON, JSON, JSON, JSON)
def test_any_json_is_an_answer_or_a_trouble(
    content: object, finish: object, usage: object, model: object, error: object
) -> None:
    choice = {"message": {"content": content}, "finish_reason": finish}
    body = {"choices": [choice], "usage": {"prompt_tokens": usage}, "model": model}
    for each in (body, {"choices": content}, {"choices": [content]}, {"choices": [{"message": content}]}, content):
        result = read_answer(json.dumps(each).encode())
        if isinstance(result, Answer):
            assert result.text.strip()
            result.text.encode("utf-8")
            assert result.finish.isprintable()
        else:
            assert result.reason.isprintable()
            assert len(result.reason) < 400
    for body_of_error in (error, {"error": error}, {"error": {"message": error, "code": content, "param": model}}):
        trouble = read_trouble(400, body_of_error, {}, SENT, 0.0)
        assert trouble.reason.isprintable()
        assert len(trouble.reason) < 400


@given(st.integers(300, 599), st.text(), st.text())
def test_every_status_calls_for_something(status: int, message: str, code: str) -> None:
    trouble = read_trouble(status, {"error": {"message": message, "code": code}}, {}, SENT, 0.0)
    assert trouble.kind != "stopped"
    assert (trouble.kind == "parameter") == (trouble.parameter is not None)


@pytest.mark.parametrize(
    ("status", "message", "code", "kind"),
    [
        (400, "`temperature` : value must be at most 2", "", "parameter"),
        (422, "max_tokens: extra fields not permitted", "", "parameter"),
        (400, "'messages' must contain the word json", "", "refused"),
        (400, "The model `x` has been decommissioned", "model_decommissioned", "model"),
        (404, "model 'x' not found, try pulling it first", "", "model"),
        (404, "The model `x` does not exist or you do not have access to it.", "model_not_found", "model"),
        (404, "Not Found", "", "misdirected"),
        (405, "Method Not Allowed", "", "misdirected"),
        (302, "", "", "misdirected"),
        (401, "Invalid API Key", "invalid_api_key", "key"),
        (403, "Forbidden", "", "key"),
        (429, "You exceeded your current quota", "insufficient_quota", "key"),
        (429, "Rate limit reached ... Limit 8000, Used 7000, Requested 2000. Please try again in 7.5s.", "", "rate"),
        (413, "Request too large ... Limit 8000, Requested 9000", "rate_limit_exceeded", "too_large"),
        (429, "Request too large ... Limit 8000, Requested 9000", "rate_limit_exceeded", "too_large"),
        (400, "Please reduce the length of the messages", "context_length_exceeded", "too_large"),
        (500, "", "", "transient"),
        (529, "overloaded", "", "transient"),
        (498, "capacity exceeded", "", "rate"),
    ],
)
def test_refusals_as_servers_word_them(status: int, message: str, code: str, kind: str) -> None:
    assert read_trouble(status, {"error": {"message": message, "code": code}}, {}, SENT, 0.0).kind == kind


def test_a_parameter_that_was_not_sent_is_not_dropped() -> None:
    body = {"error": {"message": "temperature is not supported", "param": "temperature"}}
    assert read_trouble(400, body, {}, {"model": "m"}, 0.0).kind == "refused"


def test_long_hostile_messages_are_read_in_linear_time() -> None:
    before = time.monotonic()
    for text in ("model " * 200_000, "Limit 1, " * 200_000, "context length " * 100_000, "9" * 10**6):
        read_trouble(400, {"error": {"message": text}}, {"retry-after": text}, SENT, 0.0)
        read_trouble(429, {"error": {"message": text}}, {"retry-after": text}, SENT, 0.0)
    assert time.monotonic() - before < 2.0


def test_replies_are_bounded() -> None:
    body = {"choices": [{"message": {"content": "x" * 10**6}}]}
    answer = read_answer(json.dumps(body).encode())
    assert isinstance(answer, Answer)
    assert len(answer.text) == 100_000
